import type { EditedPrompt } from '../domain/edits.ts';
import {
  type Change,
  type ChangeAnnotation,
  type ChangeNote,
  type ChangeOutcome,
  type Drift,
  type FieldChange,
  type FieldName,
  type ServedVersion,
  isNewVersionRef,
  type PromptOutcome,
  type PromptPlan,
  type SetActive,
  type UpdatePrompt,
  type WantedVersionRef,
} from '../domain/plan.ts';
import { type EnvironmentPin, formatPin, type PromptFile } from '../domain/prompt-file.ts';
import type { VersionHistories } from '../domain/version-history.ts';
import type { TextChange, TextChangesByPrompt } from '../domain/text-changes.ts';
import type { ListedPrompt } from '../providers/provider-interface.ts';
import { DEFAULT_WORDS } from '../service-words.ts';
import { type Problem, wordProblem } from '../problem.ts';
import type {
  Report,
  ReportChange,
  ReportDrift,
  ReportProblem,
  ReportPrompt,
  ReportRow,
} from './schema/report-schema.ts';
import type { ReportNoteFields } from './schema/change-schema.ts';
import { canPullDrift } from '../planning/choose-pull.ts';
import { isCountedInSummary } from './describe-report.ts';
import { makeKeptMetadataFields, omitLargeTexts } from './make-text-fields.ts';
import { makeHistoryFields, makeWaitingFields } from './make-history-fields.ts';
import { makeIdentity, makeReportEdit, makeReportRef, makeServedFields, makeTarget } from './make-shared-fields.ts';
import type { CommandRun } from '../run/command-result.ts';

/** The members of a run that a program that uses the library may not have. */
type OptionalInput = 'vocabulary' | 'baseName' | 'liveBranch';

/** A run without its folder. Reports do not contain the folder, because all their paths are relative to it. */
type ReportInput = Omit<CommandRun, 'folder' | OptionalInput> & Partial<Pick<CommandRun, OptionalInput>>;

/**
 * Makes the public report of a run, even of a failed one. promptsync renders every format from this report. A field
 * that does not apply is undefined, so that JSON omits it.
 */
export function makeReport(run: ReportInput): Report {
  const { narrowed, environmentOrder, selectedEnvironments } = run;
  const { vocabulary = DEFAULT_WORDS } = run;
  const makeProblems = makeProblemConverter({ ...run, vocabulary });
  const worded = makePrompts(run).map((one) => ({ ...one, problems: makeProblems(one.problems, one.path) }));
  const prompts = omitLargeTexts(worded).map((one) => ({ ...one, environments: selectRows(one, run) }));
  return {
    schema_version: 1,
    mode: run.mode,
    service: run.service,
    vocabulary: vocabulary === DEFAULT_WORDS ? undefined : vocabulary,
    commit: run.commit,
    base: run.baseName ?? undefined,
    branch: run.liveBranch ?? undefined,
    changed_since: narrowed?.since,
    promotion_order: environmentOrder ?? undefined,
    environments: selectedEnvironments ?? undefined,
    plan_digest: choosePlanDigest(run),
    summary: { ...makeReportSummary(prompts), not_looked_at: narrowed?.notLookedAt },
    prompts,
    orphans: run.orphans?.map(makeOrphan),
    files: run.written,
    next_steps: run.nextSteps,
    committed: run.committed,
    commits: run.commits,
    problems: makeProblems(run.problems),
  };
}

/**
 * Returns a function that omits accepted warnings and uses the words of the configured service. Its second argument is
 * the path of the prompt that the problems concern.
 */
export function makeProblemConverter(
  run: Pick<CommandRun, 'acceptedWarnings' | 'vocabulary'>,
): (problems: readonly Problem[], promptPath?: string) => readonly ReportProblem[] {
  const omitAccepted = makeWarningFilter(run);
  return (problems, promptPath) =>
    omitAccepted(problems, promptPath).map((problem) => {
      const { evidence: _, step: __, ...worded } = wordProblem(problem, run.vocabulary);
      return worded;
    });
}

