import { readdirSync, type Dirent } from 'node:fs';
import { join, posix, resolve } from 'node:path';
import { makeProblem, describeSystemError, getSystemCode, type Place, type Problem } from '../problem.ts';
import { expandBraces, findFixedFolder, makeGlobMatcher, splitGlob } from './glob.ts';
import { findFirstLink, isDirectory, leavesFolder, makeRelativePath } from './paths.ts';
import { makeFilePlace } from './front-matter.ts';
import { NOT_REGULAR } from './read-write-files.ts';

export type PromptPatterns = {
  /** The folder of the configuration file. Patterns and paths are relative to this folder. */
  readonly folder: string;
  /** The root of the repository. The search never leaves it. */
  readonly root: string;
  readonly patterns: readonly string[];
  /** The place of each pattern in the configuration file, so that problems can refer to it. */
  readonly patternPlaces?: readonly Place[];
};

type SearchedFolder = Pick<PromptPatterns, 'folder' | 'patterns'>;

type PromptPaths = {
  /** The sorted paths, relative to the folder of the configuration file, with forward slashes. */
  readonly paths: readonly string[];
  readonly problems: readonly Problem[];
};

/** A pattern without braces, split into the folder to search and the tests for paths below it. */
type Glob = {
  readonly pattern: string;
  /** The folder to search, relative to the folder of the configuration file. It is empty or ends with a slash. */
  readonly start: string;
  /** Returns true if a path matches the pattern. The path must be relative to the start folder. */
  readonly matches: (path: string) => boolean;
  /** Returns true if a folder with this name may contain matching files, so that the search must enter it. */
  readonly entersFolder: (name: string) => boolean;
};

type PromptSearch = { readonly folder: string; readonly paths: string[]; readonly problems: Problem[] };

/** Finds the files that match the patterns. Reads folders synchronously, because a thread pool is slower. */
export function findPromptPaths(where: PromptPatterns): PromptPaths {
  const isExcluded = makeExclusionMatcher(where.patterns);
  const search: PromptSearch = { folder: where.folder, paths: [], problems: [] };
  for (const [index, pattern] of where.patterns.entries()) {
    const outside = makeProblem('config/pattern-outside', { pattern }, where.patternPlaces?.[index] ?? {});
    const { paths, problems } = search;
    const foundBefore = paths.length + problems.length;
    for (const glob of makeGlobs({ ...where, patterns: [pattern] })) searchGlob(glob, where.root, outside, search);
    if (paths.length + problems.length > foundBefore) continue;
    const suggestion = suggestPattern(pattern, where);
    if (suggestion === null) continue;
    problems.push(makeProblem('config/pattern-unmatched', { pattern, suggestion }, where.patternPlaces?.[index] ?? {}));
  }
  const paths = search.paths.filter((path) => !isExcluded(path));
  const problems = search.problems.filter(({ code, path }) => !code.startsWith('prompt/') || !isExcluded(path ?? ''));
  const uniqueProblems = new Map(problems.map((problem) => [JSON.stringify(problem), problem]));
  return { paths: [...new Set(paths)].toSorted(), problems: [...uniqueProblems.values()] };
}

/** Suggests a correction if the pattern names a folder or has backslashes in place of slashes. */
function suggestPattern(pattern: string, { folder, root }: PromptPatterns): string | null {
  const withSlashes = pattern.replaceAll('\\', '/');
  const name = withSlashes.replace(/\/+$/, '');
  const isFolder = !/[*?[\]{}!]/.test(name) && (withSlashes !== name || isDirectory(resolve(folder, name)));
  if (isFolder) return name === '.' || name === '' ? '**/*.md' : `${name}/**/*.md`;
  if (withSlashes === pattern) return null;
  const search: PromptSearch = { folder, paths: [], problems: [] };
  const outside = makeProblem('config/pattern-outside', { pattern });
  for (const glob of makeGlobs({ folder, patterns: [withSlashes] })) searchGlob(glob, root, outside, search);
  return search.paths.length > 0 ? withSlashes : null;
}

/** Returns the folder of the first pattern, such as `prompts`, relative to the folder of the configuration file. */
export function findFirstFolder(where: SearchedFolder): string {
  return makeGlobs(where)[0]?.start.slice(0, -1) ?? '';
}

/** Returns the folders in which prompt files can be, relative to the folder of the configuration file. */
export function listSearchFolders(where: SearchedFolder): readonly string[] {
  return [...new Set(makeGlobs(where).map(({ start }) => start.replace(/\/$/, '')))];
}

/** Returns a test for paths that are relative to the configuration file. It reads no files, so any commit works. */
export function makePromptMatcher(where: SearchedFolder): (path: string) => boolean {
  const isExcluded = makeExclusionMatcher(where.patterns);
  const globs = makeGlobs(where);
  return (path) =>
    !isExcluded(path) && !path.split('/').some(isNeverEntered) && globs.some((glob) => matchesGlob(glob, path));
}

function matchesGlob({ start, entersFolder, matches }: Glob, path: string): boolean {
  if (!path.startsWith(start)) return false;
  const below = path.slice(start.length);
  const folders = below.split('/').slice(0, -1);
  return folders.every(entersFolder) && matches(below);
}

