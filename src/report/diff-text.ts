import {
  type BlockKind,
  type Hunk,
  makeTextDiffs,
  type MarkedBlock,
  type MarkedLine,
  markWords,
  type Segment,
  type TextDiff,
  textsOf,
  unmarked,
} from './diff.ts';
import { escapeLine, escapeText } from './escape.ts';
import { fitted, type Style, withoutColours } from './style.ts';
import type { ReportPrompt } from './schema.ts';
import { counted } from './words.ts';

const CONTEXT_LINES = 3;
/** A diff that is longer is folded. */
const MOST_LINES = 40;

/** How to see what a terminal does not show. */
const SHOWS_ALL = '--format html shows all';

/** Whether a long diff is shown `whole` or `folded`. */
type Length = 'whole' | 'folded';

/**
 * A unified diff of what environments serve now and would serve; environments with the same two texts share one.
 * Lines have no line feed; there are none where nothing differs.
 */
export function renderDiffs(prompt: ReportPrompt, style: Style, length: Length): readonly string[] {
  return makeTextDiffs(textsOf(prompt), CONTEXT_LINES).flatMap((diff) => renderOne(diff, style, length));
}

/** What is said in place of a diff where one of the texts is not known. */
export const unknownText = {
  before: 'its text of now is not known without the service',
  after: 'the text to come was never read; a sync looks at it first',
  omitted: 'a text of more than 100 kB is in no report',
} as const satisfies Record<NonNullable<TextDiff['unknown']>, string>;

function renderOne(diff: TextDiff, style: Style, length: Length): readonly string[] {
  const { dim, bold } = style.colours;
  const names = diff.environments.map(escapeLine).join(', ');
  if (diff.unknown !== null) return fitted(dim(`${names}: ${unknownText[diff.unknown]}`), style, 2);
  const from = diff.before === null ? 'nothing' : escapeLine(diff.before);
  const titles = [`--- ${names}: ${from}`, `+++ ${names}: ${escapeLine(diff.after)}`];
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
  return { ...ranges, blocks: marks ? markWords(blocks) : blocks.map(unmarked) };
}

function foldLines(left: Folded['left'], style: Style): readonly string[] {
  const text = leftText(left);
  return text === null ? [] : fitted(style.colours.dim(`… ${text} (${SHOWS_ALL})`), style, 2);
}