function makeOrphan({
  name,
  environments: labels,
  lastVersion: last_version,
}: ListedPrompt): NonNullable<Report['orphans']>[number] {
  return { name, labels, last_version };
}

/**
 * Keeps warnings without a path, because they concern the whole run. Keeps every error, because
 * `prompt/conflict-markers` can be an error or a warning.
 */
function makeWarningFilter({ acceptedWarnings: { everywhere, byPath } }: Pick<CommandRun, 'acceptedWarnings'>) {
  const isAccepted = (path: string, code: string) =>
    path !== '' && (everywhere.includes(code) || byPath.get(path)?.includes(code) === true);
  return (problems: readonly Problem[], promptPath = ''): readonly Problem[] =>
    problems.filter(({ path = promptPath, code, severity }) => {
      // A problem with a default pin is located in the configuration, but the prompt file can accept it as well.
      return severity === 'error' || !(isAccepted(path, code) || isAccepted(promptPath, code));
    });
}

/** Returns null if nothing was observed, and for `history` and commands that edit files, which apply no plan. */
function choosePlanDigest({ plan, service, histories, edited }: ReportInput): string | null {
  if (plan === null || histories !== undefined || edited !== undefined) return null;
  // A plan without prompts is complete even if promptsync did not contact the service.
  if (plan.prompts.length === 0) return plan.digest;
  const isUnobserved = service === null || plan.prompts.every(({ observed }) => observed === null);
  return isUnobserved ? null : plan.digest;
}

/** A prompt in the report whose problems do not use the words of the provider yet. */
type UnwordedPrompt = Omit<ReportPrompt, 'problems'> & { readonly problems: readonly Problem[] };

function makePrompts(input: ReportInput): readonly UnwordedPrompt[] {
  const { plan, outcomes, histories, waiting, edited, files, affected } = input;
  if (edited !== undefined) {
    const plans = new Map(plan?.prompts.map((one) => [one.file.id, one]));
    return edited.map((one) => makeEditedReport(one, plans.get(one.id)));
  }
  const addAffected = (prompt: UnwordedPrompt) => ({
    ...prompt,
    affected: affected?.get(prompt.id)?.map(({ path, key }) => ({ path, key })),
  });
  if (outcomes !== null) return outcomes.map((one) => addAffected(makePlannedReport(one.plan, one, input)));
  if (plan !== null && histories !== undefined) return plan.prompts.map((one) => makeHistoryReport(one, histories));
  if (plan !== null)
    return plan.prompts.map((one) => ({
      ...addAffected(makePlannedReport(one, null, input)),
      ...makeWaitingFields(waiting, one),
    }));
  return files.map((file) => ({
    ...makeIdentity(file),
    status: 'not_attempted',
    changes: [],
    drift: [],
    problems: [],
  }));
}

/** @param plan the plan of the prompt; undefined if the command made none */
function makeEditedReport(
  { status, edits, problems, ...prompt }: EditedPrompt,
  plan: PromptPlan | undefined,
): UnwordedPrompt {
  const identity = makeIdentity(prompt, plan);
  return { ...identity, status, changes: [], edits: edits.map(makeReportEdit), drift: [], problems };
}

function makePlannedReport(
  plan: PromptPlan,
  outcome: PromptOutcome | null,
  { texts, edits, portablePins = false }: Pick<CommandRun, 'texts' | 'edits' | 'portablePins'>,
): UnwordedPrompt {
  const { file, drift } = plan;
  const { status, problems } = outcome ?? plan;
  const changesToReport = outcome?.changes ?? plan.changes.map((change) => ({ change }));
  const changes = changesToReport.map((one) => makeChange(one, findTexts(one.change, file, texts), plan.annotations));
  const identity = makeIdentity(file, plan);
  return {
    ...identity,
    status,
    changes,
    environments: file.pins.map((pin) => makeReportRow(pin, plan)),
    edits: edits?.get(file.id)?.map(makeReportEdit),
    drift: drift.map((one) => makeDrift(one, file, portablePins)),
    problems,
  };
}

