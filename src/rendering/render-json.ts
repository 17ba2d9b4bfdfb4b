import type { Report } from '../schemas/report.ts';

/** The report as JSON text. No line of it can be taken for a command by a runner that reads the log. */
export function renderJson(report: Report): string {
  return `${JSON.stringify(report, null, 2).replaceAll('##[', '##\\u005b').replace(INVISIBLE, escaped)}\n`;
}

/** Legal in JSON as they are, and invisible or a line's end to whoever reads it. */
const INVISIBLE = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|\udb40[\udc00-\udfff]/g;

function escaped(characters: string): string {
  return [...Array(characters.length).keys()]
    .map((index) => `\\u${characters.charCodeAt(index).toString(16).padStart(4, '0')}`)
    .join('');
}
