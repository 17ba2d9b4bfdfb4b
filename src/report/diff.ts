import { diffArrays, structuredPatch } from 'diff';
import type { ReportPrompt } from './schema.ts';
import { textsOf, type NamedTexts } from './words.ts';

/** What becomes of the text of some environments: those that have the same two texts share one. */
export type TextDiff = Pick<NamedTexts, 'before' | 'after'> & {
  readonly environments: readonly string[];
  /** Why the texts cannot be compared; null where they are. */
  readonly unknown: 'before' | 'after' | 'omitted' | null;
  readonly hunks: readonly Hunk[];
};

/** Neighbouring lines of both texts, below a line that says where they are, such as `@@ -1,2 +1,3 @@`. */
export type Hunk = { readonly title: string; readonly blocks: readonly Block[] };

/** Lines next to each other that are in both texts, or in one of them. */
export type Block = { readonly kind: 'same' | 'removed' | 'added'; readonly lines: readonly string[] };

/** The time that a diff takes grows with the square of its length; past this one it is not worth waiting for. */
const MOST_EDITS = 500;

/**
 * Compares the texts that environments serve now with those that they would serve. There is no diff where nothing
 * differs.
 * @param context lines around a change that are shown; Infinity: the whole texts
 */
export function makeTextDiffs(prompt: ReportPrompt, context: number): readonly TextDiff[] {
  const groups = Map.groupBy(textsOf(prompt), ({ before, after, texts }) =>
    JSON.stringify([before, after, documentsOf(texts)]),
  );
  return [...groups.values()].flatMap((group) => {
    const environments = group.map(({ environment }) => environment);
    return group[0] === undefined ? [] : makeOne(environments, group[0], context);
  });
}

function makeOne(environments: readonly string[], named: NamedTexts, context: number): readonly TextDiff[] {
  const { before, after, texts } = named;
  const unknown = unknownSide(named);
  const hunks = unknown === null ? compare(documentsOf(texts), context) : [];
  return unknown === null && hunks.length === 0 ? [] : [{ environments, before, after, unknown, hunks }];
}

function unknownSide({ before, texts }: NamedTexts): TextDiff['unknown'] {
  if (texts.text_omitted === true) return 'omitted';
  if (before !== null && texts.before_text === null) return 'before';
  return texts.after_text === null ? 'after' : null;
}

/** Metadata is shown above the text. */
function documentsOf(texts: NamedTexts['texts']): readonly [before: string, after: string] {
  const { before_text: before, after_text: after } = texts;
  return [
    `${metadataLines(texts.before_metadata)}${before ?? ''}`,
    `${metadataLines(texts.after_metadata)}${after ?? ''}`,
  ];
}

function metadataLines(metadata: string | undefined): string {
  if (metadata === undefined) return '';
  return metadata === '' ? '\n' : `${metadata.replaceAll(/^/gm, 'metadata.')}\n\n`;
}

/** Where there is too much to compare, all of the one text stands for all of the other. */
function compare([before, after]: readonly [string, string], context: number): readonly Hunk[] {
  const patch = structuredPatch('', '', ended(before), ended(after), '', '', { context, maxEditLength: MOST_EDITS });
  if (patch === undefined) {
    const [removed, added] = [before.split('\n'), after.split('\n')];
    const blocks = [{ kind: 'removed', lines: removed } as const, { kind: 'added', lines: added } as const];
    return [{ title: `@@ -1,${removed.length} +1,${added.length} @@`, blocks }];
  }
  return patch.hunks.map(({ oldStart, oldLines, newStart, newLines, lines }) => {
    // Of no lines at all, what counts is the line before them.
    const [old, fresh] = [oldLines === 0 ? oldStart - 1 : oldStart, newLines === 0 ? newStart - 1 : newStart];
    return { title: `@@ -${old},${oldLines} +${fresh},${newLines} @@`, blocks: blocksOf(lines) };
  });
}

/** Content has no final newline by rule; saying so under every diff would be noise. */
function ended(text: string): string {
  return text === '' ? '' : `${text}\n`;
}

function blocksOf(lines: readonly string[]): readonly Block[] {
  const blocks: { kind: Block['kind']; lines: string[] }[] = [];
  for (const line of lines) {
    const kind = line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : 'same';
    const last = blocks.at(-1);
    if (last?.kind === kind) last.lines.push(line.slice(1));
    else blocks.push({ kind, lines: [line.slice(1)] });
  }
  return blocks;
}

/** A part of a line; `changed` where the other text has no such words there. */
type Segment = { readonly text: string; readonly changed: boolean };
export type MarkedLine = readonly Segment[];
export type MarkedBlock = { readonly kind: Block['kind']; readonly lines: readonly MarkedLine[] };

/** Where less than this part of the shorter text stays, it is another text: words that happen to be in both say nothing. */
const LEAST_ALIKE = 0.4;
/** Past this much text, marks are not worth waiting for: the time grows with the square of the edits. */
const MOST_CHARACTERS = 500_000;

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

export function unmarked({ kind, lines }: Block): MarkedBlock {
  return { kind, lines: lines.map((text) => (text === '' ? [] : [{ text, changed: false }])) };
}

function markPair(removed: Block, added: Block): readonly MarkedBlock[] {
  const changes = compareWords(removed.lines.join('\n'), added.lines.join('\n'));
  if (changes === null) return [unmarked(removed), unmarked(added)];
  const segments = changes.map((change, index) => ({ ...change, ...segmentOf(changes, index) }));
  const sideWithout = (other: 'added' | 'removed') => linesOf(segments.filter((segment) => !segment[other]));
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
