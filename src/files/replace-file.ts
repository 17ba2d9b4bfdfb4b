import { chmod, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';

/**
 * Writes a file so that whoever reads it never sees half of it. What it links to is replaced, and it keeps its
 * permissions. A device such as /dev/null is written to instead. Throws the system's error.
 */
export async function replaceFile(path: string, content: string | Uint8Array): Promise<void> {
  const before = await stat(path).catch(() => null);
  if (before !== null && !before.isFile()) return writeFile(path, content);
  const target = await realpath(path).catch(() => path);
  const temporary = `${target}.promptsync-new`;
  try {
    await writeFile(temporary, content);
    if (before !== null) await chmod(temporary, before.mode);
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
