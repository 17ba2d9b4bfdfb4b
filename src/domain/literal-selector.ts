/** Longer patterns match nothing: how long it takes to match a path grows with the pattern's length times the path's. */
export const LONGEST_PATTERN = 1000;

/** What patterns are made of, here or in a shell, the beginning `./` that they are read without included. */
const SPECIAL = /^\.(?=\/)|[\\!*?[\]{}()|"]/g;

/** What selects the prompt of such a key alone: keys come from strangers. */
export function literalSelector(key: string): string {
  return key.replaceAll(SPECIAL, String.raw`\$&`);
}
