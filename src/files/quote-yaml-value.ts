import * as yaml from 'yaml';
import { renderYamlValue } from './render-yaml.ts';

/** A line `name: value`, split before and after the value. */
export type YamlLine = { readonly start: string; readonly value: string; readonly end: string };

/** The maximum length of a line to correct. A message that shows a longer line would be hard to read. */
const MAX_LINE_LENGTH = 120;

/**
 * Puts the value of a line `name: value` in quotes, if the line is not valid YAML without quotes. Returns null if the
 * line is valid without quotes, if quotes do not help, or if the line is too long to show.
 */
export function quoteYamlValue(line: string): YamlLine | null {
  if (line.length > MAX_LINE_LENGTH || isTextLine(line) !== null) return null;
  const [, start = '', written = '', end = ''] =
    /^([ \t]*(?:- )?[\w.-]+:[ \t]+)(\S.*?)((?:[ \t]+#.*)?[ \t]*)$/.exec(line) ?? [];
  if (written === '' || NO_TEXT.test(written)) return null;
  const corrected = { start, value: quote(written), end: end.trimEnd() };
  return isTextLine(Object.values(corrected).join('')) === true ? corrected : null;
}

/**
 * Matches values that quotes would not correct. A list or a mapping probably lacks a bracket. A quoted text with a
 * backslash probably contains an invalid escape sequence.
 */
const NO_TEXT = /^(\[|\{(?!\{)|".*\\.*"$)/;

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
