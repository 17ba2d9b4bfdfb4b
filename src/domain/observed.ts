import type { Problem } from '../problem.ts';
import type { Content } from './prompt-file.ts';
import type { RemotePrompt } from './prompt-service.ts';
import type { Version } from './version.ts';

/** What was read of one prompt. */
export type Observed = {
  readonly prompt: Omit<RemotePrompt, 'activeVersion'>;
  /** The version active in each environment that was read; null where none is. */
  readonly active: ReadonlyMap<string, Version | null>;
  /** Versions that were made active in the look environment only to read them. */
  readonly looked: readonly Version[];
  /** Ids that were to be looked at and are no version of this prompt. */
  readonly missing: readonly string[];
};

export function versionsRead({ active, looked }: Observed): readonly Version[] {
  return [...[...active.values()].filter((version) => version !== null), ...looked];
}

/** What is to be read of one prompt, and what must be found for the tracking environment to stay unread. */
export type ObserveRequest = {
  readonly promptId: string;
  readonly environments: readonly string[];
  readonly contents: readonly Content[];
  readonly numbers: readonly number[];
  readonly followsLatest: boolean;
};

/** What reads a prompt in these environments, and asks for nothing else to be found. */
export function readingOnly(promptId: string, environments: readonly string[]): ObserveRequest {
  return { promptId, environments, contents: [], numbers: [], followsLatest: true };
}

/** By prompt id: each requested prompt is in one of the two. */
export type Observation = {
  readonly observed: ReadonlyMap<string, Observed>;
  readonly failed: ReadonlyMap<string, Problem>;
};
