import { Argument, type Command } from 'commander';
import type { Shell } from './completing/answer.ts';
import type { Question } from './completing/run-complete.ts';
import { COMPLETION_HELP } from './help-texts.ts';

export type CompletionHandlers = {
  readonly completion: (shell: Shell) => Promise<void>;
  readonly complete: (question: Question) => Promise<void>;
};

/** `completion SHELL`, and the hidden command that the scripts ask on every press of the key. */
export function addCompletion(program: Command, { completion, complete }: CompletionHandlers): void {
  const shell = () => new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish'] satisfies Shell[]);
  program
    .command('completion')
    .description('print the completion script of a shell')
    .addArgument(shell())
    .addHelpText('after', COMPLETION_HELP)
    .action((shell: Shell) => completion(shell));
  program
    .command('complete', { hidden: true })
    .addArgument(shell())
    .argument('<line>')
    .argument('[replaced]', '', '')
    .action((shell: Shell, line: string, replaced: string) => complete({ shell, line, replaced }));
}
