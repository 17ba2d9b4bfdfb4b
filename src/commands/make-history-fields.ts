import type { CommitInfo, PinnedPeriod, VersionHistories, VersionHistory } from '../domain/history.ts';
import type { PromptPlan } from '../domain/plan.ts';
import type { ReportHistory, ReportLineage, ReportPrompt } from '../report/schema.ts';
import type { CommandRun } from './result.ts';

/**
 * Creates the history of one prompt. If the user specified an environment, returns only the version that this
 * environment serves. Otherwise, returns all known versions.
 */
export function makeHistoryFields(
  promptId: string,
  { versions, environment }: VersionHistories,
): Pick<ReportPrompt, 'history' | 'lineage'> {
  const promptVersions = versions.get(promptId) ?? [];
  if (environment === null) return { history: { versions: promptVersions.map(makeReportVersion) } };
  return { lineage: makeLineage(environment, promptVersions) };
}

/** Describes the version that an environment serves: its origin, and the commit that pinned it. */
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
 * Lists the environments of one prompt that wait for a promotion, because they serve older text than their promotion
 * source. Each entry contains the number of distinct newer texts and the commit that pinned the active version.
 */
export function makeWaitingFields(waiting: CommandRun['waiting'], { file }: PromptPlan): Pick<ReportPrompt, 'waiting'> {
  if (waiting === undefined) return {};
  const versions = waiting.versions.get(file.id) ?? [];
  const rows = [...waiting.promotionSources].map(([environment, from]) => {
    const served = findActiveVersion(versions, environment);
    const newerVersions = listVersionsBetween(versions, served, findActiveVersion(versions, from));
    const newerTexts = new Set(newerVersions.map(({ digest }) => digest));
    return { environment, from, versions: newerTexts.size, since: makePinnedFields(served, environment) };
  });
  return { waiting: rows.filter((row) => row.versions > 0) };
}

/**
 * Lists the versions after `older`, up to and including `newer`. Omits baselines with the text of `older`, because they
 * contain nothing to promote. Returns an empty list if either version is unknown.
 */
function listVersionsBetween(
  versions: readonly VersionHistory[],
  older: VersionHistory | undefined,
  newer: VersionHistory | undefined,
): readonly VersionHistory[] {
  if (older === undefined || newer === undefined) return [];
  return versions.filter(
    ({ ref, isBaseline, digest }) =>
      ref.number > older.ref.number && ref.number <= newer.ref.number && !(isBaseline && digest === older.digest),
  );
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
    ...(isBaseline && { baseline: true as const }),
    ...(commit && makeCommitFields(commit)),
    ...(path !== null && { path }),
    ...(message !== undefined && { message }),
    ...(createdAt !== null && { created_at: new Date(createdAt).toISOString() }),
    ...(createdBy !== null && { created_by: createdBy }),
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
  return pullRequest === undefined ? info : { ...info, pull_request: pullRequest };
}
