import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { makeProblem } from '../problem.ts';
import { findConfigFile, findRoot } from './find.ts';
import { parseConfig, type ConfigResult } from './parse.ts';

/** Where a configuration is looked for: a named file, or from the working directory upwards. */
export type ConfigRequest = {
  readonly workingDirectory: string;
  /** Relative to the working directory. */
  readonly file?: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
};

/** Finds, reads and parses the configuration. */
export async function loadConfig({ workingDirectory, file, environment }: ConfigRequest): Promise<ConfigResult> {
  const path = file === undefined ? findConfigFile(workingDirectory) : resolve(workingDirectory, file);
  if (path === null) return { config: null, problems: [makeProblem('config/not-found')] };
  const shownPath = file ?? basename(path);
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path));
    return parseConfig(text, { file: path, shownPath, root: findRoot(dirname(path)), environment });
  } catch (error) {
    const reason = existsSync(path) ? reasonOf(error) : 'there is no such file';
    return { config: null, problems: [makeProblem('config/unreadable', { reason }, { path: shownPath })] };
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof TypeError) return 'it is not valid UTF-8';
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
}
