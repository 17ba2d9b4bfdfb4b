import type { CommitInfo, Histories, PinnedTime, VersionHistory } from '../domain/history.ts';
import type { ReportHistory, ReportLineage, ReportPrompt } from './schema.ts';

/** What a report tells of one prompt's versions: all of them, or the one that the environment serves. */
export function wireHistory(
  promptId: string,
  { versions, environment }: Histories,
): Pick<ReportPrompt, 'history' | 'lineage'> {
  const all = versions.get(promptId) ?? [];
  return environment === null
    ? { history: { versions: all.map(wireVersion) } }
    : { lineage: lineageOf(environment, all) };
}

function lineageOf(environment: string, all: readonly VersionHistory[]): ReportLineage {
  const served = all.find(({ activeIn }) => activeIn.includes(environment));
  const current = served?.pinned.find((one) => one.environment === environment && one.until === null);
  return {
    environment,
    serves: served === undefined ? null : wireMade(served),
    pinned: current === undefined || current.from === null ? null : wireCommit(current.from),
  };
}

function wireVersion(version: VersionHistory): ReportHistory['versions'][number] {
  const pinned = version.pinned.map((time) => wireTime(time, version.activeIn));
  return { ...wireMade(version), active_in: version.activeIn, pinned };
}

function wireMade({ ref, digest, madeBy, commit, path }: VersionHistory): NonNullable<ReportLineage['serves']> {
  return {
    ...{ id: ref.id, version_number: ref.number, digest, made_by: madeBy },
    ...(commit === null ? {} : wireCommit(commit)),
    ...(path === null ? {} : { path }),
  };
}

function wireTime({ environment, from, until }: PinnedTime, activeIn: readonly string[]) {
  const ended = until === null ? null : wireCommit(until);
  return {
    environment,
    from: from === null ? null : wireCommit(from),
    until: ended,
    served: activeIn.includes(environment),
  };
}

function wireCommit({ pullRequest, ...info }: CommitInfo) {
  return pullRequest === undefined ? info : { ...info, pull_request: pullRequest };
}
