import type { CommitInfo, PinnedPeriod, VersionHistories, VersionHistory } from '../domain/version-history.ts';
import { type Change, getWantedNumber, type PromptPlan } from '../domain/plan.ts';
import type { KnownVersion } from '../domain/versions.ts';
import { EMPTY_LINE, wasReplaced } from '../history/line-of-states.ts';
import type { ReportHistory, ReportLineage, ReportPrompt } from './schema/report-schema.ts';
import type { CommandRun } from '../run/command-result.ts';

/** Makes the history of all known versions or, with an environment, of only the version that it serves. */
export function makeHistoryFields(
  promptId: string,
  { versions, environment }: VersionHistories,
): Pick<ReportPrompt, 'history' | 'lineage'> {
  const promptVersions = versions.get(promptId) ?? [];
  if (environment === null) return { history: { versions: promptVersions.map(makeReportVersion) } };
  return { lineage: makeLineage(environment, promptVersions) };
}

function makeLineage(environment: string, versions: readonly VersionHistory[]): ReportLineage {
  const served = findActiveVersion(versions, environment);
  return {
    environment,
    serves: served === undefined ? null : makeOriginFields(served),
    pinned: makePinnedFields(served, environment),
  };
}

function findActiveVersion(versions: readonly VersionHistory[], environment: string): VersionHistory | undefined {
  return versions.find(({ activeIn }) => activeIn.includes(environment));
}

/** Describes the commit that pinned the version that an environment serves. Returns null if it is unknown. */
function makePinnedFields(served: VersionHistory | undefined, environment: string): ReportLineage['pinned'] {
  const currentPeriod = served?.pinnedPeriods.find((one) => one.environment === environment && one.until === null);
  return currentPeriod?.from ? makeCommitFields(currentPeriod.from) : null;
}

/**
 * Lists the environments that are behind or ahead of their promotion source, with the number of distinct texts between
 * the two versions. An environment that is behind waits for a promotion, unless a sync would activate that version or a
 * newer one, or that version was rolled back there. Its entry contains the commit that pinned the source.
 */
export function makeWaitingFields(
  waiting: CommandRun['waiting'],
  { file, observed, changes }: PromptPlan,
): Pick<ReportPrompt, 'waiting' | 'ahead'> {
  if (waiting === undefined) return {};
  const versions = waiting.versions.get(file.id) ?? [];
  const pairs = [...waiting.promotionSources].map(([environment, from]) => ({
    names: { environment, from },
    served: observed?.active.get(environment) ?? null,
    source: observed?.active.get(from) ?? null,
  }));
  const known = observed?.known ?? [];
  const line = waiting.lines.get(file.id) ?? EMPTY_LINE;
  // `promote` skips such a version, too, unless the user specifies the key of the prompt.
  const wasRolledBack = (environment: string, version: KnownVersion): boolean =>
    wasReplaced(line, environment, version, observed?.metadata ?? 'kept');
  const behindRows = pairs.flatMap(({ names, served, source }) => {
    if (source === null || activatesVersionFrom(source.number, names.environment, changes)) return [];
    if (wasRolledBack(names.environment, source)) return [];
    const since = makePinnedFields(findActiveVersion(versions, names.from), names.from);
    return [{ ...names, versions: countTextsBetween(known, served, source), since }];
  });
  const aheadRows = pairs.map(({ names, served, source }) => ({
    ...names,
    versions: countTextsBetween(known, source, served),
  }));
  return {
    waiting: behindRows.filter((row) => row.versions > 0),
    ahead: aheadRows.filter((row) => row.versions > 0),
  };
}

/** Returns true if a sync would activate the version with this number, or a newer one, in an environment. */
function activatesVersionFrom(number: number, environment: string, changes: readonly Change[]): boolean {
  return changes.some(
    (change) =>
      change.kind === 'set-active' &&
      change.environment === environment &&
      // A version without a number is new, so it is newer than every other version.
      (getWantedNumber(change.after) ?? Infinity) >= number,
  );
}

/**
 * Counts the distinct texts of the versions after `older`, up to and including `newer`. Omits baselines with the text
 * of `older`, because they contain nothing to promote. Returns 0 if either version is unknown.
 */
function countTextsBetween(
  known: readonly KnownVersion[],
  older: KnownVersion | null,
  newer: KnownVersion | null,
): number {
  if (older === null || newer === null) return 0;
  const between = known.filter(
    ({ number, baseline, digest }) =>
      number > older.number && number <= newer.number && !(baseline === true && digest === older.digest),
  );
  return new Set(between.map(({ digest }) => digest)).size;
}

function makeReportVersion(version: VersionHistory): ReportHistory['versions'][number] {
  const pinned = version.pinnedPeriods.map((period) => makePeriod(period, version.activeIn));
  return { ...makeOriginFields(version), active_in: version.activeIn, pinned };
}

function makeOriginFields({
  ref,
  digest,
  origin,
  isBaseline,
  commit,
  path,
  message,
  createdAt,
  createdBy,
}: VersionHistory): NonNullable<ReportLineage['serves']> {
  return {
    id: ref.id,
    version_number: ref.number,
    digest,
    made_by: origin,
    baseline: isBaseline ? true : undefined,
    ...(commit && makeCommitFields(commit)),
    path: path ?? undefined,
    message,
    created_at: createdAt === null ? undefined : new Date(createdAt).toISOString(),
    created_by: createdBy ?? undefined,
  };
}

function makePeriod(
  { environment, from, until }: PinnedPeriod,
  activeIn: readonly string[],
): ReportHistory['versions'][number]['pinned'][number] {
  const served = activeIn.includes(environment);
  return { environment, from: from && makeCommitFields(from), until: until && makeCommitFields(until), served };
}

function makeCommitFields({ pullRequest, ...info }: CommitInfo): NonNullable<ReportLineage['pinned']> {
  return { ...info, pull_request: pullRequest };
}
