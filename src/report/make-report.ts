import type { AcceptedWarnings } from '../domain/accepted-warnings.ts';
import type { Committed, EditedPrompt, FileEdit, WrittenFile } from '../domain/edits.ts';
import { canonicalJson, isJsonObject, type JsonValue } from '../domain/json.ts';
import {
  type Change,
  type ChangeOutcome,
  type Drift,
  type Holder,
  isNew,
  type NewVersionRef,
  type Plan,
  type PromptOutcome,
  type PromptPlan,
  type SetActive,
} from '../domain/plan.ts';
import { type EnvironmentPin, type Named, pinText, type PromptFile } from '../domain/prompt-file.ts';
import type { CommitInfo, Histories, PinnedTime, VersionHistory } from '../domain/history.ts';
import { type TextChange, type Texts, variableChanges } from '../domain/text-changes.ts';
import type { Listed } from '../domain/provider.ts';
import type { VersionRef, VersionWithMetadata } from '../domain/versions.ts';
import type { Problem } from '../problem.ts';
import type {
  Report,
  ReportChange,
  ReportDrift,
  ReportEdit,
  ReportHistory,
  ReportLineage,
  ReportProblem,
  ReportPrompt,
} from './schema.ts';

/** What one run of a command has found and done. */
export type Run = {
  readonly mode: Report['mode'];
  /** How the service is called in reports; null when none was asked. */
  readonly service: string | null;
  readonly commit: string | null;
  /** The files that were selected; those without a plan or outcome were not attempted. */
  readonly files: readonly Named[];
  readonly acceptedWarnings: AcceptedWarnings;
  readonly plan: Plan | null;
  /** What environments serve before and after the changes of the plan, as far as it is known. */
  readonly texts?: Texts;
  /** Null when nothing was to be written. */
  readonly outcomes: readonly PromptOutcome[] | null;
  /** What a command did to prompt files, where that is its work. */
  readonly edited?: readonly EditedPrompt[];
  readonly written?: readonly WrittenFile[];
  /** Prompts of the service that no file is of, where that was asked. */
  readonly orphans?: readonly Listed[];
  readonly committed?: Committed;
  /** What is known of the prompts' versions, where that is what was asked for. */
  readonly histories?: Histories;
  /** What is known of prompts that wait for promotion, and from where each environment is promoted. */
  readonly waiting?: Pick<Histories, 'versions'> & { readonly promotedFrom: ReadonlyMap<string, string> };
  /** Where only what has changed since a commit was looked at. */
  readonly narrowed?: { readonly since: string; readonly notLookedAt: number };
  readonly problems: readonly Problem[];
};

/** The public report of a run, which every format is printed from. Pure, and complete also when the run failed. */
export function makeReport(run: Run): Report {
  const withoutAccepted = accepting(run);
  const prompts = promptsOf(run).map((one) => ({ ...one, problems: withoutAccepted(one.problems, one.path) }));
  const { narrowed, written, committed, orphans } = run;
  return {
    schema_version: 1,
    mode: run.mode,
    service: run.service,
    commit: run.commit,
    ...(narrowed && { changed_since: narrowed.since }),
    plan_digest: planDigestOf(run),
    summary: { ...summarise(prompts, run.mode), ...(narrowed && { not_looked_at: narrowed.notLookedAt }) },
    prompts,
    ...(orphans && { orphans: orphans.map(orphanOf) }),
    ...(written && { files: written }),
    ...(committed && { committed }),
    problems: withoutAccepted(run.problems),
  };
}

function orphanOf({ name, environments: labels, lastVersion: last_version }: Listed) {
  return { name, labels, last_version };
}

/** Returns a filter that leaves out accepted warnings about prompts. Warnings about the run itself have no path and stay. */
function accepting({ acceptedWarnings: { everywhere, byPath } }: Run) {
  const isAccepted = (path: string, code: string) =>
    path !== '' && (everywhere.includes(code) || byPath.get(path)?.includes(code) === true);
  return (problems: readonly ReportProblem[], of = ''): readonly ReportProblem[] =>
    problems.filter(({ path = of, code }) => !isAccepted(path, code));
}

