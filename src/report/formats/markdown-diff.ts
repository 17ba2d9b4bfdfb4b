import { formatCodePoint } from '../../text.ts';
import { type Block, makeTextDiffs, nameInvisibleChanges, type TextDiff } from '../text-diff.ts';
import { UNKNOWN_TEXT_NOTES } from './render-diff.ts';
import { isContinuationLine, readDisplayText, splitIntoDisplayLines } from '../display-lines.ts';
import { escapeHtml, renderCodeBlock, renderCodeSpan, shortenBlanks } from '../escape.ts';
import type { ReportPrompt } from '../schema/report-schema.ts';

/** The number of unchanged display lines to show before and after each change. */
const CONTEXT_LINES = 2;

/** The line for omitted lines of a diff. It cannot be a line of a text, which begins with a sign or a space. */
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

/**
 * Renders the lines of a hunk. A change that readers could overlook, such as one in white space only, gets a label,
 * which does not depend on where display lines break.
 */
function renderBlocks(blocks: readonly Block[]): readonly string[] {
  const names = nameInvisibleChanges(blocks.map(({ kind, lines }) => ({ kind, lines: lines.map(readDisplayText) })));
  return blocks.flatMap(({ kind, lines }, index) => {
    const name = names[index] ?? '';
    return [...lines.map((line) => renderLine(line, kind)), ...(name === '' ? [] : [name])];
  });
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
