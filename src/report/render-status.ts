import type { Colours } from './colours.ts';
import { inertLine } from './inert.ts';
import { type Cell as MatrixCell, cellOf, cellText, environmentsOf } from './matrix.ts';
import { renderErrors } from './render-errors.ts';
import { isPlanned, renderSummary } from './render-summary.ts';
import type { Report, ReportPrompt } from './schema.ts';
import { styleFor, type StyleOptions } from './style.ts';
import { type Cell, layOutWide } from './table.ts';

export type StatusOptions = StyleOptions & {
  /** Without the matrix: problems and the summary only. */
  readonly quiet: boolean;
};

/** A matrix: prompts × environments, what is active and what should be. Ends with a line feed. */
export function renderStatus(report: Report, options: StatusOptions): string {
  const style = styleFor(options);
  const { colours } = style;
  const environments = environmentsOf(report);
  const header = ['prompt', ...environments].map((text) => ({ text: inertLine(text), paint: colours.bold }));
  const rows = report.prompts.map((prompt) => cellsOf(prompt, environments, colours));
  const matrix =
    options.quiet || !isPlanned(report)
      ? []
      : layOutWide([header, ...rows], style).map((table) => `${table.join('\n')}\n`);
  return [...matrix, ...renderErrors(report, style), `${renderSummary(report, style)}\n`].join('\n');
}

function cellsOf(prompt: ReportPrompt, environments: readonly string[], colours: Colours): readonly Cell[] {
  const fields = prompt.changes.some(({ kind }) => kind === 'update-prompt') ? ' ~' : '';
  const name: Cell = { text: `${inertLine(prompt.key)}${fields}`, paint: (text) => text };
  return [name, ...environments.map((environment) => drawn(cellOf(prompt, environment), colours))];
}

function drawn(cell: MatrixCell, colours: Colours): Cell {
  return { text: cellText(cell), paint: colours[COLOURS[cell.kind]] };
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
