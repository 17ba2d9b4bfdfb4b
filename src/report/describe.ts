import { formatCount, formatNumber, shortenCommitId, shortenText } from '../text.ts';
import { isError } from '../problem.ts';
import { applyVocabulary, DEFAULT_VOCABULARY } from '../domain/vocabulary.ts';
import { escapeLine } from './escape.ts';
import type { ReportNoteFields } from './change-schema.ts';
import type { Report, ReportChange, ReportEdit, ReportPrompt } from './schema.ts';

// Wording shared by all output formats. `escapeLine` escapes text that stands on its own line. `show` escapes a value
// within a sentence. Each output format passes its own `show`.

/** A function that escapes a value from a file or from the service for one output format. */
export type ShowText = (text: string) => string;

type ChangeOfKind<K extends ReportChange['kind']> = ReportChange & { readonly kind: K };
type ActivationChange = ChangeOfKind<'set-active'>;

/** The part of a report that determines the words for the service and its environments. */
export type ReportVocabulary = Pick<Report, 'vocabulary'>;

/**
 * Returns promptsync's own text with the words of the report's vocabulary.
 * @param text must not contain data from files or from the service
 */
export function applyReportWords({ vocabulary = DEFAULT_VOCABULARY }: ReportVocabulary, text: string): string {
  return applyVocabulary(text, vocabulary);
}

/**
 * Returns the sentence that names the environments of a report that does not cover all environments. Returns null if
 * the report covers all of them.
 */
export function describeCoverage(
  { environments, promotion_order: all, problems }: Pick<Report, 'environments' | 'promotion_order' | 'problems'>,
  show: ShowText,
): string | null {
  // After such an error, the report covers no environment.
  if (problems.some(isError)) return null;
  if (environments === undefined || all?.every((environment) => environments.includes(environment))) return null;
  return `This report covers only ${environments.map(show).join(', ')}.`;
}

/** Returns the noun to put before the address of the service, for example `service`. */
export function getServiceNoun({ vocabulary = DEFAULT_VOCABULARY }: Pick<Report, 'vocabulary'>): string {
  return vocabulary.service.replace(/^the /, '');
}

/** Returns the name of the command that produced the report, for example `plan` for the mode `dry-run`. */
export function getCommandName({ mode }: Pick<Report, 'mode'>): string {
  if (mode === 'dry-run') return 'plan';
  return mode === 'apply' ? 'sync' : mode;
}

/**
 * Returns true if the run failed to process a prompt. `validate` never attempts a prompt, so the status `not_attempted`
 * is not a failure there.
 */
export function hasFailed({ status }: Pick<ReportPrompt, 'status'>, mode: Report['mode']): boolean {
  return status === 'failed' || (status === 'not_attempted' && mode !== 'validate');
}

/** Returns the status of a prompt as readable text, for example `not attempted` for `not_attempted`. */
export function describeStatus(status: ReportPrompt['status']): string {
  return status.replace('_', ' ');
}

/**
 * Returns a short label for a version, such as `v7`, `new version` or `none`. If the version number is unknown, the
 * label is the escaped id.
 */
export function describeVersionRef(ref: ActivationChange['before'] | ActivationChange['after']): string {
  if (ref === null) return 'none';
  if ('new' in ref) return 'new version';
  return ref.version_number === null ? escapeLine(ref.id) : `v${ref.version_number}`;
}

/** The parts of a report that determine the notes about where changes come from. */
export type NoteContext = Pick<Report, 'branch' | 'commit' | 'vocabulary'>;

/**
 * Describes a change, without its sign (such as `+`) and without its result (such as ` (not made)`). If the change
 * updates several fields, returns one line per field.
 */
export function describeChange(change: ReportChange, report: NoteContext): readonly string[] {
  switch (change.kind) {
    case 'create-version':
      return [describeCreate(change, report)];
    case 'update-prompt':
      return Object.entries(change.fields).map(([field, { before, after, ...notes }]) => {
        const note = isDone(change) ? '' : describeOrigin(notes, report);
        const values = `${escapeLine(JSON.stringify(before))} → ${escapeLine(JSON.stringify(after))}`;
        return `${field}: ${values}${makeNameSuffix(before, after)}${note}`;
      });
    case 'set-active': {
      const [before, after] = [change.before, change.after].map(describeVersionRef);
      const note = isDone(change) ? '' : describeOrigin(change, report);
      return [`${escapeLine(change.environment)}: ${before} → ${after}${note}`];
    }
  }
}

