import type { Command } from 'commander';
import type { Handlers, SharedFlags } from './program.ts';
import { withOutput } from './shared-flags.ts';

export type InitCommandFlags = Omit<SharedFlags, 'only' | 'config'> & {
  readonly url?: string;
  readonly embedded: boolean;
  readonly apiKeyEnv?: string;
  readonly dir?: string;
  readonly environments?: string;
  readonly id?: string;
  readonly workflows?: boolean;
  readonly force: boolean;
};

export function addInit(program: Command, handlers: Pick<Handlers, 'init'>): void {
  const command = program
    .command('init')
    .description('begin a workspace here; on a terminal it asks for what is not given')
    .option('--url <url>', 'where the prompt service is')
    .option('--embedded', 'use the embedded service instead, for a first try', false)
    .option('--api-key-env <name>', 'the name of the variable that holds the key (default: PROMPTSYNC_API_KEY)')
    .option('--dir <folder>', 'where the prompt files are (default: prompts)')
    .option('--environments <names>', 'in promotion order (default: staging,production)')
    .option('--id <id>', 'a first prompt to import; checks address and key before anything is written')
    .option('--workflows', 'write the workflows for GitHub Actions (the default)')
    .option('--no-workflows', 'write none')
    .option('--force', 'overwrite files that are there and differ', false);
  withOutput(command).action((flags: InitCommandFlags) => handlers.init(flags));
}
