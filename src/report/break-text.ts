/** A row of a text: from one offset to another. */
export type Row = { readonly start: number; readonly end: number };

export type Room = {
  /** Columns of the first row, and of each after it. */
  readonly first: number;
  readonly rest: number;
};

export type Measure = {
  /** Columns that a text is drawn in. */
  readonly width: (text: string) => number;
  readonly graphemes: (text: string) => Iterable<string>;
};

/** What is there to be copied is never broken: it has a row of its own, wider than the terminal if need be. */
const COPIED = /^(?:version:|sha256:[0-9a-f]{64}|\(?ver_[\w-]+\)?$)/;

/**
 * The rows of a text (without line feeds or colours), broken between words; words that fit in no row between characters.
 * Of blanks only single ones between two rows are left out.
 */
export function breakText(text: string, room: Room, { width, graphemes }: Measure): readonly Row[] {
  const rows: Row[] = [];
  let [start, used] = [0, 0];
  const left = (): number => (rows.length === 0 ? room.first : room.rest) - used;
  const endRow = (end: number, next = end): void => {
    rows.push({ start, end });
    [start, used] = [next, 0];
  };
  const fill = (word: string, from: number): void => {
    let at = from;
    for (const grapheme of graphemes(word)) {
      const columns = width(grapheme);
      if (columns > left() && used > 0) endRow(at);
      used += columns;
      at += grapheme.length;
    }
  };
  for (const { 0: word, index } of text.matchAll(/[^ ]+| +/g)) {
    const columns = width(word);
    if (columns <= left()) used += columns;
    else if (word === ' ' && index + 1 < text.length) endRow(index, index + 1);
    else if (word[0] === ' ' || (columns > room.rest && !COPIED.test(word))) fill(word, index);
    else {
      if (index > start) endRow(withoutBlank(text, start, index), index);
      used += columns;
    }
  }
  return used > 0 || rows.length === 0 ? [...rows, { start, end: text.length }] : rows;
}

/** A single blank before a word that goes to the next row. */
function withoutBlank(text: string, start: number, end: number): number {
  const single = end - 1 > start && text[end - 1] === ' ' && text[end - 2] !== ' ';
  return single ? end - 1 : end;
}
