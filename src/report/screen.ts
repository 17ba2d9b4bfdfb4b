import stringWidth from 'fast-string-width';
import { linked, type Screen } from './style.ts';

/** What is narrower is drawn as if it were not: a word a row can be read by nobody. */
const FEWEST_COLUMNS = 20;

/** A terminal of so many columns. */
export function makeScreen(columns: number): Screen {
  return screenOf(Math.max(FEWEST_COLUMNS, columns));
}

function screenOf(columns: number): Screen {
  return {
    columns,
    width,
    wrap: (line, hang) => wrap(line, columns, hang),
    cut: (line) => cut(line, columns),
    shorten,
    narrower: (by) => screenOf(columns - by),
  };
}

const ASCII = /^[ -~]*$/;
let segmenter: Intl.Segmenter | undefined;

function width(text: string): number {
  return ASCII.test(text) ? text.length : stringWidth(text);
}

function graphemes(text: string): readonly string[] {
  if (ASCII.test(text)) return [...text];
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/**
 * As many columns as any terminal draws: a colour of skin is two of their own where a terminal does not join it with what
 * is before it.
 */
function mostColumns(text: string): number {
  return ASCII.test(text) ? text.length : stringWidth(text) + 2 * (text.match(/\p{Emoji_Modifier}/gu)?.length ?? 0);
}

const MEASURE: Measure = { width: mostColumns, graphemes };

function wrap(line: string, columns: number, hang: number): readonly string[] {
  const runs = parseStyled(line);
  const text = textOf(runs);
  if (mostColumns(text) <= columns) return [line];
  const rows = breakText(text, { first: columns, rest: columns - hang }, MEASURE);
  return rows.map(({ start, end }, index) => {
    const row = writeStyled(sliceRuns(runs, start, end));
    return index === 0 ? row : `${' '.repeat(hang)}${row}`;
  });
}

function cut(line: string, columns: number): string {
  const runs = parseStyled(line);
  const text = textOf(runs);
  if (mostColumns(text) <= columns) return line;
  return `${writeStyled(sliceRuns(runs, 0, fitting(graphemes(text), columns - 1).join('').length))}…`;
}

function textOf(runs: readonly Run[]): string {
  return runs.map(({ text }) => text).join('');
}

/** The characters from the beginning that fit. */
function fitting(characters: readonly string[], columns: number): readonly string[] {
  let used = 0;
  const end = characters.findIndex((character) => (used += mostColumns(character)) > columns);
  return characters.slice(0, end === -1 ? characters.length : end);
}

function shorten(path: string, columns: number): string {
  if (width(path) <= columns) return path;
  const name = path.slice(path.lastIndexOf('/'));
  // The name of the file says most.
  const [whole, room] = [width(name), columns - 1];
  const tail =
    path.includes('/') && whole <= room - Math.min(4, Math.floor(room / 4)) ? name : endOf(path, Math.floor(room / 2));
  return `${fitting(graphemes(path), room - width(tail)).join('')}…${tail}`;
}

function endOf(text: string, columns: number): string {
  return fitting(graphemes(text).toReversed(), columns).toReversed().join('');
}

/** A row of a text: from one offset to another. */
export type Row = { readonly start: number; readonly end: number };

export type Room = {
  /** Columns of the first row, and of each after it. */
  readonly first: number;
  readonly rest: number;
};

export type Measure = {
  /** Columns that a text is drawn in. */
  readonly width: (text: string) => number;
  readonly graphemes: (text: string) => Iterable<string>;
};

/** What is there to be copied is never broken: it has a row of its own, wider than the terminal if need be. */
const COPIED = /^(?:version:|sha256:[0-9a-f]{64}|\(?ver_[\w-]+\)?$)/;

/**
 * The rows of a text (without line feeds or colours), broken between words; words that fit in no row between characters.
 * Of blanks only single ones between two rows are left out.
 */
export function breakText(text: string, room: Room, { width, graphemes }: Measure): readonly Row[] {
  const rows: Row[] = [];
  let [start, used] = [0, 0];
  const left = (): number => (rows.length === 0 ? room.first : room.rest) - used;
  const endRow = (end: number, next = end): void => {
    rows.push({ start, end });
    [start, used] = [next, 0];
  };
  const fill = (word: string, from: number): void => {
    let at = from;
    for (const grapheme of graphemes(word)) {
      const columns = width(grapheme);
      if (columns > left() && used > 0) endRow(at);
      used += columns;
      at += grapheme.length;
    }
  };
  for (const { 0: word, index } of text.matchAll(/[^ ]+| +/g)) {
    const columns = width(word);
    if (columns <= left()) used += columns;
    else if (word === ' ' && index + 1 < text.length) endRow(index, index + 1);
    else if (word[0] === ' ' || (columns > room.rest && !COPIED.test(word))) fill(word, index);
    else {
      if (index > start) endRow(withoutBlank(text, start, index), index);
      used += columns;
    }
  }
  return used > 0 || rows.length === 0 ? [...rows, { start, end: text.length }] : rows;
}

/** A single blank before a word that goes to the next row. */
function withoutBlank(text: string, start: number, end: number): number {
  const single = end - 1 > start && text[end - 1] === ' ' && text[end - 2] !== ' ';
  return single ? end - 1 : end;
}

/** A part of a line that is drawn in one way. */
export type Run = {
  readonly text: string;
  /** Numbers of the sequences that begin its styles, in order. */
  readonly codes: readonly number[];
  /** The address that it links to; empty: none. */
  readonly link: string;
};

/** The sequences that this tool itself writes; in inert text there is no other. */
const SEQUENCE = /\u001b\[(\d+)m|\u001b\]8;;([!-~]*)\u001b\\/g;

/** A line with colours and links as runs. */
export function parseStyled(line: string): readonly Run[] {
  const runs: Run[] = [];
  let [codes, link, start]: [readonly number[], string, number] = [[], '', 0];
  const take = (end: number): void => {
    if (end > start) runs.push({ text: line.slice(start, end), codes, link });
  };
  for (const match of line.matchAll(SEQUENCE)) {
    take(match.index);
    start = match.index + match[0].length;
    if (match[1] === undefined) link = match[2] ?? '';
    else codes = codesAfter(codes, Number(match[1]));
  }
  take(line.length);
  return runs;
}

function codesAfter(codes: readonly number[], code: number): readonly number[] {
  const rest = codes.filter((one) => closing(one) !== code);
  return closing(code) === null ? rest : [...rest, code];
}

/** The sequence that ends a style; null for what begins none. */
function closing(code: number): number | null {
  if (code === 1 || code === 2) return 22;
  if ([3, 4, 7, 8, 9].includes(code)) return code + 20;
  if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) return 39;
  return (code >= 40 && code <= 47) || (code >= 100 && code <= 107) ? 49 : null;
}

/** Each run ends its own styles, so that none reaches over the end of a row. */
export function writeStyled(runs: readonly Run[]): string {
  return runs.map(writeRun).join('');
}

function writeRun({ text, codes, link }: Run): string {
  const open = codes.map((code) => `\u001b[${code}m`).join('');
  const close = codes.map((code) => `\u001b[${closing(code) ?? 0}m`).toReversed();
  return linked(`${open}${text}${close.join('')}`, link);
}

/** The part between two offsets of the text. */
export function sliceRuns(runs: readonly Run[], start: number, end: number): readonly Run[] {
  let offset = 0;
  return runs.flatMap((run) => {
    const text = run.text.slice(Math.max(0, start - offset), Math.max(0, end - offset));
    offset += run.text.length;
    return text === '' ? [] : [{ ...run, text }];
  });
}
