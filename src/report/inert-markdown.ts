import { inertLine, inertText } from './inert.ts';

/**
 * A value within a line of Markdown: as a code span, in which nothing is a link, a mention, HTML or formatting. A pipe
 * would end the cell of a table even there.
 */
export function inertCode(text: string): string {
  const shown = inertLine(text).replaceAll('|', '\\u{7c}');
  if (shown.trim() === '') return `\`"${shown}"\``;
  const fence = '`'.repeat(longestRun(shown) + 1);
  const padding = /^`|`$|^ .* $/.test(shown) ? ' ' : '';
  return `${fence}${padding}${shown}${padding}${fence}`;
}

/** Lines as a fenced block, in which nothing is formatting. The fence is longer than any run in them. */
export function inertBlock(lines: readonly string[], language: string): string {
  const text = inertText(lines.join('\n'));
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1));
  return `${fence}${language}\n${text}\n${fence}`;
}

/** A value within HTML. The at sign is a mention on GitHub wherever it stands outside of code. */
export function inertHtml(text: string): string {
  return inertLine(text).replaceAll(/[&<>"'@`]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** A long text has more runs than a call takes arguments. */
function longestRun(text: string): number {
  return (text.match(/`+/g) ?? []).reduce((longest, { length }) => Math.max(longest, length), 0);
}
