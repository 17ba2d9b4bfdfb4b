import type {
  CommitInfo,
  FileHistory,
  FormerPin,
  VersionOrigin,
  PinnedPeriod,
  VersionHistory,
} from '../domain/history.ts';
import type { ObservedPrompt } from '../domain/observed-prompt.ts';
import {
  findPinnedVersion,
  findVersionWithContent,
  type KnownVersion,
  MAX_LEDGER_VERSIONS,
} from '../domain/versions.ts';
import { toStoredContent, holdsContent, isEqualContent } from '../domain/content.ts';
import { formatPin } from '../domain/prompt-file.ts';
import { findMeantVersion } from './former-pins.ts';

/**
 * The data from which promptsync builds the version history of one prompt: its state as observed in the service, and
 * its git history.
 */
export type HistorySources = {
  readonly observed: ObservedPrompt;
  /** The states of the file on the checked-out branch. Empty outside a repository. */
  readonly history: FileHistory;
  /** The details of commits, by commit id. If a commit is missing from the map, the history shows only its id. */
  readonly commits: ReadonlyMap<string, CommitInfo>;
  /** The committer dates of commits, as seconds since 1970, by commit id. */
  readonly commitTimes: ReadonlyMap<string, number>;
  /** The order in which to list environments. Environments that are missing from this list come last. */
  readonly order: readonly string[];
};

/** Returns the known versions, newest first, with their origin, their active environments and their pinned periods. */
export function makeHistory(sources: HistorySources): readonly VersionHistory[] {
  const { metadata } = sources.observed;
  const known = listKnownVersions(sources.observed);
  const periods = listAllPinnedPeriods(known, sources);
  const environments = sortEnvironments([...sources.observed.active.keys()], sources.order);
  const adoptionEnd = findAdoptionEnd(known, sources.history);
  return known.map((version) => {
    const { id, number, digest, baseline, source, message, times, createdBy } = version;
    const { commit, path } = version.isManaged !== false && source !== null ? source : {};
    return {
      ref: { id, number },
      digest,
      origin: classifyOrigin(version, adoptionEnd, metadata),
      isBaseline: baseline === true,
      commit: commit === undefined ? null : getCommitInfo(commit, sources),
      path: path ?? null,
      message,
      createdAt: times?.createdAt ?? null,
      createdBy: createdBy ?? null,
      activeIn: environments.filter((environment) => sources.observed.active.get(environment)?.id === id),
      pinnedPeriods: periods.filter((one) => one.id === id).map(({ period }) => period),
    };
  });
}

/**
 * Returns the known versions. If a version is active, replaces its ledger entry with the version that promptsync read
 * from the service. The two can differ, because some services add metadata to every version.
 */
function listKnownVersions({ known, active }: ObservedPrompt): readonly KnownVersion[] {
  const served = [...active.values()].filter((version) => version !== null);
  return known.map((one) => served.find(({ id }) => id === one.id) ?? one);
}

/**
 * Returns a limit: every foreign version with a lower number is from before the adoption. The limit is the number of
 * the first managed version. If ledgers may have dropped that version, only the first state of the file gives evidence.
 * The foreign versions that it pins by number or id are from before the adoption, and so are all older versions.
 * Returns 0 if promptsync never created a version.
 */
function findAdoptionEnd(known: readonly KnownVersion[], { commits, pins, isComplete }: FileHistory): number {
  const firstManaged = known.findLast(({ isManaged }) => isManaged);
  if (firstManaged === undefined) return 0;
  if (firstManaged.baseline === true || known.length <= MAX_LEDGER_VERSIONS) return firstManaged.number;
  const firstPins = [...pins.values()].flat().filter(({ age }) => isComplete && age === commits.length - 1);
  const pinned = firstPins.flatMap(({ pin }) => findPinnedVersion(known, pin) ?? []);
  const adopted = pinned.filter(({ isManaged }) => isManaged === false);
  return Math.max(0, ...adopted.map(({ number }) => number + 1));
}

/** @param adoptionEnd the result of `findAdoptionEnd` */
function classifyOrigin(
  { number, isManaged, source }: KnownVersion,
  adoptionEnd: number,
  metadata: ObservedPrompt['metadata'],
): VersionOrigin {
  if (isManaged === null && source !== null) return 'git';
  if (isManaged) return source?.commit === undefined ? 'uncommitted' : 'git';
  if (metadata === 'dropped' || isManaged === null) return 'unknown';
  return number < adoptionEnd ? 'before-adoption' : 'outside';
}

