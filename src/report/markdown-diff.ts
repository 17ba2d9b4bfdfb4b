import {
  type Block,
  type DifferenceNames,
  makeTextDiffs,
  type MarkedBlock,
  type MarkedLine,
  markWords,
  nameInvisibleDifferences,
  NO_NAMES,
  type TextDiff,
} from './diff.ts';
import { UNKNOWN_TEXT_NOTES } from './diff-text.ts';
import {
  type DisplayLine,
  isContinuationLine,
  readDisplayLine,
  readDisplayText,
  splitIntoDisplayLines,
} from './display-lines.ts';
import { escapeHtml, renderCodeSpan, renderTextSpan, shortenBlanks } from './escape.ts';
import type { ReportPrompt } from './schema.ts';

/** The number of unchanged display lines to show before and after each change. */
const CONTEXT_LINES = 2;
/**
 * The mark of a display line that continues the line above it. The mark is outside of code spans, so prompt text cannot
 * imitate it.
 */
const CONTINUATION_MARK = '↳';

/** The item of a list that stands for unchanged lines. */
const GAP = '- ⋯';

/** Compares the texts of a prompt by display lines. Environments with the same change share one diff. */
export function makeMarkdownDiffs(prompt: ReportPrompt): readonly TextDiff[] {
  return makeTextDiffs(prompt, CONTEXT_LINES, splitIntoDisplayLines);
}

/**
 * Renders a diff as a collapsed list of display lines. GitHub and GitLab wrap a list at any width, but they make a code
 * block scroll sideways. All text of prompts is in code spans, where it cannot act as Markdown.
 */
export function renderMarkdownDiff({ key, path }: Pick<ReportPrompt, 'key' | 'path'>, diff: TextDiff): string {
  const summary = `<summary><code>${escapeHtml(key)}</code> <code>${escapeHtml(path)}</code></summary>`;
  return `\n<details>${summary}\n\n${renderTitle(diff)}\n\n${renderBody(diff)}\n\n</details>\n`;
}

function renderTitle({ environments, before, after }: TextDiff): string {
  const names = environments.map(renderCodeSpan).join(', ');
  return `${names}: ${before === null ? 'nothing' : renderCodeSpan(before)} → ${renderCodeSpan(after)}`;
}

function renderBody({ hunks, type, unknownReason }: TextDiff): string {
  if (unknownReason !== null) return `There is no diff: ${UNKNOWN_TEXT_NOTES[unknownReason]}.`;
  const blocks = hunks.map((hunk) => {
    const shortened = hunk.blocks.map(({ kind, lines }) => ({ kind, lines: lines.map(shortenBlanks) }));
    return markWords(shortened, type).map(({ kind, lines }) => ({ kind, lines: lines.map(readDisplayLine) }));
  });
  const names = hunks.map((hunk) => nameDisplayLines(hunk.blocks));
  const lists = blocks.map((all, hunk) =>
    all.flatMap((block, index) => renderBlock(block, names[hunk]?.[index])).join('\n'),
  );
  const list = lists.join(`\n${GAP}\n`);
  const startsInsideLine = blocks[0]?.[0]?.lines[0]?.isContinuation === true;
  const hasContinuation = blocks.flat().some(({ lines }) => lines.some(({ isContinuation }) => isContinuation));
  const legend = hasContinuation ? `\n\n${CONTINUATION_MARK} continues the line above.` : '';
  return `${startsInsideLine ? `${GAP}\n` : ''}${list}${legend}`;
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

/** A block of a diff with decoded display lines. */
type DisplayBlock = Pick<MarkedBlock, 'kind'> & { readonly lines: readonly DisplayLine[] };

const SIGNS = { same: '', removed: '**−** ', added: '**+** ' } as const satisfies Record<MarkedBlock['kind'], string>;
const WORD_MARKS = { same: '', removed: '~~', added: '**' } as const satisfies Record<MarkedBlock['kind'], string>;

/**
 * Renders each line of a block as an item of a list. Consecutive empty lines share an item. Omits empty lines that are
 * unchanged. The name of a difference is the item after its line.
 */
function renderBlock({ kind, lines }: DisplayBlock, names: DifferenceNames | undefined): readonly string[] {
  const isEmpty = (index: number): boolean => lines[index]?.segments.length === 0;
  const hasName = (index: number): boolean => (names?.lines[index] ?? '') !== '';
  const renderName = (name = ''): readonly string[] => (name === '' ? [] : [`- ${name}`]);
  const renderItem = (line: DisplayLine, index: number): readonly string[] => {
    if (!isEmpty(index)) return [`- ${SIGNS[kind]}${renderLine(line, WORD_MARKS[kind])}`];
    if (kind === 'same' || (isEmpty(index + 1) && !hasName(index))) return [];
    const isRun = isEmpty(index - 1) && !hasName(index - 1);
    return [`- ${SIGNS[kind]}(empty ${isRun ? 'lines' : 'line'})`];
  };
  const items = lines.flatMap((line, index) => [...renderItem(line, index), ...renderName(names?.lines[index])]);
  return [...items, ...renderName(names?.whole)];
}

function renderLine({ isContinuation, segments }: DisplayLine, wordMark: string): string {
  const spans = joinBlanks(segments).map(({ text, changed }) => {
    return changed ? `${wordMark}${renderTextSpan(text)}${wordMark}` : renderTextSpan(text);
  });
  return `${isContinuation ? `${CONTINUATION_MARK} ` : ''}${spans.join('')}`;
}

/**
 * Joins whitespace with the segment next to it, because a code span that holds only whitespace would need quotation
 * marks. Joins changed whitespace only if a changed word on the same line shows the difference. Also joins adjacent
 * segments of the same kind, because Markdown would read their two adjacent markers as one.
 */
function joinBlanks(line: MarkedLine): MarkedLine {
  const hasChangedWord = line.some((segment) => segment.changed && !isBlank(segment));
  const isJoinable = (segment: MarkedLine[number]): boolean => isBlank(segment) && (hasChangedWord || !segment.changed);
  const joined: MarkedLine[number][] = [];
  for (const segment of line) {
    const last = joined.pop();
    if (last === undefined) joined.push(segment);
    else if (last.changed === segment.changed || isJoinable(segment) || isJoinable(last)) {
      const changed = isJoinable(last) ? segment.changed : last.changed;
      joined.push({ text: `${last.text}${segment.text}`, changed });
    } else joined.push(last, segment);
  }
  return joined;
}

function isBlank({ text }: MarkedLine[number]): boolean {
  return text.trim() === '';
}
