/** What patterns are made of, the beginning `./` that they are read without included. */
const SPECIAL = /^\.(?=\/)|[\\!*?[\]{}()|"]/g;

/** What selects the prompt of such a key alone: keys come from strangers, and `!x` as it is selects all but one. */
export function literalSelector(key: string): string {
  return key.replaceAll(SPECIAL, String.raw`\$&`);
}
