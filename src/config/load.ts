import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { findRoot, isRoot, isWithin, rootsAbove } from '../files/paths.ts';
import { makeProblem, systemCodeOf } from '../problem.ts';
import { CONFIG_NAME } from './config.ts';
import { parseConfig, type ConfigResult } from './parse.ts';

/** Where a configuration is looked for: a named file, or from the working directory upwards. */
export type ConfigRequest = {
  readonly workingDirectory: string;
  /** Relative to the working directory. */
  readonly file?: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
};

/** Finds, reads and parses the configuration. What is wrong with it, or that there is none, is in the problems. */
export async function loadConfig({ workingDirectory, file, environment }: ConfigRequest): Promise<ConfigResult> {
  const path = file === undefined ? findConfigFile(workingDirectory) : resolve(workingDirectory, file);
  if (path === null) return { config: null, problems: [makeProblem('config/not-found')] };
  const shownPath = file ?? basename(path);
  const read = readText(path);
  if ('reason' in read)
    return { config: null, problems: [makeProblem('config/unreadable', read, { path: shownPath })] };
  return parseConfig(read.text, { file: path, shownPath, root: findRoot(dirname(path)), environment });
}

/** The nearest promptsync.yaml from a folder up to the repository's root; null when there is none. */
export function findConfigFile(from: string): string | null {
  const candidate = join(from, CONFIG_NAME);
  if (existsSync(candidate)) return candidate;
  const parent = dirname(from);
  return isRoot(from) || parent === from ? null : findConfigFile(parent);
}

/**
 * Devices and pipes are not read, as they may never end, nor what a link leads to outside of the repository. It blocks:
 * nothing else can be done meanwhile.
 */
function readText(path: string): { readonly text: string } | { readonly reason: string } {
  try {
    if (!statSync(path).isFile()) return { reason: 'it is not a regular file' };
    const isOutside = rootsAbove(dirname(path)).some((root) => !isWithin(path, root));
    if (isOutside) return { reason: 'a symbolic link on its path leads out of the repository' };
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path)) };
  } catch (error) {
    if (error instanceof TypeError) return { reason: 'it is not valid UTF-8' };
    const code = systemCodeOf(error);
    return { reason: code === 'ENOENT' ? 'there is no such file' : code };
  }
}
