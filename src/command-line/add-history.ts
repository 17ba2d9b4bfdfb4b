import type { Command } from 'commander';
import { HISTORY_HELP } from './help-texts.ts';
import type { Handlers, SharedFlags } from './program.ts';
import { withConfig, withOutput } from './shared-flags.ts';

export type HistoryFlags = Omit<SharedFlags, 'only'> & { readonly environment?: string };

/** `history KEY`, and `blame KEY --environment E` for those who look for it there. */
export function addHistory(program: Command, { history }: Pick<Handlers, 'history'>): void {
  withOutput(
    withConfig(program.command('history').description('show the versions of a prompt: who made them, where they run')),
  )
    .argument('<key>', KEY)
    .option('-e, --environment <env>', 'only what this environment serves: where it comes from, who pinned it')
    .addHelpText('after', HISTORY_HELP)
    .action((key: string, flags: HistoryFlags) => history(key, flags));
  withOutput(withConfig(program.command('blame').description('the same as history --environment')))
    .argument('<key>', KEY)
    .requiredOption('-e, --environment <env>', 'the environment')
    .addHelpText('after', HISTORY_HELP)
    .action((key: string, flags: HistoryFlags) => history(key, flags));
}

const KEY = 'the key or path of a prompt, or a pattern of either';
