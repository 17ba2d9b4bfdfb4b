import type {
  CommitInfo,
  FileHistory,
  FormerPin,
  VersionOrigin,
  PinnedPeriod,
  VersionHistory,
} from '../domain/history.ts';
import type { ObservedPrompt } from '../domain/observed-prompt.ts';
import { findVersionWithContent, type KnownVersion } from '../domain/versions.ts';
import { toStoredContent, holdsContent } from '../domain/content.ts';
import { findMeantVersion } from './former-pins.ts';

export type HistorySources = {
  readonly observed: ObservedPrompt;
  /** The states of the file on the checked-out branch. Outside a repository, it has none. */
  readonly history: FileHistory;
  /** Details of commits by their ids. A commit that is missing here is named by its id. */
  readonly commits: ReadonlyMap<string, CommitInfo>;
  /** The order in which to list environments. Environments that it does not contain come last. */
  readonly order: readonly string[];
};

/** Returns the known versions, newest first, with their origin, their active environments and their pinned periods. */
export function makeHistory(sources: HistorySources): readonly VersionHistory[] {
  const { metadata } = sources.observed;
  const known = listKnownVersions(sources.observed);
  const pinned = listAllPinnedPeriods(known, sources);
  const environments = sortEnvironments([...sources.observed.active.keys()], sources.order);
  return known.map((version) => {
    const { id, number, digest, source, message } = version;
    const { commit, path } = version.isManaged && source !== null ? source : {};
    return {
      ref: { id, number },
      digest,
      origin: classifyOrigin(version, metadata),
      commit: commit === undefined ? null : getCommitInfo(commit, sources),
      path: path ?? null,
      message,
      activeIn: environments.filter((environment) => sources.observed.active.get(environment)?.id === id),
      pinnedPeriods: pinned.filter((one) => one.id === id).map(({ time }) => time),
    };
  });
}

/**
 * Returns the known versions. A served version replaces its entry from a ledger, because some services add metadata to
 * every version.
 */
function listKnownVersions({ known, active }: ObservedPrompt): readonly KnownVersion[] {
  const served = [...active.values()].filter((version) => version !== null);
  return known.map((one) => served.find(({ id }) => id === one.id) ?? one);
}

function classifyOrigin({ isManaged, source }: KnownVersion, metadata: ObservedPrompt['metadata']): VersionOrigin {
  if (!isManaged) return metadata === 'dropped' || isManaged === null ? 'unknown' : 'outside';
  return source?.commit === undefined ? 'uncommitted' : 'git';
}

function sortEnvironments(environments: readonly string[], order: readonly string[]): readonly string[] {
  return [...new Set([...order.filter((one) => environments.includes(one)), ...environments])];
}

type PinnedVersion = { readonly id: string; readonly time: PinnedPeriod };

function listAllPinnedPeriods(known: readonly KnownVersion[], sources: HistorySources): readonly PinnedVersion[] {
  const { history, observed, order } = sources;
  const environments = sortEnvironments([...observed.active.keys(), ...history.pins.keys()], order);
  return environments.flatMap((environment) => listPinnedPeriods(environment, known, sources));
}

/**
 * Returns the periods in which the file pinned an environment to known versions, newest first. Consecutive pins that are
 * written differently but mean the same version form one period. Pins of unknown versions form none.
 */
function listPinnedPeriods(
  environment: string,
  known: readonly KnownVersion[],
  sources: HistorySources,
): readonly PinnedVersion[] {
  const { commits, pins, isComplete } = sources.history;
  const served = sources.observed.active.get(environment)?.id;
  const active = known.find(({ id }) => id === served) ?? null;
  const meant = (pin: FormerPin) => findVersionMeantBy(pin, known, active, sources.observed)?.id;
  const byAge = new Map((pins.get(environment) ?? []).map((pin) => [pin.age, meant(pin)]));
  const oldestFirst = commits.map((commit, age) => ({ commit, id: byAge.get(age) ?? null })).toReversed();
  const turns = oldestFirst.filter(({ id }, index) => index === 0 || id !== oldestFirst[index - 1]?.id);
  const times = turns.flatMap(({ commit, id }, index): readonly PinnedVersion[] => {
    const from = index === 0 && !isComplete ? null : getCommitInfo(commit, sources);
    const next = turns[index + 1]?.commit;
    return id === null ? [] : [{ id, time: { environment, from, until: next ? getCommitInfo(next, sources) : null } }];
  });
  return times.toReversed();
}

function getCommitInfo(commit: string, { commits }: HistorySources): CommitInfo {
  return commits.get(commit) ?? { commit };
}

/** Returns the version that a pin means. Among versions with equal content, it prefers the served one. */
function findVersionMeantBy(
  pin: FormerPin,
  known: readonly KnownVersion[],
  active: KnownVersion | null,
  { metadata }: ObservedPrompt,
): KnownVersion | undefined {
  return findMeantVersion(pin, known, (content) => {
    const sought = toStoredContent(content, metadata);
    return active !== null && holdsContent(active, sought) ? active : findVersionWithContent(known, sought);
  });
}
