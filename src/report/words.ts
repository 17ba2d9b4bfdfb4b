import { escapeLine } from './escape.ts';
import type { Report, ReportChange, ReportDrift, ReportEdit, ReportPrompt } from './schema.ts';

// How things are worded in every format. What stands on a line of its own is escaped for lines; what stands within a
// sentence goes through `show`, the escaper of the format.

export type Show = (text: string) => string;

export type Part = readonly [count: number, one: string, many: string];

/** `1 file`, `2 files`. */
export function counted([count, one, many]: Part): string {
  return `${count} ${count === 1 ? one : many}`;
}

type Kind<K extends ReportChange['kind']> = ReportChange & { readonly kind: K };
type SetActive = Kind<'set-active'>;

/** A report is called as the command that it is of. */
export function commandOf({ mode }: Pick<Report, 'mode'>): string {
  if (mode === 'dry-run') return 'plan';
  return mode === 'apply' ? 'sync' : mode;
}

/** What became of a prompt, or would, in words. */
export function statusText(status: ReportPrompt['status']): string {
  return status.replace('_', ' ');
}

/** `v7`, `none`, `new version`, or the id where the number is not known. */
export function refText(ref: SetActive['before'] | SetActive['after']): string {
  if (ref === null) return 'none';
  if ('new' in ref) return 'new version';
  return ref.version_number === null ? escapeLine(ref.id) : `v${ref.version_number}`;
}

/** What a change is, without its sign and what became of it; one line for each field. */
export function changeTexts(change: ReportChange): readonly string[] {
  switch (change.kind) {
    case 'create-version':
      return [createText(change)];
    case 'update-prompt':
      return Object.entries(change.fields).map(([field, { before, after }]) => {
        return `${field}: ${escapeLine(JSON.stringify(before))} → ${escapeLine(JSON.stringify(after))}`;
      });
    case 'set-active':
      return [`${escapeLine(change.environment)}: ${refText(change.before)} → ${refText(change.after)}`];
  }
}

const BASELINE = "baseline: a version with this text that carries promptsync's record; nothing that is served changes";

function createText({ ref, change_summary: summary, version, status, baseline }: Kind<'create-version'>): string {
  const what = version === undefined || version.version_number === null ? '' : ` v${version.version_number}`;
  const verb = status === 'made' ? 'created' : status === 'adopted' ? 'adopted' : 'create';
  if (baseline) return status === undefined ? BASELINE : `${verb} baseline${what}`;
  const of = ref === undefined ? '' : ` of git:${escapeLine(ref)}`;
  return `${verb} version${what}${of}${summary === null ? '' : `: ${escapeLine(summary)}`}`;
}

/** What became of a change; empty, or behind a blank. */
export function statusNote({ status }: Pick<ReportChange, 'status'>): string {
  return status === undefined ? '' : STATUS_NOTES[status];
}

const STATUS_NOTES = {
  made: '',
  adopted: ' (it was there already)',
  not_made: ' (not made)',
  unknown: ' (not known whether it was made)',
} as const satisfies Record<NonNullable<ReportChange['status']>, string>;

/** What else is to be said of a change. */
export function followNote(change: ReportChange, all: readonly ReportChange[], show: Show): string {
  if (change.kind !== 'create-version') return '';
  const from = change.metadata_from;
  const kept = from === undefined ? '' : ` (keeps the metadata of ${show(refText(from))})`;
  return `${kept}${isUnfollowed(change, all) && !change.baseline ? ' (no environment follows it)' : ''}`;
}

/** Returns the metadata that a new version keeps, in lines that are not escaped yet. Empty if it keeps none. */
export function keptMetadataLines(change: ReportChange): readonly string[] {
  if (change.kind !== 'create-version') return [];
  if (change.metadata_omitted === true) return ['This metadata is too large to be shown (over 100 kB).'];
  return change.kept_metadata?.split('\n') ?? [];
}

/** Whether a version is made only to be there. */
export function isUnfollowed(change: ReportChange, all: readonly ReportChange[]): boolean {
  if (change.kind !== 'create-version') return false;
  return !all.some((one) => one.kind === 'set-active' && ('new' in one.after || one.after.id === change.version?.id));
}

