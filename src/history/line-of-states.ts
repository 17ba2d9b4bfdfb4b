import { isInSync, isSameFileContent } from '../domain/compare-content.ts';
import { type Content, toStoredContent } from '../domain/content.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import {
  findPinnedVersion,
  findVersionWithContent,
  type KnownVersion,
  type VersionTraits,
} from '../domain/versions.ts';

/**
 * The states of a prompt's file on the first-parent history of a commit, newest first. promptsync decides everything
 * that depends on history from this list: drift, promotion order, rollbacks, pulls and histories.
 */
export type Line = {
  readonly states: readonly LineState[];
  /** Whether older states may exist that promptsync has not read. */
  readonly isCut: boolean;
  /** Whether the line reaches the first state of the file, and no earlier file of the prompt was deleted. */
  readonly isComplete: boolean;
};

export type LineState = {
  /** The first-parent commit that created the state. Null for uncommitted edits, which only the newest state can be. */
  readonly commit: string | null;
  /** The committer date of the commit, in seconds since 1970. Null for uncommitted edits. */
  readonly time: number | null;
  readonly file: PromptFile;
  /**
   * What the state wants in each environment, including those of other configurations. Omits pins that want nothing:
   * old pins to moving refs, pins to unknown refs, and pins to versions that only another configuration's service has.
   */
  readonly wants: ReadonlyMap<string, Want>;
};

/** What a pin wants: the version with a number or an id, or any version that holds some content. */
export type Want =
  | { readonly kind: 'number'; readonly number: number }
  | { readonly kind: 'version'; readonly id: string }
  | {
      readonly kind: 'content';
      readonly content: Content;
      /** Whether the content comes from a ref that can move to another commit, such as a branch. */
      readonly isMoving: boolean;
    };

export const EMPTY_LINE: Line = { states: [], isCut: false, isComplete: false };

export function isSameWant(one: Want, other: Want): boolean {
  switch (one.kind) {
    case 'number':
      return other.kind === 'number' && one.number === other.number;
    case 'version':
      return other.kind === 'version' && one.id === other.id;
    case 'content':
      return other.kind === 'content' && isSameFileContent(one.content, other.content);
  }
}

/** A version whose text is unknown matches no content. `metadata` tells whether the service stores metadata. */
export function namesVersion(want: Want | undefined, version: VersionTraits, metadata: 'kept' | 'dropped'): boolean {
  switch (want?.kind) {
    case undefined:
      return false;
    case 'number':
      return want.number === version.number;
    case 'version':
      return want.id === version.id;
    case 'content': {
      const { digest, metadataDigest } = version;
      const content = toStoredContent(want.content, metadata);
      if (digest === undefined) return false;
      return metadataDigest === undefined ? digest === content.digest : isInSync({ digest, metadataDigest }, content);
    }
  }
}

/** If several versions hold the wanted content, `findByContent` chooses one. */
export function findWantedVersion(
  want: Want,
  known: readonly KnownVersion[],
  findByContent = (content: Content) => findVersionWithContent(known, content),
): KnownVersion | undefined {
  switch (want.kind) {
    case 'content':
      return findByContent(want.content);
    case 'number':
    case 'version':
      return findPinnedVersion(known, want);
  }
}

export function wantsVersion(
  { wants }: LineState,
  environment: string,
  version: VersionTraits,
  metadata: 'kept' | 'dropped',
): boolean {
  return namesVersion(wants.get(environment), version, metadata);
}

/**
 * Counts the states in the run of an environment: the newest states of a line that have the same want. A moving ref
 * counts only in the newest state, because the ref may have pointed elsewhere at the time of the older states.
 */
export function countRun({ states }: Pick<Line, 'states'>, environment: string): number {
  const want = states[0]?.wants.get(environment);
  if (want === undefined) return 0;
  if (want.kind === 'content' && want.isMoving) return 1;
  return countNewest(states, ({ wants }) => {
    const earlier = wants.get(environment);
    return earlier !== undefined && isSameWant(want, earlier);
  });
}

/** Lists the states from before the current run, newest first. What they wanted has been replaced since. */
export function listStatesBeforeRun({ states }: Pick<Line, 'states'>, environment: string): readonly LineState[] {
  return states.slice(countRun({ states }, environment));
}

/** Returns true if a state wanted the version in the environment before the environment's current run began. */
export function wasReplaced(
  line: Pick<Line, 'states'>,
  environment: string,
  version: VersionTraits,
  metadata: 'kept' | 'dropped',
): boolean {
  return listStatesBeforeRun(line, environment).some((state) => wantsVersion(state, environment, version, metadata));
}

/** Counts the states from the newest one down to the first one that does not match. */
export function countNewest(states: readonly LineState[], matches: (state: LineState) => boolean): number {
  const end = states.findIndex((state) => !matches(state));
  return end === -1 ? states.length : end;
}

/** Returns the oldest of the run's `length` states. Null if the run may have begun before the oldest known state. */
export function findStartOfRun({ states, isCut }: Pick<Line, 'states' | 'isCut'>, length: number): LineState | null {
  if (isCut && length === states.length) return null;
  return states[length - 1] ?? null;
}

/**
 * Returns the oldest state of the newest unbroken series of states that match. Returns null if no state matches, or if
 * the series may have begun before the oldest known state.
 */
export function findStartOfSeries({ states, isCut }: Line, matches: (state: LineState) => boolean): LineState | null {
  const first = states.findIndex(matches);
  if (first === -1) return null;
  const series = states.slice(first);
  return findStartOfRun({ states: series, isCut }, countNewest(series, matches));
}
