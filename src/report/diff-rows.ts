import { withoutColours } from './colours.ts';
import { excerptOf, type Segments } from './excerpt.ts';
import { inertText } from './inert.ts';
import type { MarkedBlock, MarkedLine } from './mark-words.ts';
import type { Style } from './style.ts';
import type { Block } from './text-diffs.ts';

/** A changed line that takes more rows is cut. */
const MOST_ROWS = 8;

/** How to see what a terminal does not show. */
export const SHOWS_ALL = '--format html shows all';

export type ChangedLine = {
  readonly kind: 'removed' | 'added';
  readonly line: MarkedLine;
  /** The one that takes its place, or whose place it takes; null: none, or it is not known which. */
  readonly other: MarkedLine | null;
};

/** The rows of a changed line: wrapped on a terminal, changed words marked where there is colour. */
export function changedRows(changed: ChangedLine, style: Style): readonly string[] {
  const { screen, colours } = style;
  const whole = painted(changed.kind, changed.line, style);
  if (screen === null) return [whole];
  const rows = screen.wrap(whole, 1);
  if (rows.length <= MOST_ROWS) return rows;
  const excerpt = excerptOf(changed.line, changed.other);
  if (excerpt !== null) return screen.wrap(painted(changed.kind, excerpt, style), 1);
  const text = changed.line.map((segment) => segment.text).join('');
  const shown = rows.slice(0, MOST_ROWS);
  return [...shown, ...screen.wrap(colours.dim(` … ${moreText(text, shown)}`), 1)];
}

function moreText(text: string, shown: readonly string[]): string {
  const seen = shown.reduce((sum, row) => sum + withoutColours(row).length - 1, 0);
  return `${Math.max(1, text.length - seen)} more characters (${SHOWS_ALL})`;
}

function painted(kind: ChangedLine['kind'], segments: Segments, style: Style): string {
  const { green, red } = style.colours;
  return kind === 'added' ? green(`+${joined(segments, style)}`) : red(`-${joined(segments, style)}`);
}

/** The text of a line, inert, with what is changed in it inverse. */
export function joined(segments: Segments, { colours, screen }: Style): string {
  return segments
    .map(({ text, changed }) => {
      const shown = inertText(text);
      // How wide a tab is depends on where it stands.
      const even = screen === null ? shown : shown.replaceAll('\t', '    ');
      return changed ? colours.inverse(even) : even;
    })
    .join('');
}

/** Blocks as they are marked where no mark would be seen. */
export function withoutMarks(blocks: readonly Block[]): readonly MarkedBlock[] {
  return blocks.map(({ kind, lines }) => ({ kind, lines: lines.map((text) => [{ text, changed: false }]) }));
}
