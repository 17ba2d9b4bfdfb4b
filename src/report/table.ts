import type { Style } from './style.ts';

/** A value in a table, and how it is painted. */
export type Cell = { readonly text: string; readonly paint: (text: string) => string };
type Row = readonly Cell[];

const GAP = '  ';

/**
 * Columns as wide as their widest cell. The last cell of a row is not padded; rows are painted after padding, so that
 * colour does not count.
 */
export function layOut(rows: readonly Row[], style: Style): readonly string[] {
  const widths = widthsOf(rows, style);
  return rows.map((row) => {
    const last = row.length - 1;
    return row
      .map(({ text, paint }, column) => paint(column === last ? text : padded(text, widths[column] ?? 0, style)))
      .join(GAP);
  });
}

/**
 * A table as several where it is wider than the terminal: each begins with the first column, and has as many of the
 * others as fit. Each cell of a first column that would take more than half of a row is shortened in the middle.
 */
export function layOutWide(rows: readonly Row[], style: Style): readonly (readonly string[])[] {
  const { screen } = style;
  if (screen === null) return [layOut(rows, style)];
  const shown = withShortNames(rows, style);
  const [first = 0, ...widths] = widthsOf(shown, style);
  const tables: { readonly columns: number[]; used: number }[] = [];
  for (const [index, width] of widths.entries()) {
    const last = tables.at(-1);
    if (last === undefined || last.used + GAP.length + width > screen.columns) {
      tables.push({ columns: [index + 1], used: first + GAP.length + width });
    } else {
      last.columns.push(index + 1);
      last.used += GAP.length + width;
    }
  }
  if (tables.length === 0) tables.push({ columns: [], used: first });
  return tables.map(({ columns }) => {
    const part = shown.map((row) => [0, ...columns].flatMap((column) => row[column] ?? []));
    return layOut(part, style).map(screen.cut);
  });
}

/** Only as far as it spares a second table. */
function withShortNames(rows: readonly Row[], style: Style): readonly Row[] {
  const { screen } = style;
  const widths = widthsOf(rows, style);
  const others = widths.slice(1).reduce((sum, width) => sum + GAP.length + width, 0);
  if (screen === null || (widths[0] ?? 0) + others <= screen.columns) return rows;
  const room = Math.max(Math.floor(screen.columns / 2), screen.columns - others);
  return rows.map((row) =>
    row.map((cell, column) => (column === 0 ? { ...cell, text: screen.shorten(cell.text, room) } : cell)),
  );
}

function widthsOf(rows: readonly Row[], style: Style): readonly number[] {
  const columns = rows.reduce((most, row) => Math.max(most, row.length), 0);
  return Array.from({ length: columns }, (_, column) =>
    rows.reduce((most, row) => Math.max(most, widthOf(row[column]?.text ?? '', style)), 0),
  );
}

function padded(text: string, width: number, style: Style): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text, style)));
}

/** Off a terminal it is not known how wide characters are drawn. */
function widthOf(text: string, { screen }: Style): number {
  return screen === null ? text.length : screen.width(text);
}