/** Returns a suffix that names the difference if readers could overlook it, or else an empty string. */
function makeNameSuffix(before: string, after: string): string {
  const name = nameInvisibleDifference(before, after);
  return name === '' ? '' : ` ${name}`;
}

/**
 * Returns a note about where a change comes from as a suffix, such as ` (main wants this since 9f2c1ab04d3e,
 * 2026-07-28)`. Returns an empty string if the change comes from the commit of the report, or if its origin is unknown.
 */
function describeOrigin({ wanted_since: since, behind }: ReportNoteFields, { branch, commit }: NoteContext): string {
  if (branch === undefined) return '';
  if (behind) return ` (your branch is behind ${escapeLine(branch)})`;
  if (since === undefined || since.unmerged || since.commit === commit) return '';
  return ` (${escapeLine(branch)} wants this since ${shortenCommitId(escapeLine(since.commit))}, ${escapeLine(since.date)})`;
}

/**
 * Returns the hint for all changes with the note that the branch is behind the live branch. Returns none if no change
 * has this note.
 */
export function describeBehindHint({ prompts, branch }: Report, show: ShowText): readonly string[] {
  const changes = prompts.flatMap((prompt) => prompt.changes).filter((change) => !isDone(change));
  if (branch === undefined || !changes.some(isBehind)) return [];
  return [
    `Your branch is behind ${show(branch)}. Run ${show('git fetch')}, then merge ${show(branch)} into your branch.`,
  ];
}

function isBehind(change: ReportChange): boolean {
  if (change.kind === 'update-prompt') return Object.values(change.fields).some(({ behind }) => behind === true);
  return change.kind === 'set-active' && change.behind === true;
}

/** Returns true if an apply has made the change. */
export function isDone({ status }: Pick<ReportChange, 'status'>): boolean {
  return status === 'made' || status === 'adopted';
}

/**
 * The description of a planned baseline. A baseline is the version that promptsync creates when it first syncs a prompt
 * that already has versions.
 */
const BASELINE_TEXT = "baseline: a version for promptsync's records; nothing that is served changes";

function describeCreate(change: ChangeOfKind<'create-version'>, report: ReportVocabulary): string {
  const { ref, change_summary: summary, version, status, recovered, baseline } = change;
  const number = version === undefined || version.version_number === null ? '' : ` v${version.version_number}`;
  const doneVerb = recovered ? CREATE_VERBS.made : CREATE_VERBS[status ?? 'unknown'];
  const verb = status === undefined ? 'create' : doneVerb;
  if (baseline) return status === undefined ? BASELINE_TEXT : `${verb} baseline${number}`;
  const source = ref === undefined ? '' : ` of git:${escapeLine(ref)}`;
  const created = createsPrompt(change) ? describeNewPrompt(number, report) : `version${number}`;
  return `${verb} ${created}${source}${summary === null ? '' : `: ${escapeLine(summary)}`}`;
}

/** Returns false for an adopted version, because somebody else has created the prompt in the meantime. */
function createsPrompt({ creates_prompt: creates, status, recovered }: ChangeOfKind<'create-version'>): boolean {
  return creates === true && (status !== 'adopted' || recovered === true);
}

function describeNewPrompt(number: string, report: ReportVocabulary): string {
  return `${applyReportWords(report, 'prompt in the service')}${number === '' ? '' : ` with${number}`}`;
}

const CREATE_VERBS = {
  made: 'created',
  adopted: 'adopted',
  not_made: 'create',
  unknown: 'create',
} as const satisfies Record<NonNullable<ReportChange['status']>, string>;

/**
 * Describes the result of a change as a suffix such as ` (not made)`. Returns an empty string if there is nothing to
 * add.
 */
export function describeChangeStatus(
  change: Pick<ReportChange, 'status'> & { readonly recovered?: true | undefined },
): string {
  if (change.recovered) return ' (the response was lost)';
  return change.status === undefined ? '' : STATUS_NOTES[change.status];
}

const STATUS_NOTES = {
  made: '',
  adopted: ' (already existed)',
  not_made: ' (not made)',
  unknown: ' (outcome unknown)',
} as const satisfies Record<NonNullable<ReportChange['status']>, string>;

/**
 * Returns notes about a new version, for example that it keeps the metadata of an earlier version or that no
 * environment will serve it. Returns an empty string for all other kinds of changes.
 */
