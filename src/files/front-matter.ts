import matter from 'gray-matter';
import type { Span } from './replacement.ts';
import { makeProblem, type Problem } from '../problem.ts';

/** A prompt file in its two parts. The body still has its blank line at the start and its final newline. */
export type SplitFile = {
  readonly yaml: string;
  readonly body: string;
  /** The line of the file on which the body begins. */
  readonly bodyLine: number;
};

export type SplitResult = { readonly parts: SplitFile | null; readonly problems: readonly Problem[] };

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
  if (!opening.startsWith('---')) return failed(makeProblem('prompt/no-front-matter', {}, at(path, 1)));
  if (!DELIMITER.test(opening)) return failed(badDelimiter(opening, path, 1));
  const closingAt = closingOffset(source);
  if (closingAt === 0) return failed(makeProblem('prompt/unclosed-front-matter', {}, at(path, 1)));
  const yaml = source.slice(opening.length + 1, closingAt - 1);
  const closing = lineAt(source, closingAt);
  const closingLine = countLines(source.slice(0, closingAt));
  if (!DELIMITER.test(closing)) return failed(badDelimiter(closing, path, closingLine));
  const bytes = Buffer.byteLength(yaml);
  const limit = LARGEST_FRONT_MATTER;
  if (bytes > limit) return failed(makeProblem('prompt/front-matter-too-large', { bytes, limit }, at(path, 1)));
  const body = source.slice(closingAt + closing.length + 1);
  return { parts: { yaml: handedThrough(yaml), body, bodyLine: closingLine + 1 }, problems: [] };
}

/** Where a file with both delimiters has its lines of YAML, and the offset at which its body begins. */
export function offsetsOf(source: string): { readonly yaml: Span; readonly body: number } {
  const yaml = { start: source.indexOf('\n') + 1, end: closingOffset(source) };
  return { yaml, body: headOf(source).length + 1 };
}

/** The file up to and including its closing delimiter line, as it is written. */
export function headOf(source: string): string {
  const closingAt = closingOffset(source);
  return source.slice(0, closingAt) + lineAt(source, closingAt);
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
  return String(matter(`---\n${JSON.stringify(yaml)}\n---\n`, { engines: inertEngines }).data['yaml']);
}

const handThrough = (line: string) => ({ yaml: JSON.parse(line) as unknown });
const inertEngines = { yaml: handThrough, json: handThrough, javascript: handThrough };

function badDelimiter(line: string, path: string, number: number): Problem {
  const shown = line.length > LONGEST_SHOWN ? `${line.slice(0, LONGEST_SHOWN)}…` : line;
  return makeProblem('prompt/bad-delimiter', { line: shown }, at(path, number));
}

function lineAt(source: string, offset: number): string {
  const end = source.indexOf('\n', offset);
  return end === -1 ? source.slice(offset) : source.slice(offset, end);
}

function countLines(text: string): number {
  return text.split('\n').length;
}

function failed(problem: Problem): SplitResult {
  return { parts: null, problems: [problem] };
}

function at(path: string, line: number) {
  return { path, line, column: 1 };
}

/**
 * The source of a valid file with another text; its front matter stays as it is, byte for byte. What is written is
 * parsed back as the very same text, provided that it holds no carriage return.
 */
export function withText(source: string, text: string): string {
  return `${headOf(source)}\n\n${text}\n`;
}
