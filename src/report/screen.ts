import stringWidth from 'fast-string-width';
import { wrapAnsi } from 'fast-wrap-ansi';
import type { Screen } from './style.ts';

/** What is narrower is drawn as if it were not: a word a row can be read by nobody. */
const FEWEST_COLUMNS = 20;

export function makeScreen(columns: number): Screen {
  return { columns: Math.max(FEWEST_COLUMNS, columns), width: stringWidth, wrap, cut };
}

/** A blank between two words that did not fit in the row before any more, behind the colours of its own row. */
const LEFT_BLANK = /^((?:\u001b\[\d+m)*) (?! )/;

function wrap(line: string, columns: number, hang: number): readonly string[] {
  if (stringWidth(line) <= columns) return [line];
  const [first = '', ...rest] = wrapAnsi(line, columns - hang, { trim: false }).split('\n');
  return [first, ...rest.map((row) => `${' '.repeat(hang)}${row.replace(LEFT_BLANK, '$1')}`)];
}

function cut(line: string, columns: number): string {
  if (stringWidth(line) <= columns) return line;
  let shown = '';
  for (const { segment } of new Intl.Segmenter('en').segment(line)) {
    if (stringWidth(`${shown}${segment}`) > columns - 1) break;
    shown += segment;
  }
  return `${shown}…`;
}
