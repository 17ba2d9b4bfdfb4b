import { isError } from '../problem.ts';
import { makePromptCommand } from '../problems/catalog-entry.ts';
import { shortenCommitId } from '../text.ts';
import { describeVersionRef, getWords, isDone, type ShowText } from './describe-report.ts';
import type { Report, ReportChange, ReportDrift, ReportPrompt } from './schema/report-schema.ts';

export type DriftContext = Pick<Report, 'mode' | 'vocabulary' | 'base'>;

/**
 * Describes drift as lines: what differs and what a sync does about it, then the commands that keep or replace the
 * current state. There are no commands after a run, in a rollback, and for an unfinished sync. There are also none for
 * a version from a commit that the clone lacks, because that commit may be merged.
 */
export function describeDrift(
  drift: ReportDrift,
  prompt: ReportPrompt,
  report: DriftContext,
  show: ShowText,
): readonly string[] {
  const desired = describeDesiredState(drift, prompt, show);
  const difference = describeDeviation(drift, prompt, report, show);
  const isAfter = isAfterRun(prompt, report);
  const missing = isAfter ? undefined : findMissingCommit(drift);
  if (missing !== undefined) {
    const origin = `${describeState(drift.observed, show)} was made from ${show(shortenCommitId(missing))}`;
    return [`${difference}. (${origin}, which this clone does not have: run ${show('git fetch')})`];
  }
  // In the plan of a rollback, no sync follows. The rollback itself replaces the state that the files ask for.
  const isPlannedRollback = report.mode === 'rollback' && !isAfter;
  const effect = isPlannedRollback ? '' : ` ${describeEffect(drift, desired, prompt, isAfter, show)}`;
  const statement = `${difference}.${effect}`;
  const hasCommands = !isAfter && !isPlannedRollback && drift.kind === 'outside';
  return hasCommands ? [statement, ...listCommands(drift, desired, prompt, show)] : [statement];
}

/** Returns true if the report describes a finished run: a sync, or a rollback that changed the service. */
export function isAfterRun({ changes }: ReportPrompt, { mode }: DriftContext): boolean {
  return mode === 'apply' || changes.some(({ status }) => status !== undefined);
}

/** The expected or the observed state of an environment or a field. Null if the environment serves no version. */
type DriftState = ReportDrift['expected'] | ReportDrift['observed'];

function describeState(state: DriftState, show: ShowText): string {
  if (state === null) return 'nothing';
  if (typeof state === 'string') return show(JSON.stringify(state));
  if ('new' in state) return 'a new version';
  return show(state.id === null ? `v${state.version_number}` : describeVersionRef(state));
}

/** Describes the state after a sync. It differs from the expected state if the head and the base differ. */
function describeDesiredState(drift: ReportDrift, prompt: ReportPrompt, show: ShowText): string {
  const change = findChangeOfDrift(drift, prompt);
  if (change?.kind === 'set-active') return describeState(change.after, show);
  const field = change?.kind === 'update-prompt' && 'field' in drift ? change.fields[drift.field] : undefined;
  return describeState(field?.after ?? drift.expected, show);
}

/** Describes how the state in the service differs from what the base asks for, as a clause without a period. */
function describeDeviation(drift: ReportDrift, prompt: ReportPrompt, report: DriftContext, show: ShowText): string {
  const [observed, expected] = [drift.observed, drift.expected].map((state) => describeState(state, show));
  const change = findChangeOfDrift(drift, prompt);
  const isReplaced = change !== undefined && isDone(change);
  const wants = `but ${report.base === undefined ? 'the base' : show(report.base)} asks for ${expected}`;
  if ('field' in drift) {
    return `${drift.field} ${isReplaced ? 'was' : 'is'} ${observed} in ${getWords(report).service}, ${wants}`;
  }
  const environment = show(drift.environment);
  if (drift.moved_back) return `somebody moved ${environment} back from ${expected} to ${observed}`;
  return `${environment} ${isReplaced ? 'served' : 'serves'} ${observed}, ${wants}`;
}

/** The verbs for what a sync would do, for what a finished sync did, and for a command. */
const VERBS = {
  restore: { sync: 'restores', run: 'restored', command: 'Restore' },
  activate: { sync: 'activates', run: 'activated', command: 'Activate' },
  change: { sync: 'changes it to', run: 'changed it to', command: 'Change it to' },
} as const;

