import stringWidth from 'fast-string-width';
import picocolors from 'picocolors';
import { renderWebUrl } from '../domain/network.ts';

export type OutputStyle = {
  readonly colors: Colors;
  /** The terminal. Null if the output is not a terminal. In that case, renderers do not wrap or truncate lines. */
  readonly screen: Screen | null;
  /** The link settings. Null if the output does not support links. */
  readonly links: LinkSettings | null;
};

/** A terminal. Wide characters take two columns, and escape codes for colors and links take none. */
export type Screen = {
  readonly columns: number;
  readonly width: (text: string) => number;
  /**
   * Wraps a line between words. Every row except the first is indented by `hangingIndent` spaces. A word that is wider
   * than a row, such as a URL to copy, stays whole, and the terminal breaks it.
   */
  readonly wrap: (line: string, columns: number, hangingIndent: number) => readonly string[];
  /** Truncates a line that is wider than `columns`, and ends it with `…`. The line must not contain color codes. */
  readonly cut: (line: string, columns: number) => string;
};

type LinkSettings = {
  /** Returns the URL of a file. Returns null if promptsync does not know the folder that the path is relative to. */
  readonly fileUrl: (path: string) => string | null;
};

/** An output that is not a terminal, such as a log or a file, has neither `screen` nor `links`. */
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

/** Wraps lines `indentColumns` columns earlier, to leave room for the indentation. */
export function narrowStyle(style: OutputStyle, indentColumns: number): OutputStyle {
  const { screen } = style;
  return screen === null ? style : { ...style, screen: { ...screen, columns: screen.columns - indentColumns } };
}

/** Wraps a line, with `hangingIndent` spaces before later rows. Changes nothing if there is no terminal. */
export function fitLine(line: string, { screen }: OutputStyle, hangingIndent: number): readonly string[] {
  return screen === null ? [line] : screen.wrap(line, screen.columns, hangingIndent);
}

/** Returns only the text if the output does not support links or the path is unknown. */
export function renderFileLink(text: string, path: string | undefined, { links }: Pick<OutputStyle, 'links'>): string {
  return makeHyperlink(text, (path === undefined ? null : links?.fileUrl(path)) ?? '');
}

/** Returns only the text if the output does not support links or the address is not an HTTP or HTTPS URL. */
export function renderWebLink(text: string, address: string, { links }: Pick<OutputStyle, 'links'>): string {
  return links === null ? text : makeHyperlink(text, renderWebUrl(address) ?? '');
}

/** Makes an OSC 8 hyperlink, but only if the address is visible ASCII. Other characters could end the sequence. */
function makeHyperlink(text: string, address: string): string {
  return /^[!-~]+$/.test(address) ? `\u001b]8;;${address}\u001b\\${text}\u001b]8;;\u001b\\` : text;
}

/** The functions that style text. If color is off, every function returns its text unchanged. */
export type Colors = Readonly<Record<Paint, (text: string) => string>> & {
  readonly isColorSupported: boolean;
};

type Paint = 'bold' | 'dim' | 'inverse' | 'red' | 'green' | 'yellow' | 'cyan' | 'magenta';

/** A table cell. `paint` adds the color after padding, because color codes must not count toward the width. */
export type TableCell = { readonly text: string; readonly paint: (text: string) => string };

/** Aligns the cells in columns, measured in terminal cells. The last cell of a row gets no padding. */
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