/**
 * Where no prompt could be observed there is no plan, and none that could be applied where the service was not asked. A
 * history has none.
 */
function planDigestOf({ plan, service, histories, edited }: Run): string | null {
  if (plan === null || histories !== undefined || edited !== undefined) return null;
  // Nothing to do is a plan as well, and needs no service.
  if (plan.prompts.length === 0) return plan.digest;
  const blind = service === null || plan.prompts.every(({ observed }) => observed === null);
  return blind ? null : plan.digest;
}

function promptsOf({ plan, outcomes, histories, waiting, edited, files, texts }: Run): readonly ReportPrompt[] {
  if (edited !== undefined) return edited.map(fromEdited);
  if (outcomes !== null) return outcomes.map((one) => fromPlan(one.plan, one, texts));
  if (plan !== null && histories !== undefined) return plan.prompts.map((one) => withoutPlan(one, histories));
  if (plan !== null) return plan.prompts.map((one) => ({ ...fromPlan(one, null, texts), ...waitingIn(waiting, one) }));
  return files.map((file) => ({ ...nameOf(file), status: 'not_attempted', changes: [], drift: [], problems: [] }));
}

function fromEdited({ status, edits, problems, ...prompt }: EditedPrompt): ReportPrompt {
  return { ...nameOf(prompt), status, changes: [], edits: edits.map(editOf), drift: [], problems };
}

function fromPlan(plan: PromptPlan, outcome: PromptOutcome | null, texts: Texts | undefined): ReportPrompt {
  const { file, drift } = plan;
  const { status, problems } = outcome ?? plan;
  const made = outcome?.changes ?? plan.changes.map((change) => ({ change }));
  const changes = made.map((one) => changeOf(one, textsOf(one.change, file, texts)));
  const environments = file.pins.map((pin) => rowOf(pin, plan));
  return { ...nameOf(file), status, changes, environments, drift: drift.map(driftOf), problems };
}

/** What would change is not what was asked: the rows say where the service differs from the file. */
function withoutPlan(plan: PromptPlan, histories: Histories): ReportPrompt {
  const { file, observed, status, problems } = plan;
  if (observed === null) return { ...nameOf(file), status, changes: [], drift: [], problems };
  const known = { environments: file.pins.map((pin) => rowOf(pin, plan)), ...historyOf(file.id, histories) };
  return { ...nameOf(file), status: 'unchanged', changes: [], ...known, drift: [], problems: [] };
}

function nameOf({ path, id, key }: Named): Pick<ReportPrompt, keyof Named> {
  return { path, id, key };
}

function plannedChange(change: Change, texts: TextChange | undefined): ReportChange {
  switch (change.kind) {
    case 'create-version':
      return {
        kind: change.kind,
        digest: change.content.digest,
        ...(change.content.metadataDigest === undefined ? {} : { metadata_digest: change.content.metadataDigest }),
        ...(change.metadataFrom && keptMetadataFields(change.metadataFrom)),
        ...(change.ref === undefined ? {} : { ref: change.ref }),
        ...(change.baseline && { baseline: change.baseline }),
        change_summary: change.provenance.changeSummary ?? null,
      };
    case 'update-prompt':
      return { kind: change.kind, fields: change.fields };
    case 'set-active':
      return { kind: change.kind, environment: change.environment, ...servedOf(change, texts) };
  }
}

function keptMetadataFields(version: VersionWithMetadata) {
  const metadata = linesOf(version.metadata);
  const isLarge = Buffer.byteLength(metadata) > MOST_BYTES;
  const shown = isLarge ? { metadata_omitted: true as const } : { kept_metadata: metadata };
  return { metadata_from: refOf(version), ...shown };
}

type MadeChange = Pick<ChangeOutcome, 'change'> & Partial<ChangeOutcome>;

