import picocolors from 'picocolors';

export type Style = {
  readonly colours: Colours;
  /** Null where the output is no terminal: there nothing is wrapped or cut. */
  readonly screen: Screen | null;
  /** Null where the output takes no links. */
  readonly links: Links | null;
};

/** A terminal. Lines may hold colours and links; columns count as drawn: a wide character takes two. */
export type Screen = {
  readonly columns: number;
  readonly width: (text: string) => number;
  /**
   * The line in rows that fit, broken between words. All but the first begin with so many blanks. A word that fits in no
   * row is there to be copied, or of a script without blanks: the terminal itself breaks it.
   */
  readonly wrap: (line: string, columns: number, hang: number) => readonly string[];
  /** A line without colours, or as much of its beginning as fits with `…`. */
  readonly cut: (line: string, columns: number) => string;
};

export type Links = {
  /** The URL of a file; null where the folder that its path is relative to is not known. */
  readonly fileUrl: (path: string) => string | null;
};

/** What a renderer knows of the output; without `screen` and `links` it is no terminal. */
export type StyleOptions = {
  readonly colour: boolean;
  readonly screen?: Screen | null | undefined;
  readonly links?: Links | null | undefined;
};

export function styleFor({ colour, screen = null, links = null }: StyleOptions): Style {
  return { colours: picocolors.createColors(colour), screen, links };
}

/** For logs and files. */
export const PLAIN: Style = styleFor({ colour: false });

/** The style of what is indented by so many columns. */
export function narrower(style: Style, by: number): Style {
  const { screen } = style;
  return screen === null ? style : { ...style, screen: { ...screen, columns: screen.columns - by } };
}

/** The line in as many rows as the terminal needs. */
export function fitted(line: string, { screen }: Style, hang: number): readonly string[] {
  return screen === null ? [line] : screen.wrap(line, screen.columns, hang);
}

/** A text, shown as it is, that opens a file of the workspace where the terminal takes links. */
export function fileLink(text: string, path: string | undefined, { links }: Pick<Style, 'links'>): string {
  return linked(text, (path === undefined ? null : links?.fileUrl(path)) ?? '');
}

/** An address that opens itself, where it is one of the web. */
export function webLink(text: string, address: string, { links }: Pick<Style, 'links'>): string {
  if (links === null || !/^https?:\/\//.test(address) || !URL.canParse(address)) return text;
  return linked(text, new URL(address).href);
}

/** An OSC 8 link. The address is visible ASCII: nothing in it can end the sequence. */
function linked(text: string, address: string): string {
  return /^[!-~]+$/.test(address) ? `\u001b]8;;${address}\u001b\\${text}\u001b]8;;\u001b\\` : text;
}

/** The colours of one rendering; without colour every function hands its text through. */
export type Colours = ReturnType<typeof picocolors.createColors>;

export type Cell = { readonly text: string; readonly paint: (text: string) => string };

/**
 * Columns as wide as their widest cell. The last cell of a row is not padded; rows are painted after padding, so that
 * colour does not count.
 */
export function layOut(rows: readonly (readonly Cell[])[], { screen }: Style): readonly string[] {
  // Off a terminal it is not known how wide characters are drawn.
  const widthOf = (text: string) => screen?.width(text) ?? text.length;
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, { text }] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, widthOf(text));
  }
  return rows.map((row) => {
    const cells = row.map(({ text, paint }, column) => {
      const missing = column === row.length - 1 ? 0 : (widths[column] ?? 0) - widthOf(text);
      return paint(`${text}${' '.repeat(missing)}`);
    });
    return cells.join('  ');
  });
}
