import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { PromptFile } from '../domain/prompt-file.ts';
import { isError, makeProblem, systemCodeOf, type Problem } from '../problem.ts';
import { checkOutlines, type KnownPrompt, type PromptRules } from './check.ts';
import { findPromptPaths, type PromptPatterns } from './find.ts';
import { parsePromptFile, unreadable, type ParseResult } from './parse.ts';
import { makeByteReader } from './read-bytes.ts';
import { placeOfFile } from './source.ts';

export type ReadPromptsResult = {
  /** The valid files, in the order of their paths. */
  readonly files: readonly PromptFile[];
  readonly problems: readonly Problem[];
  /** How many files there are, valid or not. */
  readonly count: number;
};

/** In bytes. */
export const LARGEST_FILE = 16 * 1024 * 1024;
/** After so many files, signals and timers have their turn. */
const FILES_AT_ONCE = 64;

/** Reads and checks the prompt files of a workspace, all but those left out. Every problem of every file is reported. */
export async function readPrompts(
  where: PromptPatterns,
  rules: PromptRules,
  left: readonly KnownPrompt[] = [],
): Promise<ReadPromptsResult> {
  const found = await findPromptPaths(where);
  const unread = new Set(left.map(({ path }) => path));
  const wanted = found.paths.filter((path) => !unread.has(path));
  const results = await readPromptFiles(where.folder, wanted);
  const files = results.flatMap(({ file }) => (file === null ? [] : [file]));
  const none = found.paths.length + found.problems.length === 0;
  const problems = [
    ...(none ? [makeProblem('prompt/none-found', { patterns: where.patterns })] : []),
    ...found.problems,
    ...results.flatMap((result) => result.problems),
    ...checkOutlines(
      results.flatMap(({ outline }) => outline ?? []),
      rules,
      left,
    ),
  ];
  const faulty = new Set(problems.filter(isError).map((problem) => problem.path));
  return { files: files.filter((file) => !faulty.has(file.path)), problems, count: found.paths.length };
}

async function readPromptFiles(folder: string, paths: readonly string[]): Promise<readonly ParseResult[]> {
  const read = makeByteReader(LARGEST_FILE);
  const results: ParseResult[] = [];
  for (const path of paths) {
    if (results.length % FILES_AT_ONCE === FILES_AT_ONCE - 1) await setImmediate();
    results.push(readPromptFile(folder, path, read));
  }
  return results;
}

function readPromptFile(folder: string, path: string, read: ReturnType<typeof makeByteReader>): ParseResult {
  const place = placeOfFile(path);
  try {
    const bytes = read(join(folder, path));
    if (bytes instanceof Uint8Array) return parsePromptFile(bytes, path);
    if ('reason' in bytes) return unreadable([makeProblem('prompt/unreadable', bytes, place)]);
    return unreadable([makeProblem('prompt/too-large', { bytes: bytes.tooLarge, limit: LARGEST_FILE }, place)]);
  } catch (error) {
    return unreadable([makeProblem('prompt/unreadable', { reason: systemCodeOf(error) }, place)]);
  }
}
