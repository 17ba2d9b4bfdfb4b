import { distance } from 'fastest-levenshtein';

/**
 * Returns the known name that the user most likely meant by an unknown word. Undefined if no name is similar. Also
 * undefined if several names end with a slash and the word, as `sales/greeting` and `support/greeting` do for
 * `greeting`.
 */
export function suggestName(word: string, known: readonly string[]): string | undefined {
  const withSameEnding = known.filter((name) => name.endsWith(`/${word}`));
  return withSameEnding.length > 1 ? undefined : suggestNames(word, known)[0];
}

/** Returns up to three known names that the user may have meant by an unknown word, most likely first. */
export function suggestNames(word: string, known: readonly string[]): readonly string[] {
  if (word.length > 100) return [];
  const lower = word.toLowerCase();
  // Users often remember only the last part of a key, such as `greeting` for `support/greeting`.
  const withSameEnding = known.filter((name) => name.endsWith(`/${word}`));
  const similar = known
    .filter((name) => isSimilar(lower, name))
    .map((name) => ({ name, errors: distance(lower, name) }))
    .toSorted((a, b) => a.errors - b.errors);
  // In a long name, many letters may differ, so all long names with the same beginning count as similar. Keep only the
  // names with at most one error more than the closest name.
  const closest = similar.filter(({ errors }) => errors <= (similar[0]?.errors ?? 0) + 1).map(({ name }) => name);
  return [...new Set([...withSameEnding, ...closest])].slice(0, 3);
}

/**
 * Returns true if the word is similar to the known name. At least one of these conditions must be met:
 * - They differ in at most one letter.
 * - They differ in at most a third of the letters.
 * - They differ only in the order of the letters. In short names, the other two conditions do not cover two swapped
 *   letters, because these count as two errors.
 */
function isSimilar(word: string, known: string): boolean {
  return distance(word, known) <= Math.max(1, Math.floor(known.length / 3)) || sortLetters(word) === sortLetters(known);
}

function sortLetters(word: string): string {
  return [...word].toSorted().join('');
}