/** Both, and that a guard has refused it. */
export function changeNote(change: ReportChange, { status, changes }: ReportPrompt, show: Show): string {
  const became = statusNote(change);
  return `${followNote(change, changes, show)}${became === '' && status === 'blocked' ? ' (blocked)' : became}`;
}

/** What is done to a file, in one line without its sign. */
export function editText(edit: ReportEdit): string {
  switch (edit.kind) {
    case 'create-file':
      return 'new file';
    case 'set-pin': {
      const before = edit.before === null ? '' : `${escapeLine(edit.before)} → `;
      return `${escapeLine(edit.environment)}: ${before}${escapeLine(edit.after)}`;
    }
    case 'set-field': {
      const [before, after] = [edit.before, edit.after].map((value) => escapeLine(value ?? 'absent'));
      return `${escapeLine(edit.field)}: ${before} → ${after}${edit.conflict ? ' (conflict)' : ''}`;
    }
    case 'set-text': {
      const conflicts = edit.conflicts === 0 ? '' : ` (${counted([edit.conflicts, 'conflict', 'conflicts'])})`;
      return `text: ${escapeLine(edit.from)}${conflicts}`;
    }
  }
}

/** Whether something is new, is changed, or is left to somebody. */
export function editKind(edit: ReportEdit): 'new' | 'changed' | 'conflict' {
  if (edit.kind === 'create-file' || (edit.kind === 'set-pin' && edit.before === null)) return 'new';
  return isConflict(edit) ? 'conflict' : 'changed';
}

/** Whether the file holds both sides, for somebody to decide. */
export function isConflict(edit: ReportEdit): boolean {
  return (edit.kind === 'set-field' && edit.conflict) || (edit.kind === 'set-text' && edit.conflicts > 0);
}

/** What callers have to follow, in sentences: another key, other variables; not where a sync undoes outside changes. */
export function breakingTexts(prompt: ReportPrompt, show: Show): readonly string[] {
  const undone = prompt.drift.filter(
    ({ kind, restores, ...one }) => kind === 'outside' && restores && (!('field' in one) || one.field === 'key'),
  );
  const kept = prompt.changes.filter((change) => driftAt(change, undone).length === 0);
  const keys = kept.flatMap((change) => (change.kind === 'update-prompt' ? (change.fields.key ?? []) : []));
  const variables = textsOf({ ...prompt, changes: kept }).flatMap(({ environment, texts }) => {
    return texts.breaking.map((one) => ({ ...one, environment }));
  });
  return [
    ...keys.map(({ before, after }) => {
      return `the key changes from ${show(before)} to ${show(after)}. Whoever reads it by key has to follow.`;
    }),
    ...[...Map.groupBy(variables, ({ kind, variable }) => `${kind} ${variable}`).values()].map((group) => {
      const { kind = 'added', variable = '' } = group[0] ?? {};
      const then = kind === 'added' ? 'Callers have to supply it.' : 'Callers need not supply it any more.';
      const where = group.map(({ environment }) => show(environment)).join(', ');
      return `${where}: the variable ${show(`{{${variable}}}`)} is ${kind}. ${then}`;
    }),
  ];
}

type Texts = NonNullable<Extract<ReportEdit, { readonly kind: 'set-text' }>['texts']>;

/** The two texts of a change, and what they are called: `v6`, `new version`; before is null where nothing is active. */
export type NamedTexts = {
  readonly environment: string;
  readonly before: string | null;
  readonly after: string;
  readonly texts: Omit<Texts, 'environment'>;
};

export function textsOf({ changes, edits = [] }: ReportPrompt): readonly NamedTexts[] {
  const named = (environment: string, texts: Omit<SetActive, 'kind' | 'environment'>): NamedTexts => {
    return { environment, before: texts.before && refText(texts.before), after: refText(texts.after), texts };
  };
  return [
    ...changes.flatMap((change) =>
      change.kind === 'set-active' && !wasRead(change) ? [named(change.environment, change)] : [],
    ),
    ...edits.flatMap((edit) => {
      if (edit.kind === 'set-pin' && edit.serves) return [named(edit.environment, edit.serves)];
      if (edit.kind !== 'set-text' || !edit.texts) return [];
      return [{ environment: edit.texts.environment, before: 'the file', after: 'merged', texts: edit.texts }];
    }),
  ];
}

