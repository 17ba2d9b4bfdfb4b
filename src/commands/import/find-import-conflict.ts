import { lstat } from 'node:fs/promises';
import { dirname, posix, resolve } from 'node:path';
import type { Config } from '../../workspace/config.ts';
import { escapeSelector } from '../../text.ts';
import type { PromptIdentity } from '../../domain/prompt-file.ts';
import { makePromptMatcher } from '../../workspace/find-prompt-paths.ts';
import { findFirstLink, makeRelativePath } from '../../workspace/paths.ts';
import { makeProblem, type Problem } from '../../problem.ts';

export type NewFileLocation = {
  readonly config: Config;
  /** The folder for new files, relative to the folder of the configuration. */
  readonly folder: string;
};

/** Returns a problem if no pattern matches the path, if it contains a symbolic link, or if something exists there. */
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

/** `taken` contains the existing files and the earlier new files, indexed by `indexByIdentity`. */
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

export function indexByIdentity(files: readonly PromptIdentity[]): Map<string, PromptIdentity> {
  return new Map(files.flatMap((file) => listIdentityKeys(file).map((identityKey) => [identityKey, file])));
}

/** Paths that differ only in case have the same index key, because many file systems ignore case. */
export function listIdentityKeys({ id, key, path }: PromptIdentity): readonly string[] {
  const identityKeys = [`id ${id}`, `key ${key}`, `path ${path.toLowerCase()}`];
  return identityKeys.map((identityKey) => identityKey.normalize('NFC'));
}
