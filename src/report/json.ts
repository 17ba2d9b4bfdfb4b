import { showHidden } from '../domain/text.ts';
import type { Report } from './schema.ts';

/** The report as JSON text. No line of it can be taken for a command by a runner that reads the log. */
export function renderJson(report: Report): string {
  const json = JSON.stringify(report, null, 2).replaceAll('##[', '##\\u005b');
  return `${json.replace(BEYOND_ASCII, visible)}\n`;
}

const BEYOND_ASCII = /[^\n -~]/gu;

/** Hidden characters are legal in JSON as they are; escaped they mean the same, and can be seen. */
function visible(character: string): string {
  return showHidden(character) === character ? character : escaped(character);
}

function escaped(character: string): string {
  return [...Array(character.length).keys()]
    .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
    .join('');
}