/** A version that was not known before was read and checked before it went live, and its text was not kept. */
function wasRead({ status, after_text: after, text_omitted: omitted }: SetActive): boolean {
  return (status === 'made' || status === 'adopted') && after === null && omitted === undefined;
}

/** `production: 2 versions behind staging, since 9f2c1ab04d3e, Tuesday 2026-11-17`: true whenever it is read. */
export function waitingTexts({ waiting = [] }: ReportPrompt, show: Show): readonly string[] {
  return waiting.map(({ environment, from, versions, since }) => {
    const behind = `${show(environment)}: ${counted([versions, 'version', 'versions'])} behind ${show(from)}`;
    if (since === null) return behind;
    const date = since.date?.slice(0, 10) ?? '';
    const day = new Date(date).toLocaleDateString('en', { weekday: 'long', timeZone: 'UTC' });
    return `${behind}, since ${show(since.commit.slice(0, 12))}${date === '' ? '' : `, ${day} ${show(date)}`}`;
  });
}

/** Prompts of the service that no file is of; one line for each, or that there is none. Empty where nobody asked. */
export function orphanTexts({ orphans }: Report, show: Show): readonly string[] {
  if (orphans?.length === 0) return ['none: every prompt that was asked about has a file'];
  return (orphans ?? []).map(({ name, labels, last_version: last }) => {
    return `${show(name)}: last version v${last}, active in ${labels.map(show).join(', ') || 'no environment'}`;
  });
}

/** What stands in the service although no file says so, and what becomes of it: some sentences. */
export function driftText(drift: ReportDrift, prompt: ReportPrompt, mode: Report['mode'], show: Show): string {
  const pulls = mode !== 'apply' && drift.kind === 'outside' && ('field' in drift || drift.observed?.made_by !== 'git');
  const then = `${pulls ? `${show('promptsync pull')} takes it into the file. ` : ''}${driftOutcome(drift, prompt, mode)}`;
  const kind = drift.kind === 'outside' ? 'changed outside of git' : 'unfinished: merged, not live yet';
  if ('field' in drift) {
    const [observed, expected] = [drift.observed, drift.expected].map((text) => show(JSON.stringify(text)));
    return `${drift.field} is ${observed}, the base wants ${expected} (${kind}). ${then}`;
  }
  const { environment, observed, expected } = drift;
  const wants = `the base wants ${show(refText(expected))}`;
  if (observed === null) return `${show(environment)} has nothing active, ${wants} (${kind}).`;
  const from = observed.commit === undefined ? '' : `, made from ${show(observed.commit.slice(0, 12))}`;
  const keep = `To keep it, pin ${show(observed.pin ?? `version:${observed.id}`)}.`;
  return `${show(environment)} serves ${show(refText(observed))}${from}, ${wants} (${kind}). ${then} ${keep}`;
}

/** What a sync does about drift, or what this one has done. */
function driftOutcome(drift: ReportDrift, { status, changes }: ReportPrompt, mode: Report['mode']): string {
  if (status === 'blocked') return 'The prompt is blocked: a sync leaves it as it is.';
  if (mode !== 'apply') return drift.restores ? 'A sync puts it back.' : 'A sync sets what the files want now.';
  const made = changes.find((change) => driftAt(change, [drift]).length > 0)?.status;
  if (made === 'unknown') return 'It is not known whether this run changed it.';
  if (made !== 'made' && made !== 'adopted') return 'This run did not change it.';
  return drift.restores ? 'This run put it back.' : 'This run set what the files want now.';
}

/** The drift, of a prompt's, that a change is about. */
export function driftAt(change: ReportChange, all: readonly ReportDrift[]): readonly ReportDrift[] {
  return all.filter((drift) => {
    if (change.kind === 'set-active') return 'environment' in drift && drift.environment === change.environment;
    return change.kind === 'update-prompt' && 'field' in drift && drift.field in change.fields;
  });
}
