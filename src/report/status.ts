import { escapeLine } from './escape.ts';
import { renderProblems } from './problems.ts';
import type { Report, ReportChange, ReportDrift, ReportPrompt, ReportRow } from './schema.ts';
import { fitted, layOut, styleFor, type Cell, type Colours, type Style } from './style.ts';
import { isPlanned, renderSummary } from './summary.ts';
import type { TextOptions } from './text.ts';
import { orphanTexts, refText, waitingTexts } from './words.ts';

/** A matrix: prompts × environments, what is active and what should be. Ends with a line feed. */
export function renderStatus(report: Report, options: TextOptions): string {
  const style = styleFor(options);
  const waiting = report.prompts.flatMap((prompt) =>
    waitingTexts(prompt, escapeLine).flatMap((text) => fitted(`${escapeLine(prompt.key)}  ${text}`, style, 2)),
  );
  const lines = [...matrixLines(report, style), ...(waiting.length === 0 ? [] : ['', ...waiting])];
  const matrix = options.quiet || !isPlanned(report) ? [] : [`${lines.join('\n')}\n`];
  return [
    ...matrix,
    ...orphanBlock(report, options, style),
    ...renderProblems(report, 'error', style),
    `${renderSummary(report, style)}\n`,
  ].join('\n');
}

function orphanBlock(report: Report, { quiet }: TextOptions, style: Style): readonly string[] {
  const texts = quiet ? [] : orphanTexts(report, escapeLine);
  if (texts.length === 0) return [];
  return [[style.colours.bold('orphans'), ...texts].flatMap((text) => fitted(text, style, 2)).join('\n') + '\n'];
}

/** Where the terminal is too narrow for a column each, the environments of a prompt stand below it. */
function matrixLines(report: Report, style: Style): readonly string[] {
  const { colours, screen } = style;
  const environments = environmentsOf(report);
  const header = ['prompt', ...environments].map((text) => ({ text: escapeLine(text), paint: colours.bold }));
  const rows = report.prompts.map((prompt) => rowOf(prompt, environments, colours));
  const lines = layOut([header, ...rows], style);
  const isWide = (line: string) => screen !== null && screen.width(line) > screen.columns;
  if (!lines.some(isWide)) return lines;
  return rows.flatMap(([name, ...cells]) => [
    ...fitted(name?.text ?? '', style, 2),
    ...cells.flatMap(({ text, paint }, column) =>
      text === UNPINNED ? [] : fitted(`  ${escapeLine(environments[column] ?? '')}: ${paint(text)}`, style, 4),
    ),
  ]);
}

function rowOf(prompt: ReportPrompt, environments: readonly string[], colours: Colours): readonly Cell[] {
  const fields = prompt.changes.some(({ kind }) => kind === 'update-prompt') ? ' ~' : '';
  const cells = environments.map((environment) => {
    const cell = cellOf(prompt, environment);
    return { text: cellText(cell), paint: colours[COLOURS[cell.kind]] };
  });
  return [{ text: `${escapeLine(prompt.key)}${fields}`, paint: (text) => text }, ...cells];
}

const COLOURS = {
  unpinned: 'dim',
  unread: 'red',
  'in-sync': 'green',
  differs: 'yellow',
  change: 'yellow',
  unresolved: 'red',
  pin: 'yellow',
} as const satisfies Record<MatrixCell['kind'], keyof Colours>;

/** What is known of one prompt in one environment; the texts are escaped for a line. */
export type MatrixCell = {
  /**
   * `unpinned`: the file does not pin it. `unread`: the prompt could not be read. `differs`: it serves something else than
   * the pin means, and what would become of it was not asked. `unresolved`: the pin means no version that is known. `pin`:
   * a command edits the file; the texts are what the pin was and is.
   */
  readonly kind: 'unpinned' | 'unread' | 'in-sync' | 'change' | 'differs' | 'pin' | 'unresolved';
  readonly now: string;
  readonly next: string;
  readonly drift: ReportDrift | null;
  readonly status: ReportChange['status'];
};

/** All environments of a report. Each prompt's are in promotion order; the longest list knows most of it. */
export function environmentsOf({ prompts }: Report): readonly string[] {
  const lists = prompts.map(({ environments = [], edits = [], changes, drift }) =>
    [...environments, ...edits, ...changes, ...drift].flatMap((one) => ('environment' in one ? [one.environment] : [])),
  );
  return [...new Set(lists.toSorted((a, b) => b.length - a.length).flat())];
}

/** The cell of a matrix: what the environment serves, and what it would serve, or serves now. */
export function cellOf(prompt: ReportPrompt, environment: string): MatrixCell {
  const isHere = (one: object) => 'environment' in one && one.environment === environment;
  const change = prompt.changes.find(isHere);
  const known = { drift: prompt.drift.find(isHere) ?? null, status: change?.status };
  if (change?.kind === 'set-active') {
    return { ...known, kind: 'change', now: refText(change.before), next: refText(change.after) };
  }
  const edit = prompt.edits?.find(isHere);
  if (edit?.kind === 'set-pin') {
    return { ...known, kind: 'pin', now: escapeLine(edit.before ?? ''), next: escapeLine(edit.after) };
  }
  return { ...known, ...withoutChange(prompt.environments?.find(isHere), prompt) };
}

function withoutChange(
  row: ReportRow | undefined,
  { status }: ReportPrompt,
): Pick<MatrixCell, 'kind' | 'now' | 'next'> {
  if (row === undefined) return { kind: 'unpinned', now: '', next: '' };
  const now = refText(row.active);
  if (row.in_sync) return { kind: 'in-sync', now, next: '' };
  if (status === 'failed' || status === 'not_attempted') return { kind: 'unread', now: '', next: '' };
  return row.wanted === null
    ? { kind: 'unresolved', now, next: `${escapeLine(row.pin)}?` }
    : { kind: 'differs', now, next: refText(row.wanted) };
}

const UNPINNED = '·';

/** A cell in a few words: `v6`, `v6 → v7`, `v6 → 7?` where the pin is of no known version. */
export function cellText({ kind, now, next }: MatrixCell): string {
  if (kind === 'unpinned') return UNPINNED;
  if (kind === 'unread') return '?';
  return kind === 'in-sync' ? now : `${now} → ${next}`;
}
