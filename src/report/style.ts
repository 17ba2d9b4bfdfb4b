import picocolors from 'picocolors';

/** How a report is drawn as text. */
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
  /** Of a text without colours. */
  readonly width: (text: string) => number;
  /** The line in rows that fit. All but the first begin with so many blanks; single blanks where it breaks are gone. */
  readonly wrap: (line: string, hang: number) => readonly string[];
  /** The line, or as much of its beginning as fits with `…`. */
  readonly cut: (line: string) => string;
  /** The same terminal with fewer columns. */
  readonly narrower: (columns: number) => Screen;
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
  return { colours: coloursFor(colour), screen, links };
}

/** For logs and files. */
export const PLAIN: Style = styleFor({ colour: false });

/** The style of what is indented by so many columns. */
export function narrower(style: Style, columns: number): Style {
  return style.screen === null ? style : { ...style, screen: style.screen.narrower(columns) };
}

/** The line in as many rows as the terminal needs. */
export function fitted(line: string, { screen }: Style, hang: number): readonly string[] {
  return screen === null ? [line] : screen.wrap(line, hang);
}

/** A text, shown as it is, that opens a file of the workspace where the terminal takes links. */
export function fileLink(text: string, path: string, { links }: Pick<Style, 'links'>): string {
  return linked(text, links?.fileUrl(path) ?? '');
}

/** An address that opens itself, where it is one of the web. */
export function webLink(text: string, address: string, { links }: Pick<Style, 'links'>): string {
  if (links === null || !/^https?:\/\//.test(address) || !URL.canParse(address)) return text;
  return linked(text, new URL(address).href);
}

/** An OSC 8 link. The address is visible ASCII: nothing in it can end the sequence. */
export function linked(text: string, address: string): string {
  return /^[!-~]+$/.test(address) ? `\u001b]8;;${address}\u001b\\${text}\u001b]8;;\u001b\\` : text;
}

/** The colours of one rendering; without colour every function hands its text through. */
export type Colours = ReturnType<typeof picocolors.createColors>;

/** The text as it is without its colours. */
export function withoutColours(text: string): string {
  return text.replaceAll(/\u001b\[\d+m/g, '');
}

export function coloursFor(enabled: boolean): Colours {
  return picocolors.createColors(enabled);
}

/** A value in a table, and how it is painted. */
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
