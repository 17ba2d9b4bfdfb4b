import pLimit from 'p-limit';
import type { Provider } from '../domain/provider.ts';
import type { ServedPrompt } from '../domain/served-prompt.ts';
import { type Problem, toProblem } from '../problem.ts';
import { PROMPTS_PER_REQUEST, type ObserveOptions } from './observe-prompts.ts';

/** What promptsync read for each prompt in one environment. Each requested prompt is in exactly one of the two maps. */
export type ServedReading = {
  /** The version that the environment serves, by prompt id. Null if no version is active there. */
  readonly served: ReadonlyMap<string, ServedPrompt | null>;
  /** The problem of each prompt that promptsync could not read, by prompt id. */
  readonly failed: ReadonlyMap<string, Problem>;
};

/**
 * Reads what an environment serves to applications. Never writes. If promptsync cannot read a prompt, adds the problem
 * to `failed` and continues with the other prompts.
 */
export async function readServedPrompts(
  provider: Provider,
  promptIds: readonly string[],
  environment: string,
  { concurrency, onObserved }: ObserveOptions,
): Promise<ServedReading> {
  const served = new Map<string, ServedPrompt | null>();
  const failed = new Map<string, Problem>();
  await pLimit(concurrency * PROMPTS_PER_REQUEST).map(promptIds, async (promptId) => {
    try {
      served.set(promptId, await provider.readServed(promptId, environment));
    } catch (error) {
      failed.set(promptId, toProblem(error));
    }
    onObserved?.(served.size + failed.size, promptIds.length);
  });
  return { served, failed };
}
