import type { OutputStream } from './process-interface.ts';

/**
 * Breaks a line between words, and indents all rows after the first. Leaves several lines alone, because their renderer
 * has wrapped them. Counts UTF-16 code units, because only reports load the code that measures the width of text.
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
