import { diffArrays } from 'diff';
import type { Block } from './text-diffs.ts';

/** A part of a line; `changed` where the other text has no such words there. */
export type Segment = { readonly text: string; readonly changed: boolean };
/** The segments of one line, in order. */
export type MarkedLine = readonly Segment[];
export type MarkedBlock = { readonly kind: Block['kind']; readonly lines: readonly MarkedLine[] };

/** Where less than this part of the shorter text stays, it is another text: words that happen to be in both say nothing. */
const LEAST_ALIKE = 0.4;
/** Past this much text, and this many edits, marks are not worth waiting for: the time grows with the square of the edits. */
const MOST_CHARACTERS = 500_000;
const MOST_EDITS = 500;

/** The blocks with the words marked that differ between removed lines and the added ones that take their place. */
export function markWords(blocks: readonly Block[]): readonly MarkedBlock[] {
  return blocks.flatMap((block, index): readonly MarkedBlock[] => {
    const [before, after] = [blocks[index - 1], blocks[index + 1]];
    // A pair is marked at its first block.
    if (block.kind === 'added' && before?.kind === 'removed') return [];
    if (block.kind === 'removed' && after?.kind === 'added') return markPair(block, after);
    return [unmarked(block)];
  });
}

function unmarked({ kind, lines }: Block): MarkedBlock {
  return { kind, lines: lines.map((text) => (text === '' ? [] : [{ text, changed: false }])) };
}

function markPair(removed: Block, added: Block): readonly MarkedBlock[] {
  const changes = compareWords(removed.lines.join('\n'), added.lines.join('\n'));
  if (changes === null) return [unmarked(removed), unmarked(added)];
  const segments = changes.map((change, index) => ({ ...change, segment: segmentOf(changes, index) }));
  const sideWithout = (other: 'added' | 'removed') =>
    linesOf(segments.filter((change) => !change[other]).map(({ segment }) => segment));
  return [
    { kind: 'removed', lines: sideWithout('added') },
    { kind: 'added', lines: sideWithout('removed') },
  ];
}

type WordChange = { readonly value: readonly string[]; readonly added: boolean; readonly removed: boolean };

/** A blank between two changes belongs to them: otherwise three new words were three marks. */
function segmentOf(changes: readonly WordChange[], index: number): Segment {
  const text = changes[index]?.value.join('') ?? '';
  const neighbours = [changes[index - 1], changes[index + 1]];
  return { text, changed: isChange(changes[index]) || (/^[ \t]+$/.test(text) && neighbours.every(isChange)) };
}

function isChange(change: WordChange | undefined): boolean {
  return change !== undefined && (change.added || change.removed);
}

/** Null where the two texts are too long or have too little in common. */
function compareWords(before: string, after: string): readonly WordChange[] | null {
  if (before.length + after.length > MOST_CHARACTERS) return null;
  const changes = diffArrays(wordsIn(before), wordsIn(after), { maxEditLength: MOST_EDITS });
  if (changes === undefined) return null;
  const kept = changes.filter(({ added, removed }) => !added && !removed).flatMap(({ value }) => value);
  const shorter = Math.min(lettersIn(before), lettersIn(after));
  return lettersIn(kept.join('')) < shorter * LEAST_ALIKE ? null : changes;
}

/** Made when it is first needed: loading the rules of all scripts takes as long as reading a hundred files. */
let segmenter: Intl.Segmenter | undefined;

/** Of scripts without blanks as well. */
function wordsIn(text: string): string[] {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'word' });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

function lettersIn(text: string): number {
  return text.replaceAll(/\s+/g, '').length;
}

/** A segment may reach over several lines; neighbours of one kind become one. */
function linesOf(segments: readonly Segment[]): readonly MarkedLine[] {
  const lines: { text: string; readonly changed: boolean }[][] = [[]];
  for (const { text, changed } of segments) {
    for (const [index, part] of text.split('\n').entries()) {
      if (index > 0) lines.push([]);
      const last = lines.at(-1)?.at(-1);
      if (last?.changed === changed) last.text += part;
      else if (part !== '') lines.at(-1)?.push({ text: part, changed });
    }
  }
  return lines;
}
