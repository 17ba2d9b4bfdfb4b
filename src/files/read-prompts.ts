import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { PromptFile } from '../domain/prompt-file.ts';
import type { ProviderRules } from '../domain/provider.ts';
import { suggestName } from '../domain/suggest-name.ts';
import { isError, makeProblem, getSystemCode, type Problem } from '../problem.ts';
import { findPromptPaths, type PromptPatterns } from './find-prompt-paths.ts';
import { makeFilePlace } from './front-matter.ts';
import {
  parsePromptFile,
  makeUnreadableResult,
  type LocatedText,
  type PromptOutline,
  type ParseResult,
} from './parse-prompt-file.ts';
import { MAX_FILE_BYTES, NOT_REGULAR, readBytes } from './read-write.ts';

/** What was read of a workspace; with an error among the problems the files are not to be synced. */
type ReadPromptsResult = {
  /** The valid files, in the order of their paths. */
  readonly files: readonly PromptFile[];
  readonly problems: readonly Problem[];
  /** How many files there are, valid or not. */
  readonly count: number;
};

/** Where prompt files are, and what the configuration says about what they may hold. */
export type PromptSources = PromptPatterns & {
  /** Null when any name is allowed. */
  readonly environments: readonly { readonly name: string }[] | null;
  readonly rules: ProviderRules;
};

/** After so many files, signals and timers have their turn. */
const MAX_FILES_PER_TURN = 64;

/** Reads and checks the prompt files of a workspace. Every problem of every file is reported. */
export async function readPrompts(where: PromptSources): Promise<ReadPromptsResult> {
  const { rules } = where;
  const known = where.environments?.map(({ name }) => name) ?? null;
  const found = findPromptPaths(where);
  const read = await readPromptFiles(where, found.paths);
  const outlines = read.flatMap(({ outline }) => outline ?? []);
  const none = found.paths.length + found.problems.length === 0;
  const problems = [
    ...(none ? [makeProblem('prompt/none-found', { patterns: where.patterns })] : []),
    ...found.problems,
    ...read.flatMap((one) => one.problems),
    ...checkNamesAreUnique(outlines),
    ...outlines.flatMap(({ environments }) => environments.flatMap((one) => checkEnvironment(one, known, rules))),
  ];
  const faulty = new Set(problems.filter(isError).map((problem) => problem.path));
  const files = read.flatMap(({ file }) => file ?? []).filter(({ path }) => !faulty.has(path));
  return { files, problems, count: found.paths.length };
}

async function readPromptFiles(where: PromptSources, paths: readonly string[]): Promise<readonly ParseResult[]> {
  const all: ParseResult[] = [];
  for (const path of paths) {
    all.push(readPromptFile(where, path));
    if (all.length % MAX_FILES_PER_TURN === 0) await setImmediate();
  }
  return all;
}

function readPromptFile({ folder, rules }: PromptSources, path: string): ParseResult {
  const place = makeFilePlace(path);
  try {
    const file = readBytes(join(folder, path));
    switch (file.kind) {
      case 'read':
        return parsePromptFile(file.bytes, path, rules);
      case 'too-large':
        return makeUnreadableResult([
          makeProblem('prompt/too-large', { bytes: file.size, limit: MAX_FILE_BYTES }, place),
        ]);
      case 'not-regular':
        return makeUnreadableResult([makeProblem('prompt/unreadable', { reason: NOT_REGULAR }, place)]);
    }
  } catch (error) {
    return makeUnreadableResult([makeProblem('prompt/unreadable', { reason: getSystemCode(error) }, place)]);
  }
}

/** What is wrong between files: each of those that share an id or a key names another one. */
function checkNamesAreUnique(all: readonly PromptOutline[]): readonly Problem[] {
  return [
    ...findRepeatedNames(all.flatMap(({ id }) => id ?? [])).map(({ value, place, other }) =>
      makeProblem('prompt/duplicate-id', { id: value, other }, place),
    ),
    ...findRepeatedNames(all.flatMap(({ key }) => key ?? [])).map(({ value, place, other }) =>
      makeProblem('prompt/duplicate-key', { key: value, other }, place),
    ),
  ];
}

/** Compared in normal form C: two spellings that look alike are one. */
function findRepeatedNames(names: readonly LocatedText[]): readonly (LocatedText & { readonly other: string })[] {
  const groups = [...Map.groupBy(names, ({ value }) => value.normalize('NFC')).values()];
  return groups
    .filter((group) => group.length > 1)
    .flatMap((group) => group.map((one, index) => ({ ...one, other: group[index === 0 ? 1 : 0]?.place.path ?? '' })));
}

function checkEnvironment(
  { value, place }: LocatedText,
  known: readonly string[] | null,
  { reservedEnvironments }: ProviderRules,
): readonly Problem[] {
  if (reservedEnvironments.includes(value))
    return [makeProblem('prompt/tool-environment', { environment: value }, place)];
  if (known === null || known.includes(value)) return [];
  const suggestion = suggestName(value, known);
  return [makeProblem('prompt/unknown-environment', { environment: value, known, suggestion }, place)];
}
