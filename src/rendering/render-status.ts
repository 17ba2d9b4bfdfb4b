import type { Report, ReportPrompt } from '../schemas/report.ts';
import type { Colours } from './colours.ts';
import { inertLine } from './inert.ts';
import { refText } from './render-change.ts';
import { renderErrors } from './render-errors.ts';
import { renderSummary } from './render-summary.ts';
import { isPlanned } from './shards.ts';
import { styleFor, type StyleOptions } from './style.ts';
import { layOutWide, type Cell } from './table.ts';

type Row = NonNullable<ReportPrompt['environments']>[number];

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

/** Each prompt's are in promotion order; the longest list knows most of it. */
function environmentsOf({ prompts }: Report): readonly string[] {
  const lists = prompts.map(({ environments }) => (environments ?? []).map(({ environment }) => environment));
  return [...new Set(lists.toSorted((a, b) => b.length - a.length).flat())];
}

function cellsOf(prompt: ReportPrompt, environments: readonly string[], colours: Colours): readonly Cell[] {
  const fields = prompt.changes.some(({ kind }) => kind === 'update-prompt') ? ' ~' : '';
  const name: Cell = { text: `${inertLine(prompt.key)}${fields}`, paint: (text) => text };
  return [name, ...environments.map((environment) => cellOf(prompt, environment, colours))];
}

function cellOf({ environments, status }: ReportPrompt, environment: string, colours: Colours): Cell {
  const row = environments?.find((one) => one.environment === environment);
  if (row === undefined) return { text: '·', paint: colours.dim };
  if (status === 'failed' || status === 'not_attempted') return { text: '?', paint: colours.red };
  if (row.in_sync) return { text: refText(row.active), paint: colours.green };
  return {
    text: `${refText(row.active)} → ${wantedText(row)}`,
    paint: row.wanted === null ? colours.red : colours.yellow,
  };
}

function wantedText({ wanted, pin }: Row): string {
  return wanted === null ? `${inertLine(pin)}?` : refText(wanted);
}
