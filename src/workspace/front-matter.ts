import matter from 'gray-matter';
import { isUtf8 } from 'node:buffer';
import { findHidden, makePlaceFinder, findPlace, normalizeLineEndings, shortenText, type TextSpan } from '../text.ts';
import { type Failure, makeFailure, makeSuccess, type Result } from '../domain/result.ts';
import { makeProblem, type Place, type Problem } from '../problem.ts';
import { CONFLICT_MARKERS_CODE } from './yaml-shape.ts';

/** Matches git's conflict markers, but not `=======`, because in Markdown it can underline a heading. */
const CONFLICT_MARKER = /(?<=^|\n)(<{7}|\|{7}|>{7})(?=[ \n]|$)/;

/** The beginning of a file that a git filter stores in another form, if the checkout did not restore the original. */
const FILTER_HEADERS = [
  { filter: 'lfs', header: Buffer.from('version https://git-lfs.github.com/spec/') },
  { filter: 'git-crypt', header: Buffer.from('\0GITCRYPT\0') },
] as const;

/** Drops a byte order mark, and replaces invalid bytes with U+FFFD. */
const decoder = new TextDecoder();

/**
 * Decodes the UTF-8 text of a file, converts it to LF line endings and drops a byte order mark. Fails if the file is a
 * Git LFS pointer, encrypted with git-crypt, or not valid UTF-8.
 */
export function decodeSource(bytes: Uint8Array, path: string): Result<string> {
  // Encrypted files are not valid UTF-8 and contain NUL characters, so look for the headers first.
  const filtered = FILTER_HEADERS.find(({ header }) => header.equals(bytes.subarray(0, header.length)));
  if (filtered !== undefined)
    return makeFailure(makeProblem('prompt/not-decoded', { filter: filtered.filter }, makeFilePlace(path)));
  if (isUtf8(bytes)) return makeSuccess(normalizeLineEndings(decoder.decode(bytes)));
  return makeFailure(makeProblem('prompt/not-utf8', {}, { path, ...findInvalidUtf8(bytes) }));
}

/**
 * Returns the place of the first invalid byte, which the decoder turns into U+FFFD. If the file itself contains U+FFFD
 * earlier, returns that place instead.
 */
function findInvalidUtf8(bytes: Uint8Array): Place {
  const text = decoder.decode(bytes);
  return findPlace(text, text.indexOf('\ufffd'));
}

/**
 * Reports the first NUL character and the first conflict marker as errors, and each kind of invisible character once,
 * as a warning.
 * @param acceptedCodes the value of `accept_warnings`; if it accepts conflict markers, they are only a warning
 */
export function checkSource(source: string, path: string, acceptedCodes?: unknown): readonly Problem[] {
  const isAccepted = Array.isArray(acceptedCodes) && acceptedCodes.includes(CONFLICT_MARKERS_CODE);
  const placeAt = makePlaceFinder(source);
  const conflict = findConflictMarker(source);
  return [
    ...findHidden(source).map(({ character, count, offset }) => {
      const place = { path, ...placeAt(offset) };
      const isNul = source[offset] === '\0';
      return isNul
        ? makeProblem('prompt/nul', {}, place)
        : makeProblem('prompt/hidden-character', { character, count }, place);
    }),
    ...(conflict === -1 ? [] : [makeConflictProblem(isAccepted, { path, ...findPlace(source, conflict) })]),
  ];
}

function makeConflictProblem(isAccepted: boolean, place: Place): Problem {
  const problem = makeProblem(CONFLICT_MARKERS_CODE, { isAccepted }, place);
  return isAccepted ? { ...problem, severity: 'warning' } : problem;
}

/** Returns the offset of the first conflict marker, or -1 if there is none. */
export function findConflictMarker(text: string): number {
  return text.search(CONFLICT_MARKER);
}

/** Returns the place of the start of a line. Problems that concern the whole file use the first line. */
export function makeFilePlace(path: string, line = 1): Place {
  return { path, line, column: 1 };
}

/** The two parts of a prompt file. The body may begin with a blank line and end with line breaks. */
export type SplitFile = {
  readonly yaml: string;
  readonly body: string;
  /** The line of the file on which the body begins, counted from 1. */
  readonly bodyLine: number;
};

/** The line of the file on which the YAML begins. Line 1 is the opening delimiter. */
export const FIRST_YAML_LINE = 2;
const MAX_FRONT_MATTER_BYTES = 64 * 1024;
const OPENING = '---';
const CLOSING = '\n---';
const DELIMITER = /^---[ \t]*$/;
/** gray-matter searches front matter for comments, which takes long if there are many blank lines in a row. */
const MAX_BLANK_LINES = 20;
/** A run of more than 20 blank lines. gray-matter counts every character that ends a line in JavaScript. */
const BLANK_LINES = /(?:[\n\r\u2028\u2029][^\S\n\r\u2028\u2029]*){22}/;
/** The number of characters in which to search for a delimiter that is not at the beginning of the file. */
const MAX_SEARCHED_LENGTH = 1000;
/** The maximum length of a line of the file in a message, in UTF-16 code units. */
const MAX_SHOWN_LENGTH = 80;

