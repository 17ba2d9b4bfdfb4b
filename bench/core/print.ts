import type { Finding, Result, Row } from './run-case.ts';

const HEADS = ['', 'ms', 'ratio', 'CPU ms', 'ratio', 'peak MB', 'requests'];

/** One case as a table for a terminal. */
export function renderText({ title, rows, skipped }: Result): string {
  if (skipped !== null) return `${title}: ${skipped}\n`;
  const cells = [HEADS, ...rows.map((row) => cellsOf(row, rows[0]))];
  const widths = HEADS.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)));
  const lines = cells.map((line) => line.map((cell, column) => pad(cell, column, widths[column] ?? 0)).join('  '));
  return [`${title} (${roundsOf(rows)})`, ...lines.map((line) => `  ${line}`.trimEnd()), ''].join('\n');
}

export function renderMarkdown({ title, rows, skipped }: Result): string {
  if (skipped !== null) return `**${title}**: ${skipped}\n`;
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const body = rows.map((row) => line(cellsOf(row, rows[0])));
  return [`**${title}** (${roundsOf(rows)})`, '', line(HEADS), '|---|--:|--:|--:|--:|--:|--:|', ...body, ''].join('\n');
}

/** Each thing that has to be shown, with its figure. */
export function renderFindings(findings: readonly Finding[], markdown: boolean): string {
  const rows = findings.map((finding) => ({ ...finding, said: `${shown(finding)} (at most ${limit(finding)})` }));
  if (markdown) {
    const lines = rows.map(({ shows, said, met }) => `| ${shows} | ${said} | ${met ? 'met' : '**not met**'} |`);
    return ['| to be shown | measured | |', '|---|---|---|', ...lines, ''].join('\n');
  }
  return rows.map(({ shows, said, met }) => `${met ? 'met    ' : 'NOT MET'}  ${shows}: ${said}`).join('\n');
}

function cellsOf(row: Row, first: Row | undefined): readonly string[] {
  const ratio = (figure: 'milliseconds' | 'cpu') =>
    row === first ? '' : ratioText((row[figure] ?? Number.NaN) / (first?.[figure] ?? Number.NaN));
  const whole = (value: number | undefined) => (value === undefined ? '' : String(Math.round(value)));
  const time = row.milliseconds.toFixed(row.milliseconds < 100 ? 1 : 0);
  return [row.name, time, ratio('milliseconds'), whole(row.cpu), ratio('cpu'), whole(row.peak), whole(row.requests)];
}

function ratioText(ratio: number): string {
  return Number.isNaN(ratio) ? '' : ratio.toFixed(2);
}

function pad(cell: string, column: number, width: number): string {
  return column === 0 ? cell.padEnd(width) : cell.padStart(width);
}

function roundsOf(rows: readonly Row[]): string {
  const most = Math.max(...rows.map(({ rounds }) => rounds));
  const fewer = rows.filter(({ rounds }) => rounds < most).map(({ name, rounds }) => `${name}: ${rounds}`);
  return [`medians of ${most}`, ...fewer].join('; ');
}

/** On a machine that is shared the ratio of processor times says how far to trust that of the times. */
function shown({ value, to, figure, cpuRatio }: Finding): string {
  if (to === undefined) return `${Math.round(value)}${unitOf(figure)}`;
  const cpu = figure === 'milliseconds' && cpuRatio !== null ? `, CPU ${cpuRatio.toFixed(2)}` : '';
  return `${value.toFixed(2)} × ${to}${cpu}`;
}

function limit({ atMost, to, figure }: Finding): string {
  return to === undefined ? `${atMost}${unitOf(figure)}` : String(atMost);
}

function unitOf(figure: Finding['figure']): string {
  return figure === 'peak' ? ' MB' : figure === 'requests' ? ' requests' : ' ms';
}
