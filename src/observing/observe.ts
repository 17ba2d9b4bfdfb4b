import pLimit from 'p-limit';
import type { Observation, Observed, ObserveRequest } from '../domain/observed.ts';
import { untilStopped, type PromptService } from '../domain/prompt-service.ts';
import { problemOf, type Problem } from '../problem.ts';
import { observePrompt } from './observe-prompt.ts';

/** How to read: what beside the pins, how much at a time, and until when. */
export type ObserveOptions = {
  readonly trackingEnvironment: string;
  /** How many requests the service takes at the same time; it is for the service to let in no more. */
  readonly concurrency: number;
  /** Once aborted, no further call is started. */
  readonly stop: AbortSignal;
  /** What is kept of a prompt as soon as it was read; by default all. */
  readonly keep?: (observed: Observed) => Observed;
  readonly onObserved?: (done: number, all: number) => void;
};

/** A prompt whose request waits to be repeated, maybe for a minute, must leave the others enough to do. */
const PROMPTS_PER_REQUEST = 4;

/**
 * Reads what the service holds of each prompt. Never writes. A prompt that cannot be read does not stop the others: its
 * problem is in `failed`.
 */
export async function observe(
  service: PromptService,
  requests: readonly ObserveRequest[],
  options: ObserveOptions,
): Promise<Observation> {
  const observed = new Map<string, Observed>();
  const failed = new Map<string, Problem>();
  const stoppable = untilStopped(service, options.stop);
  await pLimit(options.concurrency * PROMPTS_PER_REQUEST).map(requests, async (request) => {
    try {
      const read = await observePrompt(stoppable, request, options.trackingEnvironment);
      observed.set(request.promptId, options.keep?.(read) ?? read);
    } catch (error) {
      failed.set(request.promptId, problemOf(error));
    }
    options.onObserved?.(observed.size + failed.size, requests.length);
  });
  return { observed, failed };
}
