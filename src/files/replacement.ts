/** The characters of a text between two offsets (UTF-16 units). */
export type Span = { readonly start: number; readonly end: number };

/** A text that takes the place of a span. */
export type Replacement = Span & { readonly text: string };

/** The one replacement that makes `after` of `before`, as short as it can be; none where they are equal. */
export function replacementFor(before: string, after: string): readonly Replacement[] {
  if (before === after) return [];
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start += 1;
  let kept = 0;
  while (kept < most - start && before.at(-1 - kept) === after.at(-1 - kept)) kept += 1;
  return [{ start, end: before.length - kept, text: after.slice(start, after.length - kept) }];
}

/** Replacements in a part of a text, as those in the whole text. */
export function movedBy(offset: number, replacements: readonly Replacement[]): readonly Replacement[] {
  return replacements.map(({ start, end, text }) => ({ start: start + offset, end: end + offset, text }));
}

/** The text with replacements that do not overlap. Of those at one place the first comes first. */
export function replaceIn(text: string, replacements: readonly Replacement[]): string {
  const parts: string[] = [];
  let at = 0;
  for (const { start, end, text: replacing } of replacements.toSorted((a, b) => a.start - b.start)) {
    parts.push(text.slice(at, start), replacing);
    at = end;
  }
  return parts.join('') + text.slice(at);
}

/**
 * Does the same in a text whose lines may end with CRLF, with offsets into that text as it is with line feeds. Lines
 * that are put in end like the first one of the text.
 */
export function replaceInOriginal(original: string, replacements: readonly Replacement[]): string {
  const newline = /\r?\n/.exec(original)?.[0] ?? '\n';
  const moved = replacements.map(({ start, end, text }) => ({
    start: originalOffset(original, start),
    end: originalOffset(original, end),
    text: text.replaceAll('\n', newline),
  }));
  return replaceIn(original, moved);
}

function originalOffset(original: string, offset: number): number {
  let before = 0;
  for (let at = original.indexOf('\r\n'); at !== -1 && at - before < offset; at = original.indexOf('\r\n', at + 2)) {
    before += 1;
  }
  return offset + before;
}
