import type { Dirent } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import picomatch from 'picomatch';
import { makeProblem, type Problem } from '../problem.ts';

/** Where prompt files are looked for. `folder` is the configuration file's; no path may leave `root`. */
export type PromptPatterns = {
  readonly folder: string;
  readonly root: string;
  readonly patterns: readonly string[];
};

export type FoundPaths = {
  /** Relative to the folder, with forward slashes, sorted. */
  readonly paths: readonly string[];
  readonly problems: readonly Problem[];
};

type Glob = { readonly directory: string; readonly matches: (path: string) => boolean; readonly deep: boolean };

const NEVER_ENTERED = new Set(['.git', 'node_modules']);

/** Finds the files that the patterns match. A pattern that begins with `!` takes files out again. */
export async function findPromptPaths({ folder, root, patterns }: PromptPatterns): Promise<FoundPaths> {
  const wanted = patterns.filter((pattern) => !pattern.startsWith('!'));
  const excluded = picomatch(patterns.filter((p) => p.startsWith('!')).map((p) => p.slice(1)));
  const outside = wanted.filter((pattern) => !isInside(root, globOf(folder, pattern).directory));
  if (outside.length > 0) return { paths: [], problems: outside.map((pattern) => leaves(pattern)) };
  const results = await Promise.all(wanted.map((pattern) => findOne(folder, root, pattern)));
  const paths = results.flatMap((result) => result.paths).filter((path) => !excluded(path));
  const problems = results.flatMap((result) => result.problems).filter((problem) => !excluded(problem.path ?? ''));
  return { paths: [...new Set(paths)].sort(), problems };
}

async function findOne(folder: string, root: string, pattern: string): Promise<FoundPaths> {
  const glob = globOf(folder, pattern);
  const real = await realpath(glob.directory).catch(() => null);
  if (real === null) return { paths: [], problems: [] };
  if (!isInside(await realpath(root), real)) return { paths: [], problems: [leaves(pattern)] };
  const found: { paths: string[]; problems: Problem[] } = { paths: [], problems: [] };
  await walk(glob, glob.directory, folder, found);
  return found;
}

async function walk(
  glob: Glob,
  directory: string,
  folder: string,
  found: { paths: string[]; problems: Problem[] },
): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const full = join(directory, entry.name);
    const path = slashed(relative(folder, full));
    const matches = glob.matches(slashed(relative(glob.directory, full)));
    if (entry.isSymbolicLink()) {
      const hides = matches || (glob.deep && (await isDirectory(full)));
      if (hides) found.problems.push(makeProblem('prompt/symbolic-link', {}, { path }));
    } else if (entry.isDirectory()) {
      if (glob.deep && !NEVER_ENTERED.has(entry.name)) await walk(glob, full, folder, found);
    } else if (matches) {
      takeFile(entry, path, found);
    }
  }
}

function takeFile(entry: Dirent, path: string, found: { paths: string[]; problems: Problem[] }): void {
  if (entry.isFile()) found.paths.push(path);
  else found.problems.push(makeProblem('prompt/unreadable', { reason: 'it is not a regular file' }, { path }));
}

/** The folder that a pattern starts in and what it asks of the paths below. */
function globOf(folder: string, pattern: string): Glob {
  const { base, glob } = picomatch.scan(pattern);
  const literal = glob === '';
  const directory = resolve(folder, literal ? dirname(base) : base);
  const name = basename(base);
  return {
    directory,
    matches: literal ? (path) => path === name : picomatch(glob),
    deep: glob.includes('/') || glob.includes('**'),
  };
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}

function leaves(pattern: string): Problem {
  return makeProblem('config/pattern-outside', { pattern });
}

function slashed(path: string): string {
  return sep === '/' ? path : path.replaceAll(sep, '/');
}
