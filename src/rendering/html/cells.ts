import type { ReportPrompt } from '../../schemas/report.ts';
import { refText, statusNote } from '../render-change.ts';
import { cellOf, type Cell } from '../view/matrix.ts';
import { markup, type Markup } from './markup.ts';

/** A prompt's row of the matrix, without its name. Each cell says its environment: a narrow page has no columns. */
export function cellsOf(prompt: ReportPrompt, environments: readonly string[]): readonly Markup[] {
  return environments.map((environment) => {
    const cell = cellOf(prompt, environment);
    return markup`<span class="cell ${cell.kind}"><i>${environment} </i>${contentOf(cell)}${driftMark(cell)}</span>`;
  });
}

function contentOf(cell: Cell): Markup {
  switch (cell.kind) {
    case 'unpinned':
      return markup`<span class="none">not pinned</span>`;
    case 'unread':
      return markup`not known`;
    case 'in-sync':
      return markup`${refText(cell.active)}`;
    case 'change':
      return markup`${refText(cell.before)} → <b>${refText(cell.after)}</b>${noteOf(cell.status)}`;
    case 'unresolved':
      return markup`${refText(cell.active)} → <b>${cell.pin}?</b>`;
  }
}

function noteOf(status: Extract<Cell, { readonly kind: 'change' }>['status']): Markup {
  return markup`${status === undefined ? '' : statusNote[status]}`;
}

function driftMark({ drift }: Cell): Markup {
  return drift === null ? markup`` : markup` <em>${drift.kind === 'outside' ? 'drift' : 'unfinished'}</em>`;
}
