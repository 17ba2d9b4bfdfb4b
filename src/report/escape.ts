import { formatCodePoint, showHidden } from '../text.ts';
import type { Report } from './schema.ts';

/**
 * Escapes a value for use within a line. Nothing in it can move the cursor, hide text, push the rest of the line out of
 * view, or begin another line.
 */
export function escapeLine(text: string): string {
  return showHidden(shortenBlanks(text)).replace(/[\n\t]/g, formatCodePoint);
}

/** A run of blanks that may be wider than `MAX_BLANK_COLUMNS`. The shortest such run is eleven tabs. */
const LONG_BLANK_RUN = /[\t\p{Zs}]{11,}/gu;
/**
 * The widest run of blanks that stays, in columns. Even at twice that width, the text after it is visible in a GitHub
 * comment.
 */
const MAX_BLANK_COLUMNS = 40;
/** The width of a tab in columns. Some pages draw a tab up to twice as wide. */
const TAB_WIDTH = 4;

/**
 * Replaces each wide run of blanks in a line with the number of blanks, for example with `…[3000 spaces]…`. A GitHub
 * comment scrolls long lines sideways, so a word after thousands of blanks would be out of view.
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
  if (blank === ' ') return count === 1 ? '1 space' : `${count} spaces`;
  if (blank === '\t') return count === 1 ? '1 tab' : `${count} tabs`;
  return `${count} × ${formatCodePoint(blank)}`;
}

/**
 * Escapes output for the log of a GitHub runner, so that no line of it is a workflow command. Commands have `::` after
 * leading blanks, or `##[` anywhere. All other text stays unchanged.
 */
export function escapeForRunner(output: string): string {
  return output.replace(/^(\s*):(?=:)/gm, '$1\\u{3a}').replaceAll('##[', '##\\u{5b}');
}

/**
 * Escapes each slash at the start of a line, because GitLab would run the line as a quick action, for example `/merge`.
 */
export function escapeForGitLab(page: string): string {
  return page.replace(/^([^\S\n]*)\//gm, '$1\\u{2f}');
}

/**
 * Renders a value as a Markdown code span, in which nothing is a link, a mention, HTML or formatting. Pipes are
 * escaped, because a pipe would end the cell of a table even inside a code span.
 */
export function renderCodeSpan(text: string): string {
  const shown = escapeLine(text).replaceAll('|', '\\u{7c}');
  if (shown.trim() === '') return `\`"${shown}"\``;
  const fence = '`'.repeat(findLongestRun(shown) + 1);
  const padding = /^`|`$|^ .* $/.test(shown) ? ' ' : '';
  return `${fence}${padding}${shown}${padding}${fence}`;
}

/**
 * Renders lines as a fenced code block, in which nothing is formatting. No run of backticks in the lines can close the
 * fence.
 */
export function renderCodeBlock(lines: readonly string[], language: string): string {
  const text = showHidden(lines.join('\n'));
  const fence = '`'.repeat(Math.max(3, findLongestRun(text) + 1));
  return `${fence}${language}\n${text}\n${fence}`;
}

/**
 * Escapes a value for the HTML in a Markdown page. At signs are escaped, too, because GitHub would read them as
 * mentions.
 */
export function escapeHtml(text: string): string {
  return escapeLine(text).replaceAll(/[&<>"'@`]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/**
 * Escapes a value for XML. XML cannot contain control characters, lone surrogates, U+FFFE or U+FFFF, so these become
 * visible as `\u{…}`. Line feeds stay.
 */
export function escapeXml(text: string): string {
  const shown = showHidden(text).replaceAll(/[\p{Cs}\ufffe\uffff]/gu, formatCodePoint);
  return shown.replaceAll(/[&<>"'\t]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/**
 * Returns the length of the longest run of backticks. It does not use `Math.max(...lengths)`, which fails for very long
 * texts.
 */
function findLongestRun(text: string): number {
  return (text.match(/`+/g) ?? []).reduce((longest, { length }) => Math.max(longest, length), 0);
}

/** Renders the report as JSON text. No line of it can be a workflow command for a GitHub runner that prints it. */
export function renderJson(report: Report): string {
  const json = JSON.stringify(report, null, 2).replaceAll('##[', '##\\u005b');
  return `${json.replace(NON_PRINTABLE_ASCII, escapeHiddenCharacter)}\n`;
}

/** Every character that may be hidden: all except printable ASCII and line feeds. */
const NON_PRINTABLE_ASCII = /[^\n -~]/gu;

/** Escapes a hidden character for JSON, so that readers see it. The JSON keeps its meaning. Visible characters stay. */
function escapeHiddenCharacter(character: string): string {
  if (showHidden(character) === character) return character;
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
