/** How many lines several texts have in common where they begin and where they end; no line counts twice. */
export type CommonEnds = { readonly first: number; readonly last: number };

/** What all texts begin and end with needs no merging, however long it is. */
export function findCommonEnds([one = [], ...others]: readonly (readonly string[])[]): CommonEnds {
  const shortest = Math.min(one.length, ...others.map(({ length }) => length));
  let first = 0;
  while (first < shortest && others.every((lines) => lines[first] === one[first])) first += 1;
  let last = 0;
  while (last < shortest - first && others.every((lines) => lines.at(-1 - last) === one.at(-1 - last))) last += 1;
  return { first, last };
}

/** The lines between the common ones. */
export function withoutEnds(lines: readonly string[], { first, last }: CommonEnds): string[] {
  return lines.slice(first, lines.length - last);
}