/** Chooses the verb for what a sync does. A sync cannot restore a version that does not exist yet. */
function chooseVerb(drift: ReportDrift): (typeof VERBS)[keyof typeof VERBS] {
  if ('field' in drift) return drift.restores ? VERBS.restore : VERBS.change;
  return drift.restores && !('new' in drift.expected) ? VERBS.restore : VERBS.activate;
}

/** Describes what a sync does about a drift or, in its own report, what it did. `desired` is already escaped. */
function describeEffect(
  drift: ReportDrift,
  desired: string,
  prompt: ReportPrompt,
  isAfter: boolean,
  show: ShowText,
): string {
  if (prompt.status === 'blocked') return 'The prompt is blocked, so promptsync does not change it.';
  const verb = chooseVerb(drift);
  if (!isAfter) return `A sync ${verb.sync} ${desired}.`;
  const result = findChangeOfDrift(drift, prompt)?.status;
  if (result === 'unknown') return 'promptsync does not know whether this run changed it.';
  if (result !== 'made' && result !== 'adopted') return 'This run did not change it.';
  return `This run ${verb.run} ${desired}.${describeWayBack(drift, show)}`;
}

/** Says how to bring back a replaced version. Empty for a version of promptsync's, which `history` lists. */
function describeWayBack(drift: ReportDrift, show: ShowText): string {
  if ('field' in drift || drift.observed === null || drift.observed.made_by === 'git') return '';
  return ` To bring ${describeState(drift.observed, show)} back, pin ${show(`version:${drift.observed.id}`)}.`;
}

/**
 * Returns one hint for all drift that seems to come from outside, because its cause may be a merged commit that the
 * clone lacks. Empty if the base is not the live branch, as in CI, or if every line in a plan already names a missing
 * commit.
 */
export function describeDriftHint({ mode, base, branch, prompts }: Report, show: ShowText): readonly string[] {
  const isPreview = mode === 'dry-run' || mode === 'status';
  const isUnclear = (drift: ReportDrift): boolean =>
    drift.kind === 'outside' && (mode === 'status' || findMissingCommit(drift) === undefined);
  if (!isPreview || base !== branch || !prompts.some(({ drift }) => drift.some(isUnclear))) return [];
  return [`A merged change that this clone lacks can look like drift. To rule that out, run ${show('git fetch')}.`];
}

/** Returns the commit of the version that an environment serves, if the clone lacks this commit. */
function findMissingCommit(drift: ReportDrift): string | undefined {
  return 'environment' in drift && drift.observed?.commit_missing ? drift.observed.commit : undefined;
}

function listCommands(drift: ReportDrift, desired: string, prompt: ReportPrompt, show: ShowText): readonly string[] {
  const pull = makePromptCommand('pull', prompt.key);
  const sync = findSyncCommand(prompt);
  return [
    ...(drift.pull === true ? [`Keep ${describeState(drift.observed, show)}: ${show(pull)}`] : []),
    ...(sync === null ? [] : [`${chooseVerb(drift).command} ${desired}: ${show(sync)}`]),
  ];
}

/** Returns the command that overwrites only this prompt, or null if a guard other than the drift guard blocks it. */
function findSyncCommand({ key, status, problems }: ReportPrompt): string | null {
  if (status !== 'blocked') return makePromptCommand('sync', key);
  const isOnlyDrift = problems.filter(isError).every(({ code }) => code === 'guard/drift');
  return isOnlyDrift ? makePromptCommand('sync', key, '--on-drift overwrite') : null;
}

export function findDriftOfChange(change: ReportChange, all: readonly ReportDrift[]): readonly ReportDrift[] {
  return all.filter((drift) => isChangeOf(change, drift));
}

function findChangeOfDrift(drift: ReportDrift, { changes }: ReportPrompt): ReportChange | undefined {
  return changes.find((change) => isChangeOf(change, drift));
}

/** Returns true if a change affects the environment or the field that has drifted. */
export function isChangeOf(change: ReportChange, drift: ReportDrift): boolean {
  if (change.kind === 'set-active') return 'environment' in drift && drift.environment === change.environment;
  return change.kind === 'update-prompt' && 'field' in drift && drift.field in change.fields;
}
