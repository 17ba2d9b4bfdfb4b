import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { PromptFile } from '../domain/prompt-file.ts';
import { isError, makeProblem, systemCodeOf, type Problem } from '../problem.ts';
import { checkNames, checkOutline, type KnownPrompt, type Names, type PromptRules } from './check.ts';
import { findPromptPaths, type PromptPatterns } from './find.ts';
import { withLate, type Late } from './late.ts';
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
  /** The paths of those that were left out. */
  readonly unread: ReadonlySet<string>;
};

export type ReadOptions = {
  /** Prompts whose files are not read; only their names are compared. */
  readonly left?: readonly KnownPrompt[];
  /** What is read again when it is asked for, instead of being held. */
  readonly late?: Late | undefined;
};

/** After so many files, signals and timers have their turn. */
const FILES_AT_ONCE = 64;

/** Reads and checks the prompt files of a workspace, all but those left out. Every problem of every file is reported. */
export async function readPrompts(
  where: PromptPatterns,
  rules: PromptRules,
  { left = [], late }: ReadOptions = {},
): Promise<ReadPromptsResult> {
  const found = findPromptPaths(where);
  const there = new Set(left.length === 0 ? [] : found.paths);
  // What is known of a file that is not there counts for nothing.
  const standing = left.filter(({ path }) => there.has(path));
  const unread = new Set(standing.map(({ path }) => path));
  const wanted = found.paths.filter((path) => !unread.has(path));
  const read = await readPromptFiles({ folder: where.folder, paths: wanted, rules, late });
  const none = found.paths.length + found.problems.length === 0;
  const problems = [
    ...(none ? [makeProblem('prompt/none-found', { patterns: where.patterns })] : []),
    ...found.problems,
    ...read.problems,
    ...checkNames(read.names, standing),
    ...read.against,
  ];
  const faulty = new Set(problems.filter(isError).map((problem) => problem.path));
  return { files: read.files.filter((file) => !faulty.has(file.path)), problems, count: found.paths.length, unread };
}

type Reading = {
  readonly folder: string;
  readonly paths: readonly string[];
  readonly rules: PromptRules;
  readonly late: Late | undefined;
};

type FilesRead = {
  readonly files: PromptFile[];
  readonly names: Names[];
  readonly problems: Problem[];
  /** What is wrong against the rules. */
  readonly against: Problem[];
};

/** No more is kept of a file than is needed when all are read. */
async function readPromptFiles({ folder, paths, rules, late }: Reading): Promise<FilesRead> {
  const all: FilesRead = { files: [], names: [], problems: [], against: [] };
  for (const [index, path] of paths.entries()) {
    if (index % FILES_AT_ONCE === FILES_AT_ONCE - 1) await setImmediate();
    const { file, outline, problems } = readPromptFile(folder, path, late !== 'content');
    if (file !== null) all.files.push(late === undefined ? file : withLate(late, file, folder));
    all.problems.push(...problems);
    if (outline === null) continue;
    all.names.push({ path, id: outline.id, key: outline.key });
    all.against.push(...checkOutline(outline, rules));
  }
  return all;
}

function readPromptFile(folder: string, path: string, digests: boolean): ParseResult {
  const place = placeOfFile(path);
  try {
    const bytes = readBytes(join(folder, path));
    if (bytes instanceof Uint8Array) return parsePromptFile(bytes, path, digests);
    if ('reason' in bytes) return unreadable([makeProblem('prompt/unreadable', bytes, place)]);
    return unreadable([makeProblem('prompt/too-large', { bytes: bytes.tooLarge, limit: LARGEST_FILE }, place)]);
  } catch (error) {
    return unreadable([makeProblem('prompt/unreadable', { reason: systemCodeOf(error) }, place)]);
  }
}