function changeOf({ change, status, version }: MadeChange, texts: TextChange | undefined): ReportChange {
  const planned = plannedChange(change, texts);
  if (status === undefined) return planned;
  if (version === undefined || planned.kind === 'update-prompt') return { ...planned, status };
  if (planned.kind === 'create-version') return { ...planned, version: refOf(version), status };
  return { ...planned, after: refOf(version), status };
}

/** None where another change was carried out than the one that was planned at first: its texts were not asked for. */
function textsOf(change: Change, { id }: PromptFile, texts: Texts | undefined): TextChange | undefined {
  const wanted = change.kind === 'set-active' ? refsOf(change) : null;
  return texts?.get(id)?.find((one) => refsOf(one.change) === wanted);
}

function refsOf({ environment, before, after }: SetActive): string {
  return JSON.stringify([environment, before?.id, isNew(after) ? after.new.digest : after.id]);
}

function servedOf({ before, after }: Pick<SetActive, 'before' | 'after'>, texts: TextChange | undefined) {
  return { before: before === null ? null : refOf(before), after: targetOf(after), ...textFields(texts) };
}

/** Longer texts would make a report that nobody can handle. */
const MOST_BYTES = 100_000;

function textFields(texts: Pick<TextChange, 'before' | 'after'> = { before: 'unknown', after: 'unknown' }) {
  const { before, after } = texts;
  return {
    before_text: textOf(before),
    after_text: textOf(after),
    ...([before, after].some(isTooLong) && { text_omitted: true as const }),
    ...metadataFields(before, after),
    breaking: variableChanges(texts),
  };
}

function textOf(side: TextChange['before']): string | null {
  return side === null || side === 'unknown' || isTooLong(side) ? null : side.text;
}

/** Metadata counts as well: a version's config may be as long as a text. */
function isTooLong(side: TextChange['before']): boolean {
  if (side === null || side === 'unknown') return false;
  return [side.text, linesOf(side.metadata)].some((text) => Buffer.byteLength(text) > MOST_BYTES);
}

/** Metadata is compared where both sides manage it. */
function metadataFields(before: TextChange['before'], after: TextChange['after']) {
  if (before === 'unknown' || after === 'unknown' || [before, after].some(isTooLong)) return {};
  const sides = before === null ? [after] : [before, after];
  const managed = sides.every(({ metadata }) => metadata !== undefined);
  const any = sides.some(({ metadata = {} }) => canonicalJson(metadata) !== '{}');
  if (!managed || !any) return {};
  return { ...(before && { before_metadata: linesOf(before.metadata) }), after_metadata: linesOf(after.metadata) };
}

function linesOf(metadata: JsonValue = {}): string {
  if (!isJsonObject(metadata)) return canonicalJson(metadata);
  const names = Object.keys(metadata).toSorted();
  return names.map((name) => `${shownName(name)}: ${canonicalJson(metadata[name] ?? null)}`).join('\n');
}

/** A name with a line feed would look like another key. */
function shownName(name: string): string {
  const quoted = JSON.stringify(name);
  return quoted === `"${name}"` ? name : quoted;
}

function editOf(edit: FileEdit): ReportEdit {
  if (edit.kind === 'set-pin') {
    const { serves, ...rest } = edit;
    return serves === undefined ? rest : { ...rest, serves: servedOf(serves.change, serves) };
  }
  if (edit.kind !== 'set-text') return edit;
  const { texts, ...rest } = edit;
  return texts === undefined ? rest : { ...rest, texts: { environment: texts.environment, ...textFields(texts) } };
}

function rowOf(pinned: EnvironmentPin, plan: PromptPlan) {
  const { environment, pin } = pinned;
  const active = plan.observed?.active.get(environment) ?? null;
  const change = plan.changes.find((one) => one.kind === 'set-active' && one.environment === environment);
  const serves = active === null ? null : refOf(active);
  const inSync = change === undefined && serves !== null && !isRefused(pinned, plan);
  const wanted = change?.kind === 'set-active' ? targetOf(change.after) : inSync ? serves : null;
  return { environment, pin: pinText(pin), active: serves, wanted, in_sync: inSync };
}

