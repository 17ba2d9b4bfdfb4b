import { lstat } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import type { Config } from '../../config/config.ts';
import { literalSelector } from '../../domain/literal-selector.ts';
import type { PromptFile } from '../../domain/prompt-file.ts';
import { makeProblem, type Problem } from '../../problem.ts';
import { fileNameOf } from '../../files/new-file.ts';
import { firstLink, leaves, slashed } from '../../files/paths.ts';
import { firstFolder, promptMatcher } from '../../files/find.ts';

/** Where a prompt's new file goes, and whose place it must not take. */
export type Named = Pick<PromptFile, 'path' | 'id' | 'key'>;

/** A configuration, and the folder for new files relative to its own. */
type Place = { readonly config: Config; readonly folder: string };

/** The folder for new files, relative to the configuration's; by default the one that the first pattern begins with. */
export function importFolder(config: Config, dir: string | undefined): string | Problem {
  const { folder, root } = config;
  const way = dir === undefined ? firstFolder(config) : slashed(relative(folder, resolve(folder, dir)));
  const outside = leaves(slashed(relative(root, resolve(folder, way))));
  return outside ? makeProblem('import/outside', { folder: dir ?? way }) : way;
}

export function importPath(folder: string, key: string, id: string): string {
  return inFolder(folder, fileNameOf(key, id));
}

function inFolder(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

/** Why a new file cannot be where it would be, below a folder for new files; null where it can. */
export async function obstacleAt(path: string, { config, folder: below }: Place): Promise<Problem | null> {
  const { folder, root } = config;
  if (!promptMatcher(config)(path)) return makeProblem('import/not-matched', { path, ...wayOut(path, below, config) });
  const full = resolve(folder, path);
  const link = firstLink(root, dirname(full));
  if (link !== null) return makeProblem('import/symbolic-link', { path: slashed(relative(folder, link)) });
  const there = await lstat(full).catch(() => null);
  return there === null ? null : makeProblem('import/path-taken', { path });
}

/** What would match a new file: another folder for it, or a further pattern. */
function wayOut(path: string, below: string, { folder, patterns }: Config) {
  const name = slashed(relative(below, path));
  const further = inFolder(literalSelector(below), '**/*.md');
  const folders = patterns.map((pattern) => firstFolder({ folder, patterns: [pattern] }));
  const matches = promptMatcher({ folder, patterns });
  return {
    elsewhere: folders.find((one) => matches(inFolder(one, name))) ?? null,
    pattern: promptMatcher({ folder, patterns: [...patterns, further] })(path) ? further : null,
  };
}

/** What a file that is there, or is about to be, has of a new one: its id, its key or its path. */
export function conflictWith({ path, id, key }: Named, others: readonly Named[]): Problem | null {
  const sameId = others.find((other) => same(other.id, id));
  if (sameId !== undefined) {
    return makeProblem('import/known', { what: 'id', value: id, key: sameId.key, other: sameId.path });
  }
  const sameKey = others.find((other) => same(other.key, key));
  if (sameKey !== undefined) return makeProblem('import/known', { what: 'key', value: key, key, other: sameKey.path });
  // Many file systems ignore case.
  const samePath = others.find((other) => same(other.path.toLowerCase(), path.toLowerCase()));
  return samePath === undefined ? null : makeProblem('import/path-taken', { path: samePath.path });
}

function same(one: string, other: string): boolean {
  return one.normalize('NFC') === other.normalize('NFC');
}
