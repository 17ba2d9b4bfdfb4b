import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isRoot } from '../files/paths.ts';

export const CONFIG_NAME = 'promptsync.yaml';

/** The nearest promptsync.yaml from a folder up to the repository's root; null when there is none. */
export function findConfigFile(from: string): string | null {
  const candidate = join(from, CONFIG_NAME);
  if (existsSync(candidate)) return candidate;
  const parent = dirname(from);
  return isRoot(from) || parent === from ? null : findConfigFile(parent);
}
