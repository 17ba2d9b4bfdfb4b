import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import type { CANCEL_SYMBOL } from '@clack/prompts';
import type { Interview } from '../domain/system.ts';
import { makeProblem, ProblemError } from '../problem.ts';
import type { ProcessInterface } from './process-interface.ts';
import { wrapForTerminal } from './wrap-for-terminal.ts';

/** Only `y` and `yes` count as yes. The terminal stays in its normal line mode, so Ctrl-C still sends a signal. */
export async function askYesOrNo(
  { input, errors }: ProcessInterface,
  question: string,
  stop: AbortSignal,
): Promise<boolean> {
  const lines = createInterface({ input: input(), terminal: false, signal: stop });
  const answers = lines[Symbol.asyncIterator]();
  errors.write(`${wrapForTerminal(`${question} [y/N]`, errors)} `);
  const { value: answer } = await answers.next();
  lines.close();
  if (answer === undefined) errors.write('\n');
  return /^y(es)?$/i.test(answer?.trim() ?? '');
}

/** Writes the questions to standard error, because standard output must contain only the report. */
export function makeInterview(
  host: Pick<ProcessInterface, 'input' | 'errors'>,
  { stop: signal, colour }: { readonly stop: AbortSignal; readonly colour: boolean },
): Interview {
  const streams = { input: host.input(), output: makeWritable(host, colour), signal };
  return {
    text: async ({ message, initial, findFault }) => {
      const { text } = await import('@clack/prompts');
      const validate = (answer: string | undefined) => findFault(answer ?? '') ?? undefined;
      return requireAnswer(await text({ ...streams, message, initialValue: initial, validate }));
    },
    select: async ({ message, choices, initial }) => {
      const { select } = await import('@clack/prompts');
      return requireAnswer(await select({ ...streams, message, options: [...choices], initialValue: initial }));
    },
    confirm: async ({ message, initial }) => {
      const { confirm } = await import('@clack/prompts');
      return requireAnswer(await confirm({ ...streams, message, initialValue: initial }));
    },
  };
}

/** Returns the answer. Throws a `ProblemError` if the user canceled the question with Ctrl-C or Escape. */
function requireAnswer<Answer extends string | boolean>(answer: Answer | typeof CANCEL_SYMBOL): Answer {
  if (typeof answer === 'symbol') throw new ProblemError(makeProblem('usage/cancelled'));
  return answer;
}

/** Matches all text styles except inverse, because the prompt library uses inverse to draw the cursor. */
const COLOR_CODES = /\u001b\[(?!2?7m)[0-9;]*m/g;

/** Creates the stream for questions. It reports the terminal width, and removes colors if `colour` is false. */
function makeWritable({ errors }: Pick<ProcessInterface, 'errors'>, colour: boolean): Writable {
  const stream = new Writable({
    decodeStrings: false,
    write: (chunk, _, done) => {
      errors.write(colour ? String(chunk) : String(chunk).replaceAll(COLOR_CODES, ''));
      done();
    },
  });
  return Object.assign(stream, errors.columns === undefined ? {} : { columns: errors.columns });
}
