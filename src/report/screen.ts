import stringWidth from 'fast-string-width';
import type { Screen } from './style.ts';

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
    narrower: (by) => screenOf(columns - by),
  };
}

const ASCII = /^[ -~]*$/;
let segmenter: Intl.Segmenter | undefined;

function width(text: string): number {
  return ASCII.test(text) ? text.length : stringWidth(text);
}

/**
 * As many columns as any terminal draws: a colour of skin is two of their own where a terminal does not join it with what
 * is before it.
 */
function mostColumns(text: string): number {
  return ASCII.test(text) ? text.length : stringWidth(text) + 2 * (text.match(/\p{Emoji_Modifier}/gu)?.length ?? 0);
}

function graphemes(text: string): readonly string[] {
  if (ASCII.test(text)) return [...text];
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

function wrap(line: string, columns: number, hang: number): readonly string[] {
  const text = line.replaceAll(SEQUENCE, '');
  if (mostColumns(text) <= columns) return [line];
  return breakText(text, columns, columns - hang).map(({ start, end }, index) => {
    const row = sliceStyled(line, start, end);
    return index === 0 ? row : `${' '.repeat(hang)}${row}`;
  });
}

function cut(line: string, columns: number): string {
  const text = line.replaceAll(SEQUENCE, '');
  if (mostColumns(text) <= columns) return line;
  let [end, used] = [0, 0];
  for (const character of graphemes(text)) {
    used += mostColumns(character);
    if (used > columns - 1) break;
    end += character.length;
  }
  return `${sliceStyled(line, 0, end)}…`;
}

/** The sequences that this tool itself writes, of colours and links; in escaped text there is no other. */
const SEQUENCE = /(\u001b\[\d+m|\u001b\]8;;[!-~]*\u001b\\)/g;
const [PLAIN, NO_LINK] = ['\u001b[0m', '\u001b]8;;\u001b\\'];

/** The part of a line between two offsets of its text, in its colours, none of which reaches over its end. */
function sliceStyled(line: string, start: number, end: number): string {
  let [offset, before, inside] = [0, '', ''];
  for (const part of line.split(SEQUENCE)) {
    const sequence = part.startsWith('\u001b');
    if (!sequence) inside += part.slice(Math.max(0, start - offset), Math.max(0, end - offset));
    else if (offset <= start) before += part;
    else if (offset < end) inside += part;
    if (!sequence) offset += part.length;
  }
  const styled = `${begun(before)}${inside}`;
  return `${styled}${styled.includes('\u001b[') ? PLAIN : ''}${styled.includes('\u001b]') ? NO_LINK : ''}`;
}

/** Without colours and links that have ended already: of a long line there may be many. */
function begun(sequences: string): string {
  const withoutEnded = sequences.replaceAll(/\u001b\[(?!2[2-9]m|39m|49m)\d+m\u001b\[(?:2[2-9]|39|49)m/g, '');
  return withoutEnded.replaceAll(/\u001b\]8;;[!-~]+\u001b\\\u001b\]8;;\u001b\\/g, '');
}

/** A row of a text: from one offset to another. */
type Row = { readonly start: number; readonly end: number };

/** What is there to be copied is never broken: it has a row of its own, wider than the terminal if need be. */
const COPIED = /^(?:version:|sha256:[0-9a-f]{64}|\(?ver_[\w-]+\)?$)/;

/**
 * The rows of a text (without line feeds or colours), broken between words; words that fit in no row between characters.
 * Of blanks only single ones between two rows are left out.
 * @param first columns of the first row; `rest`: of each after it
 */
function breakText(text: string, first: number, rest: number): readonly Row[] {
  const rows: Row[] = [];
  let [start, used] = [0, 0];
  const left = (): number => (rows.length === 0 ? first : rest) - used;
  const endRow = (end: number, next = end): void => {
    rows.push({ start, end });
    [start, used] = [next, 0];
  };
  const fill = (word: string, from: number): void => {
    let at = from;
    for (const grapheme of graphemes(word)) {
      const columns = mostColumns(grapheme);
      if (columns > left() && used > 0) endRow(at);
      used += columns;
      at += grapheme.length;
    }
  };
  for (const { 0: word, index } of text.matchAll(/[^ ]+| +/g)) {
    const columns = mostColumns(word);
    if (columns <= left()) used += columns;
    else if (word === ' ' && index + 1 < text.length) endRow(index, index + 1);
    else if (word[0] === ' ' || (columns > rest && !COPIED.test(word))) fill(word, index);
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