export function describeVersionNotes(change: ReportChange, all: readonly ReportChange[], show: ShowText): string {
  if (change.kind !== 'create-version') return '';
  const from = change.metadata_from;
  const kept = from === undefined ? '' : ` (keeps the metadata of ${show(describeVersionRef(from))})`;
  return `${kept}${hasNoFollower(change, all) && !change.baseline ? ' (no pin uses it)' : ''}`;
}

/**
 * Returns the metadata that a new version keeps from an earlier version, as unescaped lines. Returns no lines if the
 * new version keeps no metadata.
 */
export function listKeptMetadataLines(change: ReportChange): readonly string[] {
  if (change.kind !== 'create-version') return [];
  if (change.metadata_omitted === true)
    return ['The report omits this metadata because of its size (over 1 MB, or over 32 MB in total).'];
  return change.kept_metadata?.split('\n') ?? [];
}

/** Returns true if a change creates a version that no environment will serve. */
export function hasNoFollower(change: ReportChange, all: readonly ReportChange[]): boolean {
  if (change.kind !== 'create-version') return false;
  return !all.some(
    (other) => other.kind === 'set-active' && ('new' in other.after || other.after.id === change.version?.id),
  );
}

/**
 * Returns the text to append to a change: the notes about a new version, followed by the result of the change. If there
 * is no result because a guard blocked the prompt, the text ends with `(blocked)`.
 */
export function describeChangeNotes(change: ReportChange, { status, changes }: ReportPrompt, show: ShowText): string {
  const result = describeChangeStatus(change);
  return `${describeVersionNotes(change, changes, show)}${result === '' && status === 'blocked' ? ' (blocked)' : result}`;
}

/** Describes an edit to a prompt file in one line, without its sign (such as `+`). */
export function describeEdit(edit: ReportEdit): string {
  switch (edit.kind) {
    case 'create-file':
      return 'new file';
    case 'set-pin': {
      const before = edit.before === null ? '' : `${escapeLine(edit.before)} → `;
      const number = edit.version_number === undefined ? '' : ` (v${edit.version_number})`;
      return `${escapeLine(edit.environment)}: ${before}${escapeLine(edit.after)}${number}`;
    }
    case 'set-field': {
      const [before, after] = [edit.before, edit.after].map((value) => escapeLine(value ?? 'absent'));
      const name = edit.before === null || edit.after === null ? '' : makeNameSuffix(edit.before, edit.after);
      return `${escapeLine(edit.field)}: ${before} → ${after}${name}${edit.conflict ? ' (conflict)' : ''}`;
    }
    case 'set-text': {
      const conflicts = edit.conflicts === 0 ? '' : ` (${formatCount(edit.conflicts, 'conflict')})`;
      return `text: ${escapeLine(edit.from)}${conflicts}`;
    }
  }
}

/** Describes the pin of a new file in a few words, for example `staging: v3`. */
export function describeNewPin(edit: Extract<ReportEdit, { readonly kind: 'set-pin' }>): string {
  const pin = (edit.version_number?.toString() ?? edit.after).replace(/^\d+$/, 'v$&');
  return `${escapeLine(edit.environment)}: ${escapeLine(pin)}`;
}

/**
 * Classifies an edit: `new` if it adds a file or a pin, `conflict` if it leaves a conflict for the user to resolve, and
 * `changed` in all other cases.
 */
export function chooseEditKind(edit: ReportEdit): 'new' | 'changed' | 'conflict' {
  if (edit.kind === 'create-file' || (edit.kind === 'set-pin' && edit.before === null)) return 'new';
  return isConflict(edit) ? 'conflict' : 'changed';
}

/** Returns true if the edit leaves both sides of a conflict in the file, so that the user can resolve it. */
export function isConflict(edit: ReportEdit): boolean {
  return (edit.kind === 'set-field' && edit.conflict) || (edit.kind === 'set-text' && edit.conflicts > 0);
}

/**
 * Describes the composed prompts that include a version of this prompt that changes. Returns none if there are none.
 */
export function describeAffectedPrompts({ affected = [] }: ReportPrompt, show: ShowText): readonly string[] {
  if (affected.length === 0) return [];
  const names = affected.map(({ key }) => show(key)).join(', ');
  return [`this also changes ${formatCount(affected.length, 'composed prompt')}: ${names}.`];
}

/** The maximum number of messages to list on each side of a change. */
const MAX_LISTED_MESSAGES = 50;
/** The maximum length of the name of a message in a list, in UTF-16 code units. */
const MAX_NAME_LENGTH = 100;

