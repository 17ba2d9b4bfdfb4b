import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { PromptFile } from '../domain/prompt-file.ts';
import type { ProviderRules } from '../domain/provider.ts';
import { suggest } from '../domain/suggest.ts';
import { isError, makeProblem, systemCodeOf, type Problem } from '../problem.ts';
import { findPromptPaths, type PromptPatterns } from './find.ts';
import { placeOfFile } from './front-matter.ts';
import { parsePromptFile, unreadable, type Located, type Outline, type ParseResult } from './parse.ts';
import { LARGEST_FILE, readBytes } from './read-write.ts';

/** What was read of a workspace; with an error among the problems the files are not to be synced. */
type ReadPromptsResult = {
  /** The valid files, in the order of their paths. */
  readonly files: readonly PromptFile[];
  readonly problems: readonly Problem[];
  /** How many files there are, valid or not. */
  readonly count: number;
};

/** Where prompt files are, and what the configuration says about what they may hold. */
export type PromptWorkspace = PromptPatterns & {
  /** Null when any name is allowed. */
  readonly environments: readonly { readonly name: string }[] | null;
  readonly rules: ProviderRules;
};

/** After so many files, signals and timers have their turn. */
const FILES_AT_ONCE = 64;

/** Reads and checks the prompt files of a workspace. Every problem of every file is reported. */
export async function readPrompts(where: PromptWorkspace): Promise<ReadPromptsResult> {
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
    ...checkNames(outlines),
    ...outlines.flatMap(({ environments }) => environments.flatMap((one) => checkEnvironment(one, known, rules))),
  ];
  const faulty = new Set(problems.filter(isError).map((problem) => problem.path));
  const files = read.flatMap(({ file }) => file ?? []).filter(({ path }) => !faulty.has(path));
  return { files, problems, count: found.paths.length };
}

async function readPromptFiles(where: PromptWorkspace, paths: readonly string[]): Promise<readonly ParseResult[]> {
  const all: ParseResult[] = [];
  for (const path of paths) {
    all.push(readPromptFile(where, path));
    if (all.length % FILES_AT_ONCE === 0) await setImmediate();
  }
  return all;
}

function readPromptFile({ folder, rules }: PromptWorkspace, path: string): ParseResult {
  const place = placeOfFile(path);
  try {
    const bytes = readBytes(join(folder, path));
    if (bytes instanceof Uint8Array) return parsePromptFile(bytes, path, rules);
    if ('reason' in bytes) return unreadable([makeProblem('prompt/unreadable', bytes, place)]);
    return unreadable([makeProblem('prompt/too-large', { bytes: bytes.tooLarge, limit: LARGEST_FILE }, place)]);
  } catch (error) {
    return unreadable([makeProblem('prompt/unreadable', { reason: systemCodeOf(error) }, place)]);
  }
}

/** What is wrong between files: each of those that share an id or a key names another one. */
function checkNames(all: readonly Outline[]): readonly Problem[] {
  return [
    ...repeated(all.flatMap(({ id }) => id ?? [])).map(({ value, place, other }) =>
      makeProblem('prompt/duplicate-id', { id: value, other }, place),
    ),
    ...repeated(all.flatMap(({ key }) => key ?? [])).map(({ value, place, other }) =>
      makeProblem('prompt/duplicate-key', { key: value, other }, place),
    ),
  ];
}

/** Compared in normal form C: two spellings that look alike are one. */
function repeated(names: readonly Located[]): readonly (Located & { readonly other: string })[] {
  const groups = [...Map.groupBy(names, ({ value }) => value.normalize('NFC')).values()];
  return groups
    .filter((group) => group.length > 1)
    .flatMap((group) => group.map((one, index) => ({ ...one, other: group[index === 0 ? 1 : 0]?.place.path ?? '' })));
}

function checkEnvironment({ value, place }: Located, known: readonly string[] | null, { reserved }: ProviderRules) {
  if (reserved.includes(value)) return [makeProblem('prompt/tool-environment', { environment: value }, place)];
  if (known === null || known.includes(value)) return [];
  const suggestion = suggest(value, known);
  return [makeProblem('prompt/unknown-environment', { environment: value, known, suggestion }, place)];
}
