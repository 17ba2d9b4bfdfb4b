import type { TextChange } from '../domain/texts.ts';
import type { Colours } from './colours.ts';
import { inertLine, inertText } from './inert.ts';
import { makeTextDiffs, type Block, type Hunk, type Range, type TextDiff } from './view/text-diffs.ts';

const CONTEXT_LINES = 3;

/**
 * A unified diff of what environments serve now and would serve; environments with the same two texts share one.
 * Lines have no line feed; there are none where nothing differs.
 */
export function renderDiffs(changes: readonly TextChange[], colours: Colours): readonly string[] {
  return makeTextDiffs(changes, CONTEXT_LINES).flatMap((diff) => renderOne(diff, colours));
}

/** What is said in place of a diff where one of the texts is not known. */
export const unreadText = {
  before: 'its text of now is not known without the service',
  after: 'the text to come was never read; a sync looks at it first',
} as const;

function renderOne(diff: TextDiff, colours: Colours): readonly string[] {
  const names = diff.environments.map(inertLine).join(', ');
  if (diff.kind === 'unread') return [colours.dim(`${names}: ${unreadText[diff.side]}`)];
  const from = diff.before === null ? 'nothing' : inertLine(diff.before);
  const titles = [`--- ${names}: ${from}`, `+++ ${names}: ${inertLine(diff.after)}`];
  return [...titles.map((title) => colours.bold(title)), ...diff.hunks.flatMap((hunk) => hunkLines(hunk, colours))];
}

function hunkLines({ before, after, blocks }: Hunk, colours: Colours): readonly string[] {
  const place = `@@ -${range(before)} +${range(after)} @@`;
  return [colours.cyan(place), ...blocks.flatMap((block) => blockLines(block, colours))];
}

function range({ start, lines }: Range): string {
  return `${start},${lines}`;
}

function blockLines({ kind, lines }: Block, { green, red }: Colours): readonly string[] {
  const shown = lines.map(inertText);
  if (kind === 'same') return shown.map((line) => ` ${line}`);
  return kind === 'added' ? shown.map((line) => green(`+${line}`)) : shown.map((line) => red(`-${line}`));
}
