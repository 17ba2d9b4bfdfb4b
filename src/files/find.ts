import { readdirSync, type Dirent } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { makeProblem, systemCodeOf, type Place, type Problem } from '../problem.ts';
import { expandBraces, makeGlob, splitGlob } from './glob.ts';
import { firstLink, isDirectory, leaves, slashed } from './paths.ts';
import { placeOfFile } from './front-matter.ts';

/** Where prompt files are looked for. `folder` is the configuration file's; no path may leave `root`. */
export type PromptPatterns = {
  readonly folder: string;
  readonly root: string;
  readonly patterns: readonly string[];
  /** Where each pattern stands. */
  readonly patternPlaces?: readonly Place[];
};

export type FoundPaths = {
  /** Relative to the folder, with forward slashes, sorted. */
  readonly paths: readonly string[];
  readonly problems: readonly Problem[];
};

/** One way to read a pattern: the folder that it starts in, and what it asks of the paths below. */
type Glob = {
  readonly pattern: string;
  readonly directory: string;
  readonly matches: (path: string) => boolean;
  /** Whether a folder of this name may hold files that match. */
  readonly enters: (name: string) => boolean;
};
type Found = { readonly folder: string; readonly paths: string[]; readonly problems: Problem[] };

/**
 * Finds the files that the patterns match. A pattern that begins with `!` takes files out again. It blocks, as reading the
 * files does: threads take longer than a folder.
 */
export function findPromptPaths(where: PromptPatterns): FoundPaths {
  const excluded = exclusionOf(where.patterns);
  const found: Found = { folder: where.folder, paths: [], problems: [] };
  for (const [index, pattern] of where.patterns.entries()) {
    const place = where.patternPlaces?.[index] ?? {};
    for (const glob of globsOf(where.folder, [pattern])) {
      if (isOutside(glob, where)) found.problems.push(makeProblem('config/pattern-outside', { pattern }, place));
      else findAll(glob, where, found);
    }
  }
  const paths = found.paths.filter((path) => !excluded(path));
  const problems = found.problems.filter(({ code, path }) => !code.startsWith('prompt/') || !excluded(path ?? ''));
  const once = new Map(problems.map((problem) => [JSON.stringify(problem), problem]));
  return { paths: [...new Set(paths)].toSorted(), problems: [...once.values()] };
}

/** The folder that the first pattern starts in, such as `prompts`; relative to the configuration's. */
export function firstFolder({ folder, patterns }: Pick<PromptPatterns, 'folder' | 'patterns'>): string {
  const [first] = globsOf(folder, patterns);
  return first === undefined ? '' : slashed(relative(folder, first.directory));
}

/** Whether the patterns match a path (relative to the folder) at whatever commit, by its name alone. */
export function promptMatcher({ folder, patterns }: Pick<PromptPatterns, 'folder' | 'patterns'>) {
  const excluded = exclusionOf(patterns);
  const globs = globsOf(folder, patterns);
  return (path: string): boolean =>
    !excluded(path) &&
    !path.split('/').some(isNeverEntered) &&
    globs.some((glob) => reaches(glob, resolve(folder, path)));
}

function reaches({ directory, enters, matches }: Glob, full: string): boolean {
  const way = slashed(relative(directory, full));
  return !leaves(way) && way.split('/').slice(0, -1).every(enters) && matches(way);
}

function exclusionOf(patterns: readonly string[]): (path: string) => boolean {
  const globs = patterns.filter((pattern) => /^!./.test(pattern)).map((pattern) => makeGlob(pattern.slice(1)));
  return (path) => globs.some((matches) => matches(path));
}

function isOutside({ directory, pattern }: Glob, { folder, root }: PromptPatterns): boolean {
  return [directory, resolve(folder, pattern)].some((path) => leaves(slashed(relative(root, path))));
}

function findAll(glob: Glob, { folder, root }: PromptPatterns, found: Found): void {
  if (slashed(relative(root, glob.directory)).split('/').some(isNeverEntered)) return;
  const link = firstLink(root, glob.directory);
  if (link === null) walk(glob, glob.directory, found);
  else found.problems.push(linkProblem(slashed(relative(folder, link))));
}

function walk(glob: Glob, directory: string, found: Found): void {
  const [way, below] = [wayBelow(found.folder, directory), wayBelow(glob.directory, directory)];
  for (const entry of entriesOf(directory, found)) {
    const path = way + entry.name;
    const matches = glob.matches(below + entry.name);
    if (entry.isSymbolicLink()) {
      const hides = matches || (glob.enters(entry.name) && isDirectory(join(directory, entry.name)));
      if (hides) found.problems.push(linkProblem(path));
    } else if (entry.isDirectory()) {
      if (glob.enters(entry.name)) walk(glob, join(directory, entry.name), found);
    } else if (matches && entry.isFile()) {
      found.paths.push(path);
    } else if (matches) {
      const reason = 'it is not a regular file';
      found.problems.push(makeProblem('prompt/unreadable', { reason }, placeOfFile(path)));
    }
  }
}

/** From one folder to another, as names in it are put behind. */
function wayBelow(folder: string, directory: string): string {
  const way = slashed(relative(folder, directory));
  return way === '' ? '' : `${way}/`;
}

/** What is in a folder, sorted; nothing when it is not there. */
function entriesOf(directory: string, { folder, problems }: Found): readonly Dirent[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    return entries.toSorted((a, b) => Number(a.name > b.name) - Number(a.name < b.name));
  } catch (error) {
    const reason = systemCodeOf(error);
    const gone = reason === 'ENOENT' || reason === 'ENOTDIR';
    const place = placeOfFile(slashed(relative(folder, directory)));
    if (!gone) problems.push(makeProblem('prompt/unreadable', { reason }, place));
    return [];
  }
}

/** What the positive patterns ask for, one for each way to read their braces. */
function globsOf(folder: string, patterns: readonly string[]): readonly Glob[] {
  const positive = patterns.filter((pattern) => pattern !== '' && !pattern.startsWith('!'));
  return positive.flatMap(expandBraces).map((pattern) => globOf(folder, pattern));
}

function globOf(folder: string, pattern: string): Glob {
  const { base, glob } = splitGlob(pattern);
  const deep = glob.includes('/') || glob.includes('**');
  const hidden = /(^|\/)\./.test(glob);
  return {
    pattern,
    directory: resolve(folder, base),
    matches: makeGlob(glob),
    enters: (name) => deep && !isNeverEntered(name) && (hidden || !name.startsWith('.')),
  };
}

/** File systems that ignore case are meant too. */
function isNeverEntered(name: string): boolean {
  return /^(?:\.git|node_modules)$/i.test(name);
}

function linkProblem(path: string): Problem {
  return makeProblem('prompt/symbolic-link', {}, placeOfFile(path));
}
