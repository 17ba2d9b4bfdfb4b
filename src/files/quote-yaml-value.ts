import * as yaml from 'yaml';
import { renderYamlValue } from './render-yaml.ts';

/** A line `name: value`, split before and after the value. */
export type YamlLine = { readonly start: string; readonly value: string; readonly end: string };

/**
 * Matches a line `name: value`, and splits it before and after the value. The last part includes any comment. Takes
 * linear time, because a comment can begin only at the first of several blanks.
 */
const FIELD_LINE = /^([ \t]*(?:- )?[\w.-]+:[ \t]+)(\S.*?)((?:(?<![ \t])[ \t]+#.*)?)$/;

/**
 * Puts the value of a line `name: value` in quotes, if the line is not valid YAML without quotes. Returns null if the
 * line is valid without quotes, or if quotes do not help.
 */
export function quoteYamlValue(line: string): YamlLine | null {
  if (isTextLine(line) !== null) return null;
  const [, start = '', written = '', end = ''] = FIELD_LINE.exec(line.trimEnd()) ?? [];
  if (written === '' || needsMoreThanQuotes(written)) return null;
  const corrected = { start, value: quote(written), end };
  return isTextLine(Object.values(corrected).join('')) === true ? corrected : null;
}

/**
 * Returns true for values that quotes would not correct. A list or a mapping probably lacks a bracket. Quoted text with
 * a backslash probably contains an invalid escape sequence.
 */
function needsMoreThanQuotes(value: string): boolean {
  const isQuoted = value.startsWith('"') && value.endsWith('"');
  return /^(?:\[|\{(?!\{))/.test(value) || (isQuoted && value.includes('\\'));
}

/**
 * Quotes a value. If the value begins with an unclosed quotation mark, adds the closing mark. If the value is already
 * in single quotes, removes them and quotes the inner text, because it probably contains an apostrophe.
 */
function quote(written: string): string {
  const [, mark = '', unclosed = ''] = /^(["'])([^"']*)$/.exec(written) ?? [];
  if (mark !== '') return `${mark}${unclosed}${mark}`;
  const [, text = written] = /^'(.*)'$/.exec(written) ?? [];
  return renderYamlValue(text.replaceAll("''", "'"), 'double');
}

/**
 * Returns true if the line is a valid mapping of one name to a string, and false if it is any other valid YAML. Returns
 * null if it is not valid YAML.
 */
function isTextLine(line: string): boolean | null {
  const document = yaml.parseDocument(line.replace(/^[ \t]*(?:- )?/, ''), {
    schema: 'core',
    prettyErrors: false,
    logLevel: 'silent',
  });
  if (document.errors.length > 0) return null;
  const { contents } = document;
  const [pair] = yaml.isMap(contents) ? contents.items : [];
  return yaml.isPair(pair) && yaml.isScalar(pair.value) && typeof pair.value.value === 'string';
}

/** Returns the line that contains an offset, without its line break. */
export function readLine(text: string, offset: number): string {
  const start = findLineStart(text, offset);
  const end = text.indexOf('\n', start);
  return text.slice(start, end === -1 ? text.length : end);
}

/** Returns the offset at which the line that contains an offset begins. */
export function findLineStart(text: string, offset: number): number {
  return offset === 0 ? 0 : text.lastIndexOf('\n', offset - 1) + 1;
}
