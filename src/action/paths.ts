import { dirname, join, relative, resolve } from 'node:path';
import { findConfigFile } from '../config/load.ts';
import { findRoot, slashed } from '../files/paths.ts';
import type { Context } from './context.ts';

/** From a path as problems have it, relative to the configuration's folder, to one from the repository's root. */
export function pathsFromRoot({
  folder,
  inputs: { config },
}: Pick<Context, 'folder' | 'inputs'>): (path: string) => string {
  const file = config === undefined ? findConfigFile(folder) : resolve(folder, config);
  const home = file === null ? folder : dirname(file);
  const root = findRoot(home);
  // A configuration that was named is called by that name.
  return (path) => slashed(relative(root, path === config ? join(folder, path) : join(home, path)));
}
