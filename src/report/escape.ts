import { codePoint, showHidden } from '../domain/text.ts';
import type { Report } from './schema.ts';

/** A value within a line: nothing in it can move the cursor, hide, push the rest out of view, or begin another line. */
export function escapeLine(text: string): string {
  return showHidden(shortenBlanks(text)).replace(/[\n\t]/g, codePoint);
}

/** Blanks within a line. Eleven tabs are the shortest run that can be wider than `WIDEST_BLANKS`. */
const LONG_BLANKS = /[\t\p{Zs}]{11,}/gu;
/** In columns. Even if each blank is drawn twice as wide, what follows starts within the width of a comment. */
const WIDEST_BLANKS = 40;
/** In columns; some pages draw a tab up to twice as wide. */
const TAB_WIDTH = 4;

/**
 * Replaces each wide run of blanks in a line with a mark that says how many blanks it hides, such as `…[3000 spaces]…`.
 * A comment scrolls long lines sideways, so a word after thousands of blanks would be out of view.
 */
export function shortenBlanks(text: string): string {
  return text.replace(LONG_BLANKS, (blanks) => {
    const tabs = blanks.split('\t').length - 1;
    const width = blanks.length + tabs * (TAB_WIDTH - 1);
    return width > WIDEST_BLANKS ? `…[${describeBlanks(blanks)}]…` : blanks;
  });
}

function describeBlanks(blanks: string): string {
  const kinds = Map.groupBy(blanks, (blank) => blank);
  return Array.from(kinds, ([blank, all]) => countBlanks(blank, all.length)).join(', ');
}

function countBlanks(blank: string, count: number): string {
  if (blank === ' ') return count === 1 ? '1 space' : `${count} spaces`;
  if (blank === '\t') return count === 1 ? '1 tab' : `${count} tabs`;
  return `${count} × ${codePoint(blank)}`;
}

/**
 * Output as a GitHub runner's log can take it: no line can be a workflow command (`::` after leading blanks, `##[`
 * anywhere). Anything else stays as it is.
 */
export function escapeForRunner(output: string): string {
  return output.replace(/^(\s*):(?=:)/gm, '$1\\u{3a}').replaceAll('##[', '##\\u{5b}');
}

/** A page as GitLab takes it: a line that begins with a slash would be a quick action, such as `/merge`. */
export function escapeForGitLab(page: string): string {
  return page.replace(/^([^\S\n]*)\//gm, '$1\\u{2f}');
}

/**
 * A value within a line of Markdown: as a code span, in which nothing is a link, a mention, HTML or formatting. A pipe
 * would end the cell of a table even there.
 */
export function codeSpan(text: string): string {
  const shown = escapeLine(text).replaceAll('|', '\\u{7c}');
  if (shown.trim() === '') return `\`"${shown}"\``;
  const fence = '`'.repeat(longestRun(shown) + 1);
  const padding = /^`|`$|^ .* $/.test(shown) ? ' ' : '';
  return `${fence}${padding}${shown}${padding}${fence}`;
}

/** Lines as a fenced block, in which nothing is formatting. The fence is longer than any run in them. */
export function codeBlock(lines: readonly string[], language: string): string {
  const text = showHidden(lines.join('\n'));
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1));
  return `${fence}${language}\n${text}\n${fence}`;
}

/** A value within HTML. The at sign is a mention on GitHub wherever it stands outside of code. */
export function escapeHtml(text: string): string {
  return escapeLine(text).replaceAll(/[&<>"'@`]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** A value within XML, which cannot hold control characters, lone surrogates and U+FFFE: they are shown. Lines stay. */
export function escapeXml(text: string): string {
  const shown = showHidden(text).replaceAll(/[\p{Cs}\ufffe\uffff]/gu, codePoint);
  return shown.replaceAll(/[&<>"'\t]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** A long text has more runs than a call takes arguments. */
function longestRun(text: string): number {
  return (text.match(/`+/g) ?? []).reduce((longest, { length }) => Math.max(longest, length), 0);
}

/** The report as JSON text. No line of it can be taken for a command by a runner that reads the log. */
export function renderJson(report: Report): string {
  const json = JSON.stringify(report, null, 2).replaceAll('##[', '##\\u005b');
  return `${json.replace(BEYOND_ASCII, visible)}\n`;
}

const BEYOND_ASCII = /[^\n -~]/gu;

/** Hidden characters are legal in JSON as they are; escaped they mean the same, and can be seen. */
function visible(character: string): string {
  if (showHidden(character) === character) return character;
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
