/** What was typed up to the cursor. */
export type TypedLine = {
  /** The words before the one under the cursor, without their quotes and without the program's own name. */
  readonly before: readonly string[];
  /** The word under the cursor, without its quotes; empty after a blank. */
  readonly current: string;
  /** The same as it was typed. */
  readonly raw: string;
};

/** A text in quotes that may not be closed yet, a character behind a backslash, or other characters that are no blanks. */
const PIECE = /'([^']*)(?:'|$)|"((?:\\[^]|[^"\\])*\\?)(?:"|$)|\\([^]|$)|([^\s'"\\]+)/g;

/** Blanks and the word behind them, which is empty at the end of a line that ends with a blank. */
const WORD = new RegExp(`(?:^|\\s+)((?:${PIECE.source.replaceAll(/\((?!\?)/g, '(?:')})*)`, 'g');

/**
 * Splits a line as bash, zsh and fish do, and evaluates nothing: `$(…)` and `*` are characters like any other, so that
 * pressing the key has no other effect than to complete.
 */
export function splitLine(line: string): TypedLine {
  const words = [...line.trimStart().matchAll(WORD)].map(([, word = '']) => word);
  const raw = words.at(-1) ?? '';
  return { before: words.slice(1, -1).map(unquoted), current: unquoted(raw), raw };
}

function unquoted(word: string): string {
  return [...word.matchAll(PIECE)]
    .map(([, single, double, escaped, plain]) => {
      return single ?? double?.replaceAll(/\\(["\\$`])/g, '$1') ?? escaped ?? plain ?? '';
    })
    .join('');
}
