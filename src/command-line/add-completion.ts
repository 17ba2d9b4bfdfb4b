import { Argument, type Command } from 'commander';
import type { Shell } from './completion.ts';
import { COMPLETION_HELP } from './help-texts.ts';

export type CompletionHandlers = { readonly completion: (shell: Shell) => Promise<void> };

/** `completion SHELL`. */
export function addCompletion(program: Command, { completion }: CompletionHandlers): void {
  program
    .command('completion')
    .description('print the completion script of a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish'] satisfies Shell[]))
    .addHelpText('after', COMPLETION_HELP)
    .action((shell: Shell) => completion(shell));
}
