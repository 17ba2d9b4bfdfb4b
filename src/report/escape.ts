import { escapeJson, formatCodePoint, formatCount, showHidden } from '../text.ts';
import type { Report } from './schema/report-schema.ts';

/** Escapes a value so that it cannot move the cursor, hide text, push text out of view, or start a new line. */
export function escapeLine(text: string): string {
  return showHidden(shortenBlanks(text)).replace(/[\n\t]/g, formatCodePoint);
}

/** Matches at least eleven blanks. Even ten tabs are not wider than `MAX_BLANK_COLUMNS`. */
const LONG_BLANK_RUN = /[\t\p{Zs}]{11,}/gu;
/**
 * The maximum width of a run of blanks that `shortenBlanks` leaves unchanged, in columns. Some web pages draw the run
 * twice as wide. Even then, the text after it is visible in a GitHub comment.
 */
const MAX_BLANK_COLUMNS = 40;
/** The width that promptsync assumes for a tab, in columns. Some web pages draw tabs up to twice as wide. */
const TAB_WIDTH = 4;

/** Replaces wide runs of blanks with `…[3000 spaces]…`, because GitHub comments scroll long lines out of view. */
export function shortenBlanks(text: string): string {
  return text.replace(LONG_BLANK_RUN, (blanks) => {
    const tabs = blanks.split('\t').length - 1;
    const width = blanks.length + tabs * (TAB_WIDTH - 1);
    return width > MAX_BLANK_COLUMNS ? `…[${describeBlanks(blanks)}]…` : blanks;
  });
}

function describeBlanks(blanks: string): string {
  const kinds = Map.groupBy(blanks, (blank) => blank);
  return Array.from(kinds, ([blank, occurrences]) => formatBlankCount(blank, occurrences.length)).join(', ');
}

function formatBlankCount(blank: string, count: number): string {
  if (blank === ' ') return formatCount(count, 'space');
  if (blank === '\t') return formatCount(count, 'tab');
  return `${count} × ${formatCodePoint(blank)}`;
}

/** Escapes what a GitHub runner would execute: lines that start with `::` after any blanks, and `##[` anywhere. */
export function escapeForRunner(output: string): string {
  return output.replace(/^(\s*):(?=:)/gm, '$1\\u{3a}').replaceAll('##[', '##\\u{5b}');
}

/** Escapes slashes at the start of lines, because GitLab would run a line such as `/merge` as a quick action. */
export function escapeForGitLab(page: string): string {
  return page.replace(/^([^\S\n]*)\//gm, '$1\\u{2f}');
}

/** Renders a value that cannot act as Markdown. A pipe would end a table cell even inside a code span. */
export function renderCodeSpan(text: string): string {
  const shown = escapeLine(text).replaceAll('|', '\\u{7c}');
  if (shown.trim() === '') return `\`"${shown}"\``;
  const fence = '`'.repeat(findLongestRun(shown) + 1);
  const padding = /^`|`$|^ .* $/.test(shown) ? ' ' : '';
  return `${fence}${padding}${shown}${padding}${fence}`;
}

/** Renders a code block with a fence that is longer than any run of backticks, so that no line can close it. */
export function renderCodeBlock(lines: readonly string[], language: string): string {
  const text = showHidden(lines.join('\n'));
  const fence = '`'.repeat(Math.max(3, findLongestRun(text) + 1));
  return `${fence}${language}\n${text}\n${fence}`;
}

/** Escapes a value for HTML in Markdown. Includes at signs and backticks, which GitHub reads as mentions and code. */
export function escapeHtml(text: string): string {
  return escapeLine(text).replaceAll(/[&<>"'@`]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Escapes a value for XML. Writes characters that XML cannot contain, such as lone surrogates, as `\u{…}`. */
export function escapeXml(text: string): string {
  const shown = showHidden(text).replaceAll(/[\p{Cs}\ufffe\uffff]/gu, formatCodePoint);
  return shown.replaceAll(/[&<>"'\t]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Does not use `Math.max(...lengths)`, which throws an error if a very long text has too many runs. */
function findLongestRun(text: string): number {
  return (text.match(/`+/g) ?? []).reduce((longest, { length }) => Math.max(longest, length), 0);
}

/** Renders the report as JSON, with escapes for everything that could be hidden or could act as a command. */
export function renderJson(report: Report): string {
  return `${escapeJson(JSON.stringify(report, null, 2))}\n`;
}
