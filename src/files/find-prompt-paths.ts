import { readdirSync, type Dirent } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { makeProblem, getSystemCode, type Place, type Problem } from '../problem.ts';
import { expandBraces, makeGlob, splitGlob } from './glob.ts';
import { findFirstLink, isDirectory, leavesFolder, toForwardSlashes } from './paths.ts';
import { makeFilePlace } from './front-matter.ts';

/** Where prompt files are looked for. `folder` is the configuration file's; no path may leave `root`. */
export type PromptPatterns = {
  readonly folder: string;
  readonly root: string;
  readonly patterns: readonly string[];
  readonly patternPlaces?: readonly Place[];
};

type SearchedFolder = Pick<PromptPatterns, 'folder' | 'patterns'>;

type FoundPaths = {
  /** Relative to the folder, with forward slashes, sorted. */
  readonly paths: readonly string[];
  readonly problems: readonly Problem[];
};

/** One way to read a pattern: the folder that it starts in, and what it asks of the paths below. */
type Glob = {
  readonly pattern: string;
  /** Relative to the folder of all, with a slash at its end unless it is that folder. */
  readonly start: string;
  readonly matches: (path: string) => boolean;
  /** Whether a folder of this name may hold files that match. */
  readonly enters: (name: string) => boolean;
};
type FoundFiles = { readonly folder: string; readonly paths: string[]; readonly problems: Problem[] };

/**
 * Finds the files that the patterns match. A pattern that begins with `!` takes files out again. It blocks, as reading the
 * files does: threads take longer than a folder.
 */
export function findPromptPaths(where: PromptPatterns): FoundPaths {
  const excluded = makeExclusion(where.patterns);
  const found: FoundFiles = { folder: where.folder, paths: [], problems: [] };
  for (const [index, pattern] of where.patterns.entries()) {
    const outside = makeProblem('config/pattern-outside', { pattern }, where.patternPlaces?.[index] ?? {});
    for (const glob of makeGlobs({ ...where, patterns: [pattern] })) searchGlob(glob, where.root, outside, found);
  }
  const paths = found.paths.filter((path) => !excluded(path));
  const problems = found.problems.filter(({ code, path }) => !code.startsWith('prompt/') || !excluded(path ?? ''));
  const once = new Map(problems.map((problem) => [JSON.stringify(problem), problem]));
  return { paths: [...new Set(paths)].toSorted(), problems: [...once.values()] };
}

/** The folder that the first pattern starts in, such as `prompts`; relative to the configuration's. */
export function findFirstFolder(where: SearchedFolder): string {
  return makeGlobs(where)[0]?.start.slice(0, -1) ?? '';
}

/** Whether the patterns match a path (relative to the folder) at whatever commit, by its name alone. */
export function makePromptMatcher(where: SearchedFolder): (path: string) => boolean {
  const excluded = makeExclusion(where.patterns);
  const globs = makeGlobs(where);
  return (path) =>
    !excluded(path) && !path.split('/').some(isNeverEntered) && globs.some((glob) => couldFind(glob, path));
}

function couldFind({ start, enters, matches }: Glob, path: string): boolean {
  const below = path.slice(start.length);
  return path.startsWith(start) && below.split('/').slice(0, -1).every(enters) && matches(below);
}

function makeExclusion(patterns: readonly string[]): (path: string) => boolean {
  const globs = patterns.filter((pattern) => /^!./.test(pattern)).map((pattern) => makeGlob(pattern.slice(1)));
  return (path) => globs.some((matches) => matches(path));
}

function searchGlob(glob: Glob, root: string, outside: Problem, found: FoundFiles): void {
  const directory = resolve(found.folder, glob.start);
  const start = makeRelativePath(root, directory);
  if (leavesFolder(start) || leavesFolder(makeRelativePath(root, resolve(found.folder, glob.pattern))))
    found.problems.push(outside);
  else if (!start.split('/').some(isNeverEntered)) {
    const link = findFirstLink(root, directory);
    if (link === null) walkFolder(glob, '', found);
    else found.problems.push(makeLinkProblem(makeRelativePath(found.folder, link)));
  }
}

/** @param below the folder below the one that the pattern starts in, with a slash at its end */
function walkFolder(glob: Glob, below: string, found: FoundFiles): void {
  for (const entry of readEntries(glob.start + below, found)) {
    const [inside, path] = [below + entry.name, glob.start + below + entry.name];
    const matches = glob.matches(inside);
    if (entry.isSymbolicLink()) {
      const hides = matches || (glob.enters(entry.name) && isDirectory(join(found.folder, path)));
      if (hides) found.problems.push(makeLinkProblem(path));
    } else if (entry.isDirectory()) {
      if (glob.enters(entry.name)) walkFolder(glob, `${inside}/`, found);
    } else if (matches && entry.isFile()) {
      found.paths.push(path);
    } else if (matches) {
      const reason = 'it is not a regular file';
      found.problems.push(makeProblem('prompt/unreadable', { reason }, makeFilePlace(path)));
    }
  }
}

/** What is in a folder; nothing when it is not there. */
function readEntries(path: string, { folder, problems }: FoundFiles): readonly Dirent[] {
  try {
    return readdirSync(join(folder, path), { withFileTypes: true });
  } catch (error) {
    const reason = getSystemCode(error);
    const gone = reason === 'ENOENT' || reason === 'ENOTDIR';
    if (!gone) problems.push(makeProblem('prompt/unreadable', { reason }, makeFilePlace(path.slice(0, -1))));
    return [];
  }
}

/** What the positive patterns ask for, one for each way to read their braces. */
function makeGlobs({ folder, patterns }: SearchedFolder): readonly Glob[] {
  const positive = patterns.filter((pattern) => pattern !== '' && !pattern.startsWith('!'));
  return positive.flatMap(expandBraces).map((pattern) => makeStartedGlob(folder, pattern));
}

function makeStartedGlob(folder: string, pattern: string): Glob {
  const { base, glob } = splitGlob(pattern);
  const deep = glob.includes('/') || glob.includes('**');
  const hidden = /(^|\/)\./.test(glob);
  return {
    pattern,
    start: `${makeRelativePath(folder, resolve(folder, base))}/`.replace(/^\/$/, ''),
    matches: makeGlob(glob),
    enters: (name) => deep && !isNeverEntered(name) && (hidden || !name.startsWith('.')),
  };
}

function makeRelativePath(from: string, to: string): string {
  return toForwardSlashes(relative(from, to));
}

/** File systems that ignore case are meant too. */
function isNeverEntered(name: string): boolean {
  return /^(?:\.git|node_modules)$/i.test(name);
}

function makeLinkProblem(path: string): Problem {
  return makeProblem('prompt/symbolic-link', {}, makeFilePlace(path));
}
