import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import type { CANCEL_SYMBOL } from '@clack/prompts';
import type { Interview } from '../domain/world.ts';
import { makeProblem, ProblemError } from '../problem.ts';
import type { Host } from './host.ts';

/**
 * Asks a yes-or-no question on standard error. Anything but yes is no, an interruption and the end of the input
 * included. The terminal keeps its own line editing, so that Ctrl-C stays a signal.
 */
export async function ask({ input, errors }: Host, question: string, stop: AbortSignal): Promise<boolean> {
  const lines = createInterface({ input: input(), terminal: false, signal: stop });
  const answers = lines[Symbol.asyncIterator]();
  errors.write(`${question} [y/N] `);
  const { value: answer } = await answers.next();
  lines.close();
  if (answer === undefined) errors.write('\n');
  return /^y(es)?$/i.test(answer?.trim() ?? '');
}

/** Asks at the terminal, on standard error: standard output is for the report alone. */
export function interviewer(
  host: Pick<Host, 'input' | 'errors'>,
  { stop: signal, colour }: { readonly stop: AbortSignal; readonly colour: boolean },
): Interview {
  const streams = { input: host.input(), output: writableOf(host, colour), signal };
  return {
    text: async ({ message, initial, fault }) => {
      const { text } = await import('@clack/prompts');
      const validate = (answer: string | undefined) => fault(answer ?? '') ?? undefined;
      return given(await text({ ...streams, message, initialValue: initial, validate }));
    },
    confirm: async ({ message, initial }) => {
      const { confirm } = await import('@clack/prompts');
      return given(await confirm({ ...streams, message, initialValue: initial }));
    },
  };
}

/** Anything but an answer is that somebody gave up, with Ctrl-C or Escape. */
function given<Answer extends string | boolean>(answer: Answer | typeof CANCEL_SYMBOL): Answer {
  if (typeof answer === 'symbol') throw new ProblemError(makeProblem('usage/cancelled'));
  return answer;
}

/** Every style but the inverse of the cursor, which is drawn and not the terminal's own. */
const COLOUR = /\u001b\[(?!2?7m)[0-9;]*m/g;

/** The questions are drawn for the width of the terminal. */
function writableOf({ errors }: Pick<Host, 'errors'>, colour: boolean): Writable {
  const stream = new Writable({
    decodeStrings: false,
    write: (chunk, _, done) => {
      errors.write(colour ? String(chunk) : String(chunk).replaceAll(COLOUR, ''));
      done();
    },
  });
  return Object.assign(stream, errors.columns === undefined ? {} : { columns: errors.columns });
}
