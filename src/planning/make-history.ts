import type { CommitInfo, VersionOrigin, PinnedPeriod, VersionHistory } from '../domain/version-history.ts';
import type { ObservedPrompt } from '../domain/observed-prompt.ts';
import { findVersionWithContent, type KnownVersion, MAX_LEDGER_VERSIONS, toSeconds } from '../domain/versions.ts';
import { canReuseVersion } from '../domain/compare-content.ts';
import { toStoredContent } from '../domain/content.ts';
import { countRun, findWantedVersion, type Line, type LineState, type Want } from '../history/line-of-states.ts';

export type HistorySources = {
  readonly observed: ObservedPrompt;
  /** The line up to HEAD. Empty outside a repository. */
  readonly line: Line;
  /** The details of commits, by commit id. If a commit is missing from the map, the history shows only its id. */
  readonly commits: ReadonlyMap<string, CommitInfo>;
  /** The order in which to list environments. Environments that are missing from this list come last. */
  readonly order: readonly string[];
};

/** Returns the known versions, newest first, with their origin, their active environments and their pinned periods. */
export function makeHistory(sources: HistorySources): readonly VersionHistory[] {
  const { known, metadata } = sources.observed;
  const periods = listAllPinnedPeriods(known, sources);
  const environments = sortEnvironments([...sources.observed.active.keys()], sources.order);
  const adoptionEnd = findAdoptionEnd(known, sources.line);
  return known.map((version) => {
    const { id, number, digest, baseline, source, message, times, createdBy } = version;
    const { commit, path } = version.isManaged !== false && source !== null ? source : {};
    return {
      ref: { id, number },
      digest,
      origin: classifyOrigin(version, adoptionEnd, metadata),
      isBaseline: baseline === true,
      commit: getCommitInfo({ commit: commit ?? null }, sources),
      path: path ?? null,
      message,
      createdAt: version.isManaged === true && commit !== undefined ? null : (times?.createdAt ?? null),
      createdBy: createdBy ?? null,
      activeIn: environments.filter((environment) => sources.observed.active.get(environment)?.id === id),
      pinnedPeriods: periods.filter((one) => one.id === id).map(({ period }) => period),
    };
  });
}

/**
 * Returns the number below which all foreign versions are from before the adoption: that of the first managed version.
 * If ledgers may have dropped it, only the first state of the file gives evidence: the foreign versions that it pins,
 * and all older ones. Returns 0 if promptsync never created a version.
 */
function findAdoptionEnd(known: readonly KnownVersion[], { states, isComplete }: Line): number {
  const firstManaged = known.findLast(({ isManaged }) => isManaged);
  if (firstManaged === undefined) return 0;
  if (firstManaged.baseline === true || known.length <= MAX_LEDGER_VERSIONS) return firstManaged.number;
  const firstWants = isComplete ? [...(states.at(-1)?.wants.values() ?? [])] : [];
  const pinned = firstWants.flatMap((want) => findWantedVersion(want, known, () => undefined) ?? []);
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

type VersionPeriod = { readonly id: string; readonly period: PinnedPeriod };

function listAllPinnedPeriods(known: readonly KnownVersion[], sources: HistorySources): readonly VersionPeriod[] {
  const { line, observed, order } = sources;
  const pinned = line.states.flatMap(({ file }) => file.pins.map(({ environment }) => environment));
  const environments = sortEnvironments([...observed.active.keys(), ...pinned], order);
  return environments.flatMap((environment) => listPinnedPeriods(environment, known, sources));
}

/**
 * Returns the periods, newest first. Consecutive wants of the same version form one period, even if the pins are
 * written differently (such as `7` and `latest`). States that want an unknown version or nothing belong to no period.
 */
function listPinnedPeriods(
  environment: string,
  known: readonly KnownVersion[],
  sources: HistorySources,
): readonly VersionPeriod[] {
  const oldestFirst = listRuns(sources.line.states, environment).toReversed();
  const runs = oldestFirst.map((run, index) => {
    return { run, id: findVersionOfRun(run, oldestFirst[index + 1], known, sources)?.id };
  });
  const periodStarts = runs.filter(({ id }, index) => index === 0 || id !== runs[index - 1]?.id);
  const periods = periodStarts.flatMap(({ run, id }, index): readonly VersionPeriod[] => {
    if (id === undefined) return [];
    const from = index === 0 && sources.line.isCut ? null : getCommitInfo(run.start, sources);
    const next = periodStarts[index + 1];
    const until = next === undefined ? null : getCommitInfo(next.run.start, sources);
    return [{ id, period: { environment, from, until } }];
  });
  return periods.toReversed();
}

/** Consecutive states that want the same thing in an environment. */
type Run = {
  readonly environment: string;
  /** Undefined if the states want nothing. */
  readonly want: Want | undefined;
  readonly start: LineState;
};

/** Splits the states of a line into runs of one environment, newest first. */
function listRuns(states: readonly LineState[], environment: string): readonly Run[] {
  const length = Math.max(1, countRun({ states }, environment));
  const start = states[length - 1];
  if (start === undefined) return [];
  return [{ environment, want: start.wants.get(environment), start }, ...listRuns(states.slice(length), environment)];
}

/**
 * Returns the version that a run wanted. A version that was created after the run ended does not count, unless it has a
 * version record. If several match, prefers the active one, and then the first one created after the run started.
 * Without creation times, every version counts. `next` is the run that replaced this run.
 */
function findVersionOfRun(
  { environment, want, start }: Run,
  next: Run | undefined,
  known: readonly KnownVersion[],
  { observed }: HistorySources,
): KnownVersion | undefined {
  if (want === undefined) return undefined;
  const end = next?.start.time ?? Infinity;
  // A version record names the commit of its version. If a sync took longer than the run, the version still counts.
  const existing = known.filter(
    ({ isManaged, times }) => isManaged === true || times === undefined || toSeconds(times.createdAt) <= end,
  );
  return findWantedVersion(want, existing, (content) => {
    const sought = toStoredContent(content, observed.metadata);
    const active = existing.find(({ id }) => id === observed.active.get(environment)?.id);
    if (active !== undefined && canReuseVersion(active, sought)) return active;
    const startTime = start.time ?? Infinity;
    const createdLater = existing.filter(({ times }) => times !== undefined && times.createdAt >= startTime * 1_000);
    return findVersionWithContent(createdLater, sought) ?? findVersionWithContent(existing, sought);
  });
}

function getCommitInfo({ commit }: Pick<LineState, 'commit'>, { commits }: HistorySources): CommitInfo | null {
  return commit === null ? null : (commits.get(commit) ?? { commit });
}
