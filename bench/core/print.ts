import type { Figure } from './case.ts';
import type { Finding, Result, Row } from './run-case.ts';

const HEADINGS = ['', 'ms', 'ratio', 'CPU ms', 'ratio', 'peak MB', 'requests'];

/** Renders the result of a case as a table for a terminal. */
export function renderText({ title, rows, skipped }: Result): string {
  if (skipped !== null) return `${title}: ${skipped}\n`;
  const cells = [HEADINGS, ...rows.map((row) => renderCells(row, rows[0]))];
  const widths = HEADINGS.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)));
  const lines = cells.map((line) => line.map((cell, column) => pad(cell, column, widths[column] ?? 0)).join('  '));
  return [`${title} (${renderRounds(rows)})`, ...lines.map((line) => `  ${line}`.trimEnd()), ''].join('\n');
}

export function renderMarkdown({ title, rows, skipped }: Result): string {
  if (skipped !== null) return `**${title}**: ${skipped}\n`;
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const body = rows.map((row) => line(renderCells(row, rows[0])));
  return [
    `**${title}** (${renderRounds(rows)})`,
    '',
    line(HEADINGS),
    '|---|--:|--:|--:|--:|--:|--:|',
    ...body,
    '',
  ].join('\n');
}

/** Renders each target with its measured figure and its limit. */
export function renderFindings(findings: readonly Finding[], markdown: boolean): string {
  const rows = findings.map((finding) => {
    return { ...finding, measured: `${renderValue(finding)} (at most ${renderLimit(finding)})` };
  });
  if (markdown) {
    const lines = rows.map(({ shows, measured, met }) => `| ${shows} | ${measured} | ${met ? 'met' : '**not met**'} |`);
    return ['| target | measured | |', '|---|---|---|', ...lines, ''].join('\n');
  }
  return rows.map(({ shows, measured, met }) => `${met ? 'met    ' : 'NOT MET'}  ${shows}: ${measured}`).join('\n');
}

function renderCells(row: Row, first: Row | undefined): readonly string[] {
  const ratio = (figure: 'milliseconds' | 'cpu') =>
    row === first ? '' : renderRatio((row[figure] ?? Number.NaN) / (first?.[figure] ?? Number.NaN));
  const round = (value: number | undefined) => (value === undefined ? '' : String(Math.round(value)));
  const time = row.milliseconds.toFixed(row.milliseconds < 100 ? 1 : 0);
  return [row.name, time, ratio('milliseconds'), round(row.cpu), ratio('cpu'), round(row.peak), round(row.requests)];
}

function renderRatio(ratio: number): string {
  return Number.isNaN(ratio) ? '' : ratio.toFixed(2);
}

function pad(cell: string, column: number, width: number): string {
  return column === 0 ? cell.padEnd(width) : cell.padStart(width);
}

function renderRounds(rows: readonly Row[]): string {
  const most = Math.max(...rows.map(({ rounds }) => rounds));
  const fewer = rows.filter(({ rounds }) => rounds < most).map(({ name, rounds }) => `${name}: ${rounds}`);
  return [`medians of ${most}`, ...fewer].join('; ');
}

/** Renders a value. Adds the ratio of CPU times, because a ratio of wall times is unreliable on a shared machine. */
function renderValue({ value, to, figure, cpuRatio }: Finding): string {
  if (to === undefined) return `${Math.round(value)}${renderUnit(figure)}`;
  const cpu = figure === 'milliseconds' && cpuRatio !== null ? `, CPU ${cpuRatio.toFixed(2)}` : '';
  return `${value.toFixed(2)} × ${to}${cpu}`;
}

function renderLimit({ atMost, to, figure }: Finding): string {
  return to === undefined ? `${atMost}${renderUnit(figure)}` : String(atMost);
}

const UNITS = {
  milliseconds: ' ms',
  cpu: ' ms',
  peak: ' MB',
  requests: ' requests',
} as const satisfies Record<Figure, string>;

function renderUnit(figure: Figure): string {
  return UNITS[figure];
}
