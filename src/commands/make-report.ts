import type { EditedPrompt, FileEdit } from '../domain/edits.ts';
import { canonicalJson, isJsonObject, type JsonValue } from '../domain/json.ts';
import {
  type Change,
  type ChangeOutcome,
  type Drift,
  type ServedVersion,
  isNewVersionRef,
  type NewVersionRef,
  type PromptOutcome,
  type PromptPlan,
  type SetActive,
} from '../domain/plan.ts';
import { type EnvironmentPin, type PromptIdentity, formatPin, type PromptFile } from '../domain/prompt-file.ts';
import type { CommitInfo, VersionHistories, PinnedPeriod, VersionHistory } from '../domain/history.ts';
import { type TextChange, type TextChangesByPrompt, compareVariables } from '../domain/text-changes.ts';
import type { ListedPrompt } from '../domain/provider.ts';
import type { VersionRef, VersionWithMetadata } from '../domain/versions.ts';
import type {
  Report,
  ReportChange,
  ReportDrift,
  ReportEdit,
  ReportHistory,
  ReportLineage,
  ReportProblem,
  ReportPrompt,
  ReportRow,
} from '../report/schema.ts';
import type { CommandRun } from './result.ts';

/** Everything that a report is made from. A report has no use for the folder, because its paths are relative to it. */
type ReportInput = Omit<CommandRun, 'folder'>;

/** Makes the public report of a run. All output formats are rendered from it. The report is complete even if the run failed. */
export function makeReport(run: ReportInput): Report {
  const withoutAccepted = makeWarningFilter(run);
  const prompts = makePrompts(run).map((one) => ({ ...one, problems: withoutAccepted(one.problems, one.path) }));
  const { narrowed, written, committed, orphans } = run;
  return {
    schema_version: 1,
    mode: run.mode,
    service: run.service,
    commit: run.commit,
    ...(narrowed && { changed_since: narrowed.since }),
    plan_digest: choosePlanDigest(run),
    summary: { ...summarize(prompts, run.mode), ...(narrowed && { not_looked_at: narrowed.notLookedAt }) },
    prompts,
    ...(orphans && { orphans: orphans.map(makeOrphan) }),
    ...(written && { files: written }),
    ...(committed && { committed }),
    problems: withoutAccepted(run.problems),
  };
}

function makeOrphan({
  name,
  environments: labels,
  lastVersion: last_version,
}: ListedPrompt): NonNullable<Report['orphans']>[number] {
  return { name, labels, last_version };
}

/** Returns a filter that leaves out accepted warnings about prompts. Warnings about the run itself have no path and stay. */
function makeWarningFilter({ acceptedWarnings: { everywhere, byPath } }: ReportInput) {
  const isAccepted = (path: string, code: string) =>
    path !== '' && (everywhere.includes(code) || byPath.get(path)?.includes(code) === true);
  return (problems: readonly ReportProblem[], of = ''): readonly ReportProblem[] =>
    problems.filter(({ path = of, code }) => !isAccepted(path, code));
}

/**
 * Where no prompt could be observed there is no plan, and none that could be applied where the service was not asked. A
 * history has none.
 */
function choosePlanDigest({ plan, service, histories, edited }: ReportInput): string | null {
  if (plan === null || histories !== undefined || edited !== undefined) return null;
  // Nothing to do is a plan as well, and needs no service.
  if (plan.prompts.length === 0) return plan.digest;
  const blind = service === null || plan.prompts.every(({ observed }) => observed === null);
  return blind ? null : plan.digest;
}

function makePrompts({
  plan,
  outcomes,
  histories,
  waiting,
  edited,
  files,
  texts,
}: ReportInput): readonly ReportPrompt[] {
  if (edited !== undefined) return edited.map(makeEditedReport);
  if (outcomes !== null) return outcomes.map((one) => makePlannedReport(one.plan, one, texts));
  if (plan !== null && histories !== undefined) return plan.prompts.map((one) => makeUnplannedReport(one, histories));
  if (plan !== null)
    return plan.prompts.map((one) => ({ ...makePlannedReport(one, null, texts), ...makeWaitingFields(waiting, one) }));
  return files.map((file) => ({
    ...pickIdentity(file),
    status: 'not_attempted',
    changes: [],
    drift: [],
    problems: [],
  }));
}

