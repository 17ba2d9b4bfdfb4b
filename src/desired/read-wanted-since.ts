import { makeContentKey } from '../domain/content.ts';
import type { WantedSinceByEnvironment } from '../domain/desired-state.ts';
import type { FileHistory, FormerPin } from '../domain/history.ts';
import type { ObservedPrompt } from '../domain/observed-prompt.ts';
import { findPinnedContent, findPinTarget } from '../domain/pin-target.ts';
import type { ContentsAtRefs } from '../domain/plan.ts';
import type { EnvironmentPin, PromptFile } from '../domain/prompt-file.ts';
import type { VersionRef } from '../domain/versions.ts';
import type { LiveBranch } from './open-workspace.ts';
import { locateAtCommit, readFileHistory } from './read-history.ts';

/** The live branch, whose history promptsync searches for the commits that introduced the pins. */
type SearchedBranch = LiveBranch & {
  /** The commit to use if the clone does not know the tip of the branch. */
  readonly commit: string;
};

/**
 * Finds the first-parent commit of the live branch that introduced what each pin of a file wants. Omits a pin in these
 * cases:
 * - The tip of the branch wants something else. The service may then serve what a newer commit wants.
 * - The pin wants a `git:` ref that can move, or a version number that promptsync does not know.
 * - The clone does not have the commit, because it is shallow or the branch was rewritten.
 */
export async function readWantedSince(
  file: PromptFile,
  observed: ObservedPrompt,
  contentsAtRefs: ContentsAtRefs,
  live: SearchedBranch,
): Promise<WantedSinceByEnvironment> {
  const { repository } = live;
  const tip = await repository.findKnownTip(live.branch);
  const newest = tip?.commit ?? live.commit;
  const history = await readFileHistory(await locateAtCommit(file, newest, repository), newest, repository);
  const introduced = findIntroducingCommits(file, observed, contentsAtRefs, history);
  const times = await repository.readCommitTimes([...introduced.values()]);
  return new Map(
    [...introduced].flatMap(([environment, commit]) => {
      const time = times.get(commit);
      return time === undefined ? [] : [[environment, { commit, time }]];
    }),
  );
}

/** Returns the commit of a file's history that introduced what each pin wants, by environment. Omits unknown ones. */
export function findIntroducingCommits(
  file: PromptFile,
  observed: ObservedPrompt,
  contentsAtRefs: ContentsAtRefs,
  history: FileHistory,
): ReadonlyMap<string, string> {
  const introduced = file.pins.flatMap((pin): readonly (readonly [string, string])[] => {
    const want = findPinWant(pin, file, observed, contentsAtRefs);
    const age = want === null ? null : findIntroducingAge(pin.environment, want, history);
    const commit = age === null ? undefined : history.commits[age];
    return commit === undefined ? [] : [[pin.environment, commit]];
  });
  return new Map(introduced);
}

/** What a pin wants. At least one of the two properties is not null. */
export type PinWant = {
  /** The version that the pin refers to. Null if this version does not exist yet. */
  readonly version: VersionRef | null;
  /** The key of the content, from `makeContentKey`. Null if promptsync knows only the version. */
  readonly contentKey: string | null;
};

/** Returns what a pin of a file wants. Returns null if neither the observation nor git shows it. */
export function findPinWant(
  environmentPin: EnvironmentPin,
  file: PromptFile,
  observed: ObservedPrompt,
  contentsAtRefs: ContentsAtRefs,
): PinWant | null {
  const { environment, pin } = environmentPin;
  const content = findPinnedContent(pin, file, contentsAtRefs);
  const target = findPinTarget(environmentPin, file, observed, contentsAtRefs);
  const known = target.kind === 'known' ? target.version : null;
  const version = target.kind === 'in-sync' ? (observed.active.get(environment) ?? null) : known;
  if (version !== null) return { version, contentKey: makeContentKey(content ?? version) };
  if (content !== null) return { version: null, contentKey: makeContentKey(content) };
  return pin.kind === 'version' ? { version: { id: pin.id, number: null }, contentKey: null } : null;
}

/**
 * Goes back from the newest state of the file as long as the states want the same as `want`. Returns the age of the
 * oldest of these states. Returns null if the newest state wants something else, or if the series may have begun before
 * the oldest known state.
 */
export function findIntroducingAge(
  environment: string,
  want: PinWant,
  { commits, pins, isComplete }: FileHistory,
): number | null {
  const states = pins.get(environment) ?? [];
  const oldestAge = countNewest(states, (state, index) => state.age === index && wantsSame(state, want)) - 1;
  if (oldestAge < 0) return null;
  const isOldestState = oldestAge === commits.length - 1;
  return isOldestState && !isComplete ? null : oldestAge;
}

/**
 * Counts the states from the newest state down to the first one that does not match.
 * @param states the states, newest first
 */
export function countNewest<State>(
  states: readonly State[],
  matches: (state: State, index: number) => boolean,
): number {
  const end = states.findIndex((state, index) => !matches(state, index));
  return end === -1 ? states.length : end;
}

/**
 * Returns true if a former pin wanted exactly the same as `want`. Content without metadata is not the same as this
 * content with metadata, even if one version satisfies both.
 */
function wantsSame({ pin, content, isFixed }: FormerPin, { version, contentKey }: PinWant): boolean {
  if (!isFixed) return false;
  if (pin.kind === 'number') return pin.number === version?.number;
  if (pin.kind === 'version') return pin.id === version?.id;
  return content !== null && makeContentKey(content) === contentKey;
}
