import type { TextChange } from '../domain/text-changes.ts';
import { changedRows, joined, SHOWS_ALL, withoutMarks } from './diff-rows.ts';
import { type Folded, type FoldedBlock, foldHunks, leftText, type MarkedHunk } from './fold-hunks.ts';
import { inertLine } from './inert.ts';
import { markWords } from './mark-words.ts';
import { fitted, type Style } from './style.ts';
import { type Hunk, makeTextDiffs, type Range, type TextDiff } from './text-diffs.ts';

const CONTEXT_LINES = 3;
/** A diff that is longer is folded. */
const MOST_LINES = 40;

/** Whether a long diff is shown `whole` or `folded`. */
export type Length = 'whole' | 'folded';

/**
 * A unified diff of what environments serve now and would serve; environments with the same two texts share one.
 * Lines have no line feed; there are none where nothing differs.
 */
export function renderDiffs(changes: readonly TextChange[], style: Style, length: Length): readonly string[] {
  return makeTextDiffs(changes, CONTEXT_LINES).flatMap((diff) => renderOne(diff, style, length));
}

/** What is said in place of a diff where one of the texts is not known. */
export const unreadText = {
  before: 'its text of now is not known without the service',
  after: 'the text to come was never read; a sync looks at it first',
} as const;

function renderOne(diff: TextDiff, style: Style, length: Length): readonly string[] {
  const { dim, bold } = style.colours;
  const names = diff.environments.map(inertLine).join(', ');
  if (diff.kind === 'unread') return fitted(dim(`${names}: ${unreadText[diff.side]}`), style, 2);
  const from = diff.before === null ? 'nothing' : inertLine(diff.before);
  const titles = [`--- ${names}: ${from}`, `+++ ${names}: ${inertLine(diff.after)}`];
  const marked = diff.hunks.map((hunk) => markHunk(hunk, style));
  const { hunks, left } = foldHunks(marked, length === 'whole' ? Infinity : MOST_LINES);
  return [
    ...titles.flatMap((title) => fitted(bold(title), style, 4)),
    ...hunks.flatMap((hunk) => hunkLines(hunk, style)),
    ...foldLines(left, style),
  ];
}

/** Without colour marks would not be seen, but on a terminal long lines are cut by them. */
function markHunk({ blocks, ...ranges }: Hunk, { colours, screen }: Style): MarkedHunk {
  const marks = colours.isColorSupported || screen !== null;
  return { ...ranges, blocks: marks ? markWords(blocks) : withoutMarks(blocks) };
}

function foldLines(left: Folded['left'], style: Style): readonly string[] {
  const text = leftText(left);
  return text === null ? [] : fitted(style.colours.dim(`… ${text} (${SHOWS_ALL})`), style, 2);
}

function hunkLines({ before, after, blocks }: Folded['hunks'][number], style: Style): readonly string[] {
  const { cyan, dim } = style.colours;
  return [
    ...fitted(cyan(`@@ -${range(before)} +${range(after)} @@`), style, 2),
    ...blocks.flatMap((block, index) => [
      ...blockLines(block, style, [blocks[index - 1], blocks[index + 1]]),
      ...(block.more ? [dim(' …')] : []),
    ]),
  ];
}

function range({ start, lines }: Range): string {
  return `${start},${lines}`;
}

function blockLines(
  { kind, lines }: FoldedBlock,
  style: Style,
  neighbours: readonly (FoldedBlock | undefined)[],
): readonly string[] {
  if (kind === 'same') {
    const shown = lines.map((line) => ` ${joined(line, style)}`);
    return style.screen === null ? shown : shown.map(style.screen.cut);
  }
  const pair = neighbours.find((one) => one?.kind === (kind === 'added' ? 'removed' : 'added'));
  // Only of single lines it is known which takes the place of which.
  const other = lines.length === 1 && pair?.lines.length === 1 ? (pair.lines[0] ?? null) : null;
  return lines.flatMap((line) => changedRows({ kind, line, other }, style));
}