/** Omits the planned changes and the drift, because the user requested only the versions. The rows show differences. */
function makeHistoryReport(plan: PromptPlan, histories: VersionHistories): UnwordedPrompt {
  const { file, observed, status, problems } = plan;
  if (observed === null) return { ...makeIdentity(file), status, changes: [], drift: [], problems };
  const versionFields = {
    environments: file.pins.map((pin) => makeReportRow(pin, plan)),
    ...makeHistoryFields(file.id, histories),
  };
  const identity = makeIdentity(file, plan);
  return { ...identity, status: 'unchanged', changes: [], ...versionFields, drift: [], problems: [] };
}

/** A change of a plan. After an apply, it also has its status and the resulting version. */
type ReportableChange = Pick<ChangeOutcome, 'change'> & Partial<ChangeOutcome>;

/** @param annotations the notes about where the changes of the prompt come from */
function makeChange(
  { change, status, version, isRecovered }: ReportableChange,
  texts: TextChange | undefined,
  annotations: readonly ChangeAnnotation[],
): ReportChange {
  const result = version && makeReportRef(version);
  switch (change.kind) {
    case 'create-version':
      return {
        kind: change.kind,
        digest: change.content.digest,
        metadata_digest: change.content.metadataDigest,
        ...makeKeptMetadataFields(change.metadataFrom),
        ref: change.ref,
        baseline: change.baseline,
        missing_pin: change.missingPin,
        creates_prompt: change.createsPrompt,
        change_summary: change.provenance.changeSummary ?? null,
        version: result,
        status,
        recovered: isRecovered,
      };
    case 'update-prompt':
      return { kind: change.kind, fields: addFieldNotes(change.fields, annotations), status };
    case 'set-active': {
      const { kind, environment } = change;
      const served = makeServedFields(change, texts);
      const annotation = annotations.find((one) => one.subject === 'environment' && one.environment === environment);
      const notes = annotation && makeNoteFields(annotation.note);
      return { kind, environment, ...served, after: result ?? served.after, ...notes, status };
    }
  }
}

function addFieldNotes(
  fields: UpdatePrompt['fields'],
  annotations: readonly ChangeAnnotation[],
): Extract<ReportChange, { readonly kind: 'update-prompt' }>['fields'] {
  const notedFields: { [Field in FieldName]?: FieldChange & ReportNoteFields } = { ...fields };
  for (const annotation of annotations) {
    const field = annotation.subject === 'field' ? fields[annotation.field] : undefined;
    if (annotation.subject !== 'field' || field === undefined) continue;
    notedFields[annotation.field] = { ...field, ...makeNoteFields(annotation.note) };
  }
  return notedFields;
}

/** The last second of the year 9999, in seconds since 1970. Git allows dates that `Date` cannot represent. */
const LATEST_TIME = 253_402_300_799;

function makeNoteFields(note: ChangeNote): ReportNoteFields {
  if (note.kind === 'behind') return { behind: true };
  const { commit, time, isMerged } = note;
  const date = new Date(Math.min(time, LATEST_TIME) * 1000).toISOString().slice(0, 10);
  return { wanted_since: { commit, date, unmerged: isMerged ? undefined : true } };
}

/** Returns undefined for a change that was replaced during the apply: texts exist only for the original plan. */
function findTexts(change: Change, { id }: PromptFile, texts: TextChangesByPrompt | undefined): TextChange | undefined {
  if (change.kind !== 'set-active') return undefined;
  const key = makeTextsKey(change);
  return texts?.get(id)?.find((one) => makeTextsKey(one.change) === key);
}

function makeTextsKey({ environment, before, after }: SetActive): string {
  const afterKey = isNewVersionRef(after) ? after.newContent.digest : after.id;
  return JSON.stringify([environment, before?.id, afterKey]);
}

