import { type Content, makeContentKey } from '../domain/content.ts';
import type { WantedSinceByEnvironment } from '../domain/desired-state.ts';
import type { FileHistory, FormerPin } from '../domain/history.ts';
import type { ObservedPrompt } from '../domain/observed-prompt.ts';
import { findPinnedContent, findPinTarget } from '../domain/pin-target.ts';
import type { ContentsAtRefs } from '../domain/plan.ts';
import type { EnvironmentPin, PromptFile } from '../domain/prompt-file.ts';
import type { KnownVersion } from '../domain/versions.ts';
import type { Repository } from '../git/open-repository.ts';
import { readFileHistory } from './read-history.ts';

/** The live branch, in whose history promptsync looks for the commits that introduced the pins. */
type LiveBranch = {
  readonly repository: Repository;
  /** The name of the live branch. Null if the configuration does not name it. */
  readonly branch: string | null;
  /** The commit to use if the clone does not know the tip of the branch. */
  readonly commit: string;
};

/**
 * Finds the first-parent commit of the live branch that introduced what each pin of a file wants. Omits a pin in these
 * cases:
 * - The tip of the branch wants something else. The service may then serve what a newer commit wants.
 * - The pin wants a version that does not exist yet, or a `git:` ref that can move.
 * - The clone does not have the commit, because it is shallow or the branch was rewritten.
 */
export async function readWantedSince(
  file: PromptFile,
  observed: ObservedPrompt,
  contentsAtRefs: ContentsAtRefs,
  live: LiveBranch,
): Promise<WantedSinceByEnvironment> {
  const { repository } = live;
  const tip = await repository.findKnownTip(live.branch);
  const history = await readFileHistory(file, tip ?? live.commit, repository);
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
    const version = findWantedVersion(pin, file, observed, contentsAtRefs);
    if (version === null) return [];
    const content = findPinnedContent(pin.pin, file, contentsAtRefs);
    const commit = findIntroducingCommit(pin.environment, { version, content }, history);
    return commit === null ? [] : [[pin.environment, commit]];
  });
  return new Map(introduced);
}

function findWantedVersion(
  pin: EnvironmentPin,
  file: PromptFile,
  observed: ObservedPrompt,
  contentsAtRefs: ContentsAtRefs,
): KnownVersion | null {
  const target = findPinTarget(pin, file, observed, contentsAtRefs);
  if (target.kind === 'known') return target.version;
  return target.kind === 'in-sync' ? (observed.active.get(pin.environment) ?? null) : null;
}

/** What a pin wants: a version and, if the pin refers to content, that content. */
type PinWant = { readonly version: KnownVersion; readonly content: Content | null };

/**
 * Goes back from the newest state of the file as long as the states want the same as `want`. Returns the commit of the
 * oldest of these states. Returns null if the newest state wants something else, or if the series may have begun before
 * the oldest known state.
 */
function findIntroducingCommit(
  environment: string,
  want: PinWant,
  { commits, pins, isComplete }: FileHistory,
): string | null {
  const states = pins.get(environment) ?? [];
  const end = states.findIndex((state, index) => state.age !== index || !wantsSame(state, want));
  if (states.length === 0 || end === 0) return null;
  const oldestAge = (end === -1 ? states.length : end) - 1;
  const isOldestState = oldestAge === commits.length - 1;
  return isOldestState && !isComplete ? null : (commits[oldestAge] ?? null);
}

/**
 * Returns true if a former pin wanted exactly the same as `want`. Content without metadata is not the same as this
 * content with metadata, even if one version satisfies both.
 */
function wantsSame({ pin, content, isFixed }: FormerPin, want: PinWant): boolean {
  if (!isFixed) return false;
  if (pin.kind === 'number') return pin.number === want.version.number;
  if (pin.kind === 'version') return pin.id === want.version.id;
  return content !== null && makeContentKey(content) === makeContentKey(want.content ?? want.version);
}