function makeEditedReport({ status, edits, problems, ...prompt }: EditedPrompt): ReportPrompt {
  return { ...pickIdentity(prompt), status, changes: [], edits: edits.map(makeEdit), drift: [], problems };
}

function makePlannedReport(
  plan: PromptPlan,
  outcome: PromptOutcome | null,
  texts: TextChangesByPrompt | undefined,
): ReportPrompt {
  const { file, drift } = plan;
  const { status, problems } = outcome ?? plan;
  const made = outcome?.changes ?? plan.changes.map((change) => ({ change }));
  const changes = made.map((one) => makeChange(one, findTexts(one.change, file, texts)));
  const environments = file.pins.map((pin) => makeReportRow(pin, plan));
  return { ...pickIdentity(file), status, changes, environments, drift: drift.map(makeDrift), problems };
}

/** What would change is not what was asked: the rows say where the service differs from the file. */
function makeUnplannedReport(plan: PromptPlan, histories: VersionHistories): ReportPrompt {
  const { file, observed, status, problems } = plan;
  if (observed === null) return { ...pickIdentity(file), status, changes: [], drift: [], problems };
  const known = {
    environments: file.pins.map((pin) => makeReportRow(pin, plan)),
    ...makeHistoryFields(file.id, histories),
  };
  return { ...pickIdentity(file), status: 'unchanged', changes: [], ...known, drift: [], problems: [] };
}

function pickIdentity({ path, id, key }: PromptIdentity): Pick<ReportPrompt, keyof PromptIdentity> {
  return { path, id, key };
}

function makePlannedChange(change: Change, texts: TextChange | undefined): ReportChange {
  switch (change.kind) {
    case 'create-version':
      return {
        kind: change.kind,
        digest: change.content.digest,
        ...(change.content.metadataDigest === undefined ? {} : { metadata_digest: change.content.metadataDigest }),
        ...(change.metadataFrom && makeKeptMetadataFields(change.metadataFrom)),
        ...(change.ref === undefined ? {} : { ref: change.ref }),
        ...(change.baseline && { baseline: change.baseline }),
        change_summary: change.provenance.changeSummary ?? null,
      };
    case 'update-prompt':
      return { kind: change.kind, fields: change.fields };
    case 'set-active':
      return { kind: change.kind, environment: change.environment, ...makeServedFields(change, texts) };
  }
}

function makeKeptMetadataFields(version: VersionWithMetadata) {
  const metadata = renderMetadata(version.metadata);
  const isLarge = Buffer.byteLength(metadata) > MAX_TEXT_BYTES;
  const shown = isLarge ? { metadata_omitted: true as const } : { kept_metadata: metadata };
  return { metadata_from: makeReportRef(version), ...shown };
}

type MadeChange = Pick<ChangeOutcome, 'change'> & Partial<ChangeOutcome>;

function makeChange({ change, status, version }: MadeChange, texts: TextChange | undefined): ReportChange {
  const planned = makePlannedChange(change, texts);
  if (status === undefined) return planned;
  if (version === undefined || planned.kind === 'update-prompt') return { ...planned, status };
  if (planned.kind === 'create-version') return { ...planned, version: makeReportRef(version), status };
  return { ...planned, after: makeReportRef(version), status };
}

/** None where another change was carried out than the one that was planned at first: its texts were not asked for. */
function findTexts(change: Change, { id }: PromptFile, texts: TextChangesByPrompt | undefined): TextChange | undefined {
  const wanted = change.kind === 'set-active' ? makeTextsKey(change) : null;
  return texts?.get(id)?.find((one) => makeTextsKey(one.change) === wanted);
}

function makeTextsKey({ environment, before, after }: SetActive): string {
  return JSON.stringify([environment, before?.id, isNewVersionRef(after) ? after.newContent.digest : after.id]);
}

