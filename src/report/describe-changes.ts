import { formatCount, shortenCommitId } from '../text.ts';
import type { Words } from '../service-words.ts';
import type { ReportNoteFields } from './schema/change-schema.ts';
import { describeVersionRef, getWords, isDone, nameInvisibleDifference, type ShowText } from './describe-report.ts';
import { describeDriftHint } from './describe-drift.ts';
import { escapeLine } from './escape.ts';
import type { Report, ReportChange, ReportEdit, ReportPrompt } from './schema/report-schema.ts';

type ChangeOfKind<K extends ReportChange['kind']> = ReportChange & { readonly kind: K };

/** The parts of a report that determine the notes about where changes come from. */
export type NoteContext = Pick<Report, 'branch' | 'commit' | 'vocabulary'>;

/** Describes a new version, the metadata that it keeps, and whether a pin uses it. */
export function describeNewVersion(
  change: ChangeOfKind<'create-version'>,
  { status, changes }: ReportPrompt,
  report: NoteContext,
  show: ShowText,
): string {
  const from = change.metadata_from;
  const kept = from === undefined ? '' : ` (keeps the metadata of ${showVersion(from, show)})`;
  const unused = hasNoFollower(change, changes) && !change.baseline ? describeUnusedVersion(change, show) : '';
  const deleted = createsPrompt(change) && status !== 'blocked' ? describeDeletion(changes, report, show) : '';
  return `${describeCreate(change, getWords(report), show)}${deleted}${kept}${unused}${describeResult(change, status)}`;
}

/** Says how to retire a prompt that an earlier commit already asked for, because somebody may have deleted it. */
function describeDeletion(changes: readonly ReportChange[], report: NoteContext, show: ShowText): string {
  const isOlder = changes.some((one) => one.kind === 'set-active' && describeOrigin(one, one, report, show) !== '');
  return isOlder ? ' (if it was deleted there, delete the file to retire it)' : '';
}

/** Says that no pin uses a version. If the file does not pin the first environment, also names the pin to add. */
function describeUnusedVersion({ missing_pin: environment }: ChangeOfKind<'create-version'>, show: ShowText): string {
  return environment === undefined ? ' (no pin uses it)' : ` (no pin uses it; add ${show(`${environment}: latest`)})`;
}

/** Describes the change of a field that is in the change, for example `name: "Greeting" → "Support greeting"`. */
export function describeFieldChange(
  change: ChangeOfKind<'update-prompt'>,
  field: keyof ChangeOfKind<'update-prompt'>['fields'],
  { status }: ReportPrompt,
  report: NoteContext,
  show: ShowText,
): string {
  const { before = '', after = '', ...notes } = change.fields[field] ?? {};
  const values = `${show(JSON.stringify(before))} → ${show(JSON.stringify(after))}`;
  const difference = makeNameSuffix(before, after);
  return `${field}: ${values}${difference}${describeOrigin(change, notes, report, show)}${describeResult(change, status)}`;
}

/** Describes the change of the active version in an environment, for example `staging: v6 → v7`. */
export function describeActivation(
  change: ChangeOfKind<'set-active'>,
  { status }: ReportPrompt,
  report: NoteContext,
  show: ShowText,
): string {
  const versions = `${showVersion(change.before, show)} → ${showVersion(change.after, show)}`;
  return `${show(change.environment)}: ${versions}${describeOrigin(change, change, report, show)}${describeResult(change, status)}`;
}

/** Returns the label of a version for use in a sentence. Escapes the label, but not promptsync's own words. */
function showVersion(ref: Parameters<typeof describeVersionRef>[0], show: ShowText): string {
  const label = describeVersionRef(ref);
  return ref === null || 'new' in ref ? label : show(label);
}

/** If readers could overlook the difference, returns a suffix that names it. Otherwise, returns an empty string. */
function makeNameSuffix(before: string, after: string): string {
  const name = nameInvisibleDifference(before, after);
  return name === '' ? '' : ` ${name}`;
}

/**
 * Returns a suffix such as ` (main wants this since 9f2c1ab04d3e, 2026-07-28)`. Returns an empty string if promptsync
 * has made the change, if it comes from the commit of the report, or if its origin is unknown.
 */
export function describeOrigin(
  change: ReportChange,
  { wanted_since: since, behind }: ReportNoteFields,
  { branch, commit }: NoteContext,
  show: ShowText,
): string {
  if (branch === undefined || isDone(change)) return '';
  if (behind) return ` (your branch is behind ${show(branch)})`;
  if (since === undefined || since.unmerged || since.commit === commit) return '';
  return ` (${show(branch)} wants this since ${show(shortenCommitId(since.commit))}, ${show(since.date)})`;
}

/** Returns the hints about commits that the clone or the branch may lack. Each hint applies to the whole report. */
export function describeCloneHints(report: Report, show: ShowText): readonly string[] {
  return [...describeBehindHint(report, show), ...describeDriftHint(report, show)];
}

/** Returns a single hint for all changes whose note says that the branch is behind the live branch. */
function describeBehindHint({ prompts, branch }: Report, show: ShowText): readonly string[] {
  const changes = prompts.flatMap((prompt) => prompt.changes).filter((change) => !isDone(change));
  if (branch === undefined || !changes.some(isBehind)) return [];
  return [
    `Your branch is behind ${show(branch)}. Run ${show('git fetch')}, then merge the newest ${show(branch)}, for example with ${show(`git merge origin/${branch}`)}.`,
  ];
}

