import { distance } from 'fastest-levenshtein';

/**
 * Returns the known name that the user most likely meant. Undefined if none is similar, or if several names end with a
 * slash and the word, as `sales/greeting` and `support/greeting` do for `greeting`.
 */
export function suggestName(word: string, known: readonly string[]): string | undefined {
  const withSameEnding = known.filter((name) => name.endsWith(`/${word}`));
  return withSameEnding.length > 1 ? undefined : suggestNames(word, known)[0];
}

/** Returns up to three names that the user may have meant, most likely first. */
export function suggestNames(word: string, known: readonly string[]): readonly string[] {
  if (word.length > 100) return [];
  const lower = word.toLowerCase();
  // Users often remember only the last part of a key, such as `greeting` for `support/greeting`.
  const withSameEnding = known.filter((name) => name.endsWith(`/${word}`));
  const similar = known
    .filter((name) => isSimilar(lower, name))
    .map((name) => ({ name, errors: distance(lower, name) }))
    .toSorted((a, b) => a.errors - b.errors);
  // In a long name, many letters may differ, so keep only names with at most one error more than the closest.
  const closest = similar.filter(({ errors }) => errors <= (similar[0]?.errors ?? 0) + 1).map(({ name }) => name);
  return [...new Set([...withSameEnding, ...closest])].slice(0, 3);
}

/**
 * Returns true if the names differ in at most one letter or a third of the letters, or only in the order of the
 * letters. In a short name, two swapped letters count as two errors, so the first two conditions do not cover them.
 */
function isSimilar(word: string, known: string): boolean {
  return distance(word, known) <= Math.max(1, Math.floor(known.length / 3)) || sortLetters(word) === sortLetters(known);
}

function sortLetters(word: string): string {
  return [...word].toSorted().join('');
}
