import { createInterface } from 'node:readline/promises';
import type { Host } from './host.ts';

/** Asks a yes-or-no question on standard error. Anything but yes, an interruption included, is no. */
export async function ask({ input, errors }: Host, question: string, stop: AbortSignal): Promise<boolean> {
  const lines = createInterface({ input, output: errors });
  try {
    const answer = await lines.question(`${question} [y/N] `, { signal: stop });
    return /^y(es)?$/i.test(answer.trim());
  } catch {
    return false;
  } finally {
    lines.close();
  }
}
