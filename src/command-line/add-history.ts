import type { Command } from 'commander';
import { HISTORY_HELP } from './help-texts.ts';
import type { Handlers, SharedFlags } from './program.ts';
import { withConfig, withOutput } from './shared-flags.ts';

export type HistoryFlags = Omit<SharedFlags, 'only'> & { readonly environment?: string };

/** `history KEY`. */
export function addHistory(program: Command, { history }: Pick<Handlers, 'history'>): void {
  withOutput(
    withConfig(program.command('history').description('show the versions of a prompt: who made them, where they run')),
  )
    .argument('<key>', 'the key or path of a prompt, or a pattern of either')
    .option('-e, --environment <env>', 'only what this environment serves: where it comes from, who pinned it')
    .addHelpText('after', HISTORY_HELP)
    .action((key: string, flags: HistoryFlags) => history(key, flags));
}