function isBehind(change: ReportChange): boolean {
  if (change.kind === 'update-prompt') return Object.values(change.fields).some(({ behind }) => behind === true);
  return change.kind === 'set-active' && change.behind === true;
}

/** A baseline is the version that promptsync creates when it first syncs a prompt that already has versions. */
const BASELINE_TEXT = "baseline: a version for promptsync's records; nothing that is served changes";

function describeCreate(change: ChangeOfKind<'create-version'>, words: Words, show: ShowText): string {
  const { ref, change_summary: summary, version, status, recovered, baseline } = change;
  const number = version === undefined || version.version_number === null ? '' : ` v${version.version_number}`;
  const verb = CREATE_VERBS[recovered ? 'made' : (status ?? 'not_made')];
  if (baseline) return status === undefined ? BASELINE_TEXT : `${verb} baseline${number}`;
  const source = ref === undefined ? '' : ` of ${show(`git:${ref}`)}`;
  const newPrompt = `prompt in ${words.service}${number === '' ? '' : ` with${number}`}`;
  const created = createsPrompt(change) ? newPrompt : `version${number}`;
  return `${verb} ${created}${source}${summary === null ? '' : `: ${show(summary)}`}`;
}

/** Returns false for an adopted version, because somebody else created the prompt. */
function createsPrompt({ creates_prompt: creates, status, recovered }: ChangeOfKind<'create-version'>): boolean {
  return creates === true && (status !== 'adopted' || recovered === true);
}

const CREATE_VERBS = {
  made: 'created',
  adopted: 'adopted',
  not_made: 'create',
  unknown: 'create',
} as const satisfies Record<NonNullable<ReportChange['status']>, string>;

/** Returns true if a change creates a version that no environment will serve. */
function hasNoFollower(change: ChangeOfKind<'create-version'>, all: readonly ReportChange[]): boolean {
  return !all.some(
    (other) => other.kind === 'set-active' && ('new' in other.after || other.after.id === change.version?.id),
  );
}

/** Returns a suffix such as ` (not made)`. A change without a result counts as blocked if its prompt is blocked. */
function describeResult(change: ReportChange, promptStatus: ReportPrompt['status']): string {
  if (change.kind === 'create-version' && change.recovered) return ' (the response was lost)';
  if (change.status === undefined) return promptStatus === 'blocked' ? ' (blocked)' : '';
  return describeChangeStatus(change.status);
}

/** Describes the status of a change as a suffix. Returns an empty string for a change that promptsync made as planned. */
export function describeChangeStatus(status: NonNullable<ReportChange['status']>): string {
  return STATUS_NOTES[status];
}

const STATUS_NOTES = {
  made: '',
  adopted: ' (already existed)',
  not_made: ' (not made)',
  unknown: ' (outcome unknown)',
} as const satisfies Record<NonNullable<ReportChange['status']>, string>;

type SetPinEdit = Extract<ReportEdit, { readonly kind: 'set-pin' }>;

/** Describes an edit to a prompt file in one line, without its sign (such as `+`). */
export function describeEdit(edit: ReportEdit, show: ShowText): string {
  switch (edit.kind) {
    case 'create-file':
      return 'new file';
    case 'set-pin': {
      const number = edit.version_number === undefined ? '' : ` (v${edit.version_number})`;
      const environment = show(edit.environment);
      const novelty = edit.active === null ? ` (new in ${environment})` : '';
      // Later edits of the text do not reach this environment. Users tend to overlook this when they roll back.
      const end = edit.before === 'latest' ? ` (${environment} no longer follows the file)` : '';
      return `${environment}: ${describePinBefore(edit, show)}${show(edit.after)}${number}${novelty}${end}`;
    }
    case 'set-field': {
      const [before, after] = [edit.before, edit.after].map((value) => (value === null ? 'absent' : show(value)));
      const name = edit.before === null || edit.after === null ? '' : makeNameSuffix(edit.before, edit.after);
      return `${show(edit.field)}: ${before} → ${after}${name}${edit.conflict ? ' (conflict)' : ''}`;
    }
    case 'set-text': {
      const conflicts = edit.conflicts === 0 ? '' : ` (${formatCount(edit.conflicts, 'conflict')})`;
      return `text: ${show(edit.from)}${conflicts}`;
    }
  }
}

/** Describes the pin before an edit. Returns an empty string for a new file, which had no pins before. */
function describePinBefore({ before, active }: SetPinEdit, show: ShowText): string {
  if (before !== null) return `${show(before)} → `;
  return active === undefined ? '' : 'none → ';
}

/** Describes the pin of a new file in a few words, for example `staging: v3`. */
export function describeNewPin(edit: SetPinEdit): string {
  const pin = (edit.version_number?.toString() ?? edit.after).replace(/^\d+$/, 'v$&');
  return `${escapeLine(edit.environment)}: ${escapeLine(pin)}`;
}

/** Returns true if the edit leaves both sides of a conflict in the file, so that the user can resolve it. */
export function isConflict(edit: ReportEdit): boolean {
  return (edit.kind === 'set-field' && edit.conflict) || (edit.kind === 'set-text' && edit.conflicts > 0);
}
