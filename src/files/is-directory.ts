import { stat } from 'node:fs/promises';

/** Whether a path leads to a folder, through symbolic links as well. */
export async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}
