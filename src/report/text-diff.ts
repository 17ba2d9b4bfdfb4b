import { diffArrays, structuredPatch } from 'diff';
import { type PromptType, parseMarkerLine } from '../domain/chat.ts';
import type { ReportPrompt } from './schema/report-schema.ts';
import { listTextChanges, type NamedTexts, nameInvisibleDifference } from './describe-report.ts';

/** The diff of a change in one or more environments. `before` and `after` are version labels, such as `v6`. */
export type TextDiff = Pick<NamedTexts, 'before' | 'after'> & {
  readonly environments: readonly string[];
  /** The type of the prompt. It is `text` if promptsync could not read the type. */
  readonly type: PromptType;
  /**
   * The text that is unknown (`before` or `after`), or `omitted` if the report omits a text because of its size. Null
   * if promptsync compared the texts.
   */
  readonly unknownReason: 'before' | 'after' | 'omitted' | null;
  readonly hunks: readonly Hunk[];
};

/** A group of nearby changes with the unchanged lines around them. */
export type Hunk = {
  /** The line ranges in the old and the new text, for example `@@ -1,2 +1,3 @@`. */
  readonly title: string;
  readonly blocks: readonly Block[];
  /** Whether there are lines between this hunk and the previous hunk or, for the first hunk, the start of the texts. */
  readonly isAfterGap: boolean;
  /** Whether this is the last hunk and the texts have more lines after it. */
  readonly isBeforeGap: boolean;
};

/** Consecutive lines in both texts (`same`), only in the old text (`removed`) or only in the new text (`added`). */
export type Block = { readonly kind: 'same' | 'removed' | 'added'; readonly lines: readonly string[] };

/** The maximum number of edits that a comparison searches for. Its running time grows with the square of this. */
const MAX_EDITS = 500;

/** Converts a text to the lines that a diff compares and shows. */
type LayOut = (text: string, type: PromptType) => string;

const keepText: LayOut = (text) => text;

/**
 * Compares the text that each environment serves with the text after a change. Environments with the same old and new
 * version share one diff. Identical texts produce no diff.
 * @param context the number of unchanged lines to keep around each change; `Infinity` keeps all lines
 */
export function makeTextDiffs(prompt: ReportPrompt, context: number, layOut: LayOut = keepText): readonly TextDiff[] {
  const groups = Map.groupBy(listTextChanges(prompt), ({ before, after, texts }) =>
    JSON.stringify([before, after, makeComparedTexts(texts)]),
  );
  return [...groups.values()].flatMap((group) => {
    const environments = group.map(({ environment }) => environment);
    const type = prompt.type ?? 'text';
    return group[0] === undefined ? [] : makeTextDiff({ environments, type }, group[0], context, layOut);
  });
}

function makeTextDiff(
  subject: Pick<TextDiff, 'environments' | 'type'>,
  named: NamedTexts,
  context: number,
  layOut: LayOut,
): readonly TextDiff[] {
  const { before, after, texts } = named;
  const unknownReason = chooseUnknownReason(named);
  const [oldText, newText] = makeComparedTexts(texts);
  const makeAllHunks = (): readonly Hunk[] =>
    makeHunks([layOut(oldText, subject.type), layOut(newText, subject.type)], context);
  const hunks = unknownReason === null ? makeAllHunks() : [];
  return unknownReason === null && hunks.length === 0 ? [] : [{ ...subject, before, after, unknownReason, hunks }];
}

function chooseUnknownReason({ before, texts }: NamedTexts): TextDiff['unknownReason'] {
  if (texts.text_omitted === true) return 'omitted';
  if (before !== null && texts.before_text === null) return 'before';
  return texts.after_text === null ? 'after' : null;
}

/** Puts the metadata of each version above its text, so that one diff covers both metadata and text. */
function makeComparedTexts(texts: NamedTexts['texts']): readonly [before: string, after: string] {
  const { before_text: before, after_text: after } = texts;
  return [
    `${renderMetadataLines(texts.before_metadata)}${before ?? ''}`,
    `${renderMetadataLines(texts.after_metadata)}${after ?? ''}`,
  ];
}

/** Prefixes each line of metadata with `metadata.`, and ends with an empty line. */
function renderMetadataLines(metadata: string | undefined): string {
  if (metadata === undefined) return '';
  return metadata === '' ? '\n' : `${metadata.replaceAll(/^/gm, 'metadata.')}\n\n`;
}

/** Compares lines. Beyond `MAX_EDITS`, one hunk replaces everything between the first and the last difference. */
function makeHunks([before, after]: readonly [string, string], context: number): readonly Hunk[] {
  const patch = structuredPatch('', '', endWithNewline(before), endWithNewline(after), '', '', {
    context,
    maxEditLength: MAX_EDITS,
  });
  if (patch === undefined) return [replaceMiddle(splitIntoLines(before), splitIntoLines(after), context)];
  const lineCount = splitIntoLines(after).length;
  return patch.hunks.map(({ oldStart, oldLines, newStart, newLines, lines }, index) => ({
    title: renderHunkTitle(oldStart - 1, oldLines, newStart - 1, newLines),
    blocks: groupIntoBlocks(lines),
    isAfterGap: newStart > 1,
    isBeforeGap: index === patch.hunks.length - 1 && newStart - 1 + newLines < lineCount,
  }));
}

