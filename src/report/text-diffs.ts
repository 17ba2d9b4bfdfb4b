import { structuredPatch, type StructuredPatchHunk } from 'diff';
import { canonicalJson, type JsonObject } from '../domain/json.ts';
import type { Side, TextChange } from '../domain/text-changes.ts';

/** What becomes of the text of some environments: those that have the same two texts share one. */
export type TextDiff = { readonly environments: readonly string[] } & (
  | {
      readonly kind: 'compared';
      /** `v6`; null: nothing is active. */
      readonly before: string | null;
      /** `new version`. */
      readonly after: string;
      readonly hunks: readonly Hunk[];
    }
  /** One of the two texts was never read. */
  | { readonly kind: 'unread'; readonly side: 'before' | 'after' }
);

/** Neighbouring lines of both texts. Line numbers count from 1. */
export type Hunk = {
  readonly before: Range;
  readonly after: Range;
  readonly blocks: readonly Block[];
};

/** Of no lines at all, `start` is the line before them. */
export type Range = { readonly start: number; readonly lines: number };

/** Lines next to each other that are in both texts, or in one of them. */
export type Block = { readonly kind: BlockKind; readonly lines: readonly string[] };
export type BlockKind = 'same' | 'removed' | 'added';

/** The time that a diff takes grows with the square of its length; past this one it is not worth waiting for. */
const MOST_EDITS = 500;

/** Log, summary, comment and page of one run show the same diffs. */
const made = new WeakMap<TextChange, Map<number, readonly Hunk[]>>();

/**
 * Compares the texts that environments serve now with those that they would serve. There is no diff where nothing
 * differs.
 * @param context lines around a change that are shown; Infinity: the whole texts
 */
export function makeTextDiffs(changes: readonly TextChange[], context: number): readonly TextDiff[] {
  const groups = Map.groupBy(changes, (change) => JSON.stringify([change.before, change.after]));
  return [...groups.values()].flatMap((group) => {
    const environments = group.map(({ environment }) => environment);
    return group[0] === undefined ? [] : makeOne(environments, group[0], context);
  });
}

function makeOne(environments: readonly string[], change: TextChange, context: number): readonly TextDiff[] {
  const { before, after } = change;
  if (before === 'unknown') return [{ environments, kind: 'unread', side: 'before' }];
  if (after === 'unknown') return [{ environments, kind: 'unread', side: 'after' }];
  const known = made.get(change) ?? new Map<number, readonly Hunk[]>();
  made.set(change, known);
  const hunks = known.get(context) ?? compare(before, after, context);
  known.set(context, hunks);
  const labels = { before: before === null ? null : before.label, after: after.label };
  return hunks.length === 0 ? [] : [{ environments, kind: 'compared', ...labels, hunks }];
}

function compare(before: Side | null, after: Side, context: number): readonly Hunk[] {
  const [then, now] = [before === null ? '' : document(before, after), document(after, before ?? after)];
  return hunksOf(then, now, context).map(({ oldStart, oldLines, newStart, newLines, lines }) => ({
    before: rangeOf(oldStart, oldLines),
    after: rangeOf(newStart, newLines),
    blocks: blocksOf(lines),
  }));
}

/** Metadata is shown above the text where both sides manage it and either has any. */
function document(side: Side, other: Side): string {
  if (side.metadata === undefined || other.metadata === undefined) return side.text;
  const lines = metadataLines(side.metadata);
  return lines + metadataLines(other.metadata) === '' ? side.text : `${lines}\n${side.text}`;
}

function metadataLines(metadata: JsonObject): string {
  const names = Object.keys(metadata).toSorted();
  return names.map((name) => `metadata.${name}: ${canonicalJson(metadata[name] ?? null)}\n`).join('');
}

function hunksOf(before: string, after: string, context: number): readonly StructuredPatchHunk[] {
  const options = { context, maxEditLength: MOST_EDITS };
  const lines = [before.split('\n'), after.split('\n')] as const;
  const hopeless = onlyIn(...lines) + onlyIn(lines[1], lines[0]) > MOST_EDITS;
  const patch = hopeless ? undefined : structuredPatch('', '', ended(before), ended(after), '', '', options);
  return patch === undefined ? [replaced(...lines)] : patch.hunks;
}

/** How many lines of one text the other does not have: each is an edit at least. */
function onlyIn(lines: readonly string[], others: readonly string[]): number {
  const known = new Set(others);
  return lines.filter((line) => !known.has(line)).length;
}

/** All of the one text for all of the other. */
function replaced(before: readonly string[], after: readonly string[]): StructuredPatchHunk {
  return {
    ...{ oldStart: 1, oldLines: before.length, newStart: 1, newLines: after.length },
    lines: [...before.map((line) => `-${line}`), ...after.map((line) => `+${line}`)],
  };
}

/** Content has no final newline by rule; saying so under every diff would be noise. */
function ended(text: string): string {
  return text === '' ? '' : `${text}\n`;
}

function rangeOf(start: number, lines: number): Range {
  return { start: lines === 0 ? start - 1 : start, lines };
}

function blocksOf(lines: readonly string[]): readonly Block[] {
  const blocks: { kind: BlockKind; lines: string[] }[] = [];
  for (const line of lines) {
    const kind = line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : 'same';
    const last = blocks.at(-1);
    if (last?.kind === kind) last.lines.push(line.slice(1));
    else blocks.push({ kind, lines: [line.slice(1)] });
  }
  return blocks;
}
