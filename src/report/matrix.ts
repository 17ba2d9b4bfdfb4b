import { inertLine } from './inert.ts';
import { refText } from './render-change.ts';
import type { Report, ReportChange, ReportDrift, ReportPrompt } from './schema.ts';

type Row = NonNullable<ReportPrompt['environments']>[number];
type SetActive = Extract<ReportChange, { readonly kind: 'set-active' }>;
type Ref = SetActive['before'];

/** What is told of one prompt in one environment. */
export type Cell = { readonly drift: ReportDrift | null } &
  /** The file does not pin it. */
  (
    | { readonly kind: 'unpinned' }
    /** The prompt could not be read. */
    | { readonly kind: 'unread' }
    | { readonly kind: 'in-sync'; readonly active: Ref }
    | {
        readonly kind: 'change';
        readonly before: Ref;
        readonly after: SetActive['after'];
        readonly status: SetActive['status'];
      }
    /** It serves something else than the pin means, and what would become of it was not asked. */
    | { readonly kind: 'differs'; readonly active: Ref; readonly wanted: SetActive['after'] }
    /** A command that edits files: what the pin was and is. */
    | { readonly kind: 'pin'; readonly before: string | null; readonly after: string }
    /** The pin means no version that is known. */
    | { readonly kind: 'unresolved'; readonly active: Ref; readonly pin: string }
  );

/** All environments of a report. Each prompt's are in promotion order; the longest list knows most of it. */
export function environmentsOf({ prompts }: Report): readonly string[] {
  const lists = prompts.map(namesIn).toSorted((a, b) => b.length - a.length);
  return [...new Set(lists.flat())];
}

/** A report that was merged of others has no rows: then the changes alone tell of environments. */
function namesIn({ environments = [], edits = [], changes, drift }: ReportPrompt): readonly string[] {
  return [...environments, ...edits, ...changes, ...drift].flatMap((one) =>
    'environment' in one ? [one.environment] : [],
  );
}

/** The cell of a matrix: what the environment serves, and what it would serve, or serves now. */
export function cellOf(prompt: ReportPrompt, environment: string): Cell {
  const row = prompt.environments?.find((one) => one.environment === environment);
  const change = prompt.changes.find(
    (one): one is SetActive => 'environment' in one && one.environment === environment,
  );
  const drift = prompt.drift.find((one) => 'environment' in one && one.environment === environment) ?? null;
  if (change !== undefined) {
    return { kind: 'change', before: change.before, after: change.after, status: change.status, drift };
  }
  const edit = prompt.edits?.find((one) => 'environment' in one && one.environment === environment);
  if (edit?.kind === 'set-pin') return { kind: 'pin', before: edit.before, after: edit.after, drift };
  return row === undefined ? { kind: 'unpinned', drift } : { ...withoutChange(row, prompt), drift };
}

type WithoutChange =
  | { readonly kind: 'unread' }
  | { readonly kind: 'in-sync'; readonly active: Ref }
  | { readonly kind: 'differs'; readonly active: Ref; readonly wanted: SetActive['after'] }
  | { readonly kind: 'unresolved'; readonly active: Ref; readonly pin: string };

function withoutChange({ active, wanted, pin, in_sync: inSync }: Row, { status }: ReportPrompt): WithoutChange {
  if (inSync) return { kind: 'in-sync', active };
  if (status === 'failed' || status === 'not_attempted') return { kind: 'unread' };
  return wanted === null ? { kind: 'unresolved', active, pin } : { kind: 'differs', active, wanted };
}

/** A cell in a few words, inert: `v6`, `v6 → v7`, `v6 → 7?` where the pin is of no known version. */
export function cellText(cell: Cell): string {
  switch (cell.kind) {
    case 'unpinned':
      return '·';
    case 'unread':
      return '?';
    case 'in-sync':
      return refText(cell.active);
    case 'differs':
      return `${refText(cell.active)} → ${refText(cell.wanted)}`;
    case 'change':
      return `${refText(cell.before)} → ${refText(cell.after)}`;
    case 'unresolved':
      return `${refText(cell.active)} → ${inertLine(cell.pin)}?`;
    case 'pin':
      return `${inertLine(cell.before ?? '')} → ${inertLine(cell.after)}`;
  }
}
