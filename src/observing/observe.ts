import pLimit from 'p-limit';
import type { Observation, Observed, Wanted } from '../domain/observed.ts';
import type { Provider } from '../domain/provider.ts';
import { problemOf, type Problem } from '../problem.ts';

/** How much is read at a time, and until when. */
export type ObserveOptions = {
  /** How many requests the service takes at the same time; it is for the service to let in no more. */
  readonly concurrency: number;
  readonly onObserved?: (done: number, all: number) => void;
};

/** A prompt whose request waits to be repeated, maybe for a minute, must leave the others enough to do. */
const PROMPTS_PER_REQUEST = 4;

/**
 * Reads what the service holds of each prompt. Never writes. A prompt that cannot be read does not stop the others: its
 * problem is in `failed`.
 */
export async function observe(
  provider: Provider,
  wanted: readonly Wanted[],
  { concurrency, onObserved }: ObserveOptions,
): Promise<Observation> {
  const observed = new Map<string, Observed>();
  const failed = new Map<string, Problem>();
  await pLimit(concurrency * PROMPTS_PER_REQUEST).map(wanted, async (one) => {
    try {
      observed.set(one.promptId, await provider.observe(one));
    } catch (error) {
      failed.set(one.promptId, problemOf(error));
    }
    onObserved?.(observed.size + failed.size, wanted.length);
  });
  return { observed, failed };
}
