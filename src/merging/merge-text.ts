import { diff3Merge } from 'node-diff3';

/** Whose text goes into the file where both sides have changed the same lines; null: both, between conflict markers. */
export type Side = 'ours' | 'theirs' | null;

/** What the conflict markers say of each side. */
export type Labels = { readonly ours: string; readonly theirs: string };

export type Merging = {
  /** What both sides come from; null where that is not known: then everything that differs is a conflict. */
  readonly base: string | null;
  readonly ours: string;
  readonly theirs: string;
};

export type Merged = { readonly text: string; readonly conflicts: number };

/** Comparing takes as many steps as there are pairs of equal lines; past this, two texts are not merged line by line. */
const MOST_PAIRS = 5_000_000;

/** Merges two texts (LF) that come from one, line by line. What only one side has changed is taken from it. */
export function mergeText(texts: Merging, side: Side, labels: Labels): Merged {
  const { base, ours, theirs } = texts;
  if (ours === theirs || theirs === base) return { text: ours, conflicts: 0 };
  if (ours === base) return { text: theirs, conflicts: 0 };
  const parts =
    base === null || isHopeless(texts, base)
      ? [{ conflict: { a: lines(ours), b: lines(theirs) } }]
      : merge(texts, base);
  const settled = parts.map((part) => settle(part, side, labels));
  return {
    text: settled.flatMap((part) => part.lines).join('\n'),
    conflicts: settled.filter((part) => part.conflict).length,
  };
}

type Part = { readonly ok?: string[]; readonly conflict?: { readonly a: string[]; readonly b: string[] } };

function merge({ ours, theirs }: Merging, base: string): readonly Part[] {
  return diff3Merge(lines(ours), lines(base), lines(theirs), { excludeFalseConflicts: true });
}

function settle({ ok, conflict }: Part, side: Side, { ours, theirs }: Labels) {
  if (conflict === undefined) return { lines: ok ?? [], conflict: false };
  if (side !== null) return { lines: side === 'ours' ? conflict.a : conflict.b, conflict: false };
  const marked = [`<<<<<<< ${ours}`, ...conflict.a, '=======', ...conflict.b, `>>>>>>> ${theirs}`];
  return { lines: marked, conflict: true };
}

function isHopeless({ ours, theirs }: Merging, base: string): boolean {
  return pairs(base, ours) + pairs(base, theirs) > MOST_PAIRS;
}

/** How many pairs of equal lines two texts have. */
function pairs(one: string, other: string): number {
  const counts = countLines(other);
  return [...countLines(one)].reduce((sum, [line, count]) => sum + count * (counts.get(line) ?? 0), 0);
}

function countLines(text: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const line of lines(text)) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}

function lines(text: string): string[] {
  return text.split('\n');
}
