import { markup, type Markup, nothing } from './markup.ts';
import { type Cell, cellOf } from '../matrix.ts';
import { refText, statusNote } from '../render-change.ts';
import type { ReportPrompt } from '../schema.ts';

/** A prompt's row of the matrix, without its name. Each cell says its environment: a narrow page has no columns. */
export function cellsOf(prompt: ReportPrompt, environments: readonly string[]): readonly Markup[] {
  return environments.map((environment) => {
    const cell = cellOf(prompt, environment);
    const refused = cell.kind === 'change' && prompt.status === 'blocked';
    const kind = refused ? 'refused' : cell.kind;
    return markup`<span class="cell ${kind}"><i>${environment} </i>${refused ? refusedOf(cell) : contentOf(cell)}${driftMark(cell)}</span>`;
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
    case 'differs':
      return markup`${refText(cell.active)} <em>not as pinned</em>`;
    case 'pin':
      return markup`${cell.before ?? 'not pinned'} → <b>${cell.after}</b>`;
    case 'unresolved':
      return markup`${refText(cell.active)} → <b>${cell.pin}?</b>`;
  }
}

/** Told apart without colour as well: what is blocked is struck out. */
function refusedOf({ before, after }: Extract<Cell, { readonly kind: 'change' }>): Markup {
  return markup`${refText(before)} → <s>${refText(after)}</s> <em>blocked</em>`;
}

function noteOf(status: Extract<Cell, { readonly kind: 'change' }>['status']): Markup {
  return markup`${status === undefined ? '' : statusNote[status]}`;
}

/** What this run has put right is told in the row alone. */
function driftMark(cell: Cell): Markup {
  const { drift } = cell;
  const mended = cell.kind === 'change' && (cell.status === 'made' || cell.status === 'adopted');
  return drift === null || mended ? nothing : markup` <em>${drift.kind === 'outside' ? 'drift' : 'unfinished'}</em>`;
}