function sortEnvironments(environments: readonly string[], order: readonly string[]): readonly string[] {
  return [...new Set([...order.filter((one) => environments.includes(one)), ...environments])];
}

/** The id of a version, and a period in which the file pinned an environment to that version. */
type VersionPeriod = { readonly id: string; readonly period: PinnedPeriod };

function listAllPinnedPeriods(known: readonly KnownVersion[], sources: HistorySources): readonly VersionPeriod[] {
  const { history, observed, order } = sources;
  const environments = sortEnvironments([...observed.active.keys(), ...history.pins.keys()], order);
  return environments.flatMap((environment) => listPinnedPeriods(environment, known, sources));
}

/**
 * Returns the periods in which the file pinned an environment to known versions, newest first. Consecutive pins to the
 * same version form one period, even if they are written differently (such as `7` and `latest`). Pins to unknown
 * versions do not form a period.
 */
function listPinnedPeriods(
  environment: string,
  known: readonly KnownVersion[],
  sources: HistorySources,
): readonly VersionPeriod[] {
  const { commits, pins, isComplete } = sources.history;
  const served = sources.observed.active.get(environment)?.id;
  const active = known.find(({ id }) => id === served) ?? null;
  const states = pins.get(environment) ?? [];
  const byAge = new Map(states.map((state) => [state.age, state]));
  const findVersionId = (pin: FormerPin) => {
    const end = findEndTime(pin, byAge, sources);
    const existing = known.filter(({ times }) => times === undefined || Math.floor(times.createdAt / 1_000) <= end);
    return findVersionMeantBy(pin, existing, active, sources)?.id;
  };
  const idsByAge = new Map(states.map((pin) => [pin.age, findVersionId(pin)]));
  const oldestFirst = commits.map((commit, age) => ({ commit, id: idsByAge.get(age) ?? null })).toReversed();
  const periodStarts = oldestFirst.filter(({ id }, index) => index === 0 || id !== oldestFirst[index - 1]?.id);
  const periods = periodStarts.flatMap(({ commit, id }, index): readonly VersionPeriod[] => {
    if (id === null) return [];
    const from = index === 0 && !isComplete ? null : getCommitInfo(commit, sources);
    const nextStart = periodStarts[index + 1];
    const until = nextStart === undefined ? null : getCommitInfo(nextStart.commit, sources);
    return [{ id, period: { environment, from, until } }];
  });
  return periods.toReversed();
}

/**
 * Returns the committer date, in seconds since 1970, of the commit that replaced a pin with a pin to something else. A
 * version that was created later cannot be the one to which the pin referred. Returns infinity if the file's newest
 * state still has the pin, or if the date is unknown.
 * @param byAge all former pins of the environment, by age
 */
function findEndTime(
  pin: FormerPin,
  byAge: ReadonlyMap<number, FormerPin>,
  { history, commitTimes }: HistorySources,
): number {
  const newerCommits = history.commits.slice(0, pin.age);
  const end = newerCommits.findLast((_, age) => !meansTheSame(pin, byAge.get(age)));
  return (end === undefined ? undefined : commitTimes.get(end)) ?? Infinity;
}

/**
 * Returns true if two pins refer to the same content. If the content of one is unknown, compares how the pins are
 * written.
 */
function meansTheSame(one: FormerPin, other: FormerPin | undefined): boolean {
  if (other === undefined) return false;
  if (one.content === null || other.content === null) return formatPin(one.pin) === formatPin(other.pin);
  return isEqualContent(one.content, other.content);
}

function getCommitInfo(commit: string, { commits }: HistorySources): CommitInfo {
  return commits.get(commit) ?? { commit };
}

/**
 * Returns the version that a pin refers to. If several versions have the pinned content, prefers the one that is active
 * in the environment of the pin, and then the first one that was created after the commit that set the pin. The second
 * preference applies only if the service shows when versions were created.
 * @param known the versions that existed before the pin was replaced
 */
function findVersionMeantBy(
  pin: FormerPin,
  known: readonly KnownVersion[],
  active: KnownVersion | null,
  { observed, commits }: HistorySources,
): KnownVersion | undefined {
  return findMeantVersion(pin, known, (content) => {
    const sought = toStoredContent(content, observed.metadata);
    if (active !== null && known.includes(active) && holdsContent(active, sought)) return active;
    const pinnedAt = Date.parse(commits.get(pin.commit)?.date ?? '');
    const createdLater = known.filter(({ times }) => times !== undefined && times.createdAt >= pinnedAt);
    return findVersionWithContent(createdLater, sought) ?? findVersionWithContent(known, sought);
  });
}
