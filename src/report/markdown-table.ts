/** The first two lines of a table. The cells are Markdown already. */
export function tableHead(columns: readonly string[]): string {
  return tableRow(columns) + tableRow(columns.map(() => '---'));
}

/** A line of a table, with its line feed. */
export function tableRow(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |\n`;
}