function hunkLines({ before, after, blocks }: Folded['hunks'][number], style: Style): readonly string[] {
  const { cyan, dim } = style.colours;
  return [
    ...fitted(cyan(`@@ -${before.start},${before.lines} +${after.start},${after.lines} @@`), style, 2),
    ...blocks.flatMap((block, index) => [
      ...blockLines(block, style, [blocks[index - 1], blocks[index + 1]]),
      ...(block.more ? [dim(' …')] : []),
    ]),
  ];
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

/** A changed line that takes more rows is cut. */
const MOST_ROWS = 8;

type ChangedLine = {
  readonly kind: 'removed' | 'added';
  readonly line: MarkedLine;
  /** The one that takes its place, or whose place it takes; null: none, or it is not known which. */
  readonly other: MarkedLine | null;
};

/** The rows of a changed line: wrapped on a terminal, changed words marked where there is colour. */
function changedRows(changed: ChangedLine, style: Style): readonly string[] {
  const { screen, colours } = style;
  const whole = painted(changed.kind, changed.line, style);
  if (screen === null) return [whole];
  const rows = screen.wrap(whole, 1);
  if (rows.length <= MOST_ROWS) return rows;
  const excerpt = excerptOf(changed.line, changed.other);
  if (excerpt !== null) return screen.wrap(painted(changed.kind, excerpt, style), 1);
  const text = changed.line.map((segment) => segment.text).join('');
  const shown = rows.slice(0, MOST_ROWS);
  return [...shown, ...screen.wrap(colours.dim(` … ${moreText(text, shown)}`), 1)];
}

function moreText(text: string, shown: readonly string[]): string {
  const seen = shown.reduce((sum, row) => sum + withoutColours(row).length - 1, 0);
  return `${Math.max(1, text.length - seen)} more characters (${SHOWS_ALL})`;
}

function painted(kind: ChangedLine['kind'], segments: Segments, style: Style): string {
  const { green, red } = style.colours;
  return kind === 'added' ? green(`+${joined(segments, style)}`) : red(`-${joined(segments, style)}`);
}

/** The text of a line, escaped, with what is changed in it inverse. */
function joined(segments: Segments, { colours, screen }: Style): string {
  return segments
    .map(({ text, changed }) => {
      const shown = escapeText(text);
      // How wide a tab is depends on where it stands.
      const even = screen === null ? shown : shown.replaceAll('\t', '    ');
      return changed ? colours.inverse(even) : even;
    })
    .join('');
}

type Segments = readonly Segment[];

/** How much of the unchanged text beside a change is shown, in characters. */
const BESIDE = 30;

/**
 * The changed words of a line with some words around them and `…` in between; null where none are marked, because the
 * whole line is new or gone.
 * @param other the line that takes its place: words that only it has show where this one is changed
 */
export function excerptOf(line: MarkedLine, other: MarkedLine | null): Segments | null {
  const pieces = line.some(({ changed }) => changed) ? line : splitLike(line, other);
  if (pieces === null) return null;
  return pieces.map((piece, index) => {
    if (piece.changed) return piece;
    return { ...piece, text: shortened(piece.text, index > 0, index < pieces.length - 1) };
  });
}

/** A line that has lost nothing, in pieces: between them the other line has more words. */
function splitLike(line: MarkedLine, other: MarkedLine | null): Segments | null {
  if (other === null || !other.some(({ changed }) => changed)) return null;
  const text = textOf(line);
  const kept = other.filter(({ changed }) => !changed);
  if (textOf(kept) !== text) return null;
  return other.map((segment) => (segment.changed ? { text: '', changed: false } : segment));
}

function textOf(segments: Segments): string {
  return segments.map(({ text }) => text).join('');
}

function shortened(text: string, afterChange: boolean, beforeChange: boolean): string {
  const head = afterChange ? beginning(text) : '';
  const tail = beforeChange ? ending(text) : '';
  const short = `${head}${head === '' ? '… ' : tail === '' ? ' …' : ' … '}${tail}`;
  return short.length < text.length ? short : text;
}

/** Whole words where there are any. */
function beginning(text: string): string {
  if (text.length <= BESIDE) return text;
  const start = wellCut(text.slice(0, BESIDE));
  const blank = start.lastIndexOf(' ');
  return blank > 0 ? start.slice(0, blank) : start;
}

function ending(text: string): string {
  if (text.length <= BESIDE) return text;
  const end = wellCut(text.slice(-BESIDE));
  const blank = end.indexOf(' ');
  return blank >= 0 && blank < end.length - 1 ? end.slice(blank + 1) : end;
}

/** Half of a character is none. */
function wellCut(text: string): string {
  return text.replace(/^[\udc00-\udfff]/, '').replace(/[\ud800-\udbff]$/, '');
}

export type MarkedHunk = Pick<Hunk, 'before' | 'after'> & { readonly blocks: readonly MarkedBlock[] };
/** A block of which lines were left out at its end has `more`. */
type FoldedBlock = MarkedBlock & { readonly more: boolean };
type FoldedHunk = Omit<MarkedHunk, 'blocks'> & { readonly blocks: readonly FoldedBlock[] };
type Folded = {
  readonly hunks: readonly FoldedHunk[];
  /** How many lines of each kind were left out. */
  readonly left: Readonly<Record<BlockKind, number>>;
};

/** A beginning that is shorter says nothing of its block. */
const FEWEST = 4;

/**
 * A diff of at most so many lines: of each block the beginning, so that of a text that was rewritten both the old and
 * the new one are seen. Where there are too many blocks for that, the first lines of the diff.
 */
export function foldHunks(hunks: readonly MarkedHunk[], most: number): Folded {
  const sizes = hunks.flatMap(({ blocks }) => blocks.map(({ lines }) => lines.length));
  const shares = sharesOf(sizes, most);
  const ends = shares.findLastIndex((share) => share > 0);
  let index = 0;
  const folded = hunks.map(({ blocks, ...range }) => ({
    ...range,
    blocks: blocks.map((block) => {
      const [at, share] = [index, shares[index++] ?? 0];
      const more = share < block.lines.length && at < ends;
      return { ...block, lines: block.lines.slice(0, share), more };
    }),
  }));
  return { hunks: withoutEmpty(folded), left: leftOf(hunks, shares) };
}

function withoutEmpty(hunks: readonly FoldedHunk[]): readonly FoldedHunk[] {
  return hunks
    .map((hunk) => ({ ...hunk, blocks: hunk.blocks.filter(({ lines }) => lines.length > 0) }))
    .filter(({ blocks }) => blocks.length > 0);
}

/** How many lines of each block are shown. */
function sharesOf(sizes: readonly number[], most: number): readonly number[] {
  const total = (each: number) => sizes.reduce((sum, size) => sum + Math.min(size, each), 0);
  if (total(Infinity) <= most) return sizes;
  let each = FEWEST - 1;
  while (total(each + 1) <= most) each += 1;
  if (each >= FEWEST) return sizes.map((size) => Math.min(size, each));
  let rest = most;
  return sizes.map((size) => {
    const share = Math.min(size, rest);
    rest -= share;
    return share;
  });
}

function leftOf(hunks: readonly MarkedHunk[], shares: readonly number[]): Folded['left'] {
  const left = { removed: 0, added: 0, same: 0 };
  for (const [index, { kind, lines }] of hunks.flatMap(({ blocks }) => blocks).entries()) {
    left[kind] += lines.length - (shares[index] ?? 0);
  }
  return left;
}

/** `212 more lines: 62 removed, 150 added`; null where nothing was left out. */
export function leftText({ removed, added, same }: Folded['left']): string | null {
  const all = removed + added + same;
  if (all === 0) return null;
  const kinds = [
    ...(removed > 0 ? [`${removed} removed`] : []),
    ...(added > 0 ? [`${added} added`] : []),
    ...(same > 0 ? [`${same} unchanged`] : []),
  ];
  return `${counted([all, 'more line', 'more lines'])}: ${kinds.join(', ')}`;
}
