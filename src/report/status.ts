import { escapeLine } from './escape.ts';
import { renderProblems } from './problems.ts';
import type { Report, ReportChange, ReportDrift, ReportPrompt, ReportRow } from './schema.ts';
import { fitLine, layOutTable, makeStyle, type TableCell, type Colors, type Style } from './style.ts';
import { hasPlan, renderSummary } from './summary.ts';
import type { TextOptions } from './text.ts';
import { describeOrphans, describeVersionRef, describeWaitingPromotions } from './describe.ts';

/**
 * Renders the report of `promptsync status` for a terminal or a log. A table of prompts and environments shows the
 * active and the desired versions. The text ends with a line feed.
 */
export function renderStatus(report: Report, options: TextOptions): string {
  const style = makeStyle(options);
  const waiting = report.prompts.flatMap((prompt) =>
    describeWaitingPromotions(prompt, escapeLine).flatMap((text) =>
      fitLine(`${escapeLine(prompt.key)}  ${text}`, style, 2),
    ),
  );
  const lines = [...renderMatrixLines(report, style), ...(waiting.length === 0 ? [] : ['', ...waiting])];
  const matrix = options.quiet || !hasPlan(report) ? [] : [`${lines.join('\n')}\n`];
  return [
    ...matrix,
    ...renderOrphanLines(report, options, style),
    ...renderProblems(report, 'error', style),
    `${renderSummary(report, style)}\n`,
  ].join('\n');
}

function renderOrphanLines(report: Report, { quiet }: TextOptions, style: Style): readonly string[] {
  const texts = quiet ? [] : describeOrphans(report, escapeLine);
  if (texts.length === 0) return [];
  return [[style.colors.bold('orphans'), ...texts].flatMap((text) => fitLine(text, style, 2)).join('\n') + '\n'];
}

/**
 * Renders the table of prompts and environments. If the table is too wide for the terminal, lists the environments
 * below the key of each prompt instead.
 */
function renderMatrixLines(report: Report, style: Style): readonly string[] {
  const { colors, screen } = style;
  const environments = listEnvironments(report);
  const header = ['prompt', ...environments].map((text) => ({ text: escapeLine(text), paint: colors.bold }));
  const rows = report.prompts.map((prompt) => makeMatrixRow(prompt, environments, colors));
  const lines = layOutTable([header, ...rows], style);
  const isWide = (line: string) => screen !== null && screen.width(line) > screen.columns;
  if (!lines.some(isWide)) return lines;
  return rows.flatMap(([name, ...cells]) => [
    ...fitLine(name?.text ?? '', style, 2),
    ...cells.flatMap(({ text, paint }, column) =>
      text === UNPINNED ? [] : fitLine(`  ${escapeLine(environments[column] ?? '')}: ${paint(text)}`, style, 4),
    ),
  ]);
}

/** Builds the table row of one prompt. A `~` after the key means that fields of the prompt change. */
function makeMatrixRow(prompt: ReportPrompt, environments: readonly string[], colors: Colors): readonly TableCell[] {
  const fieldMark = prompt.changes.some(({ kind }) => kind === 'update-prompt') ? ' ~' : '';
  const cells = environments.map((environment) => {
    const cell = makeMatrixCell(prompt, environment);
    return { text: formatMatrixCell(cell), paint: colors[CELL_COLORS[cell.kind]] };
  });
  return [{ text: `${escapeLine(prompt.key)}${fieldMark}`, paint: (text) => text }, ...cells];
}

const CELL_COLORS = {
  unpinned: 'dim',
  unread: 'red',
  'in-sync': 'green',
  differs: 'yellow',
  change: 'yellow',
  unresolved: 'red',
  pin: 'yellow',
} as const satisfies Record<MatrixCell['kind'], keyof Colors>;

