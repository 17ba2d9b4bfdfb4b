/** A value in a table, and how it is painted. */
export type Cell = { readonly text: string; readonly paint: (text: string) => string };

const GAP = '  ';

/** Columns as wide as their widest cell, but for the last; painted after padding, so that colour does not count. */
export function layOut(rows: readonly (readonly Cell[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.text.length ?? 0)));
  const padded = (text: string, column: number) =>
    column + 1 < widths.length ? text.padEnd(widths[column] ?? 0) : text;
  const lines = rows.map((row) => row.map(({ text, paint }, column) => paint(padded(text, column))).join(GAP));
  return `${lines.join('\n')}\n`;
}
