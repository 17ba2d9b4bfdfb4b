/** A value in a table, and how it is painted. */
export type Cell = { readonly text: string; readonly paint: (text: string) => string };

const GAP = '  ';

/**
 * Columns as wide as their widest cell. The last cell of a row is not padded; rows are painted after padding, so that
 * colour does not count.
 */
export function layOut(rows: readonly (readonly Cell[])[]): readonly string[] {
  const widthOf = (column: number): number =>
    rows.reduce((most, row) => Math.max(most, row[column]?.text.length ?? 0), 0);
  const widths = (longest(rows) ?? []).map((_, column) => widthOf(column));
  return rows.map((row) => {
    const width = (column: number) => (column + 1 < row.length ? (widths[column] ?? 0) : 0);
    return row.map(({ text, paint }, column) => paint(text.padEnd(width(column)))).join(GAP);
  });
}

function longest(rows: readonly (readonly Cell[])[]): readonly Cell[] | undefined {
  return rows.toSorted((a, b) => b.length - a.length)[0];
}
