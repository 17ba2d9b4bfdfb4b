import matter from 'gray-matter';
import { makeProblem, type Problem } from '../problem.ts';

/** A prompt file in its two parts. The body still has its blank line at the start and its final newline. */
export type SplitFile = { readonly yaml: string; readonly body: string };

export type SplitResult = { readonly parts: SplitFile | null; readonly problems: readonly Problem[] };

/** The YAML begins on this line of the file. */
export const YAML_LINE = 2;
const LARGEST_FRONT_MATTER = 64 * 1024;
const DELIMITER = /^---[ \t]*$/;

/**
 * Splits a file (LF line endings, no BOM) at its two delimiter lines.
 *
 * gray-matter runs `---js` front matter, takes any line that begins with `---` for the closing one, and shares one
 * mutable result between calls without options. So the delimiter lines are checked first, every call has options, and
 * every engine is replaced by one that hands the text through.
 */
export function splitFrontMatter(source: string, path: string): SplitResult {
  const lines = source.split('\n');
  const opening = lines[0] ?? '';
  if (!opening.startsWith('---')) return failed(makeProblem('prompt/no-front-matter', {}, at(path, 1)));
  if (!DELIMITER.test(opening)) return failed(makeProblem('prompt/bad-delimiter', { line: opening }, at(path, 1)));
  const closing = lines.findIndex((line, index) => index > 0 && line.startsWith('---'));
  if (closing === -1) return failed(makeProblem('prompt/unclosed-front-matter', {}, at(path, 1)));
  const line = lines[closing] ?? '';
  if (!DELIMITER.test(line)) return failed(makeProblem('prompt/bad-delimiter', { line }, at(path, closing + 1)));
  return split(lines, closing, path);
}

function split(lines: readonly string[], closing: number, path: string): SplitResult {
  const yaml = lines.slice(1, closing).join('\n');
  const bytes = Buffer.byteLength(yaml, 'utf8');
  const limit = LARGEST_FRONT_MATTER;
  if (bytes > limit) return failed(makeProblem('prompt/front-matter-too-large', { bytes, limit }, at(path, 1)));
  const body = lines.slice(closing + 1).join('\n');
  const file = matter(`---\n${yaml}\n---\n${body}`, { language: 'yaml', delimiters: '---', engines: inertEngines });
  return { parts: { yaml: String(file.data['text'] ?? ''), body: file.content }, problems: [] };
}

/** The file up to and including its closing delimiter line, as it is written. */
export function headOf(source: string): string {
  const lines = source.split('\n');
  const closing = lines.findIndex((line, index) => index > 0 && DELIMITER.test(line.replace(/\r$/, '')));
  return lines.slice(0, closing + 1).join('\n');
}

const handThrough = { parse: (text: string) => ({ text }), stringify: refuseToWrite };
const inertEngines = { yaml: handThrough, json: handThrough, javascript: handThrough };

function refuseToWrite(): never {
  throw new Error('Front matter is never written through gray-matter.');
}

function failed(problem: Problem): SplitResult {
  return { parts: null, problems: [problem] };
}

function at(path: string, line: number) {
  return { path, line, column: 1 };
}
