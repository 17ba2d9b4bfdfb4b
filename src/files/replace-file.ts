import { chmod, mkdtemp, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Writes a file so that whoever reads it never sees half of it. What it links to is replaced, and it keeps its
 * permissions. A device such as /dev/null is written to instead. Throws the system's error.
 */
export async function replaceFile(path: string, content: string | Uint8Array): Promise<void> {
  const before = await stat(path).catch(() => null);
  if (before !== null && !before.isFile()) return writeFile(path, content);
  const target = await realpath(path).catch(() => path);
  // A folder of its own: under a name that can be foretold, a repository may hold a link to somewhere else.
  const folder = await mkdtemp(join(dirname(target), '.promptsync-'));
  const temporary = join(folder, 'new');
  try {
    await writeFile(temporary, content);
    if (before !== null) await chmod(temporary, before.mode);
    await rename(temporary, target);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