function makeServedFields({ before, after }: Pick<SetActive, 'before' | 'after'>, texts: TextChange | undefined) {
  return { before: before === null ? null : makeReportRef(before), after: makeTarget(after), ...makeTextFields(texts) };
}

/** Longer texts would make a report that nobody can handle. */
const MAX_TEXT_BYTES = 100_000;

function makeTextFields(texts: Pick<TextChange, 'before' | 'after'> = { before: 'unknown', after: 'unknown' }) {
  const { before, after } = texts;
  return {
    before_text: getShownText(before),
    after_text: getShownText(after),
    ...([before, after].some(isTooLong) && { text_omitted: true as const }),
    ...makeMetadataFields(before, after),
    breaking: compareVariables(texts),
  };
}

function getShownText(side: TextChange['before']): string | null {
  return side === null || side === 'unknown' || isTooLong(side) ? null : side.text;
}

/** Metadata counts as well: a version's config may be as long as a text. */
function isTooLong(side: TextChange['before']): boolean {
  if (side === null || side === 'unknown') return false;
  return [side.text, renderMetadata(side.metadata)].some((text) => Buffer.byteLength(text) > MAX_TEXT_BYTES);
}

/** Metadata is compared where both sides manage it. */
function makeMetadataFields(before: TextChange['before'], after: TextChange['after']) {
  if (before === 'unknown' || after === 'unknown' || [before, after].some(isTooLong)) return {};
  const sides = before === null ? [after] : [before, after];
  const managed = sides.every(({ metadata }) => metadata !== undefined);
  const any = sides.some(({ metadata = {} }) => canonicalJson(metadata) !== '{}');
  if (!managed || !any) return {};
  return {
    ...(before && { before_metadata: renderMetadata(before.metadata) }),
    after_metadata: renderMetadata(after.metadata),
  };
}

function renderMetadata(metadata: JsonValue = {}): string {
  if (!isJsonObject(metadata)) return canonicalJson(metadata);
  const names = Object.keys(metadata).toSorted();
  return names.map((name) => `${escapeName(name)}: ${canonicalJson(metadata[name] ?? null)}`).join('\n');
}

/** A name with a line feed would look like another key. */
function escapeName(name: string): string {
  const quoted = JSON.stringify(name);
  return quoted === `"${name}"` ? name : quoted;
}

function makeEdit(edit: FileEdit): ReportEdit {
  if (edit.kind === 'set-pin') {
    const { serves, ...rest } = edit;
    return serves === undefined ? rest : { ...rest, serves: makeServedFields(serves.change, serves) };
  }
  if (edit.kind !== 'set-text') return edit;
  const { texts, ...rest } = edit;
  return texts === undefined ? rest : { ...rest, texts: { environment: texts.environment, ...makeTextFields(texts) } };
}

function makeReportRow(pinned: EnvironmentPin, plan: PromptPlan): ReportRow {
  const { environment, pin } = pinned;
  const active = plan.observed?.active.get(environment) ?? null;
  const change = plan.changes.find((one) => one.kind === 'set-active' && one.environment === environment);
  const serves = active === null ? null : makeReportRef(active);
  const inSync = change === undefined && serves !== null && !isRefused(pinned, plan);
  const wanted = change?.kind === 'set-active' ? makeTarget(change.after) : inSync ? serves : null;
  return { environment, pin: formatPin(pin), active: serves, wanted, in_sync: inSync };
}

/** A pin without a change is in sync, or it is one that could not be resolved: then a problem stands at its place. */
function isRefused({ line, column }: EnvironmentPin, { problems }: PromptPlan): boolean {
  return problems.some((problem) => problem.line === line && problem.column === column);
}

