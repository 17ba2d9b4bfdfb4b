import matter from 'gray-matter';
import { isUtf8 } from 'node:buffer';
import { withLineFeeds } from '../domain/digest.ts';
import { findHidden, makePlaceAt, placeAt } from '../domain/text.ts';
import { makeProblem, type Place, type Problem } from '../problem.ts';

const CONFLICT_MARKER = /(?<=^|\n)(<{7}|\|{7}|>{7})(?=[ \n]|$)/;

/** The text of a file with LF line endings and without its BOM; null when it is not UTF-8. */
export function decodeSource(bytes: Uint8Array): string | null {
  return isUtf8(bytes) ? withLineFeeds(new TextDecoder().decode(bytes)) : null;
}

/** Where a file stops being UTF-8, or where it has a sign for what cannot be read already. */
export function invalidUtf8Place(bytes: Uint8Array): Place {
  const text = new TextDecoder().decode(bytes);
  return placeAt(text, text.indexOf('\ufffd'));
}

/** What is wrong with a file whatever its parts hold, and a warning for each kind of invisible character in it. */
export function sourceProblems(source: string, path: string): readonly Problem[] {
  const hiddenAt = makePlaceAt(source);
  const [nul, conflict] = [source.indexOf('\0'), findConflict(source)];
  return [
    ...findHidden(source)
      .filter(({ offset }) => offset !== nul)
      .map(({ character, count, offset }) =>
        makeProblem('prompt/hidden-character', { character, count }, { path, ...hiddenAt(offset) }),
      ),
    ...(nul === -1 ? [] : [makeProblem('prompt/nul', {}, { path, ...placeAt(source, nul) })]),
    ...(conflict === -1 ? [] : [makeProblem('prompt/conflict-markers', {}, { path, ...placeAt(source, conflict) })]),
  ];
}

/** The offset of the first conflict marker; -1 when there is none. */
export function findConflict(text: string): number {
  return text.search(CONFLICT_MARKER);
}

/** The beginning of a line; the first one for what concerns a file as a whole. */
export function placeOfFile(path: string, line = 1): Place {
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

type SplitResult = SplitFile | { readonly problem: Problem };

/** The YAML begins on this line of the file. */
export const YAML_LINE = 2;
const LARGEST_FRONT_MATTER = 64 * 1024;
const DELIMITER = /^---[ \t]*$/;
const LONGEST_SHOWN = 80;

/**
 * Splits a file (LF line endings, no BOM) at its two delimiter lines.
 *
 * gray-matter runs `---js` front matter, takes any line that begins with `---` for the closing one, and shares one
 * mutable result between calls without options. So the delimiter lines are checked first, every call has options, and
 * every engine is replaced by one that hands the text through.
 */
export function splitFrontMatter(source: string, path: string): SplitResult {
  const opening = lineAt(source, 0);
  if (!opening.startsWith('---'))
    return { problem: makeProblem('prompt/no-front-matter', { path }, placeOfFile(path)) };
  if (!DELIMITER.test(opening)) return badDelimiter(opening, path, 1);
  const closingAt = closingOffset(source);
  if (closingAt === 0) return { problem: makeProblem('prompt/unclosed-front-matter', {}, placeOfFile(path)) };
  const yaml = source.slice(opening.length + 1, closingAt - 1);
  const closing = lineAt(source, closingAt);
  const closingLine = source.slice(0, closingAt).split('\n').length;
  if (!DELIMITER.test(closing)) return badDelimiter(closing, path, closingLine);
  const size = { bytes: Buffer.byteLength(yaml), limit: LARGEST_FRONT_MATTER };
  if (size.bytes > size.limit)
    return { problem: makeProblem('prompt/front-matter-too-large', size, placeOfFile(path)) };
  const body = source.slice(closingAt + closing.length + 1);
  return { yaml: handedThrough(yaml), body, bodyLine: closingLine + 1 };
}

/** Where a file with both delimiters has its lines of YAML. */
export function yamlSpanOf(source: string): Span {
  return { start: source.indexOf('\n') + 1, end: closingOffset(source) };
}

/** Where a file with both delimiters has its body. */
export function bodySpanOf(source: string): Span {
  const closingAt = closingOffset(source);
  return { start: closingAt + lineAt(source, closingAt).length + 1, end: source.length };
}

/** Where the closing line begins: the first that begins with `---` after the opening one. Zero when there is none. */
function closingOffset(source: string): number {
  return source.indexOf('\n---') + 1;
}

/**
 * As one line of JSON: in many blank lines gray-matter looks for comments for seconds. Without the body: it looks up
 * every whole text among those that it remembers, which for the engine means a copy that is kept and a hash of it.
 */
function handedThrough(yaml: string): string {
  return String(matter(`---\n${JSON.stringify(yaml)}\n---\n`, { engines: handingThrough }).data['yaml']);
}

const handThrough = (line: string) => ({ yaml: JSON.parse(line) as unknown });
const handingThrough = { yaml: handThrough, json: handThrough, javascript: handThrough };

function badDelimiter(line: string, path: string, number: number): SplitResult {
  const shown = line.length > LONGEST_SHOWN ? `${line.slice(0, LONGEST_SHOWN)}…` : line;
  return { problem: makeProblem('prompt/bad-delimiter', { line: shown }, placeOfFile(path, number)) };
}

function lineAt(source: string, offset: number): string {
  const end = source.indexOf('\n', offset);
  return end === -1 ? source.slice(offset) : source.slice(offset, end);
}
