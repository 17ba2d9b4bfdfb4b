import { formatCodePoint } from '../text.ts';
import {
  type Block,
  type DifferenceNames,
  makeTextDiffs,
  nameInvisibleDifferences,
  NO_NAMES,
  type TextDiff,
} from './diff.ts';
import { UNKNOWN_TEXT_NOTES } from './diff-text.ts';
import { isContinuationLine, readDisplayText, splitIntoDisplayLines } from './display-lines.ts';
import { escapeHtml, renderCodeBlock, renderCodeSpan, shortenBlanks } from './escape.ts';
import type { ReportPrompt } from './schema.ts';

/** The number of unchanged display lines to show before and after each change. */
const CONTEXT_LINES = 2;

/**
 * The line that stands for omitted lines of a diff. It differs from every line of a text, which begins with a sign or a
 * space.
 */
const GAP = '…';

const SIGNS = { same: ' ', removed: '-', added: '+' } as const satisfies Record<Block['kind'], string>;

/** Compares the texts of a prompt by display lines. Environments with the same change share one diff. */
export function makeMarkdownDiffs(prompt: ReportPrompt): readonly TextDiff[] {
  return makeTextDiffs(prompt, CONTEXT_LINES, splitIntoDisplayLines);
}

/** Renders a diff as a collapsed code block of the language `diff`, which GitHub and GitLab show in color. */
export function renderMarkdownDiff({ key, path }: Pick<ReportPrompt, 'key' | 'path'>, diff: TextDiff): string {
  const summary = `<summary><code>${escapeHtml(key)}</code> <code>${escapeHtml(path)}</code></summary>`;
  return `\n<details>${summary}\n\n${renderTitle(diff)}\n\n${renderBody(diff)}\n\n</details>\n`;
}

function renderTitle({ environments, before, after }: TextDiff): string {
  const names = environments.map(renderCodeSpan).join(', ');
  return `${names}: ${before === null ? 'nothing' : renderCodeSpan(before)} → ${renderCodeSpan(after)}`;
}

function renderBody({ hunks, unknownReason }: TextDiff): string {
  if (unknownReason !== null) return `There is no diff: ${UNKNOWN_TEXT_NOTES[unknownReason]}.`;
  const lines = hunks.flatMap(({ blocks, isAfterGap, isBeforeGap }) => [
    ...(isAfterGap ? [GAP] : []),
    ...renderBlocks(blocks),
    ...(isBeforeGap ? [GAP] : []),
  ]);
  return renderCodeBlock(lines, 'diff');
}

/** Renders the lines of a hunk. The name of a difference that readers could overlook has its own line. */
function renderBlocks(blocks: readonly Block[]): readonly string[] {
  const names = nameDisplayLines(blocks);
  return blocks.flatMap(({ kind, lines }, index) => {
    const { whole, lines: ofLines } = names[index] ?? NO_NAMES;
    const rendered = lines.flatMap((line, place) => [renderLine(line, kind), ofLines[place] ?? '']);
    return [...rendered, whole].filter((line) => line !== '');
  });
}

/**
 * Names the differences that readers could overlook. Compares whole lines and not display lines, because the terminal
 * and the HTML report also compare whole lines. The label of a line follows its last display line.
 */
function nameDisplayLines(blocks: readonly Block[]): readonly DifferenceNames[] {
  const names = nameInvisibleDifferences(blocks.map(({ kind, lines }) => ({ kind, lines: joinDisplayLines(lines) })));
  return blocks.map(({ lines }, index) => {
    const { whole, lines: ofLines } = names[index] ?? NO_NAMES;
    // The first item of `joinDisplayLines` is the end of a line that begins above the block.
    let at = 0;
    const ofDisplayLines = lines.map((line, place) => {
      if (!isContinuationLine(line)) at += 1;
      const next = lines[place + 1];
      return next !== undefined && isContinuationLine(next) ? '' : (ofLines[at] ?? '');
    });
    return { whole, lines: ofDisplayLines };
  });
}

/**
 * Joins the display lines of a block into lines. The first line of the result is the end of a line that begins above
 * the block. It is empty if there is no such line.
 */
function joinDisplayLines(lines: readonly string[]): readonly string[] {
  const joined: string[][] = [[]];
  for (const line of lines) {
    if (isContinuationLine(line)) joined.at(-1)?.push(readDisplayText(line));
    else joined.push([readDisplayText(line)]);
  }
  return joined.map((parts) => parts.join(''));
}

/**
 * Renders a display line after its sign. A line that continues the line above it has one more space. In changed lines,
 * every space other than U+0020 is visible, because such a space may be the only difference.
 */
function renderLine(line: string, kind: Block['kind']): string {
  const text = shortenBlanks(readDisplayText(line));
  const shown = kind === 'same' ? text : text.replaceAll(/(?! )\p{Zs}/gu, formatCodePoint);
  return `${SIGNS[kind]}${isContinuationLine(line) ? ' ' : ''}${shown}`;
}
