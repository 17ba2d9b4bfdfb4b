import { findRepositoryRoot } from '../../src/workspace/paths.ts';
import type { GitSettings } from '../../src/git/run-git.ts';
import { openRepository, type Repository } from '../../src/git/open-repository.ts';

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
