import stringWidth from 'fast-string-width';
import { wrapAnsi } from 'fast-wrap-ansi';
import type { Screen } from './output-style.ts';

/** The minimum width for wrapping, in columns. In a narrower terminal, almost every word would get its own row. */
const MIN_COLUMNS = 20;

export function makeScreen(columns: number): Screen {
  return { columns: Math.max(MIN_COLUMNS, columns), width: stringWidth, wrap: wrapLine, cut: cutLine };
}

/** Matches the space that `wrapAnsi` leaves at the start of a row, possibly after color codes. */
const LEADING_BLANK = /^((?:\u001b\[\d+m)*) (?! )/;

function wrapLine(line: string, columns: number, hangingIndent: number): readonly string[] {
  if (stringWidth(line) <= columns) return [line];
  const [first = '', ...rest] = wrapAnsi(line, columns - hangingIndent, { trim: false }).split('\n');
  return [first, ...rest.map((row) => `${' '.repeat(hangingIndent)}${row.replace(LEADING_BLANK, '$1')}`)];
}

function cutLine(line: string, columns: number): string {
  if (stringWidth(line) <= columns) return line;
  let shown = '';
  for (const { segment } of new Intl.Segmenter('en').segment(line)) {
    if (stringWidth(`${shown}${segment}`) > columns - 1) break;
    shown += segment;
  }
  return `${shown}…`;
}
