import { expect } from 'vitest';
import { findRepositoryRoot } from '../../src/workspace/paths.ts';
import type { GitSettings } from '../../src/git/run-git.ts';
import { openRepository, type Repository } from '../../src/git/open-repository.ts';
import { commitAll, type Files, git, makeRepository, writeFiles } from '../support/folder.ts';

export { configure } from '../support/folder.ts';

/** File names that a shell, a pattern or git's own syntax would take for something else. */
export const ODD_NAMES = [
  ...['two words.md', ' blank before and after .md', 'quo"te.md', "quo'te.md", 'back\\slash.md', 'Übergrüße.md'],
  ...['u\u0308ber.md', '-dash.md', '--all.md', '*.md', '[a-z]?.md', ':(top)magic.md', ':!not.md', '#hash.md'],
  ...['$HOME.md', 'new\nline.md', 'tab\there.md', '日本語.md'],
] as const;

/** Returns how to start git in a folder if no variable holds a key. */
export function startAt(folder: string): GitSettings {
  return { root: findRepositoryRoot(folder), keyVariables: [] };
}

export async function uncommittedOf(folder: string, paths: readonly string[]): Promise<readonly string[]> {
  return [...(await (await open(folder)).findUncommitted(paths))].toSorted();
}

export function open(folder: string, liveBranch: string | null = null): Promise<Repository> {
  return openRepository(startAt(folder), folder, liveBranch);
}

/** Commits files to the new branch `side`, and switches back to `main`. Returns the commit. */
export function commitToSide(folder: string, files: Files = {}): string {
  git(folder, 'switch', '--quiet', '--create', 'side');
  writeFiles(folder, files);
  const commit = commitAll(folder, 'Side');
  git(folder, 'switch', '--quiet', 'main');
  return commit;
}

/** Makes a repository with an unfinished merge that has a conflict in `a.md`. */
export function makeConflict(): string {
  const folder = makeRepository({ 'a.md': 'a', 'b.md': 'b' });
  commitToSide(folder, { 'a.md': 'side' });
  writeFiles(folder, { 'a.md': 'main' });
  commitAll(folder, 'Main');
  expect(() => git(folder, 'merge', '--quiet', 'side')).toThrow();
  return folder;
}

/** Settings of a user that change what git prints, or run programs of their own. */
export const UNUSUAL_SETTINGS = {
  'color.ui': 'always',
  'color.grep': 'always',
  'core.quotePath': 'true',
  'diff.relative': 'true',
  'diff.external': 'false',
  'diff.noprefix': 'true',
  'diff.renames': 'copies',
  'diff.renameLimit': '1',
  'grep.lineNumber': 'true',
  'grep.patternType': 'perl',
  'i18n.logOutputEncoding': 'latin1',
  'log.diffMerges': 'combined',
  'log.follow': 'true',
  'log.showRoot': 'false',
  'log.showSignature': 'true',
  'log.decorate': 'full',
  'format.pretty': 'fuller',
  'core.pager': 'false',
  'core.editor': 'false',
} as const;