function isExclusion(pattern: string): boolean {
  return pattern.startsWith('!');
}

function makeExclusionMatcher(patterns: readonly string[]): (path: string) => boolean {
  const globs = patterns.filter(isExclusion).map((pattern) => makeGlobMatcher(pattern.slice(1)));
  return (path) => globs.some((matches) => matches(path));
}

function searchGlob(glob: Glob, root: string, outside: Problem, search: PromptSearch): void {
  const directory = resolve(search.folder, glob.start);
  const start = makeRelativePath(root, directory);
  if (leavesFolder(start) || leavesFolder(makeRelativePath(root, resolve(search.folder, glob.pattern))))
    search.problems.push(outside);
  else if (!start.split('/').some(isNeverEntered)) {
    const link = findFirstLink(root, directory);
    if (link === null) walkFolder(glob, '', search);
    else search.problems.push(makeLinkProblem(makeRelativePath(search.folder, link)));
  }
}

/**
 * Adds the matching files in a folder and its subfolders to the search.
 * @param below relative to the start folder of the pattern; empty or with a slash at the end
 */
function walkFolder(glob: Glob, below: string, search: PromptSearch): void {
  for (const entry of readEntries(glob.start + below, search)) {
    const [inside, path] = [below + entry.name, glob.start + below + entry.name];
    const matches = glob.matches(inside);
    if (entry.isSymbolicLink()) {
      const hidesFiles = matches || (glob.entersFolder(entry.name) && isDirectory(join(search.folder, path)));
      if (hidesFiles) search.problems.push(makeLinkProblem(path));
    } else if (entry.isDirectory()) {
      if (glob.entersFolder(entry.name)) walkFolder(glob, `${inside}/`, search);
    } else if (matches && entry.isFile()) {
      search.paths.push(path);
    } else if (matches) {
      const reason = NOT_REGULAR;
      search.problems.push(makeProblem('prompt/unreadable', { reason }, makeFilePlace(path)));
    }
  }
}

/** Reads the entries of a folder. A missing folder has none. If it cannot be read, adds a problem to the search. */
function readEntries(path: string, { folder, problems }: PromptSearch): readonly Dirent[] {
  try {
    return readdirSync(join(folder, path), { withFileTypes: true });
  } catch (error) {
    const code = getSystemCode(error);
    const isMissing = code === 'ENOENT' || code === 'ENOTDIR';
    const reason = describeSystemError(error);
    if (!isMissing) problems.push(makeProblem('prompt/unreadable', { reason }, makeFilePlace(path.slice(0, -1))));
    return [];
  }
}

/** Omits exclusions. A pattern with braces yields one glob for each expansion. */
function makeGlobs({ folder, patterns }: SearchedFolder): readonly Glob[] {
  const positive = patterns.filter((pattern) => !isExclusion(pattern));
  return positive.flatMap(expandBraces).map((pattern) => parseGlob(folder, pattern));
}

function parseGlob(folder: string, pattern: string): Glob {
  const { base, glob } = splitGlob(pattern);
  const entersSubfolders = glob.includes('/') || glob.includes('**');
  const entersHidden = /(^|\/)\./.test(glob);
  return {
    pattern,
    start: `${makeRelativePath(folder, resolve(folder, base))}/`.replace(/^\/$/, ''),
    matches: makeGlobMatcher(glob),
    entersFolder: (name) => entersSubfolders && !isNeverEntered(name) && (entersHidden || !name.startsWith('.')),
  };
}

/** Returns true if the search must never enter a folder with this name. Ignores case, because some file systems do. */
function isNeverEntered(name: string): boolean {
  return /^(?:\.git|node_modules)$/i.test(name);
}

function makeLinkProblem(path: string): Problem {
  return makeProblem('prompt/symbolic-link', {}, makeFilePlace(path));
}

/**
 * The ids that files take from their paths. Such an id is the path below the fixed part of the first pattern that
 * matches, without the extension. Paths are relative to the folder of the configuration file.
 */
export type PathIds = {
  /** Returns the id that a file takes from its path. Returns null if no pattern matches the path. */
  readonly findId: (path: string) => string | null;
  /** Returns the paths that would give this id to a file with this extension. */
  readonly listPaths: (id: string, extension: string) => readonly string[];
};

/** Converts paths to ids and back. The functions read no files, so the paths may come from any commit. */
export function makePathIds({ folder, patterns }: SearchedFolder): PathIds {
  const exclusions = patterns.filter(isExclusion);
  const sources = patterns
    .filter((pattern) => !isExclusion(pattern))
    .map((pattern) => ({
      matches: makePromptMatcher({ folder, patterns: [pattern, ...exclusions] }),
      start: `${makeRelativePath(folder, resolve(folder, findFixedFolder(pattern)))}/`.replace(/^\/$/, ''),
    }));
  const findId = (path: string): string | null => {
    const source = sources.find(({ matches }) => matches(path));
    if (source === undefined) return null;
    return path.slice(source.start.length, path.length - posix.extname(path).length);
  };
  return {
    findId,
    listPaths: (id, extension) => {
      const paths = new Set(sources.map(({ start }) => start + id + extension));
      return [...paths].filter((path) => findId(path) === id);
    },
  };
}
