import type { MarkedLine, Segment } from './mark-words.ts';

export type Segments = readonly Segment[];

/** How much of the unchanged text beside a change is shown, in characters. */
const BESIDE = 30;

/**
 * The changed words of a line with some words around them and `…` in between; null where none are marked, because the
 * whole line is new or gone.
 * @param other the line that takes its place: words that only it has show where this one is changed
 */
export function excerptOf(line: MarkedLine, other: MarkedLine | null): Segments | null {
  const pieces = line.some(({ changed }) => changed) ? line : splitLike(line, other);
  if (pieces === null) return null;
  return pieces.map((piece, index) => {
    if (piece.changed) return piece;
    return { ...piece, text: shortened(piece.text, index > 0, index < pieces.length - 1) };
  });
}

/** A line that has lost nothing, in pieces: between them the other line has more words. */
function splitLike(line: MarkedLine, other: MarkedLine | null): Segments | null {
  if (other === null || !other.some(({ changed }) => changed)) return null;
  const text = textOf(line);
  const kept = other.filter(({ changed }) => !changed);
  if (textOf(kept) !== text) return null;
  return other.map((segment) => (segment.changed ? { text: '', changed: false } : segment));
}

function textOf(segments: Segments): string {
  return segments.map(({ text }) => text).join('');
}

function shortened(text: string, afterChange: boolean, beforeChange: boolean): string {
  const head = afterChange ? beginning(text) : '';
  const tail = beforeChange ? ending(text) : '';
  const short = `${head}${head === '' ? '… ' : tail === '' ? ' …' : ' … '}${tail}`;
  return short.length < text.length ? short : text;
}

/** Whole words where there are any. */
function beginning(text: string): string {
  if (text.length <= BESIDE) return text;
  const start = wellCut(text.slice(0, BESIDE));
  const blank = start.lastIndexOf(' ');
  return blank > 0 ? start.slice(0, blank) : start;
}

function ending(text: string): string {
  if (text.length <= BESIDE) return text;
  const end = wellCut(text.slice(-BESIDE));
  const blank = end.indexOf(' ');
  return blank >= 0 && blank < end.length - 1 ? end.slice(blank + 1) : end;
}

/** Half of a character is none. */
function wellCut(text: string): string {
  return text.replace(/^[\udc00-\udfff]/, '').replace(/[\ud800-\udbff]$/, '');
}