/** Formats a list of messages. Shortens long lists and long names, because one line shows the whole change. */
function formatMessageNames(names: readonly string[]): string {
  if (names.length === 0) return 'none';
  const omitted = names.length - MAX_LISTED_MESSAGES;
  const shown = names.slice(0, MAX_LISTED_MESSAGES).map((name) => shortenText(name, MAX_NAME_LENGTH));
  return [...shown, ...(omitted > 0 ? [`… ${formatNumber(omitted)} more`] : [])].join(', ');
}

/**
 * Describes how the messages of a chat prompt change, for example `messages: system, user → system, history*, user`. If
 * environments differ, each line names its environments. The lines are not escaped.
 */
export function listMessageChanges(prompt: ReportPrompt): readonly string[] {
  const changes = listTextChanges(prompt).flatMap(({ environment, texts: { messages } }) => {
    if (messages === undefined) return [];
    const [before, after] = [messages.before, messages.after].map(formatMessageNames);
    return [{ environment, line: `messages: ${before} → ${after}` }];
  });
  const groups = [...Map.groupBy(changes, ({ line }) => line)];
  if (groups.length === 1) return groups.map(([line]) => line);
  return groups.map(([line, group]) => `${line} (${group.map(({ environment }) => environment).join(', ')})`);
}

/** The text of a file before and after an edit, and the environment whose text the edit merged into the file. */
type EditTexts = NonNullable<Extract<ReportEdit, { readonly kind: 'set-text' }>['texts']>;

/**
 * The text of a prompt before and after a change in one environment. `before` and `after` are labels such as `v6` or
 * `new version`. `before` is null if no version is active in the environment.
 */
export type NamedTexts = {
  readonly environment: string;
  readonly before: string | null;
  readonly after: string;
  readonly texts: Omit<EditTexts, 'environment'>;
};

/** Returns the old and the new text for each change or edit of a prompt that can replace its text. */
export function listTextChanges({ changes, edits = [] }: ReportPrompt): readonly NamedTexts[] {
  const nameTexts = (environment: string, texts: Omit<ActivationChange, 'kind' | 'environment'>): NamedTexts => {
    return {
      environment,
      before: texts.before && describeVersionRef(texts.before),
      after: describeVersionRef(texts.after),
      texts,
    };
  };
  return [
    ...changes.flatMap((change) =>
      change.kind === 'set-active' && !wasTextDiscarded(change) ? [nameTexts(change.environment, change)] : [],
    ),
    ...edits.flatMap((edit) => {
      if (edit.kind === 'set-pin' && edit.serves) return [nameTexts(edit.environment, edit.serves)];
      if (edit.kind !== 'set-text' || !edit.texts) return [];
      return [{ environment: edit.texts.environment, before: 'the file', after: 'merged', texts: edit.texts }];
    }),
  ];
}

/**
 * Returns true if an apply activated a version whose text was unknown to the plan. The apply read that text to check
 * it, but did not keep it for the report.
 */
function wasTextDiscarded({ status, after_text: after, text_omitted: omitted }: ActivationChange): boolean {
  return (status === 'made' || status === 'adopted') && after === null && omitted === undefined;
}

/**
 * Returns one line per orphan, or one line that says that there are none. An orphan is a prompt in the service that has
 * no prompt file. Returns no lines if the command did not search for orphans.
 */
export function describeOrphans({ orphans }: Report, show: ShowText): readonly string[] {
  if (orphans?.length === 0) return ['none: every matching prompt has a file'];
  return (orphans ?? []).map(({ name, labels, last_version: last }) => {
    return `${show(name)}: newest version v${last}, ${labels.length === 0 ? 'not active anywhere' : `active in ${labels.map(show).join(', ')}`}`;
  });
}

/**
 * Names a difference that readers could overlook, because both texts look the same. Returns an empty string for all
 * other differences, and if there is none.
 */
export function nameInvisibleDifference(before: string, after: string): string {
  if (before === after) return '';
  if (before.normalize() === after.normalize()) return '(only Unicode normalization differs)';
  const [oldLetters, newLetters] = [removeWhiteSpace(before), removeWhiteSpace(after)];
  if (oldLetters === newLetters) return '(only white space differs)';
  const isBoth = oldLetters.normalize() === newLetters.normalize();
  return isBoth ? '(only Unicode normalization and white space differ)' : '';
}

function removeWhiteSpace(text: string): string {
  return text.replaceAll(/\p{White_Space}+/gu, '');
}
