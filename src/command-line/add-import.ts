import { InvalidArgumentError, type Command } from 'commander';
import { hasControlCharacters } from '../domain/text.ts';
import type { Handlers, SharedFlags } from './program.ts';
import { withConfig, withOutput } from './shared-flags.ts';

export type ImportFlags = Omit<SharedFlags, 'only'> & {
  readonly environment?: string;
  readonly dir?: string;
  readonly dryRun: boolean;
};

export function addImport(program: Command, handlers: Pick<Handlers, 'import'>): void {
  const command = program
    .command('import')
    .description('make prompt files of prompts that the service has')
    .argument('<id...>', 'the ids of the prompts, as the service shows them')
    .option('-e, --environment <env>', 'whose text to take (default: the first that serves one)', environment)
    .option('--dir <folder>', 'where the files go, relative to promptsync.yaml')
    .option('--dry-run', 'show what would be written; write nothing', false);
  withOutput(withConfig(command)).action((ids: readonly string[], flags: ImportFlags) => handlers.import(ids, flags));
}

function environment(value: string): string {
  const fit = value !== '' && !hasControlCharacters(value);
  if (!fit) throw new InvalidArgumentError('Expected the name of an environment.');
  return value;
}
