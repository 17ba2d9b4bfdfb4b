import {
  makeTextDiffs,
  markWords,
  unmarked,
  type Hunk,
  type MarkedBlock,
  type MarkedLine,
  type TextDiff,
} from './diff.ts';
import { showHidden } from '../domain/text.ts';
import { escapeLine, shortenBlanks } from './escape.ts';
import type { ReportPrompt } from './schema.ts';
import { fitted, type Style } from './style.ts';
import { counted } from './words.ts';

const CONTEXT_LINES = 3;
/** A diff that is longer is folded. */
const MOST_LINES = 40;
/** Of a folded diff so many lines of each block are shown at most: of a text that was rewritten the old and the new one. */
const MOST_OF_BLOCK = 20;

type Length = 'whole' | 'folded';

/**
 * A unified diff of what environments serve now and would serve; environments with the same two texts share one.
 * Lines have no line feed; there are none where nothing differs.
 */
export function renderDiffs(prompt: ReportPrompt, style: Style, length: Length): readonly string[] {
  return makeTextDiffs(prompt, CONTEXT_LINES).flatMap((diff) => renderOne(diff, style, length));
}

/** What is said in place of a diff where one of the texts is not known. */
export const unknownText = {
  before: 'its text of now is not known without the service',
  after: 'the text to come was never read; a sync looks at it first',
  omitted: 'a text is too large to be shown (over 100 kB)',
} as const satisfies Record<NonNullable<TextDiff['unknown']>, string>;

function renderOne(diff: TextDiff, style: Style, length: Length): readonly string[] {
  const { dim, bold } = style.colours;
  const names = diff.environments.map(escapeLine).join(', ');
  if (diff.unknown !== null) return fitted(dim(`${names}: ${unknownText[diff.unknown]}`), style, 2);
  const from = diff.before === null ? 'nothing' : escapeLine(diff.before);
  const titles = [`--- ${names}: ${from}`, `+++ ${names}: ${escapeLine(diff.after)}`];
  const { hunks, left } = length === 'whole' ? { hunks: diff.hunks, left: 0 } : foldHunks(diff.hunks);
  const more = `… ${counted([left, 'more line', 'more lines'])} (--format html shows all)`;
  return [
    ...titles.flatMap((title) => fitted(bold(title), style, 4)),
    ...hunks.flatMap((hunk) => hunkLines(hunk, style)),
    ...(left === 0 ? [] : fitted(dim(more), style, 2)),
  ];
}

/** As many lines as a reader of a log wants, and how many are left out. */
function foldHunks(hunks: readonly Hunk[]): { readonly hunks: readonly Hunk[]; readonly left: number } {
  const all = linesIn(hunks);
  if (all <= MOST_LINES) return { hunks, left: 0 };
  let room = MOST_LINES;
  const folded = hunks.map((hunk) => {
    const blocks = hunk.blocks.map(({ kind, lines }) => {
      const shown = lines.slice(0, Math.min(room, MOST_OF_BLOCK));
      room -= shown.length;
      return { kind, lines: shown };
    });
    return { ...hunk, blocks: blocks.filter(({ lines }) => lines.length > 0) };
  });
  return { hunks: folded.filter(({ blocks }) => blocks.length > 0), left: all - linesIn(folded) };
}

function linesIn(hunks: readonly Hunk[]): number {
  return hunks.flatMap(({ blocks }) => blocks).reduce((sum, { lines }) => sum + lines.length, 0);
}

function hunkLines({ title, blocks: whole }: Hunk, style: Style): readonly string[] {
  const { colours, screen } = style;
  const blocks = whole.map(({ kind, lines }) => ({ kind, lines: lines.map(shortenBlanks) }));
  // Without colour marks would not be seen, but on a terminal long lines are shortened by them.
  const marks = colours.isColorSupported || screen !== null;
  const marked = marks ? markWords(blocks) : blocks.map(unmarked);
  return [...fitted(colours.cyan(title), style, 2), ...marked.flatMap((block) => blockLines(block, style))];
}

function blockLines({ kind, lines }: MarkedBlock, style: Style): readonly string[] {
  const { colours, screen } = style;
  if (kind === 'same') {
    const all = lines.map((line) => ` ${joined(line, style)}`);
    return screen === null ? all : all.map((line) => screen.cut(line, screen.columns));
  }
  const [sign, paint] = kind === 'added' ? ['+', colours.green] : ['-', colours.red];
  return lines.flatMap((line) => fitted(paint(`${sign}${joined(excerptOf(line, style), style)}`), style, 1));
}

/** Of a changed line that takes more rows on a terminal only what is near its marks is shown. */
const MOST_ROWS = 8;
/** How much of the unchanged text beside a change is shown then, in characters. */
const BESIDE = 30;

/** A line without marks is new or gone as a whole, and stays whole. */
function excerptOf(line: MarkedLine, style: Style): MarkedLine {
  const { screen } = style;
  const fits = screen === null || screen.width(joined(line, style)) <= MOST_ROWS * screen.columns;
  if (fits || !line.some(({ changed }) => changed)) return line;
  return line.map(({ text, changed }) => {
    const characters = Array.from(text);
    if (changed || characters.length <= 2 * BESIDE) return { text, changed };
    const [head, tail] = [characters.slice(0, BESIDE), characters.slice(-BESIDE)];
    return { text: `${head.join('')} … ${tail.join('')}`, changed };
  });
}

/** The text of a line, escaped, with what is changed in it inverse. */
function joined(line: MarkedLine, { colours, screen }: Style): string {
  const parts = line.map(({ text, changed }) => {
    const shown = showHidden(text);
    // How wide a tab is depends on where it stands.
    const even = screen === null ? shown : shown.replaceAll('\t', '    ');
    return changed ? colours.inverse(even) : even;
  });
  return parts.join('');
}
