import {
  type Hunk,
  makeTextDiffs,
  makeUnmarkedBlock,
  type MarkedBlock,
  type MarkedLine,
  markWords,
  nameInvisibleChanges,
  type TextDiff,
} from '../text-diff.ts';
import { formatCount, showHidden } from '../../text.ts';
import { escapeLine, shortenBlanks } from '../escape.ts';
import type { ReportPrompt } from '../schema/report-schema.ts';
import { fitLine, type OutputStyle } from '../output-style.ts';

/** The number of unchanged lines to show before and after each change. */
const CONTEXT_LINES = 3;
/** The maximum number of lines in a diff. `foldHunks` shortens longer diffs to this length. */
const MAX_DIFF_LINES = 40;
/** The maximum number of lines of one block, so that a rewritten prompt does not show only removed lines. */
const MAX_BLOCK_LINES = 20;

/**
 * Renders the diff between the served text and the text after the change, as lines without line feeds. Environments
 * with the same old and new version share one diff. Empty if nothing differs.
 */
export function renderDiffs(prompt: ReportPrompt, style: OutputStyle): readonly string[] {
  return makeTextDiffs(prompt, CONTEXT_LINES).flatMap((diff) => renderDiff(diff, style));
}

/** The notes instead of a diff. A review cannot cover omitted content, so the last one says what to check. */
export const UNKNOWN_TEXT_NOTES = {
  before: 'the current text is unknown because the plan was created offline',
  after: 'promptsync has not read the new text yet, but will do so before it syncs',
  omitted:
    'the report omits this text because it is larger than 1 MB, or because the report would exceed 32 MB of text. The change still counts as reviewed. To see it, run git diff',
} as const satisfies Record<NonNullable<TextDiff['unknownReason']>, string>;

function renderDiff(diff: TextDiff, style: OutputStyle): readonly string[] {
  const { dim, bold } = style.colors;
  const names = diff.environments.map(escapeLine).join(', ');
  if (diff.unknownReason !== null) return fitLine(dim(`${names}: ${UNKNOWN_TEXT_NOTES[diff.unknownReason]}`), style, 2);
  const after = escapeLine(diff.after);
  // If nothing was active before, there is nothing to compare. The headers of the unified format would only be noise.
  const isNew = diff.before === null;
  const titles = isNew
    ? [`${names}: ${after}`]
    : [`--- ${names}: ${escapeLine(diff.before)}`, `+++ ${names}: ${after}`];
  const { hunks, omittedLines } = foldHunks(diff.hunks);
  const more = `… ${formatCount(omittedLines, 'more line')} (--format html shows all)`;
  return [
    ...titles.flatMap((title) => fitLine(bold(title), style, 4)),
    ...hunks.flatMap((hunk, index) => [
      ...(isNew ? [] : fitLine(style.colors.cyan(hunk.title), style, 2)),
      // A folded diff begins with the same hunks, blocks and lines. A name can depend on lines that it omits.
      ...renderHunk(hunk, nameInvisibleChanges(diff.hunks[index]?.blocks ?? []), diff.type, style),
    ]),
    ...(omittedLines === 0 ? [] : fitLine(dim(more), style, 2)),
  ];
}

type FoldedHunks = { readonly hunks: readonly Hunk[]; readonly omittedLines: number };

/** Shortens a diff to `MAX_DIFF_LINES` lines, because a longer one would bury the rest of the log. */
function foldHunks(hunks: readonly Hunk[]): FoldedHunks {
  const lineCount = countLines(hunks);
  if (lineCount <= MAX_DIFF_LINES) return { hunks, omittedLines: 0 };
  let room = MAX_DIFF_LINES;
  const folded = hunks.map((hunk) => {
    const blocks = hunk.blocks.map(({ kind, lines }) => {
      const shown = lines.slice(0, Math.min(room, MAX_BLOCK_LINES));
      room -= shown.length;
      return { kind, lines: shown };
    });
    return { ...hunk, blocks: blocks.filter(({ lines }) => lines.length > 0) };
  });
  return { hunks: folded.filter(({ blocks }) => blocks.length > 0), omittedLines: lineCount - countLines(folded) };
}

