import { type GitSettings, openGit, splitLines } from './run-git.ts';

/** A kind of ref, named after its folder in `refs/`. */
export type RefKind = 'heads' | 'remotes' | 'tags';

/** Keeps promptsync fast in a repository with many refs. */
const MAX_REFS = 2000;

/** Lists short names, such as `main`, `origin/main` and `v1.0`. Throws a `ProblemError` if git fails. */
export async function listRefNames(kinds: readonly RefKind[], settings: GitSettings): Promise<readonly string[]> {
  const { run } = openGit(settings);
  const folders = kinds.map((kind) => `refs/${kind}/`);
  const output = await run('for-each-ref', `--count=${MAX_REFS}`, '--format=%(refname)', ...folders);
  const names = splitLines(output).map((name) => name.replace(/^refs\/[^/]+\//, ''));
  return [...new Set(names)].filter((name) => !name.endsWith('/HEAD'));
}
