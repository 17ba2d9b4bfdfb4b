import { escapeJson, formatCodePoint, formatCount, showHidden } from '../text.ts';
import type { Report } from './schema/report-schema.ts';

/**
 * Escapes a value for use within a line. The result cannot move the cursor, hide text, push the rest of the line out of
 * view, or start a new line.
 */
export function escapeLine(text: string): string {
  return showHidden(shortenBlanks(text)).replace(/[\n\t]/g, formatCodePoint);
}

/**
 * Matches a run of at least eleven blanks. Shorter runs are never wider than `MAX_BLANK_COLUMNS`, because even ten tabs
 * count as only 40 columns.
 */
const LONG_BLANK_RUN = /[\t\p{Zs}]{11,}/gu;
/**
 * The maximum width of a run of blanks that `shortenBlanks` leaves unchanged, in columns. Some web pages draw the run
 * twice as wide. Even then, the text after it is visible in a GitHub comment.
 */
const MAX_BLANK_COLUMNS = 40;
/** The width that promptsync assumes for a tab, in columns. Some web pages draw tabs up to twice as wide. */
const TAB_WIDTH = 4;

/**
 * Replaces each wide run of blanks with a count such as `…[3000 spaces]…`. GitHub comments scroll long lines
 * horizontally, so a word after thousands of blanks would be out of view.
 */
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

/**
 * Escapes output for the log of a GitHub runner, so that the runner executes no line as a workflow command. The runner
 * executes lines that start with `::` (optionally after blanks) or contain `##[` anywhere. All other text is unchanged.
 */
export function escapeForRunner(output: string): string {
  return output.replace(/^(\s*):(?=:)/gm, '$1\\u{3a}').replaceAll('##[', '##\\u{5b}');
}

/** Escapes slashes at the start of lines, because GitLab would run a line such as `/merge` as a quick action. */
export function escapeForGitLab(page: string): string {
  return page.replace(/^([^\S\n]*)\//gm, '$1\\u{2f}');
}

/**
 * Renders a value as a Markdown code span, so that it cannot act as a link, a mention, HTML or formatting. Escapes
 * pipes, because a pipe would end a table cell even inside a code span.
 */
export function renderCodeSpan(text: string): string {
  const shown = escapeLine(text).replaceAll('|', '\\u{7c}');
  if (shown.trim() === '') return `\`"${shown}"\``;
  const fence = '`'.repeat(findLongestRun(shown) + 1);
  const padding = /^`|`$|^ .* $/.test(shown) ? ' ' : '';
  return `${fence}${padding}${shown}${padding}${fence}`;
}

/**
 * Renders lines as a fenced code block, in which Markdown formatting has no effect. The fence is longer than any run of
 * backticks in the lines, so no line can close the block.
 */
export function renderCodeBlock(lines: readonly string[], language: string): string {
  const text = showHidden(lines.join('\n'));
  const fence = '`'.repeat(Math.max(3, findLongestRun(text) + 1));
  return `${fence}${language}\n${text}\n${fence}`;
}

/**
 * Escapes a value for HTML inside a Markdown page. Also escapes at signs and backticks, because GitHub would interpret
 * them as mentions and code.
 */
export function escapeHtml(text: string): string {
  return escapeLine(text).replaceAll(/[&<>"'@`]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/**
 * Escapes a value for XML. XML cannot contain control characters, lone surrogates, U+FFFE or U+FFFF, so these are
 * written as `\u{…}`. Line feeds are unchanged.
 */
export function escapeXml(text: string): string {
  const shown = showHidden(text).replaceAll(/[\p{Cs}\ufffe\uffff]/gu, formatCodePoint);
  return shown.replaceAll(/[&<>"'\t]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/**
 * Returns the length of the longest run of backticks. Does not use `Math.max(...lengths)`, which throws an error if a
 * very long text has too many runs.
 */
function findLongestRun(text: string): number {
  return (text.match(/`+/g) ?? []).reduce((longest, { length }) => Math.max(longest, length), 0);
}

/** Renders the report as JSON, with escapes for everything that could be hidden or could act as a command. */
export function renderJson(report: Report): string {
  return `${escapeJson(JSON.stringify(report, null, 2))}\n`;
}
