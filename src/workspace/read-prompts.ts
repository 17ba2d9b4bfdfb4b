import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { PromptFile } from '../domain/prompt-file.ts';
import type { FileRules } from '../providers/provider-interface.ts';
import { isError, makeProblem, describeSystemError, type Problem } from '../problem.ts';
import { findPromptPaths, type PromptPatterns } from './find-prompt-paths.ts';
import { makeFilePlace } from './front-matter.ts';
import { parsePromptFile, makeUnreadableResult, type ParseResult, type ParseSettings } from './parse-prompt-file.ts';
import type { LocatedText, PromptOutline } from './prompt-outline.ts';
import { MAX_FILE_BYTES, NOT_REGULAR, readBytes } from './read-write-files.ts';

/** The prompt files of a workspace and their problems. If any problem is an error, callers must not sync the files. */
type ReadPromptsResult = {
  /** The valid files, sorted by path. */
  readonly files: readonly PromptFile[];
  /** The files with errors. Also contains links and folders that promptsync does not read. */
  readonly invalidFiles: readonly InvalidFile[];
  readonly problems: readonly Problem[];
  /** The number of files found, whether or not they are valid. */
  readonly count: number;
};

export type InvalidFile = {
  readonly path: string;
  /** The id in the file. Null if promptsync cannot read it. */
  readonly id: string | null;
  /** The key in the file. Null if promptsync cannot read it. */
  readonly key: string | null;
  /** The errors of the file, including those about an id or a key that it shares with other files. */
  readonly errors: readonly Problem[];
};

export type PromptSources = PromptPatterns &
  ParseSettings & {
    readonly rules: FileRules;
  };

/** The number of files to read before each pause. Signal handlers and timers run during the pauses. */
const MAX_FILES_PER_TURN = 64;

/** Reads and checks the prompt files of a workspace. Reports all problems of all files. */
export async function readPrompts(where: PromptSources): Promise<ReadPromptsResult> {
  const search = findPromptPaths(where);
  const results = await readPromptFiles(where, search.paths);
  const outlines = results.flatMap(({ outline }) => outline ?? []);
  const repetitions = findRepetitions(outlines);
  const isEmpty = search.paths.length + search.problems.length === 0;
  const problems = [
    ...(isEmpty ? [makeProblem('prompt/none-found', { patterns: where.patterns })] : []),
    ...search.problems,
    ...results.flatMap((result) => result.problems),
    ...repetitions.map(({ problem }) => problem),
  ];
  const outlinesByPath = new Map(search.paths.map((path, index) => [path, results[index]?.outline ?? null]));
  const invalidFiles = listInvalidFiles(problems, repetitions, outlinesByPath);
  const faultyPaths = new Set(invalidFiles.map(({ path }) => path));
  const files = results.flatMap(({ file }) => file ?? []).filter(({ path }) => !faultyPaths.has(path));
  return { files, invalidFiles, problems, count: search.paths.length };
}

/** Lists the files with errors, and the errors of each of them. Errors in the configuration belong to no file. */
function listInvalidFiles(
  problems: readonly Problem[],
  repetitions: readonly Repetition[],
  outlinesByPath: ReadonlyMap<string, PromptOutline | null>,
): readonly InvalidFile[] {
  const located = problems
    .filter((problem) => isError(problem) && !problem.code.startsWith('config/'))
    .map((problem) => ({ problem, paths: [problem.path ?? ''] }));
  const pairs = [...located, ...repetitions].flatMap(({ problem, paths }) => paths.map((path) => ({ problem, path })));
  const groups = [...Map.groupBy(pairs, ({ path }) => path)].filter(([path]) => path !== '');
  return groups.map(([path, group]) => {
    const outline = outlinesByPath.get(path) ?? null;
    const id = outline?.id?.value ?? null;
    const errors = new Set(group.map(({ problem }) => problem));
    return { path, id, key: outline?.key?.value ?? id, errors: [...errors] };
  });
}

async function readPromptFiles(where: PromptSources, paths: readonly string[]): Promise<readonly ParseResult[]> {
  const results: ParseResult[] = [];
  for (const path of paths) {
    results.push(readPromptFile(where, path));
    if (results.length % MAX_FILES_PER_TURN === 0) await setImmediate();
  }
  return results;
}

function readPromptFile(where: PromptSources, path: string): ParseResult {
  const place = makeFilePlace(path);
  try {
    const file = readBytes(join(where.folder, path));
    switch (file.kind) {
      case 'read':
        return parsePromptFile(file.bytes, path, where);
      case 'too-large':
        return makeUnreadableResult([
          makeProblem('prompt/too-large', { bytes: file.size, limit: MAX_FILE_BYTES }, place),
        ]);
      case 'not-regular':
        return makeUnreadableResult([makeProblem('prompt/unreadable', { reason: NOT_REGULAR }, place)]);
    }
  } catch (error) {
    return makeUnreadableResult([makeProblem('prompt/unreadable', { reason: describeSystemError(error) }, place)]);
  }
}

/** The problem about an id or a key that several files share, and the paths of all these files. */
type Repetition = { readonly problem: Problem; readonly paths: readonly string[] };

/** Finds shared ids and keys. If the same files share both, one is probably a copy, so a single problem names both. */
function findRepetitions(outlines: readonly PromptOutline[]): readonly Repetition[] {
  const ids = groupRepeatedNames(outlines.flatMap(({ id }) => id ?? []));
  const keys = groupRepeatedNames(outlines.flatMap(({ key }) => key ?? []));
  const keysByPaths = new Map(keys.map((key) => [joinPaths(key), key]));
  const idPaths = new Set(ids.map(joinPaths));
  const makeRepetition = ({ name, others }: RepeatedName, problem: Problem): Repetition => {
    return { problem, paths: [name.place.path ?? '', ...others] };
  };
  return [
    ...ids.map((id) => {
      const key = keysByPaths.get(joinPaths(id))?.name.value ?? null;
      const evidence = { id: id.name.value, key, others: id.others };
      return makeRepetition(id, makeProblem('prompt/duplicate-id', evidence, id.name.place));
    }),
    ...keys
      .filter((key) => !idPaths.has(joinPaths(key)))
      .map((key) => {
        const evidence = { key: key.name.value, others: key.others };
        return makeRepetition(key, makeProblem('prompt/duplicate-key', evidence, key.name.place));
      }),
  ];
}

/** An id or a key that several files share: its occurrence in the second file, and the paths of all other files. */
type RepeatedName = { readonly name: LocatedText; readonly others: readonly string[] };

/** Returns the same string for two names if exactly the same files have them. */
function joinPaths({ name, others }: RepeatedName): string {
  return [name.place.path, ...others].join('\0');
}

/** Groups repeated names. Compares them in form NFC, because names that look alike can be encoded differently. */
function groupRepeatedNames(names: readonly LocatedText[]): readonly RepeatedName[] {
  const groups = Map.groupBy(names, ({ value }) => value.normalize('NFC')).values();
  return [...groups].flatMap(([first, second, ...rest]) => {
    if (first === undefined || second === undefined) return [];
    return [{ name: second, others: [first, ...rest].map(({ place }) => place.path ?? '') }];
  });
}
