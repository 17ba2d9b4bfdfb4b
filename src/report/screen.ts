import stringWidth from 'fast-string-width';
import { breakText, type Measure } from './break-text.ts';
import type { Screen } from './style.ts';
import { parseStyled, type Run, sliceRuns, writeStyled } from './styled-line.ts';

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
