import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit from 'p-limit';
import type { PromptFile } from '../domain/prompt-file.ts';
import { isError, makeProblem, systemCodeOf, type Problem } from '../problem.ts';
import { checkOutlines, type KnownPrompt, type PromptRules } from './check.ts';
import { findPromptPaths, type PromptPatterns } from './find.ts';
import { parsePromptFile, unreadable, type ParseResult } from './parse.ts';
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
const OPEN_FILES = 32;

/** Reads and checks the prompt files of a workspace, all but those left out. Every problem of every file is reported. */
export async function readPrompts(
  where: PromptPatterns,
  rules: PromptRules,
  left: readonly KnownPrompt[] = [],
): Promise<ReadPromptsResult> {
  const found = await findPromptPaths(where);
  const limit = pLimit(OPEN_FILES);
  const unread = new Set(left.map(({ path }) => path));
  const wanted = found.paths.filter((path) => !unread.has(path));
  const results = await limit.map(wanted, (path) => readPromptFile(where.folder, path));
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

async function readPromptFile(folder: string, path: string): Promise<ParseResult> {
  const place = placeOfFile(path);
  try {
    const full = join(folder, path);
    const { size } = await stat(full);
    const limit = LARGEST_FILE;
    if (size > limit) return unreadable([makeProblem('prompt/too-large', { bytes: size, limit }, place)]);
    return parsePromptFile(await readFile(full), path);
  } catch (error) {
    return unreadable([makeProblem('prompt/unreadable', { reason: systemCodeOf(error) }, place)]);
  }
}
