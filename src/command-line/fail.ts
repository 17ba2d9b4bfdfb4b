import { CommanderError } from 'commander';
import { refused } from '../commands/result.ts';
import { MODES } from '../domain/modes.ts';
import { makeProblem, problemOf } from '../problem.ts';
import type { Run } from '../report/make-report.ts';
import type { Emission } from './emit.ts';
import type { HidingHost } from './secrets.ts';
import { FORMATS } from './shared-flags.ts';

/** Commander has printed its own errors to standard error; a report in another format is owed all the same. */
export async function fail(error: unknown, host: HidingHost): Promise<number> {
  const words = host.arguments.join('\0');
  const asked = [...words.matchAll(/(?:^|\0)--format[=\0](\w+)(?=\0|$)/g)].at(-1)?.[1];
  const format = FORMATS.find((one) => one === asked) ?? 'text';
  if (error instanceof CommanderError && format === 'text') return 1;
  const usage = error instanceof CommanderError;
  const problem = usage ? makeProblem('usage/invalid', { reason: reasonOf(error) }) : problemOf(error);
  const output = usage ? /(?:^|\0)(?:--output[=\0]|-o\0?)([^\0]+)/.exec(words)?.[1] : undefined;
  const emission: Emission = { format, quiet: false, color: false, output, folder: null };
  const { emit } = await import('./emit.ts');
  await emit(refused(modeOf(host), problem), emission, host);
  return 1;
}

/** What the report would be of; a sync that was not understood has changed nothing. */
function modeOf({ arguments: [command] }: HidingHost): Run['mode'] {
  return MODES.find((mode) => mode === command) ?? 'dry-run';
}

/** Commander begins its messages with a word that the report has in `severity`; without a command it has no message. */
function reasonOf({ code, message }: CommanderError): string {
  return code === 'commander.help' ? 'No command was given.' : message.replace(/^error: /, '');
}
