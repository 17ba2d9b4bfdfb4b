import { shortenCommitId } from '../text.ts';
import { describeVersionRef, isDone, type ShowText } from './describe.ts';
import type { Report, ReportChange, ReportDrift, ReportPrompt } from './schema.ts';

/**
 * The words for a drifted state that the service still has, and the words for a state that a sync has already replaced.
 */
const DRIFT_WORDS = {
  current: { is: 'is', serves: 'serves', keep: 'keep' },
  replaced: { is: 'was', serves: 'served', keep: 'bring back' },
} as const;

/** Describes a drift: the current state, the state that the base requests, and the effect of a sync. */
export function describeDrift(drift: ReportDrift, prompt: ReportPrompt, mode: Report['mode'], show: ShowText): string {
  const isReplaced = mode === 'apply' && prompt.changes.some((change) => isDone(change) && isChangeOf(change, drift));
  const { is, serves, keep } = DRIFT_WORDS[isReplaced ? 'replaced' : 'current'];
  // If the file and the base request the same state, name the file. A user who specified no base does not know the
  // base.
  const wanter = drift.restores ? 'the file' : 'the base';
  const cause = describeDriftCause(drift, show);
  const describeNext = (found: string, wanted: string): string =>
    `${canPull(drift, prompt, mode) ? `${show('promptsync pull')} copies ${found} to the file. ` : ''}${describeDriftOutcome(drift, wanted, prompt, mode)}`;
  if ('field' in drift) {
    const [found, wanted] = [show(JSON.stringify(drift.observed)), show(JSON.stringify(drift.expected))];
    return `${drift.field} ${is} ${found}, but ${wanter} says ${wanted} (${cause}). ${describeNext(found, wanted)}`;
  }
  const { environment, observed, expected } = drift;
  const version = 'new' in expected ? null : show(describeVersionRef(expected));
  const wants = `but ${wanter} says ${version ?? 'a new version'} (${cause})`;
  if (observed === null) return `${show(environment)} ${serves} no version, ${wants}.`;
  const found = show(describeVersionRef(observed));
  const isCommitKnown = observed.commit !== undefined && observed.commit_missing !== true;
  const from = isCommitKnown ? `, created from ${show(shortenCommitId(observed.commit))}` : '';
  const next = describeNext(found, version ?? 'its text');
  return `${show(environment)} ${serves} ${found}${from}, ${wants}. ${next} To ${keep} ${found}, ${describePinning(observed, show)}.`;
}

/** Describes how to pin a version, as a clause in the imperative. With portable pins, a pin can name only a commit. */
function describePinning({ pin, id }: ObservedVersion, show: ShowText): string {
  if (pin === null) return `merge its text, then pin the merged commit as ${show('git:<commit>')}`;
  return `pin ${show(pin ?? `version:${id}`)}`;
}

/** The version that a drifted environment serves. */
type ObservedVersion = NonNullable<Extract<ReportDrift, { readonly environment: string }>['observed']>;

/** Returns true if `promptsync pull` can copy the current state into the file. */
function canPull(drift: ReportDrift, { environments = [] }: ReportPrompt, mode: Report['mode']): boolean {
  if (mode === 'apply' || drift.kind !== 'outside') return false;
  if ('field' in drift) return true;
  if (drift.observed?.made_by === 'git') return false;
  // With portable pins, `pull` leaves a pin to a commit alone, because it cannot name the version that is served.
  const pin = environments.find(({ environment }) => environment === drift.environment)?.pin ?? '';
  return drift.observed?.pin !== null || !pin.startsWith('git:');
}

/** Describes how the current state came about, as far as the clone shows it. */
function describeDriftCause(drift: ReportDrift, show: ShowText): string {
  if (drift.kind === 'unfinished') return 'unfinished: merged but not live yet';
  const made = 'field' in drift ? null : drift.observed;
  if (made?.commit === undefined || made.commit_missing !== true) return 'no commit in this clone asked for it';
  const commit = show(shortenCommitId(made.commit));
  return `made from ${commit}, which this clone does not have: run ${show('git fetch')}; or it was never merged`;
}

/**
 * Describes what a sync would do about a drift. In the report of a sync, describes what that sync did.
 * @param wanted the escaped state that the base requests
 */
function describeDriftOutcome(
  drift: ReportDrift,
  wanted: string,
  { status, changes }: ReportPrompt,
  mode: Report['mode'],
): string {
  if (status === 'blocked') return 'The prompt is blocked, so a sync does not change it.';
  if (mode !== 'apply') return drift.restores ? `A sync restores ${wanted}.` : 'A sync applies the current files.';
  const result = changes.find((change) => isChangeOf(change, drift))?.status;
  if (result === 'unknown') return 'promptsync does not know whether this run changed it.';
  if (result !== 'made' && result !== 'adopted') return 'This run did not change it.';
  return drift.restores ? `This run restored ${wanted}.` : 'This run applied the current files.';
}

/** Returns the drift entries of the environment or the fields that a change affects. */
export function findDriftOfChange(change: ReportChange, all: readonly ReportDrift[]): readonly ReportDrift[] {
  return all.filter((drift) => isChangeOf(change, drift));
}

/** Returns true if a change affects the environment or the field that has drifted. */
function isChangeOf(change: ReportChange, drift: ReportDrift): boolean {
  if (change.kind === 'set-active') return 'environment' in drift && drift.environment === change.environment;
  return change.kind === 'update-prompt' && 'field' in drift && drift.field in change.fields;
}