/** Renders the title of a hunk. In the unified diff format, an empty range has the number of the line before it. */
function renderHunkTitle(linesBeforeOld: number, oldLines: number, linesBeforeNew: number, newLines: number): string {
  const oldStart = oldLines === 0 ? linesBeforeOld : linesBeforeOld + 1;
  const newStart = newLines === 0 ? linesBeforeNew : linesBeforeNew + 1;
  return `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`;
}

function splitIntoLines(text: string): readonly string[] {
  return text === '' ? [] : text.split('\n');
}

/** Returns the hunk that replaces all lines between the common first lines and the common last lines of two texts. */
function replaceMiddle(before: readonly string[], after: readonly string[], context: number): Hunk {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const start = Math.max(0, head - context);
  const hidden = Math.max(0, tail - context);
  const blocks: readonly Block[] = [
    { kind: 'same', lines: before.slice(start, head) },
    { kind: 'removed', lines: before.slice(head, before.length - tail) },
    { kind: 'added', lines: after.slice(head, after.length - tail) },
    { kind: 'same', lines: before.slice(before.length - tail, before.length - hidden) },
  ];
  return {
    title: renderHunkTitle(start, before.length - hidden - start, start, after.length - hidden - start),
    blocks: blocks.filter(({ lines }) => lines.length > 0),
    isAfterGap: start > 0,
    isBeforeGap: hidden > 0,
  };
}

/** Prompt text never ends with a newline, so every diff would otherwise report a missing newline. */
function endWithNewline(text: string): string {
  return text === '' ? '' : `${text}\n`;
}

function groupIntoBlocks(lines: readonly string[]): readonly Block[] {
  const blocks: { kind: Block['kind']; lines: string[] }[] = [];
  for (const line of lines) {
    const kind = getLineKind(line);
    const last = blocks.at(-1);
    if (last?.kind === kind) last.lines.push(line.slice(1));
    else blocks.push({ kind, lines: [line.slice(1)] });
  }
  return blocks;
}

function getLineKind(line: string): Block['kind'] {
  if (line.startsWith('+')) return 'added';
  return line.startsWith('-') ? 'removed' : 'same';
}

/**
 * Names changes that readers could overlook. A change is a block of removed lines, a block of added lines, or one of
 * each. Returns a string for each block: the name for the last block of such a change, otherwise an empty string.
 */
export function nameInvisibleChanges(blocks: readonly Block[]): readonly string[] {
  return blocks.map(({ kind, lines }, index) => {
    const [previous, next] = [blocks[index - 1], blocks[index + 1]];
    if (kind === 'same' || (kind === 'removed' && next?.kind === 'added')) return '';
    if (kind === 'removed') return nameInvisibleDifference(endEachLine(lines), '');
    return nameInvisibleDifference(previous?.kind === 'removed' ? endEachLine(previous.lines) : '', endEachLine(lines));
  });
}

