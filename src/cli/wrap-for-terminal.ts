import type { OutputStream } from './process-interface.ts';

/**
 * Breaks a line between words so that a terminal does not break it within a word. Indents all rows after the first by
 * two spaces. Returns the line unchanged if the stream is not a terminal. Also returns several lines unchanged, such as a
 * plan, because their renderer has already wrapped them. Counts UTF-16 code units, because the code
 * that measures the width of text is loaded only for reports.
 */
export function wrapForTerminal(line: string, { isTTY, columns = 0 }: Pick<OutputStream, 'isTTY' | 'columns'>): string {
  if (isTTY !== true || columns === 0 || line.length <= columns || line.includes('\n')) return line;
  const rows: string[] = [];
  for (const word of line.split(' ')) {
    const row = rows.at(-1);
    if (row !== undefined && row.length + 1 + word.length <= columns) rows.splice(-1, 1, `${row} ${word}`);
    else rows.push(row === undefined ? word : `  ${word}`);
  }
  return rows.join('\n');
}
