import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { slashed } from '../../files/paths.ts';

/** In a folder in which the package is installed. */
const INSTALLED = 'node_modules/promptsync/schemas/promptsync.schema.json';

/**
 * Where editors find the schema of a promptsync.yaml, relative to its folder: where the package is installed in that
 * folder or above, up to the repository's root. Where it is not, it is expected in the folder itself.
 */
export function schemaPath(folder: string, root: string): string {
  return slashed(relative(folder, join(installedAbove(folder, root) ?? folder, INSTALLED)));
}

function installedAbove(at: string, root: string): string | null {
  if (existsSync(join(at, INSTALLED))) return at;
  return at === root || dirname(at) === at ? null : installedAbove(dirname(at), root);
}
