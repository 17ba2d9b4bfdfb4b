import { codePoint, showHidden } from '../domain/text.ts';

/** A value within a line: nothing in it can move the cursor, hide, or begin another line. */
export function inertLine(text: string): string {
  return showHidden(text).replace(/[\n\t]/g, codePoint);
}

/** A text of several lines; its line feeds and tabs stay. */
export function inertText(text: string): string {
  return showHidden(text);
}

/**
 * Output as a GitHub runner's log can take it: no line can be a workflow command (`::` after leading blanks, `##[`
 * anywhere). Anything else stays as it is.
 */
export function inertForRunner(output: string): string {
  return output.replace(/^(\s*):(?=:)/gm, '$1\\u{3a}').replaceAll('##[', '##\\u{5b}');
}
