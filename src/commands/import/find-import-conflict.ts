import { lstat } from 'node:fs/promises';
import { dirname, posix, resolve } from 'node:path';
import type { Config } from '../../workspace/config.ts';
import { escapeSelector } from '../../text.ts';
import type { PromptIdentity } from '../../domain/prompt-file.ts';
import { makePromptMatcher } from '../../workspace/find-prompt-paths.ts';
import { findFirstLink, makeRelativePath } from '../../workspace/paths.ts';
import { makeProblem, type Problem } from '../../problem.ts';

/** Where `import` puts new files. */
export type NewFileLocation = {
  readonly config: Config;
  /** The folder for new files, relative to the folder of the configuration. */
  readonly folder: string;
};

/**
 * Returns a problem if promptsync cannot create a file at a path. Returns null if it can. There are three possible
 * problems:
 *
 * - No pattern in the configuration matches the path.
 * - A folder in the path is a symbolic link.
 * - Something already exists at the path.
 */
export async function findImportObstacle(
  path: string,
  { config, folder: newFilesFolder }: NewFileLocation,
): Promise<Problem | null> {
  const { folder, root } = config;
  if (!makePromptMatcher(config)(path)) {
    const pattern = posix.join(escapeSelector(newFilesFolder), '**/*.md');
    return makeProblem('import/not-matched', { path, pattern });
  }
  const fullPath = resolve(folder, path);
  const link = findFirstLink(root, dirname(fullPath));
  if (link !== null) return makeProblem('import/symbolic-link', { path: makeRelativePath(folder, link) });
  const stats = await lstat(fullPath).catch(() => null);
  return stats === null ? null : makeProblem('import/path-taken', { path });
}

/**
 * Returns a problem if a new file has the same id, key or path as another file. Returns null otherwise.
 * @param taken the existing files and the earlier new files, indexed by `indexByIdentity`
 */
export function findIdentityConflict(
  newFile: PromptIdentity,
  taken: ReadonlyMap<string, PromptIdentity>,
): Problem | null {
  const { id, key } = newFile;
  const [sameId, sameKey, samePath] = listIdentityKeys(newFile).map((identityKey) => taken.get(identityKey));
  if (sameId !== undefined) {
    return makeProblem('import/known', { what: 'id', value: id, key: sameId.key, other: sameId.path });
  }
  if (sameKey !== undefined) return makeProblem('import/known', { what: 'key', value: key, key, other: sameKey.path });
  return samePath === undefined ? null : makeProblem('import/path-taken', { path: samePath.path });
}

/** Indexes files by id, key and path, each of which must be unique. */
export function indexByIdentity(files: readonly PromptIdentity[]): Map<string, PromptIdentity> {
  return new Map(files.flatMap((file) => listIdentityKeys(file).map((identityKey) => [identityKey, file])));
}

/**
 * Returns the index keys for the id, the key and the path of a file. Paths that differ only in case have the same index
 * key, because many file systems ignore case.
 */
export function listIdentityKeys({ id, key, path }: PromptIdentity): readonly string[] {
  const identityKeys = [`id ${id}`, `key ${key}`, `path ${path.toLowerCase()}`];
  return identityKeys.map((identityKey) => identityKey.normalize('NFC'));
}