/** Changes are counted where they are planned on a dry run, and where they were made on an apply. */
function summarize(prompts: readonly ReportPrompt[], mode: Report['mode']): Report['summary'] {
  const counted = prompts.flatMap(({ status, changes }) =>
    changes.filter((change) => (mode === 'apply' ? change.status === 'made' : status === 'pending')),
  );
  const kinds = (kind: ReportChange['kind']) => counted.filter((change) => change.kind === kind).length;
  const statuses = (status: ReportPrompt['status']) => prompts.filter((prompt) => prompt.status === status).length;
  return {
    prompts: prompts.length,
    unchanged: statuses('unchanged'),
    create_version: kinds('create-version'),
    update_prompt: kinds('update-prompt'),
    set_active: kinds('set-active'),
    blocked: statuses('blocked'),
    applied: statuses('applied'),
    failed: statuses('failed'),
    not_attempted: statuses('not_attempted'),
  };
}

function makeDrift(drift: Drift): ReportDrift {
  if (drift.subject === 'field') {
    const { kind, restoresBase, field, expected, observed } = drift;
    return { field, kind, restores: restoresBase, expected, observed };
  }
  const { environment, kind, restoresBase: restores } = drift;
  const observed = drift.observed && makeHolder(drift.observed);
  return { environment, kind, restores, expected: makeTarget(drift.expected), observed };
}

function makeHolder({ commit, pin, ...ref }: ServedVersion) {
  const made_by = commit === undefined ? 'outside' : 'git';
  return { ...makeReportRef(ref), made_by, ...(commit !== undefined && { commit }), ...(pin && { pin }) } as const;
}

/** The file's own new content needs no digest; of refs there may be several. */
function makeTarget(target: VersionRef | NewVersionRef): NonNullable<ReportRow['wanted']> {
  if (!isNewVersionRef(target)) return makeReportRef(target);
  return target.ref === undefined ? { new: true } : { new: true, digest: target.newContent.digest };
}

function makeReportRef({ id, number }: VersionRef): NonNullable<ReportRow['active']> {
  return { id, version_number: number };
}

/** What is known of one prompt's versions: of all, or of the one that the environment serves. */
function makeHistoryFields(
  promptId: string,
  { versions, environment }: VersionHistories,
): Pick<ReportPrompt, 'history' | 'lineage'> {
  const all = versions.get(promptId) ?? [];
  return environment === null
    ? { history: { versions: all.map(makeReportVersion) } }
    : { lineage: makeLineage(environment, all) };
}

function makeLineage(environment: string, all: readonly VersionHistory[]): ReportLineage {
  const served = all.find(({ activeIn }) => activeIn.includes(environment));
  const current = served?.pinnedPeriods.find((one) => one.environment === environment && one.until === null);
  return {
    environment,
    serves: served === undefined ? null : makeOriginFields(served),
    pinned: current?.from ? makeCommitFields(current.from) : null,
  };
}

/** Where an environment serves an older text than what it is promoted from, by how many texts, and since when. */
function makeWaitingFields(waiting: ReportInput['waiting'], { file }: PromptPlan): Pick<ReportPrompt, 'waiting'> {
  const all = waiting?.versions.get(file.id) ?? [];
  const numberIn = (environment: string) => all.find((one) => one.activeIn.includes(environment))?.ref.number ?? NaN;
  const rows = [...(waiting?.promotionSources ?? [])].map(([environment, from]) => {
    const between = all.filter(({ ref }) => ref.number > numberIn(environment) && ref.number <= numberIn(from));
    const versions = new Set(between.map(({ digest }) => digest)).size;
    return { environment, from, versions, since: makeLineage(environment, all).pinned };
  });
  return waiting === undefined ? {} : { waiting: rows.filter(({ versions }) => versions > 0) };
}

function makeReportVersion(version: VersionHistory): ReportHistory['versions'][number] {
  const pinned = version.pinnedPeriods.map((time) => makePeriod(time, version.activeIn));
  return { ...makeOriginFields(version), active_in: version.activeIn, pinned };
}

function makeOriginFields({
  ref,
  digest,
  origin,
  commit,
  path,
  message,
}: VersionHistory): NonNullable<ReportLineage['serves']> {
  return {
    id: ref.id,
    version_number: ref.number,
    digest,
    made_by: origin,
    ...(commit && makeCommitFields(commit)),
    ...(path !== null && { path }),
    ...(message !== undefined && { message }),
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
