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
  readonly trackingEnvironment: string;
  readonly concurrency: number;
  readonly stop: AbortSignal;
};

/**
 * Warnings of prompts whose files are gone, with what is served of them still: the interface has no call that deletes a
 * prompt.
 */
export async function goneProblems(gone: readonly PromptFile[], asked: Asked): Promise<readonly Problem[]> {
  if (gone.length === 0) return [];
  const { service, base, trackingEnvironment, concurrency, stop } = asked;
  const { observed, failed } =
    service === null
      ? { observed: new Map<string, Observed>(), failed: new Map<string, Problem>() }
      : await observe(service, gone.map(requestOf), { trackingEnvironment, concurrency, stop });
  return gone.map((file) => {
    const { id, path } = file;
    const serves = served(file, observed.get(id), failed.get(id));
    return makeProblem('prompt/gone', { id, base, serves }, { path });
  });
}

function requestOf(file: PromptFile): ObserveRequest {
  return readingOnly(file.id, pinnedIn(file));
}

function pinnedIn({ pins }: PromptFile): readonly string[] {
  return pins.map(({ environment }) => environment);
}

function served(file: PromptFile, observed: Observed | undefined, failure: Problem | undefined): string {
  if (failure !== undefined) return `what it serves cannot be read: ${failure.message}`;
  if (observed === undefined) return 'the service keeps what it serves.';
  const active = pinnedIn(file).flatMap((environment) => {
    const version = observed.active.get(environment) ?? null;
    return version === null ? [] : [`v${version.number} in "${environment}"`];
  });
  return active.length === 0
    ? 'no environment of it serves anything.'
    : `the service still serves ${active.join(', ')}.`;
}
