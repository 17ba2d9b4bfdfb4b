import type { TextChange } from '../../domain/text-changes.ts';
import { counted } from '../counted.ts';
import { markup, type Markup } from './markup.ts';
import { type MarkedBlock, type MarkedLine, markWords } from '../mark-words.ts';
import { unreadText } from '../render-diff.ts';
import { type Block, makeTextDiffs, type TextDiff } from '../text-diffs.ts';

/** Unchanged lines around a change that are shown at once. */
const CONTEXT_LINES = 3;

/** The texts of a prompt with what changes in them, and how many lines that is. */
export type PageDiffs = { readonly parts: readonly Markup[]; readonly added: number; readonly removed: number };

/** @param linkOf what a link to the diff of an environment leads to */
export function diffsOf(changes: readonly TextChange[], linkOf: (environment: string) => string): PageDiffs {
  const diffs = makeTextDiffs(changes, Infinity);
  const lines = (kind: Block['kind']) =>
    diffs
      .flatMap((diff) => (diff.kind === 'compared' ? diff.hunks.flatMap(({ blocks }) => blocks) : []))
      .reduce((sum, block) => sum + (block.kind === kind ? block.lines.length : 0), 0);
  return { parts: diffs.map((diff) => diffOf(diff, linkOf)), added: lines('added'), removed: lines('removed') };
}

function diffOf(diff: TextDiff, linkOf: (environment: string) => string): Markup {
  const names = diff.environments.map((environment, index) => {
    return markup`${index === 0 ? '' : ', '}<a id="${linkOf(environment)}" href="#${linkOf(environment)}">${environment}</a>`;
  });
  if (diff.kind === 'unread') return markup`<h3>${names}</h3>\n<p class="note">${unreadText[diff.side]}</p>\n`;
  const blocks = markWords(diff.hunks.flatMap((hunk) => hunk.blocks));
  const shown = blocks.map((block, index) => blockOf(block, index === 0, index === blocks.length - 1));
  return markup`<h3>${names}: ${diff.before ?? 'nothing'} → ${diff.after}</h3>\n<div class="text">${shown}</div>\n`;
}

function blockOf({ kind, lines }: MarkedBlock, first: boolean, last: boolean): Markup {
  if (kind === 'removed') return markup`<del>${lines.map(lineOf)}</del>`;
  if (kind === 'added') return markup`<ins>${lines.map(lineOf)}</ins>`;
  const [from, to] = [first ? 0 : CONTEXT_LINES, lines.length - (last ? 0 : CONTEXT_LINES)];
  // A fold takes a line itself.
  if (to - from < 2) return markup`<span>${lines.map(lineOf)}</span>`;
  const summary = counted([to - from, 'unchanged line', 'unchanged lines']);
  const fold = markup`<details class="fold"><summary>${summary}</summary>${sameOf(lines.slice(from, to))}</details>`;
  return markup`${sameOf(lines.slice(0, from))}${fold}${sameOf(lines.slice(to))}`;
}

function sameOf(lines: readonly MarkedLine[]): Markup {
  return lines.length === 0 ? markup`` : markup`<span>${lines.map(lineOf)}</span>`;
}

/** Each line has its line feed: the last one of an element is not drawn. */
function lineOf(line: MarkedLine): Markup {
  return markup`${line.map(({ text, changed }) => (changed ? markup`<mark>${text}</mark>` : markup`${text}`))}\n`;
}
