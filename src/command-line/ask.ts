import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Host } from './host.ts';

/**
 * Asks a yes-or-no question on standard error. Anything but yes is no, an interruption and the end of the input
 * included. The terminal keeps its own line editing, so that Ctrl-C stays a signal.
 */
export async function ask({ input, errors }: Host, question: string, stop: AbortSignal): Promise<boolean> {
  const lines = createInterface({ input: input(), terminal: false });
  errors.write(`${question} [y/N] `);
  try {
    const answered = once(lines, 'line', { signal: stop }).then(([line]) => String(line));
    const ended = once(lines, 'close', { signal: stop }).then(() => null);
    const answer = await Promise.race([answered, ended]);
    if (answer === null) errors.write('\n');
    return /^y(es)?$/i.test(answer?.trim() ?? '');
  } catch {
    return false;
  } finally {
    lines.close();
  }
}