function countLines(hunks: readonly Hunk[]): number {
  return hunks.flatMap(({ blocks }) => blocks).reduce((sum, { lines }) => sum + lines.length, 0);
}

function renderHunk(
  hunk: Hunk,
  names: readonly string[],
  type: TextDiff['type'],
  style: OutputStyle,
): readonly string[] {
  const { colors, screen } = style;
  const blocks = hunk.blocks.map(({ kind, lines }) => ({ kind, lines: lines.map(shortenBlanks) }));
  // Marks are visible only in color, but a terminal without color shortens long lines to the text around them.
  const needsMarks = colors.isColorSupported || screen !== null;
  const marked = needsMarks ? markWords(blocks, type) : blocks.map(makeUnmarkedBlock);
  return marked.flatMap((block, index) => renderBlock(block, names[index] ?? '', style));
}

/** Renders a block. The name of a change has its own line, which starts with a parenthesis instead of a sign. */
function renderBlock({ kind, lines }: MarkedBlock, name: string, style: OutputStyle): readonly string[] {
  const { colors, screen } = style;
  if (kind === 'same') {
    const rendered = lines.map((line) => ` ${joinSegments(line, style)}`);
    return screen === null ? rendered : rendered.map((line) => screen.cut(line, screen.columns));
  }
  const [sign, paint] = kind === 'added' ? ['+', colors.green] : ['-', colors.red];
  const rendered = lines.flatMap((line) =>
    fitLine(paint(`${sign}${joinSegments(makeExcerptAroundChange(line, style), style)}`), style, 1),
  );
  return name === '' ? rendered : [...rendered, ...fitLine(colors.cyan(name), style, 1)];
}

/** The maximum number of terminal rows for a changed line. A longer line shows only the text near its changes. */
const MAX_LINE_ROWS = 8;
/** The maximum number of unchanged characters that a shortened line keeps before and after each change. */
const MARGIN_CHARACTERS = 30;

/**
 * Shortens the unchanged parts of a changed line if the line needs more than `MAX_LINE_ROWS` rows. A line without
 * marked words was added or removed as a whole, so it is not shortened.
 */
function makeExcerptAroundChange(line: MarkedLine, style: OutputStyle): MarkedLine {
  const { screen } = style;
  const isShort = screen === null || screen.width(joinSegments(line, style)) <= MAX_LINE_ROWS * screen.columns;
  if (isShort || !line.some(({ changed }) => changed)) return line;
  return line.map(({ text, changed }) => {
    const characters = Array.from(text);
    if (changed || characters.length <= 2 * MARGIN_CHARACTERS) return { text, changed };
    return { text: `${takeHead(characters)} … ${takeTail(characters)}`, changed };
  });
}

/** Returns the words at the start. Text without blanks, such as Chinese, is cut between two characters. */
function takeHead(characters: readonly string[]): string {
  // One more character shows whether the last word is complete.
  const words = /^(.*\S)\s+\S*$/su.exec(characters.slice(0, MARGIN_CHARACTERS + 1).join(''))?.[1];
  return words ?? characters.slice(0, MARGIN_CHARACTERS).join('');
}

/** Returns the words at the end, including the blanks before the change. */
function takeTail(characters: readonly string[]): string {
  const words = /^\S*\s+(\S.*)$/su.exec(characters.slice(-MARGIN_CHARACTERS - 1).join(''))?.[1];
  return words ?? characters.slice(-MARGIN_CHARACTERS).join('');
}

/** Renders a line. Makes hidden characters visible and shows changed words in inverse video. */
function joinSegments(line: MarkedLine, { colors, screen }: OutputStyle): string {
  const parts = line.map(({ text, changed }) => {
    const shown = showHidden(text);
    // A tab is 1 to 8 columns wide, depending on its position. Spaces make the measured width exact.
    const withoutTabs = screen === null ? shown : shown.replaceAll('\t', '    ');
    return changed ? colors.inverse(withoutTabs) : withoutTabs;
  });
  return parts.join('');
}
