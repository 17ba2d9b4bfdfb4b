import matter from 'gray-matter';
import { isUtf8 } from 'node:buffer';
import { findHidden, makePlaceFinder, findPlace, withLineFeeds } from '../text.ts';
import { type Failure, makeFailure, makeSuccess, type Result } from '../domain/result.ts';
import { makeProblem, type Place, type Problem } from '../problem.ts';

const CONFLICT_MARKER = /(?<=^|\n)(<{7}|\|{7}|>{7})(?=[ \n]|$)/;

/** The text of a file with LF line endings and without its BOM; null when it is not UTF-8. */
export function decodeSource(bytes: Uint8Array): string | null {
  return isUtf8(bytes) ? withLineFeeds(new TextDecoder().decode(bytes)) : null;
}

/** Where a file stops being UTF-8, or where it has a sign for what cannot be read already. */
export function findInvalidUtf8(bytes: Uint8Array): Place {
  const text = new TextDecoder().decode(bytes);
  return findPlace(text, text.indexOf('\ufffd'));
}

/** What is wrong with a file whatever its parts hold, and a warning for each kind of invisible character in it. */
export function checkSource(source: string, path: string): readonly Problem[] {
  const hiddenAt = makePlaceFinder(source);
  const [nul, conflict] = [source.indexOf('\0'), findConflictMarker(source)];
  return [
    ...findHidden(source)
      .filter(({ offset }) => offset !== nul)
      .map(({ character, count, offset }) =>
        makeProblem('prompt/hidden-character', { character, count }, { path, ...hiddenAt(offset) }),
      ),
    ...(nul === -1 ? [] : [makeProblem('prompt/nul', {}, { path, ...findPlace(source, nul) })]),
    ...(conflict === -1 ? [] : [makeProblem('prompt/conflict-markers', {}, { path, ...findPlace(source, conflict) })]),
  ];
}

/** The offset of the first conflict marker; -1 when there is none. */
export function findConflictMarker(text: string): number {
  return text.search(CONFLICT_MARKER);
}

/** The beginning of a line; the first one for what concerns a file as a whole. */
export function makeFilePlace(path: string, line = 1): Place {
  return { path, line, column: 1 };
}

/** The characters of a text between two offsets (UTF-16 units). */
export type Span = { readonly start: number; readonly end: number };

/** A prompt file in its two parts. The body still has its blank line at the start and its final newline. */
export type SplitFile = {
  readonly yaml: string;
  readonly body: string;
  /** The line of the file on which the body begins. */
  readonly bodyLine: number;
};

/** The YAML begins on this line of the file. */
export const FIRST_YAML_LINE = 2;
const MAX_FRONT_MATTER_BYTES = 64 * 1024;
const DELIMITER = /^---[ \t]*$/;
const MAX_SHOWN_LENGTH = 80;

/**
 * Splits a file (LF line endings, no BOM) at its two delimiter lines.
 *
 * gray-matter runs `---js` front matter, takes any line that begins with `---` for the closing one, and shares one
 * mutable result between calls without options. So the delimiter lines are checked first, every call has options, and
 * every engine is replaced by one that hands the text through.
 */
export function splitFrontMatter(source: string, path: string): Result<SplitFile> {
  const opening = readLineAt(source, 0);
  if (!opening.startsWith('---'))
    return makeFailure(makeProblem('prompt/no-front-matter', { path }, makeFilePlace(path)));
  if (!DELIMITER.test(opening)) return makeDelimiterProblem(opening, path, 1);
  const closingAt = findClosingOffset(source);
  if (closingAt === 0) return makeFailure(makeProblem('prompt/unclosed-front-matter', {}, makeFilePlace(path)));
  const yaml = source.slice(opening.length + 1, closingAt - 1);
  const closing = readLineAt(source, closingAt);
  const closingLine = source.slice(0, closingAt).split('\n').length;
  if (!DELIMITER.test(closing)) return makeDelimiterProblem(closing, path, closingLine);
  const size = { bytes: Buffer.byteLength(yaml), limit: MAX_FRONT_MATTER_BYTES };
  if (size.bytes > size.limit)
    return makeFailure(makeProblem('prompt/front-matter-too-large', size, makeFilePlace(path)));
  const body = source.slice(closingAt + closing.length + 1);
  return makeSuccess({ yaml: passThroughGrayMatter(yaml), body, bodyLine: closingLine + 1 });
}

/** Where a file with both delimiters has its lines of YAML. */
export function findYamlSpan(source: string): Span {
  return { start: source.indexOf('\n') + 1, end: findClosingOffset(source) };
}

/** Where a file with both delimiters has its body. */
export function findBodySpan(source: string): Span {
  const closingAt = findClosingOffset(source);
  return { start: closingAt + readLineAt(source, closingAt).length + 1, end: source.length };
}

/** Where the closing line begins: the first that begins with `---` after the opening one. Zero when there is none. */
function findClosingOffset(source: string): number {
  return source.indexOf('\n---') + 1;
}

/**
 * As one line of JSON: in many blank lines gray-matter looks for comments for seconds. Without the body: it looks up
 * every whole text among those that it remembers, which for the engine means a copy that is kept and a hash of it.
 */
function passThroughGrayMatter(yaml: string): string {
  return String(matter(`---\n${JSON.stringify(yaml)}\n---\n`, { engines: handingThrough }).data['yaml']);
}

const handThrough = (line: string) => ({ yaml: JSON.parse(line) as unknown });
const handingThrough = { yaml: handThrough, json: handThrough, javascript: handThrough };

function makeDelimiterProblem(line: string, path: string, number: number): Failure {
  const shown = line.length > MAX_SHOWN_LENGTH ? `${line.slice(0, MAX_SHOWN_LENGTH)}…` : line;
  return makeFailure(makeProblem('prompt/bad-delimiter', { line: shown }, makeFilePlace(path, number)));
}

function readLineAt(source: string, offset: number): string {
  const end = source.indexOf('\n', offset);
  return end === -1 ? source.slice(offset) : source.slice(offset, end);
}