/** The state of one prompt in one environment. `now` and `next` are escaped for use within a line. */
export type MatrixCell = {
  /**
   * The kind of state:
   * - `unpinned`: the file does not pin the environment.
   * - `unread`: promptsync could not read the prompt from the service.
   * - `in-sync`: the environment serves the version that the file pins.
   * - `change`: the plan activates a different version in the environment.
   * - `differs`: the environment serves a different version than the file pins, and the plan does not change this.
   * - `unresolved`: no known version matches the pin.
   * - `pin`: a command edits the pin in the prompt file.
   */
  readonly kind: 'unpinned' | 'unread' | 'in-sync' | 'change' | 'differs' | 'pin' | 'unresolved';
  /**
   * The version that the environment serves before any change. For the kind `pin`, this is the old pin. Empty if there
   * was no pin, or if promptsync could not read the prompt.
   */
  readonly now: string;
  /**
   * The version that the environment should serve, or that it serves after a sync. For the kind `pin`, this is the new
   * pin. For the kind `unresolved`, it is the pin with a question mark. Empty for the kinds `unpinned`, `unread` and
   * `in-sync`.
   */
  readonly next: string;
  /** The drift of the environment. Null if there is none. */
  readonly drift: ReportDrift | null;
  /** The result of the change in this environment. Undefined if there is no change, or if no sync has attempted it. */
  readonly status: ReportChange['status'];
};

/**
 * Returns all environments that the prompts of a report mention, without duplicates and in promotion order. Without
 * configured environments, each prompt lists its environments in the order of its file. The result then starts with
 * those of the prompt that mentions environments most often.
 */
export function listEnvironments({ prompts, promotion_order: order = [] }: Report): readonly string[] {
  const lists = prompts.map(({ environments = [], edits = [], changes, drift }) =>
    [...environments, ...edits, ...changes, ...drift].flatMap((part) =>
      'environment' in part ? [part.environment] : [],
    ),
  );
  const mentioned = new Set(lists.toSorted((a, b) => b.length - a.length).flat());
  return [...new Set([...order.filter((name) => mentioned.has(name)), ...mentioned])];
}

/**
 * Builds the cell for one prompt and one environment. A change takes precedence over an edit, and an edit takes
 * precedence over the current state.
 */
export function makeMatrixCell(prompt: ReportPrompt, environment: string): MatrixCell {
  const hasEnvironment = (part: object): boolean => 'environment' in part && part.environment === environment;
  const change = prompt.changes.find(hasEnvironment);
  const common = { drift: prompt.drift.find(hasEnvironment) ?? null, status: change?.status };
  if (change?.kind === 'set-active') {
    return {
      ...common,
      kind: 'change',
      now: describeVersionRef(change.before),
      next: describeVersionRef(change.after),
    };
  }
  const edit = prompt.edits?.find(hasEnvironment);
  if (edit?.kind === 'set-pin') {
    return { ...common, kind: 'pin', now: escapeLine(edit.before ?? ''), next: escapeLine(edit.after) };
  }
  return { ...common, ...makeUnchangedCell(prompt.environments?.find(hasEnvironment), prompt) };
}

function makeUnchangedCell(
  row: ReportRow | undefined,
  { status }: ReportPrompt,
): Pick<MatrixCell, 'kind' | 'now' | 'next'> {
  if (row === undefined) return { kind: 'unpinned', now: '', next: '' };
  const now = describeVersionRef(row.active);
  if (row.in_sync) return { kind: 'in-sync', now, next: '' };
  if (status === 'failed' || status === 'not_attempted') return { kind: 'unread', now: '', next: '' };
  return row.wanted === null
    ? { kind: 'unresolved', now, next: `${escapeLine(row.pin)}?` }
    : { kind: 'differs', now, next: describeVersionRef(row.wanted) };
}

/** The content of a cell if the file does not pin the environment. */
const UNPINNED = '·';

/**
 * Returns the text of a cell, for example `v6` or `v6 → v7`. `v6 → 7?` means that no known version matches the pin `7`.
 */
export function formatMatrixCell({ kind, now, next }: MatrixCell): string {
  if (kind === 'unpinned') return UNPINNED;
  if (kind === 'unread') return '?';
  return kind === 'in-sync' ? now : `${now} → ${next}`;
}
