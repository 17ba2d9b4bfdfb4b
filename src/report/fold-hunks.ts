import { counted } from './counted.ts';
import type { MarkedBlock } from './mark-words.ts';
import type { BlockKind, Hunk } from './text-diffs.ts';

export type MarkedHunk = Pick<Hunk, 'before' | 'after'> & { readonly blocks: readonly MarkedBlock[] };
/** A block of which lines were left out at its end has `more`. */
export type FoldedBlock = MarkedBlock & { readonly more: boolean };
export type FoldedHunk = Omit<MarkedHunk, 'blocks'> & { readonly blocks: readonly FoldedBlock[] };
export type Folded = {
  readonly hunks: readonly FoldedHunk[];
  /** How many lines of each kind were left out. */
  readonly left: Readonly<Record<BlockKind, number>>;
};

/** A beginning that is shorter says nothing of its block. */
const FEWEST = 4;

/**
 * A diff of at most so many lines: of each block the beginning, so that of a text that was rewritten both the old and
 * the new one are seen. Where there are too many blocks for that, the first lines of the diff.
 */
export function foldHunks(hunks: readonly MarkedHunk[], most: number): Folded {
  const sizes = hunks.flatMap(({ blocks }) => blocks.map(({ lines }) => lines.length));
  const shares = sharesOf(sizes, most);
  const ends = shares.findLastIndex((share) => share > 0);
  let index = 0;
  const folded = hunks.map(({ blocks, ...range }) => ({
    ...range,
    blocks: blocks.map((block) => {
      const [at, share] = [index, shares[index++] ?? 0];
      const more = share < block.lines.length && at < ends;
      return { ...block, lines: block.lines.slice(0, share), more };
    }),
  }));
  return { hunks: withoutEmpty(folded), left: leftOf(hunks, shares) };
}

function withoutEmpty(hunks: readonly FoldedHunk[]): readonly FoldedHunk[] {
  return hunks
    .map((hunk) => ({ ...hunk, blocks: hunk.blocks.filter(({ lines }) => lines.length > 0) }))
    .filter(({ blocks }) => blocks.length > 0);
}

/** How many lines of each block are shown. */
function sharesOf(sizes: readonly number[], most: number): readonly number[] {
  const total = (each: number) => sizes.reduce((sum, size) => sum + Math.min(size, each), 0);
  if (total(Infinity) <= most) return sizes;
  let each = FEWEST - 1;
  while (total(each + 1) <= most) each += 1;
  if (each >= FEWEST) return sizes.map((size) => Math.min(size, each));
  let rest = most;
  return sizes.map((size) => {
    const share = Math.min(size, rest);
    rest -= share;
    return share;
  });
}

function leftOf(hunks: readonly MarkedHunk[], shares: readonly number[]): Folded['left'] {
  const left = { removed: 0, added: 0, same: 0 };
  for (const [index, { kind, lines }] of hunks.flatMap(({ blocks }) => blocks).entries()) {
    left[kind] += lines.length - (shares[index] ?? 0);
  }
  return left;
}

/** `212 more lines: 62 removed, 150 added`; null where nothing was left out. */
export function leftText({ removed, added, same }: Folded['left']): string | null {
  const all = removed + added + same;
  if (all === 0) return null;
  const kinds = [
    ...(removed > 0 ? [`${removed} removed`] : []),
    ...(added > 0 ? [`${added} added`] : []),
    ...(same > 0 ? [`${same} unchanged`] : []),
  ];
  return `${counted([all, 'more line', 'more lines'])}: ${kinds.join(', ')}`;
}
