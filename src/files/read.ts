import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { PromptFile } from '../domain/prompt-file.ts';
import { isError, makeProblem, systemCodeOf, type Problem } from '../problem.ts';
import { checkNames, checkOutline, type EnvironmentRules, type Names } from './check.ts';
import { findPromptPaths, type PromptPatterns } from './find.ts';
import { parsePromptFile, unreadable, type ParseResult } from './parse.ts';
import { LARGEST_FILE, readBytes } from './read-write.ts';
import { placeOfFile } from './source.ts';

/** What was read of a workspace; with an error among the problems the files are not to be synced. */
export type ReadPromptsResult = {
  /** The valid files, in the order of their paths. */
  readonly files: readonly PromptFile[];
  readonly problems: readonly Problem[];
  /** How many files there are, valid or not. */
  readonly count: number;
};

/** After so many files, signals and timers have their turn. */
const FILES_AT_ONCE = 64;

/** Reads and checks the prompt files of a workspace. Every problem of every file is reported. */
export async function readPrompts(where: PromptPatterns, rules: EnvironmentRules): Promise<ReadPromptsResult> {
  const found = findPromptPaths(where);
  const read = await readPromptFiles({ folder: where.folder, paths: found.paths, rules });
  const none = found.paths.length + found.problems.length === 0;
  const problems = [
    ...(none ? [makeProblem('prompt/none-found', { patterns: where.patterns })] : []),
    ...found.problems,
    ...read.problems,
    ...checkNames(read.names),
    ...read.against,
  ];
  const faulty = new Set(problems.filter(isError).map((problem) => problem.path));
  return { files: read.files.filter((file) => !faulty.has(file.path)), problems, count: found.paths.length };
}

type Reading = {
  readonly folder: string;
  readonly paths: readonly string[];
  readonly rules: EnvironmentRules;
};

type FilesRead = {
  readonly files: PromptFile[];
  readonly names: Names[];
  readonly problems: Problem[];
  /** What is wrong against the rules. */
  readonly against: Problem[];
};

async function readPromptFiles({ folder, paths, rules }: Reading): Promise<FilesRead> {
  const all: FilesRead = { files: [], names: [], problems: [], against: [] };
  for (const [index, path] of paths.entries()) {
    if (index % FILES_AT_ONCE === FILES_AT_ONCE - 1) await setImmediate();
    const { file, outline, problems } = readPromptFile(folder, path);
    if (file !== null) all.files.push(file);
    all.problems.push(...problems);
    if (outline === null) continue;
    all.names.push({ path, id: outline.id, key: outline.key });
    all.against.push(...checkOutline(outline, rules));
  }
  return all;
}

function readPromptFile(folder: string, path: string): ParseResult {
  const place = placeOfFile(path);
  try {
    const bytes = readBytes(join(folder, path));
    if (bytes instanceof Uint8Array) return parsePromptFile(bytes, path);
    if ('reason' in bytes) return unreadable([makeProblem('prompt/unreadable', bytes, place)]);
    return unreadable([makeProblem('prompt/too-large', { bytes: bytes.tooLarge, limit: LARGEST_FILE }, place)]);
  } catch (error) {
    return unreadable([makeProblem('prompt/unreadable', { reason: systemCodeOf(error) }, place)]);
  }
}