/**
 * Makes the row of one pinned environment. The wanted version is null if the plan has no change for the environment and
 * the environment is not in sync.
 */
function makeReportRow(pinned: EnvironmentPin, plan: PromptPlan): ReportRow {
  const { environment, pin } = pinned;
  const active = plan.observed?.active.get(environment) ?? null;
  const change = plan.changes.find((one) => one.kind === 'set-active' && one.environment === environment);
  const serves = active === null ? null : makeReportRef(active);
  const inSync = change === undefined && serves !== null && !isUnresolved(pinned, plan);
  const wantedIfUnchanged = inSync ? serves : null;
  const wanted = change?.kind === 'set-active' ? makeTarget(change.after) : wantedIfUnchanged;
  return { environment, pin: formatPin(pin), active: serves, wanted, in_sync: inSync };
}

/** Returns the rows of the environments that the command was limited to, or all rows if it covered all environments. */
function selectRows(
  { environments }: ReportPrompt,
  { selectedEnvironments }: Pick<CommandRun, 'selectedEnvironments'>,
): ReportPrompt['environments'] {
  const selected = selectedEnvironments ?? null;
  return selected === null ? environments : environments?.filter(({ environment }) => selected.includes(environment));
}

/** Recognizes an unresolved pin by the problem with its line and column, because the plan has no change for it. */
function isUnresolved({ line, column }: EnvironmentPin, { problems }: PromptPlan): boolean {
  return problems.some((problem) => problem.line === line && problem.column === column);
}

/** @param portablePins whether pins can name only commits */
function makeDrift(drift: Drift, file: PromptFile, portablePins: boolean): ReportDrift {
  const { kind, restoresBase: restores } = drift;
  const pull = kind === 'outside' && canPullDrift(drift, file, portablePins) ? true : undefined;
  if (drift.subject === 'field') {
    const { field, expected, observed } = drift;
    return { field, kind, restores, pull, expected, observed };
  }
  const { environment, isMovedBack } = drift;
  const observed = drift.observed && makeServedVersion(drift.observed);
  const expected = makeExpected(drift.expected);
  return { environment, kind, restores, pull, expected, observed, moved_back: isMovedBack };
}

function makeServedVersion(served: ServedVersion): Extract<ReportDrift, { environment: string }>['observed'] {
  const { isManaged, commit, isCommitMissing } = served;
  const made_by = isManaged && commit !== undefined ? 'git' : 'outside';
  return { ...makeReportRef(served), made_by, commit, commit_missing: isCommitMissing };
}

/** Creates the reference to the version that the base wants. The id is null if promptsync does not know the version. */
function makeExpected(expected: WantedVersionRef): Extract<ReportDrift, { environment: string }>['expected'] {
  if (isNewVersionRef(expected) || expected.id !== null) return makeTarget(expected);
  return { id: null, version_number: expected.number };
}

/** Counts prompts by status and changes by kind. Counts baselines separately. */
function makeReportSummary(prompts: readonly ReportPrompt[]): Report['summary'] {
  const countedChanges = prompts.flatMap((prompt) =>
    prompt.changes.filter((change) => isCountedInSummary(change, prompt)),
  );
  const countChanges = (kind: ReportChange['kind']) => countedChanges.filter((change) => change.kind === kind).length;
  const baselines = countedChanges.filter((change) => change.kind === 'create-version' && change.baseline).length;
  const countPrompts = (status: ReportPrompt['status']) => prompts.filter((prompt) => prompt.status === status).length;
  return {
    prompts: prompts.length,
    unchanged: countPrompts('unchanged'),
    create_version: countChanges('create-version') - baselines,
    baselines,
    update_prompt: countChanges('update-prompt'),
    set_active: countChanges('set-active'),
    blocked: countPrompts('blocked'),
    applied: countPrompts('applied'),
    failed: countPrompts('failed'),
    not_attempted: countPrompts('not_attempted'),
  };
}
