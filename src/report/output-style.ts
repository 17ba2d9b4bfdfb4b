import stringWidth from 'fast-string-width';
import picocolors from 'picocolors';
import { renderWebUrl } from '../domain/network.ts';

/** The style of one output: its colors, its terminal and its links. */
export type OutputStyle = {
  readonly colors: Colors;
  /** The terminal. Null if the output is not a terminal. In that case, renderers do not wrap or truncate lines. */
  readonly screen: Screen | null;
  /** The link settings. Null if the output does not support links. */
  readonly links: LinkSettings | null;
};

/**
 * A terminal. It measures text as drawn: a wide character takes two columns, and escape codes for colors and links take
 * none.
 */
export type Screen = {
  readonly columns: number;
  /** Returns the width of a string in columns. */
  readonly width: (text: string) => number;
  /**
   * Wraps a line between words into rows of at most `columns` columns. Every row except the first is indented by
   * `hangingIndent` spaces. Words that are wider than a row, such as a URL to copy or text in a script without spaces,
   * stay whole. The terminal breaks them.
   */
  readonly wrap: (line: string, columns: number, hangingIndent: number) => readonly string[];
  /** Truncates a line that is wider than `columns`, and ends it with `…`. The line must not contain color codes. */
  readonly cut: (line: string, columns: number) => string;
};

/** The settings for links from the output to files. */
export type LinkSettings = {
  /** Returns the URL of a file. Returns null if promptsync does not know the folder that the path is relative to. */
  readonly fileUrl: (path: string) => string | null;
};

/**
 * The properties of an output. An output that is not a terminal, such as a log or a file, has neither `screen` nor
 * `links`.
 */
export type OutputStyleOptions = {
  readonly colour: boolean;
  readonly screen?: Screen | null | undefined;
  readonly links?: LinkSettings | null | undefined;
};

export function makeOutputStyle({ colour, screen = null, links = null }: OutputStyleOptions): OutputStyle {
  return { colors: picocolors.createColors(colour), screen, links };
}

/** The style for logs and files: no colors, no links and no wrapping. */
export const PLAIN_STYLE: OutputStyle = makeOutputStyle({ colour: false });

/**
 * Returns a style for text that will be indented. Lines wrap `indentColumns` columns earlier, to leave room for the
 * indentation.
 */
export function narrowStyle(style: OutputStyle, indentColumns: number): OutputStyle {
  const { screen } = style;
  return screen === null ? style : { ...style, screen: { ...screen, columns: screen.columns - indentColumns } };
}

/**
 * Wraps a line to the width of the terminal. Returns the line unchanged if the output is not a terminal.
 * @param hangingIndent the number of spaces before each row except the first
 */
export function fitLine(line: string, { screen }: OutputStyle, hangingIndent: number): readonly string[] {
  return screen === null ? [line] : screen.wrap(line, screen.columns, hangingIndent);
}

/**
 * Returns the text as a link to a file. Returns only the text if the output does not support links or the path is
 * unknown.
 */
export function renderFileLink(text: string, path: string | undefined, { links }: Pick<OutputStyle, 'links'>): string {
  return makeHyperlink(text, (path === undefined ? null : links?.fileUrl(path)) ?? '');
}

/**
 * Returns the text as a link to an HTTP or HTTPS address. Returns only the text if the output does not support links or
 * the address is not a valid HTTP or HTTPS URL.
 */
export function renderWebLink(text: string, address: string, { links }: Pick<OutputStyle, 'links'>): string {
  return links === null ? text : makeHyperlink(text, renderWebUrl(address) ?? '');
}

/**
 * Returns the text as an OSC 8 hyperlink. Returns only the text if the address contains characters other than visible
 * ASCII, because they could end the escape sequence.
 */
function makeHyperlink(text: string, address: string): string {
  return /^[!-~]+$/.test(address) ? `\u001b]8;;${address}\u001b\\${text}\u001b]8;;\u001b\\` : text;
}

/** The functions that style text. If color is off, every function returns its text unchanged. */
export type Colors = Readonly<Record<Paint, (text: string) => string>> & {
  /** Whether the functions add color codes. */
  readonly isColorSupported: boolean;
};

type Paint = 'bold' | 'dim' | 'inverse' | 'red' | 'green' | 'yellow' | 'cyan' | 'magenta';

/** A table cell. `paint` adds the color after padding, because color codes must not count toward the width. */
export type TableCell = { readonly text: string; readonly paint: (text: string) => string };

/**
 * Aligns the cells of a table in columns, each as wide as its widest cell. Measures text in terminal cells. A Chinese,
 * Japanese, or Korean character takes two of them. The last cell of a row gets no padding.
 */
export function layOutTable(rows: readonly (readonly TableCell[])[]): readonly string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, { text }] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, stringWidth(text));
  }
  return rows.map((row) => {
    const cells = row.map(({ text, paint }, column) => {
      const padding = column === row.length - 1 ? 0 : (widths[column] ?? 0) - stringWidth(text);
      return paint(`${text}${' '.repeat(padding)}`);
    });
    return cells.join('  ');
  });
}
