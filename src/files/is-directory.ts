import { statSync } from 'node:fs';

/** Whether a path leads to a folder, through symbolic links as well. */
export function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
