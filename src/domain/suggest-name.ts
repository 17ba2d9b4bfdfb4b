import { distance } from 'fastest-levenshtein';

/** The known word that a misspelt one was probably meant to be, or undefined. */
export function suggestName(word: string, known: readonly string[]): string | undefined {
  const ends = known.filter((one) => one.endsWith(`/${word}`));
  return ends.length > 1 ? undefined : suggestNames(word, known)[0];
}

/** The few known words that a misspelt one may have been meant to be, the nearest first. */
export function suggestNames(word: string, known: readonly string[]): readonly string[] {
  if (word.length > 100) return [];
  const lower = word.toLowerCase();
  // The last part of a key is what people remember of it.
  const ends = known.filter((one) => one.endsWith(`/${word}`));
  const near = known
    .filter((one) => isNear(lower, one))
    .map((one) => ({ one, errors: distance(lower, one) }))
    .toSorted((a, b) => a.errors - b.errors);
  // Long words that begin alike are near to each other: what is further off than the nearest was not meant.
  const close = near.filter(({ errors }) => errors <= (near[0]?.errors ?? 0) + 1).map(({ one }) => one);
  return [...new Set([...ends, ...close])].slice(0, 3);
}

/** Letters that were swapped count as two errors, which is much for a short word. */
function isNear(word: string, known: string): boolean {
  return distance(word, known) <= Math.max(1, Math.floor(known.length / 3)) || keepLetters(word) === keepLetters(known);
}

function keepLetters(word: string): string {
  return [...word].toSorted().join('');
}