/** A pin without a change is in sync, or it is one that could not be resolved: then a problem stands at its place. */
function isRefused({ line, column }: EnvironmentPin, { problems }: PromptPlan): boolean {
  return problems.some((problem) => problem.line === line && problem.column === column);
}

/** Changes are counted where they are planned on a dry run, and where they were made on an apply. */
function summarise(prompts: readonly ReportPrompt[], mode: Report['mode']): Report['summary'] {
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

function driftOf(drift: Drift): ReportDrift {
  if ('field' in drift) return drift;
  return { ...drift, expected: targetOf(drift.expected), observed: drift.observed && holderOf(drift.observed) };
}

function holderOf({ commit, pin, ...ref }: Holder) {
  const made_by = commit === undefined ? 'outside' : 'git';
  return { ...refOf(ref), made_by, ...(commit !== undefined && { commit }), ...(pin && { pin }) } as const;
}

/** The file's own new content needs no digest; of refs there may be several. */
function targetOf(target: VersionRef | NewVersionRef) {
  if (!isNew(target)) return refOf(target);
  return target.ref === undefined ? { new: true as const } : { new: true as const, digest: target.new.digest };
}

function refOf({ id, number }: VersionRef) {
  return { id, version_number: number };
}

/** What is known of one prompt's versions: of all, or of the one that the environment serves. */
function historyOf(promptId: string, { versions, environment }: Histories): Pick<ReportPrompt, 'history' | 'lineage'> {
  const all = versions.get(promptId) ?? [];
  return environment === null
    ? { history: { versions: all.map(versionOf) } }
    : { lineage: lineageOf(environment, all) };
}

function lineageOf(environment: string, all: readonly VersionHistory[]): ReportLineage {
  const served = all.find(({ activeIn }) => activeIn.includes(environment));
  const current = served?.pinned.find((one) => one.environment === environment && one.until === null);
  return {
    environment,
    serves: served === undefined ? null : madeOf(served),
    pinned: current?.from ? commitOf(current.from) : null,
  };
}

/** Where an environment serves an older text than what it is promoted from, by how many texts, and since when. */
function waitingIn(waiting: Run['waiting'], { file }: PromptPlan): Pick<ReportPrompt, 'waiting'> {
  const all = waiting?.versions.get(file.id) ?? [];
  const numberIn = (environment: string) => all.find((one) => one.activeIn.includes(environment))?.ref.number ?? NaN;
  const rows = [...(waiting?.promotedFrom ?? [])].map(([environment, from]) => {
    const between = all.filter(({ ref }) => ref.number > numberIn(environment) && ref.number <= numberIn(from));
    const versions = new Set(between.map(({ digest }) => digest)).size;
    return { environment, from, versions, since: lineageOf(environment, all).pinned };
  });
  return waiting === undefined ? {} : { waiting: rows.filter(({ versions }) => versions > 0) };
}

function versionOf(version: VersionHistory): ReportHistory['versions'][number] {
  const pinned = version.pinned.map((time) => timeOf(time, version.activeIn));
  return { ...madeOf(version), active_in: version.activeIn, pinned };
}

function madeOf({ ref, digest, madeBy, commit, path, message }: VersionHistory): NonNullable<ReportLineage['serves']> {
  return {
    ...{ id: ref.id, version_number: ref.number, digest, made_by: madeBy },
    ...(commit && commitOf(commit)),
    ...(path !== null && { path }),
    ...(message !== undefined && { message }),
  };
}

function timeOf({ environment, from, until }: PinnedTime, activeIn: readonly string[]) {
  const served = activeIn.includes(environment);
  return { environment, from: from && commitOf(from), until: until && commitOf(until), served };
}

function commitOf({ pullRequest, ...info }: CommitInfo) {
  return pullRequest === undefined ? info : { ...info, pull_request: pullRequest };
}
