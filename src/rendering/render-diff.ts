import { structuredPatch, type StructuredPatchHunk } from 'diff';
import { canonicalJson, type JsonObject } from '../domain/json.ts';
import type { Colours } from './colours.ts';
import { inertLine, inertText } from './inert.ts';
import type { Side, TextChange } from '../domain/texts.ts';

const CONTEXT_LINES = 3;
/** The time that a diff takes grows with the square of its length; past this one it is not worth waiting for. */
const MOST_EDITS = 500;

/** Log, summary and comment of one run show the same diffs. */
const made = new WeakMap<TextChange, readonly StructuredPatchHunk[]>();

/**
 * A unified diff of what environments serve now and would serve; environments with the same two texts share one.
 * Lines have no line feed; there are none where nothing differs.
 */
export function renderDiffs(changes: readonly TextChange[], colours: Colours): readonly string[] {
  const groups = Map.groupBy(changes, (change) => JSON.stringify([change.before, change.after]));
  return [...groups.values()].flatMap((group) => {
    const names = group.map(({ environment }) => inertLine(environment)).join(', ');
    return group[0] === undefined ? [] : renderOne(names, group[0], colours);
  });
}

function renderOne(names: string, change: TextChange, colours: Colours): readonly string[] {
  const { before, after } = change;
  if (before === 'unknown') return [colours.dim(`${names}: its text of now is not known without the service`)];
  if (after === 'unknown') return [colours.dim(`${names}: the text to come was never read; a sync looks at it first`)];
  const hunks =
    made.get(change) ?? hunksOf(before === null ? '' : document(before, after), document(after, before ?? after));
  made.set(change, hunks);
  if (hunks.length === 0) return [];
  const from = before === null ? 'nothing' : inertLine(before.label);
  const titles = [`--- ${names}: ${from}`, `+++ ${names}: ${inertLine(after.label)}`];
  return [...titles.map((title) => colours.bold(title)), ...hunks.flatMap((hunk) => hunkLines(hunk, colours))];
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

function hunksOf(before: string, after: string): readonly StructuredPatchHunk[] {
  const options = { context: CONTEXT_LINES, maxEditLength: MOST_EDITS };
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

function hunkLines(hunk: StructuredPatchHunk, colours: Colours): readonly string[] {
  const place = `@@ -${range(hunk.oldStart, hunk.oldLines)} +${range(hunk.newStart, hunk.newLines)} @@`;
  return [colours.cyan(place), ...hunk.lines.map((line) => paint(line, colours))];
}

/** Of no lines at all, the one before them is named. */
function range(start: number, lines: number): string {
  return `${lines === 0 ? start - 1 : start},${lines}`;
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

function paint(line: string, colours: Colours): string {
  const shown = inertText(line);
  if (line.startsWith('+')) return colours.green(shown);
  return line.startsWith('-') ? colours.red(shown) : shown;
}
