import { readingOnly, type Observed, type ObserveRequest } from '../../domain/observed.ts';
import type { PromptFile } from '../../domain/prompt-file.ts';
import type { PromptService } from '../../domain/prompt-service.ts';
import { observe } from '../../observing/observe.ts';
import { makeProblem, type Problem } from '../../problem.ts';

export type Asked = {
  /** Null where the service may not be asked. */
  readonly service: PromptService | null;
  /** The base, as it was given. */
  readonly base: string;
  readonly concurrency: number;
  readonly stop: AbortSignal;
};

/**
 * Warnings of prompts whose files are gone, with what is served of them still: the interface has no call that deletes a
 * prompt.
 */
export async function goneProblems(gone: readonly PromptFile[], asked: Asked): Promise<readonly Problem[]> {
  if (gone.length === 0) return [];
  const { service, base, concurrency, stop } = asked;
  const { observed, failed } =
    service === null
      ? { observed: new Map<string, Observed>(), failed: new Map<string, Problem>() }
      : await observe(service, gone.map(requestOf), { trackingEnvironment: null, concurrency, stop });
  return gone.map(({ id, path }) => {
    const serves = served(observed.get(id), failed.get(id));
    return makeProblem('prompt/gone', { id, base, serves }, { path });
  });
}

function requestOf({ id, pins }: PromptFile): ObserveRequest {
  const environments = pins.map(({ environment }) => environment);
  return readingOnly(id, environments);
}

function served(observed: Observed | undefined, failure: Problem | undefined): string {
  if (failure !== undefined) return `what it serves cannot be read: ${failure.message}`;
  if (observed === undefined) return 'the service keeps what it serves.';
  const active = [...observed.active].flatMap(([environment, version]) =>
    version === null ? [] : [`v${version.number} in "${environment}"`],
  );
  return active.length === 0
    ? 'no environment of it serves anything.'
    : `the service still serves ${active.join(', ')}.`;
}
