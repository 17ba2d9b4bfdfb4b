import type { EditedPrompt, FileEdit } from '../domain/edits.ts';
import {
  type Change,
  type ChangeAnnotation,
  type ChangeNote,
  type ChangeOutcome,
  type Drift,
  type ServedVersion,
  isNewVersionRef,
  type PromptOutcome,
  type PromptPlan,
  type SetActive,
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
import { makeKeptMetadataFields, omitLargeTexts } from './make-text-fields.ts';
import { makeHistoryFields, makeWaitingFields } from './make-history-fields.ts';
import { makeIdentity, makeReportEdit, makeReportRef, makeServedFields, makeTarget } from './make-shared-fields.ts';
import type { CommandRun } from '../run/command-result.ts';

/** The members of a run that a program that uses the library may not have. */
type OptionalInput = 'vocabulary' | 'baseName' | 'liveBranch';

/** A run without its folder. Reports do not contain the folder, because all their paths are relative to it. */
type ReportInput = Omit<CommandRun, 'folder' | OptionalInput> & Partial<Pick<CommandRun, OptionalInput>>;

/** Makes the public report of a run, even of a failed one. promptsync renders every format from this report. */
export function makeReport(run: ReportInput): Report {
  const { narrowed, environmentOrder, selectedEnvironments, written, nextSteps, committed, commits, orphans } = run;
  const { vocabulary = DEFAULT_WORDS } = run;
  const makeProblems = makeProblemConverter({ ...run, vocabulary });
  const worded = makePrompts(run).map((one) => ({ ...one, problems: makeProblems(one.problems, one.path) }));
  const prompts = omitLargeTexts(worded).map((one) => ({ ...one, ...selectRows(one, selectedEnvironments ?? null) }));
  return {
    schema_version: 1,
    mode: run.mode,
    service: run.service,
    ...(vocabulary !== DEFAULT_WORDS && { vocabulary }),
    commit: run.commit,
    ...makeNameFields(run),
    ...(narrowed && { changed_since: narrowed.since }),
    ...(environmentOrder && { promotion_order: environmentOrder }),
    ...(selectedEnvironments && { environments: selectedEnvironments }),
    plan_digest: choosePlanDigest(run),
    summary: { ...makeReportSummary(prompts), ...(narrowed && { not_looked_at: narrowed.notLookedAt }) },
    prompts,
    ...(orphans && { orphans: orphans.map(makeOrphan) }),
    ...(written && { files: written }),
    ...(nextSteps && { next_steps: nextSteps }),
    ...(committed && { committed }),
    ...(commits && { commits }),
    problems: makeProblems(run.problems),
  };
}

function makeNameFields({ baseName = null, liveBranch = null }: ReportInput): Pick<Report, 'base' | 'branch'> {
  return { ...(baseName !== null && { base: baseName }), ...(liveBranch !== null && { branch: liveBranch }) };
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
  const addAffected = (prompt: UnwordedPrompt) => ({ ...prompt, ...makeAffectedFields(affected?.get(prompt.id)) });
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

function makeAffectedFields(files: readonly PromptFile[] | undefined): Pick<ReportPrompt, 'affected'> {
  return files === undefined ? {} : { affected: files.map(({ path, key }) => ({ path, key })) };
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
  const changes = changesToReport.map((one) =>
    addAnnotations(makeChange(one, findTexts(one.change, file, texts)), plan.annotations),
  );
  const identity = makeIdentity(file, plan);
  return {
    ...identity,
    status,
    changes,
    environments: file.pins.map((pin) => makeReportRow(pin, plan)),
    ...makeEditFields(edits?.get(file.id)),
    drift: drift.map((one) => makeDrift(one, file, portablePins)),
    problems,
  };
}

function makeEditFields(edits: readonly FileEdit[] | undefined): Pick<ReportPrompt, 'edits'> {
  return edits === undefined ? {} : { edits: edits.map(makeReportEdit) };
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

function makePlannedChange(change: Change, texts: TextChange | undefined): ReportChange {
  switch (change.kind) {
    case 'create-version':
      return {
        kind: change.kind,
        digest: change.content.digest,
        ...(change.content.metadataDigest === undefined ? {} : { metadata_digest: change.content.metadataDigest }),
        ...makeKeptMetadataFields(change.metadataFrom),
        ...(change.ref === undefined ? {} : { ref: change.ref }),
        ...(change.baseline && { baseline: change.baseline }),
        ...(change.missingPin !== undefined && { missing_pin: change.missingPin }),
        ...(change.createsPrompt && { creates_prompt: change.createsPrompt }),
        change_summary: change.provenance.changeSummary ?? null,
      };
    case 'update-prompt':
      return { kind: change.kind, fields: change.fields };
    case 'set-active':
      return { kind: change.kind, environment: change.environment, ...makeServedFields(change, texts) };
  }
}

/** A change of a plan. After an apply, it also has its status and the resulting version. */
type ReportableChange = Pick<ChangeOutcome, 'change'> & Partial<ChangeOutcome>;

function makeChange(
  { change, status, version, isRecovered }: ReportableChange,
  texts: TextChange | undefined,
): ReportChange {
  const planned = makePlannedChange(change, texts);
  if (status === undefined) return planned;
  if (version === undefined || planned.kind === 'update-prompt') return { ...planned, status };
  if (planned.kind === 'create-version') {
    const recovery = isRecovered === true ? { recovered: true as const } : {};
    return { ...planned, version: makeReportRef(version), status, ...recovery };
  }
  return { ...planned, after: makeReportRef(version), status };
}

/** Adds the notes about where a change comes from. Each note belongs to one environment or field. */
function addAnnotations(change: ReportChange, annotations: readonly ChangeAnnotation[]): ReportChange {
  switch (change.kind) {
    case 'create-version':
      return change;
    case 'update-prompt': {
      const fields = { ...change.fields };
      for (const annotation of annotations) {
        const field = annotation.subject === 'field' ? fields[annotation.field] : undefined;
        if (annotation.subject !== 'field' || field === undefined) continue;
        fields[annotation.field] = { ...field, ...makeNoteFields(annotation.note) };
      }
      return { ...change, fields };
    }
    case 'set-active': {
      const annotation = annotations.find(
        (one) => one.subject === 'environment' && one.environment === change.environment,
      );
      if (annotation === undefined) return change;
      const { status, ...planned } = change;
      return { ...planned, ...makeNoteFields(annotation.note), ...(status !== undefined && { status }) };
    }
  }
}

/** The last second of the year 9999, in seconds since 1970. Git allows dates that `Date` cannot represent. */
const LATEST_TIME = 253_402_300_799;

function makeNoteFields(note: ChangeNote): ReportNoteFields {
  if (note.kind === 'behind') return { behind: true };
  const { commit, time, isMerged } = note;
  const date = new Date(Math.min(time, LATEST_TIME) * 1000).toISOString().slice(0, 10);
  return { wanted_since: { commit, date, ...(!isMerged && { unmerged: true as const }) } };
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

/** Returns the rows of the selected environments. Null selects all environments. */
function selectRows(
  { environments }: ReportPrompt,
  selected: readonly string[] | null,
): Pick<ReportPrompt, 'environments'> {
  if (environments === undefined || selected === null) return {};
  return { environments: environments.filter(({ environment }) => selected.includes(environment)) };
}

/** Recognizes an unresolved pin by the problem with its line and column, because the plan has no change for it. */
function isUnresolved({ line, column }: EnvironmentPin, { problems }: PromptPlan): boolean {
  return problems.some((problem) => problem.line === line && problem.column === column);
}

/** @param portablePins whether pins can name only commits */
function makeDrift(drift: Drift, file: PromptFile, portablePins: boolean): ReportDrift {
  const pull = drift.kind === 'outside' && canPullDrift(drift, file, portablePins) && { pull: true as const };
  if (drift.subject === 'field') {
    const { kind, restoresBase, field, expected, observed } = drift;
    return { field, kind, restores: restoresBase, ...pull, expected, observed };
  }
  const { environment, kind, restoresBase: restores } = drift;
  const observed = drift.observed && makeServedVersion(drift.observed);
  const moved = drift.isMovedBack && { moved_back: drift.isMovedBack };
  return { environment, kind, restores, ...pull, expected: makeExpected(drift.expected), observed, ...moved };
}

function makeServedVersion({ isManaged, commit, isCommitMissing, isInGit: _, ...ref }: ServedVersion) {
  const made_by = isManaged && commit !== undefined ? 'git' : 'outside';
  return {
    ...makeReportRef(ref),
    made_by,
    ...(commit !== undefined && { commit }),
    ...(isCommitMissing && { commit_missing: isCommitMissing }),
  } as const;
}

/** Creates the reference to the version that the base wants. The id is null if promptsync does not know the version. */
function makeExpected(expected: WantedVersionRef): Extract<ReportDrift, { environment: string }>['expected'] {
  if (isNewVersionRef(expected) || expected.id !== null) return makeTarget(expected);
  return { id: null, version_number: expected.number };
}

/**
 * Counts prompts by status and changes by kind. Counts baselines separately. After an apply, counts only the changes
 * that were made. Before an apply, changes have no status, so it counts all changes of pending prompts.
 */
function makeReportSummary(prompts: readonly ReportPrompt[]): Report['summary'] {
  const countedChanges = prompts.flatMap(({ status, changes }) =>
    changes.filter((change) => (change.status === undefined ? status === 'pending' : change.status === 'made')),
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
