import picocolors from 'picocolors';

/** The drawing style of one output: its colors, its width and its links. */
export type Style = {
  readonly colors: Colors;
  /** Null if the output is no terminal. Renderers then neither wrap nor cut lines. */
  readonly screen: Screen | null;
  /** Null if the output does not support links. */
  readonly links: LinkSettings | null;
};

/**
 * A terminal. It measures text as drawn: a wide character takes two columns, and the codes of colors and links take
 * none.
 */
export type Screen = {
  readonly columns: number;
  /** Returns the width of a text in columns. */
  readonly width: (text: string) => number;
  /**
   * Breaks a line between words into rows of at most `columns`. All rows except the first begin with `hangingIndent`
   * spaces. A longer word stays whole, and the terminal breaks it: it is an address to copy, or text of a script
   * without spaces.
   */
  readonly wrap: (line: string, columns: number, hangingIndent: number) => readonly string[];
  /** Shortens a line to `columns` and marks the cut with `…`. The line must not contain codes of colors. */
  readonly cut: (line: string, columns: number) => string;
};

/** The settings for links from the output to files. */
export type LinkSettings = {
  /** Returns the URL of a file. Returns null if promptsync does not know the folder that the path is relative to. */
  readonly fileUrl: (path: string) => string | null;
};

/** The properties of an output. An output without `screen` and `links` is no terminal, for example a log or a file. */
export type StyleOptions = {
  readonly colour: boolean;
  readonly screen?: Screen | null | undefined;
  readonly links?: LinkSettings | null | undefined;
};

/** Makes the style for an output. */
export function makeStyle({ colour, screen = null, links = null }: StyleOptions): Style {
  return { colors: picocolors.createColors(colour), screen, links };
}

/** The style for logs and files: no colors, no links, and no line breaks added. */
export const PLAIN_STYLE: Style = makeStyle({ colour: false });

/** Returns the style for text that is indented, so that lines wrap earlier. */
export function narrowStyle(style: Style, indentColumns: number): Style {
  const { screen } = style;
  return screen === null ? style : { ...style, screen: { ...screen, columns: screen.columns - indentColumns } };
}

/**
 * Breaks a line into the rows that the terminal needs.
 * @param hangingIndent the number of spaces before each row except the first
 */
export function fitLine(line: string, { screen }: Style, hangingIndent: number): readonly string[] {
  return screen === null ? [line] : screen.wrap(line, screen.columns, hangingIndent);
}

/**
 * Returns the text as a link to a file, or the text alone if the output does not support links or the path is not
 * known.
 */
export function fileLink(text: string, path: string | undefined, { links }: Pick<Style, 'links'>): string {
  return makeHyperlink(text, (path === undefined ? null : links?.fileUrl(path)) ?? '');
}

/** Returns the text as a link to an `http` or `https` address, or the text alone if a link is not possible. */
export function webLink(text: string, address: string, { links }: Pick<Style, 'links'>): string {
  if (links === null || !/^https?:\/\//.test(address) || !URL.canParse(address)) return text;
  return makeHyperlink(text, new URL(address).href);
}

/**
 * Makes an OSC 8 link. Only addresses of visible ASCII become links, because other characters could end the escape
 * sequence.
 */
function makeHyperlink(text: string, address: string): string {
  return /^[!-~]+$/.test(address) ? `\u001b]8;;${address}\u001b\\${text}\u001b]8;;\u001b\\` : text;
}

/** Paints texts. Without color, every function returns its text unchanged. */
export type Colors = Readonly<Record<Paint, (text: string) => string>> & {
  /** Whether these functions add colors. */
  readonly isColorSupported: boolean;
};

type Paint = 'bold' | 'dim' | 'inverse' | 'red' | 'green' | 'yellow' | 'cyan' | 'magenta';

/** A cell of a table. `paint` adds its color after padding, because color codes must not count toward the width. */
export type TableCell = { readonly text: string; readonly paint: (text: string) => string };

/** Lays out rows in columns, each as wide as its widest cell. The last cell of a row gets no padding. */
export function layOutTable(rows: readonly (readonly TableCell[])[], { screen }: Style): readonly string[] {
  // Without a terminal, promptsync does not know how wide characters are drawn, so it counts UTF-16 units.
  const measureWidth = (text: string): number => screen?.width(text) ?? text.length;
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, { text }] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, measureWidth(text));
  }
  return rows.map((row) => {
    const cells = row.map(({ text, paint }, column) => {
      const padding = column === row.length - 1 ? 0 : (widths[column] ?? 0) - measureWidth(text);
      return paint(`${text}${' '.repeat(padding)}`);
    });
    return cells.join('  ');
  });
}