function endEachLine(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

/** A part of a line. `changed` is true if the old and the new text differ in this part. */
type Segment = { readonly text: string; readonly changed: boolean };
/** A line, split into changed and unchanged segments. An empty line has no segments. */
export type MarkedLine = readonly Segment[];
/** A block of lines in which the changed words are marked. */
export type MarkedBlock = { readonly kind: Block['kind']; readonly lines: readonly MarkedLine[] };

/**
 * The minimum similarity for marking words, from 0 to 1. The similarity of two texts is the share of the shorter text
 * that also occurs in the longer text. Below this similarity, marks on single words would mislead the reader.
 */
const MIN_SIMILARITY = 0.4;
/** The maximum length of two texts together, in UTF-16 code units. Comparing longer texts would take too long. */
const MAX_COMPARED_CHARACTERS = 500_000;

/** Marks the words that differ. In a chat prompt, compares only words of the same message. */
export function markWords(blocks: readonly Block[], type: PromptType): readonly MarkedBlock[] {
  return blocks.flatMap((block, index): readonly MarkedBlock[] => {
    const [before, after] = [blocks[index - 1], blocks[index + 1]];
    // This block was already marked together with the removed block before it.
    if (block.kind === 'added' && before?.kind === 'removed') return [];
    if (block.kind === 'removed' && after?.kind === 'added') return markPair(block, after, type);
    return [makeUnmarkedBlock(block)];
  });
}

export function makeUnmarkedBlock({ kind, lines }: Block): MarkedBlock {
  return { kind, lines: makeUnmarkedLines(lines) };
}

function makeUnmarkedLines(lines: readonly string[]): readonly MarkedLine[] {
  return lines.map((text) => (text === '' ? [] : [{ text, changed: false }]));
}

/** Whether a line begins a message of a chat prompt. In a text prompt, such a line is ordinary text. */
export function isMarkerLine(line: string, type: PromptType): boolean {
  return type === 'chat' && parseMarkerLine(line) !== null;
}

/**
 * The lines of a block that belong to one message. `marker` is the marker line of the message, or null if the message
 * begins above the block. In a text prompt, all lines belong to one message without a marker.
 */
type MessageLines = { readonly marker: string | null; readonly lines: readonly string[] };

function splitIntoMessages(lines: readonly string[], type: PromptType): readonly MessageLines[] {
  const messages: { readonly marker: string | null; readonly lines: string[] }[] = [{ marker: null, lines: [] }];
  for (const line of lines) {
    if (isMarkerLine(line, type)) messages.push({ marker: line, lines: [] });
    else messages.at(-1)?.lines.push(line);
  }
  return messages;
}

/** Compares messages in pairs up to the first marker that differs. Later messages get no marks. */
function markPair(removed: Block, added: Block, type: PromptType): readonly MarkedBlock[] {
  const [before, after] = [splitIntoMessages(removed.lines, type), splitIntoMessages(added.lines, type)];
  const firstDifference = before.findIndex(({ marker }, index) => marker !== after[index]?.marker);
  const paired = firstDifference === -1 ? before : before.slice(0, firstDifference);
  const pairs = paired.map(({ lines }, index) => markLines(lines, after[index]?.lines ?? []));
  const [removedLines, addedLines] = [pairs.map((pair) => pair.removed), pairs.map((pair) => pair.added)];
  return [
    { kind: 'removed', lines: joinMessages(before, removedLines) },
    { kind: 'added', lines: joinMessages(after, addedLines) },
  ];
}

/** Returns the lines of all messages: `marked` for the leading ones that were compared, the others without marks. */
function joinMessages(
  messages: readonly MessageLines[],
  marked: readonly (readonly MarkedLine[])[],
): readonly MarkedLine[] {
  return messages.flatMap(({ marker, lines }, index) => [
    ...makeUnmarkedLines(marker === null ? [] : [marker]),
    ...(marked[index] ?? makeUnmarkedLines(lines)),
  ]);
}

/** The removed and the added lines of one message, with marks on the words that differ. */
type MarkedPair = { readonly removed: readonly MarkedLine[]; readonly added: readonly MarkedLine[] };

function markLines(removed: readonly string[], added: readonly string[]): MarkedPair {
  // `compareWords` would return an empty line for a side without lines.
  const isOneSided = removed.length === 0 || added.length === 0;
  const changes = isOneSided ? null : compareWords(removed.join('\n'), added.join('\n'));
  if (changes === null) return { removed: makeUnmarkedLines(removed), added: makeUnmarkedLines(added) };
  const segments = changes.map((change, index) => ({ ...change, ...makeSegment(changes, index) }));
  const makeLinesWithout = (other: 'added' | 'removed'): readonly MarkedLine[] =>
    splitSegmentsIntoLines(segments.filter((segment) => !segment[other]));
  return { removed: makeLinesWithout('added'), added: makeLinesWithout('removed') };
}

/** Consecutive words that occur in both texts, only in the old text (`removed`) or only in the new text (`added`). */
type WordChange = { readonly value: readonly string[]; readonly added: boolean; readonly removed: boolean };

/** Marks blanks between two changed parts, too, so that several new words in a row get one continuous mark. */
function makeSegment(changes: readonly WordChange[], index: number): Segment {
  const text = changes[index]?.value.join('') ?? '';
  const neighbors = [changes[index - 1], changes[index + 1]];
  return { text, changed: isChange(changes[index]) || (/^[ \t]+$/.test(text) && neighbors.every(isChange)) };
}

function isChange(change: WordChange | undefined): boolean {
  return change !== undefined && (change.added || change.removed);
}

/** Returns null if the texts are too long, need too many edits, or have less than `MIN_SIMILARITY` in common. */
function compareWords(before: string, after: string): readonly WordChange[] | null {
  if (before.length + after.length > MAX_COMPARED_CHARACTERS) return null;
  const changes = diffArrays(splitIntoWords(before), splitIntoWords(after), { maxEditLength: MAX_EDITS });
  if (changes === undefined) return null;
  const common = changes.filter(({ added, removed }) => !added && !removed).flatMap(({ value }) => value);
  const shorter = Math.min(countLetters(before), countLetters(after));
  return countLetters(common.join('')) < shorter * MIN_SIMILARITY ? null : changes;
}

/** Created on first use, because loading its language rules takes as long as reading a hundred files. */
let segmenter: Intl.Segmenter | undefined;

/** Also finds words in scripts without spaces, such as Chinese. Keeps the characters between words. */
function splitIntoWords(text: string): string[] {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'word' });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

function countLetters(text: string): number {
  return text.replaceAll(/\s+/g, '').length;
}

/** Splits segments at line breaks, and merges neighbors in a line that are both changed or both unchanged. */
function splitSegmentsIntoLines(segments: readonly Segment[]): readonly MarkedLine[] {
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
