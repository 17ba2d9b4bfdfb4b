import { closest, distance } from 'fastest-levenshtein';

/** The known word that a misspelt one was probably meant to be, or undefined. */
export function suggest(word: string, known: readonly string[]): string | undefined {
  if (known.length === 0 || word.length > 100) return undefined;
  const nearest = closest(word.toLowerCase(), known);
  return distance(word.toLowerCase(), nearest) <= Math.max(1, Math.floor(nearest.length / 3)) ? nearest : undefined;
}