/**
 * Splits a file, which must have LF line endings and no byte order mark. Checks both delimiter lines, because
 * gray-matter would accept any text after their `---`.
 */
export function splitFrontMatter(source: string, path: string): Result<SplitFile> {
  const opening = readLineAt(source, 0);
  if (!opening.startsWith(OPENING)) {
    const isPreceded = /^[\s\ufeff]*---[ \t]*\n/.test(source.slice(0, MAX_SEARCHED_LENGTH));
    return makeFailure(makeProblem('prompt/no-front-matter', { path, isPreceded }, makeFilePlace(path)));
  }
  const carriageReturn = opening.indexOf('\r');
  if (carriageReturn !== -1) {
    const place = { path, line: 1, column: carriageReturn + 1 };
    return makeFailure(makeProblem('yaml/look-alike', { character: '\r', needed: 'line break' }, place));
  }
  if (!DELIMITER.test(opening)) return makeDelimiterFailure(opening, path, 1);
  const head = readHead(source);
  const blankLine = findBlankLines(head);
  if (blankLine !== null) {
    const place = makeFilePlace(path, blankLine);
    return makeFailure(makeProblem('prompt/too-many-blank-lines', { limit: MAX_BLANK_LINES }, place));
  }
  const yamlSpan = findFrontMatter(head);
  if (yamlSpan === null || measureBytes(source, yamlSpan) > MAX_FRONT_MATTER_BYTES) {
    return makeFailure(makeSizeProblem(source, path));
  }
  const closing = readLineAt(source, yamlSpan.end);
  const closingLine = source.slice(0, yamlSpan.end).split('\n').length;
  if (!DELIMITER.test(closing)) return makeDelimiterFailure(closing, path, closingLine);
  const yaml = source.slice(yamlSpan.start, yamlSpan.end - 1);
  const body = source.slice(yamlSpan.end + closing.length + 1);
  return makeSuccess({ yaml, body, bodyLine: closingLine + 1 });
}

/** Returns the span of the YAML between the two delimiters of a file. The file must have both. */
export function findYamlSpan(source: string): TextSpan {
  return findFrontMatter(readHead(source)) ?? { start: 0, end: 0 };
}

/** Returns the span of the body after the two delimiters of a file. The file must have both. */
export function findBodySpan(source: string): TextSpan {
  const { end } = findYamlSpan(source);
  return { start: end + readLineAt(source, end).length + 1, end: source.length };
}

/**
 * Returns the span of the YAML; null if no delimiter closes it within the maximum size. The engines of gray-matter do
 * nothing, because it would run `---js` front matter as code.
 */
function findFrontMatter(head: string): TextSpan | null {
  const { matter: frontMatter } = matter(head, {
    engines: { yaml: parseNothing, json: parseNothing, javascript: parseNothing },
  });
  const end = OPENING.length + frontMatter.length + 1;
  return end < head.length ? { start: head.indexOf('\n') + 1, end } : null;
}

const parseNothing = (): object => ({});

/**
 * Returns the head of a file: the beginning up to the closing delimiter, or up to the maximum size of front matter.
 * gray-matter gets only the head, because it copies and hashes all the text that it gets.
 */
function readHead(source: string): string {
  const maxLength = readLineAt(source, 0).length + 1 + MAX_FRONT_MATTER_BYTES + CLOSING.length;
  const closing = source.indexOf(CLOSING);
  return source.slice(0, closing === -1 ? maxLength : Math.min(closing + CLOSING.length, maxLength));
}

/** Returns the line on which too many blank lines in front matter begin, or null if there are none. */
function findBlankLines(head: string): number | null {
  const offset = head.search(BLANK_LINES);
  return offset === -1 ? null : head.slice(0, offset).split('\n').length + 1;
}

function measureBytes(source: string, { start, end }: TextSpan): number {
  return Buffer.byteLength(source.slice(start, end - 1));
}

function makeSizeProblem(source: string, path: string): Problem {
  const closingAt = source.indexOf(CLOSING) + 1;
  if (closingAt === 0) return makeProblem('prompt/unclosed-front-matter', {}, makeFilePlace(path));
  const bytes = measureBytes(source, { start: source.indexOf('\n') + 1, end: closingAt });
  return makeProblem('prompt/front-matter-too-large', { bytes, limit: MAX_FRONT_MATTER_BYTES }, makeFilePlace(path));
}

function makeDelimiterFailure(line: string, path: string, number: number): Failure {
  return makeFailure(makeProblem('prompt/bad-delimiter', { line: shortenLine(line) }, makeFilePlace(path, number)));
}

export function shortenLine(line: string): string {
  return shortenText(line, MAX_SHOWN_LENGTH);
}

function readLineAt(source: string, offset: number): string {
  const end = source.indexOf('\n', offset);
  return end === -1 ? source.slice(offset) : source.slice(offset, end);
}
