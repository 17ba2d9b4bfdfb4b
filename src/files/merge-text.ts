import { isDeepStrictEqual } from 'node:util';
import { diff3MergeRegions, diffComm } from 'node-diff3';

/** Whose text goes into the file where both sides have changed the same lines; null: both, between conflict markers. */
export type Side = 'ours' | 'theirs' | null;

/** What the conflict markers say of each side. */
export type Labels = { readonly ours: string; readonly theirs: string };

export type Merging = {
  /** What both sides come from; null where that is not known: then everything that differs is a conflict. */
  readonly base: string | null;
  readonly ours: string;
  readonly theirs: string;
  /** What was newer than the base, where they may come from that: then what they have of the base may be taken back. */
  readonly since?: readonly string[] | null;
};

export type Merged = { readonly text: string; readonly conflicts: number };

/** Lines stand for the text where the sides agree, and for one side each where they do not. */
type Part =
  { readonly agreed: readonly string[] } | { readonly ours: readonly string[]; readonly theirs: readonly string[] };

type Lines = { readonly base: string[]; readonly ours: string[]; readonly theirs: string[] };

/** What comparing may take, about a second: past it, two texts are not merged line by line. */
const MOST_STEPS = 2_000_000_000;

/** Merges two texts (LF) that come from one, line by line. What only one side has changed is taken from it. */
export function mergeText(texts: Merging, side: Side, labels: Labels): Merged {
  const { base, ours, theirs, since = null } = texts;
  if (ours === theirs || (theirs === base && since === null)) return { text: ours, conflicts: 0 };
  if (ours === base && (since ?? []).length === 0) return { text: theirs, conflicts: 0 };
  const parts = since === null ? partsOf(texts) : doubtfulParts(texts, since);
  const settled = parts.map((part) => settle(part, side, labels));
  return {
    text: settled.flat().join('\n'),
    conflicts: side === null ? parts.filter((part) => !('agreed' in part)).length : 0,
  };
}

function partsOf({ base, ours, theirs }: Merging): readonly Part[] {
  const all = { base: lines(base ?? ours), ours: lines(ours), theirs: lines(theirs) };
  const ends = findCommonEnds([all.ours, all.theirs, all.base]);
  const rest = {
    base: withoutEnds(all.base, ends),
    ours: withoutEnds(all.ours, ends),
    theirs: withoutEnds(all.theirs, ends),
  };
  const merged = base === null || stepsOf(rest) > MOST_STEPS ? [{ ours: rest.ours, theirs: rest.theirs }] : merge(rest);
  const after = all.ours.slice(all.ours.length - ends.last);
  return [{ agreed: all.ours.slice(0, ends.first) }, ...merged, { agreed: after }];
}

/**
 * Where the file was changed since the base, or since anything newer, nobody knows but the user: the other side may have
 * seen it and undone it.
 */
function doubtfulParts(texts: Merging, since: readonly string[]): readonly Part[] {
  const keepAlso = (theirs: string, base: string | null): string => keepOurs({ ...texts, base, theirs });
  const kept = lines(since.reduce(keepAlso, keepOurs(texts)));
  const theirs = lines(texts.theirs);
  if (pairs(kept, theirs) * Math.min(kept.length, theirs.length) > MOST_STEPS) return [{ ours: kept, theirs }];
  return diffComm(kept, theirs).map((part): Part => {
    return 'common' in part ? { agreed: part.common } : { ours: part.buffer1, theirs: part.buffer2 };
  });
}

function keepOurs(texts: Merging): string {
  const parts = partsOf(texts);
  return parts.flatMap((part) => ('agreed' in part ? part.agreed : part.ours)).join('\n');
}

function merge({ base, ours, theirs }: Lines): readonly Part[] {
  return diff3MergeRegions(ours, base, theirs).map((region): Part => {
    if (region.stable) return { agreed: region.bufferContent };
    const { aContent, bContent } = region;
    return isDeepStrictEqual(aContent, bContent) ? { agreed: aContent } : { ours: aContent, theirs: bContent };
  });
}

function settle(part: Part, side: Side, labels: Labels): readonly string[] {
  if ('agreed' in part) return part.agreed;
  if (side !== null) return part[side];
  return [`<<<<<<< ${labels.ours}`, ...part.ours, '=======', ...part.theirs, `>>>>>>> ${labels.theirs}`];
}

/** Each pair of equal lines may be held against each line that was found to be common before. */
function stepsOf({ base, ours, theirs }: Lines): number {
  return (
    pairs(base, ours) * Math.min(base.length, ours.length) + pairs(base, theirs) * Math.min(base.length, theirs.length)
  );
}

/** How many pairs of equal lines two texts have. */
function pairs(one: readonly string[], other: readonly string[]): number {
  const counts = countLines(other);
  return [...countLines(one)].reduce((sum, [line, count]) => sum + count * (counts.get(line) ?? 0), 0);
}

function countLines(all: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const line of all) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}

function lines(text: string): string[] {
  return text.split('\n');
}

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
