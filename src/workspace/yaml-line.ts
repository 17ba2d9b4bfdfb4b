import * as yaml from 'yaml';
import { makeProblem, type Place, type Problem } from '../problem.ts';
import { renderYamlValue } from './render-yaml.ts';

/** A line `name: value`, split before and after the value. */
export type YamlLine = { readonly start: string; readonly value: string; readonly end: string };

/** The last part includes comments. Takes linear time, because a comment begins at the first of several blanks. */
const FIELD_LINE = /^([ \t]*(?:- )?[\w.-]+:[ \t]+)(\S.*?)((?:(?<![ \t])[ \t]+#.*)?)$/;

/** Quotes the value of a line. Returns null if the line is valid without quotes, or if quotes do not help. */
export function quoteYamlValue(line: string): YamlLine | null {
  if (isTextLine(line) !== null) return null;
  const [, start = '', written = '', end = ''] = FIELD_LINE.exec(line.trimEnd()) ?? [];
  if (written === '' || needsMoreThanQuotes(written)) return null;
  const corrected = { start, value: quote(written), end };
  return isTextLine(Object.values(corrected).join('')) === true ? corrected : null;
}

/** Lists and mappings probably lack a bracket. Quoted text with a backslash probably has an invalid escape sequence. */
function needsMoreThanQuotes(value: string): boolean {
  const isQuoted = value.startsWith('"') && value.endsWith('"');
  return /^(?:\[|\{(?!\{))/.test(value) || (isQuoted && value.includes('\\'));
}

/** Closes an unclosed quotation mark. Quotes text in single quotes again, because it may contain an apostrophe. */
function quote(written: string): string {
  const [, mark = '', unclosed = ''] = /^(["'])([^"']*)$/.exec(written) ?? [];
  if (mark !== '') return `${mark}${unclosed}${mark}`;
  const [, text = written] = /^'(.*)'$/.exec(written) ?? [];
  return renderYamlValue(text.replaceAll("''", "'"), 'double');
}

/** Returns true for a mapping of one name to a string, false for other valid YAML, and null for invalid YAML. */
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

export function findLineStart(text: string, offset: number): number {
  return offset === 0 ? 0 : text.lastIndexOf('\n', offset - 1) + 1;
}

/**
 * Returns a problem if the line that contains an offset has a look-alike. Returns null otherwise.
 * @param unknownName the name that begins at the offset, if it is unknown; a look-alike in such a name counts, too
 */
export type LookAlikeFinder = (offset: number, unknownName?: string) => Problem | null;

/** The function searches each line once, because a hostile file can have thousands of invalid values on one line. */
export function makeLookAlikeFinder(text: string, placeAt: (offset: number) => Place): LookAlikeFinder {
  const known = new Map<number | undefined, Problem | null>();
  const makeLookAlikeProblem = (start: number, lookAlike: LookAlike | null): Problem | null => {
    if (lookAlike === null) return null;
    const { index, character, needed } = lookAlike;
    return makeProblem('yaml/look-alike', { character, needed }, placeAt(start + index));
  };
  return (offset, unknownName = '') => {
    const { line } = placeAt(offset);
    if (!known.has(line)) {
      known.set(line, makeLookAlikeProblem(findLineStart(text, offset), findLookAlike(readLine(text, offset))));
    }
    // The additional character is the quotation mark in front of a quoted name.
    const written = text.slice(offset, offset + unknownName.length + 1);
    return known.get(line) ?? makeLookAlikeProblem(offset, findLookAlikeInName(written, unknownName));
  };
}

export function findAllLookAlikes(text: string, findLookAlikeAt: LookAlikeFinder): readonly Problem[] {
  const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  return starts.flatMap((start) => findLookAlikeAt(start) ?? []);
}

/** A character that looks like a YAML syntax character but is a different one. */
type LookAlike = {
  /** The index of the character in the searched text, which begins with a line or with a name. */
  readonly index: number;
  readonly character: string;
  /** The character that YAML needs at this position. */
  readonly needed: 'colon' | 'space' | 'line break';
};

/** Matches a Unicode space other than U+0020. */
const SPACE = String.raw`(?! )\p{Zs}`;

/** Matches the beginning of a line whose value is a flow collection, up to a point outside quoted text and comments. */
const FLOW = String.raw`[^:[{]*(?::[ \t]*)?[[{](?:[^"'#]|"[^"]*"|'[^']*')*?`;

/**
 * The groups are the part of the line before the character, and the character. Each pattern takes linear time. In an
 * unquoted value, a colon is not syntax, so only the first colon and those in braces or brackets match.
 */
const LOOK_ALIKES: readonly (readonly [LookAlike['needed'], RegExp])[] = [
  ['line break', /^([^\r]*)(\r)/],
  ['space', /^([ \t]*(?:- *)?)((?! )\p{Zs})/u],
  ['colon', /^([^:\uff1a#]*)(\uff1a)/],
  ['colon', new RegExp(String.raw`^(${FLOW})(\uff1a)[ \t]*${SPACE}`, 'u')],
  ['space', new RegExp(String.raw`^((?:[^:]*|${FLOW}):[ \t]*)(${SPACE})`, 'u')],
  ['space', new RegExp(String.raw`^([^:]*|${FLOW})(${SPACE})[ \t]*[:\uff1a]`, 'u')],
  ['space', /^(.*)((?! )\p{Zs})[ \t]*$/u],
];

/**
 * Finds a character in a YAML line that looks like a colon, a space, or a line break but is not one: a full-width
 * colon after a name, a Unicode space around a name or a value, or a lone carriage return. Such characters come from
 * Chinese and Japanese keyboards and from web pages. They are errors only in a line that is not valid YAML.
 */
function findLookAlike(line: string): LookAlike | null {
  for (const [needed, pattern] of LOOK_ALIKES) {
    const [, before = '', character] = pattern.exec(line) ?? [];
    if (character !== undefined) return { index: before.length, character, needed };
  }
  return null;
}

const LOOK_ALIKE_IN_NAME = /(?! )[\p{Zs}\uff1a]/u;

/**
 * Finds a full-width colon or a Unicode space in an unknown name, unless it comes from an escape sequence.
 * @param written the beginning of the text from which the name was parsed
 */
function findLookAlikeInName(written: string, name: string): LookAlike | null {
  if (!LOOK_ALIKE_IN_NAME.test(name)) return null;
  const match = LOOK_ALIKE_IN_NAME.exec(written);
  if (match === null) return null;
  const [character] = match;
  return { index: match.index, character, needed: character === '\uff1a' ? 'colon' : 'space' };
}
