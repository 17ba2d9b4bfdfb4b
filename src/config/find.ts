import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

export const CONFIG_NAME = 'promptsync.yaml';

/** The nearest promptsync.yaml from a folder up to the repository's root; null when there is none. */
export function findConfigFile(from: string): string | null {
  const candidate = join(from, CONFIG_NAME);
  if (existsSync(candidate)) return candidate;
  const parent = dirname(from);
  return isRepositoryRoot(from) || parent === from ? null : findConfigFile(parent);
}

/** The root of the repository that a folder is in; outside a repository the folder itself. */
export function findRoot(folder: string): string {
  const root = (at: string): string | null => {
    if (isRepositoryRoot(at)) return at;
    return dirname(at) === at ? null : root(dirname(at));
  };
  return root(folder) ?? folder;
}

/** `.git` is a file in worktrees and submodules. */
function isRepositoryRoot(folder: string): boolean {
  return existsSync(join(folder, '.git'));
}
