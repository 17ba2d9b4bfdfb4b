import type { Config } from '../config/config.ts';
import { configPaths, gitStartOf, type WorkspaceOptions } from '../desired/workspace.ts';
import type { ReadDesired } from '../desired/read-desired.ts';
import { promptMatcher } from '../files/find.ts';
import { openRemote } from '../git/remote.ts';
import type { Repository } from '../git/repository.ts';
import { makeProblem, messageOf, type Problem } from '../problem.ts';

/** The newest commit of the branch that goes live. */
export type Newest = {
  readonly branch: string;
  readonly commit: string;
  /** All that it holds, by path from the repository's root: mode, kind and id, as `git ls-tree` prints them. */
  readonly tree: () => Promise<ReadonlyMap<string, string>>;
};

export type NewestOptions = Pick<WorkspaceOptions, 'only'> & {
  /** Writes whatever the branch is at. */
  readonly anyCommit?: boolean | undefined;
  /** Asked where git cannot ask the remote: for a branch, null: for the default one. Throws when it cannot tell. */
  readonly askForge?: ((branch: string | null) => Promise<Newest>) | undefined;
};

/** Why the commit that is checked out may not be written: only what is merged and newest goes live. */
export async function mergedAndNewest(desired: ReadDesired, options: NewestOptions): Promise<readonly Problem[]> {
  try {
    const other = await findOther(desired, options);
    return other === null ? [] : [await refusalOf(other)];
  } catch (error) {
    return [makeProblem('guard/unknown-newest', { reason: messageOf(error) })];
  }
}

/** Once all is written: whether the branch has moved on meanwhile. Where that cannot be asked any more, nothing is said. */
export async function overtaken(desired: ReadDesired, options: NewestOptions): Promise<readonly Problem[]> {
  const other = await findOther(desired, options).catch(() => null);
  return other === null ? [] : [makeProblem('guard/overtaken', other)];
}

/** Null where both commits have all the same that is written from, and where nothing is guarded. */
async function findOther(desired: ReadDesired, options: NewestOptions) {
  const { config, repository } = desired;
  if (options.anyCommit === true || repository === null || config.service?.kind === 'embedded') return null;
  const newest = await askGit(config, repository).catch((error: unknown) => {
    if (options.askForge === undefined) throw error;
    return options.askForge(config.branch);
  });
  const { head: commit, treeAt, toFolder } = repository;
  if (newest === null || newest.commit === commit) return null;
  if (commit === null) throw new Error('there is no commit yet.');
  const [here, there] = [await treeAt(commit), await newest.tree()];
  const all = [...new Set([...here.keys(), ...there.keys()])];
  const different = all.filter((path) => here.get(path) !== there.get(path)).map(toFolder);
  const paths = different.filter(writtenFrom(desired, options));
  return paths.length === 0 ? null : { branch: newest.branch, newer: newest.commit, commit, paths, repository };
}

/** Null without a remote. */
async function askGit(config: Config, { treeAt, shallow }: Repository): Promise<Newest | null> {
  const remote = openRemote(gitStartOf(config));
  const tip = await remote.tipOf(config.branch);
  if (tip === null) return null;
  const tree = () => treeAt(tip.commit);
  // The clone may have it already.
  return { ...tip, tree: () => tree().catch(() => remote.fetchTip(tip, shallow).then(tree)) };
}

/**
 * The configuration and the prompt files, those that only the newest commit has as well. Where prompts were selected, it
 * is their files alone: what else a key would select there is not looked for.
 */
function writtenFrom({ config, files, narrowed }: ReadDesired, { only }: NewestOptions) {
  const isWhole = only.length + (narrowed?.left.length ?? 0) === 0;
  const always = new Set([...configPaths(config), ...files.map(({ path }) => path)]);
  const matches = isWhole ? promptMatcher(config) : () => false;
  return (path: string): boolean => always.has(path) || matches(path);
}

/** In a shallow clone, and of what was not fetched, it is not known which of the two comes first. */
async function refusalOf({ repository, ...other }: NonNullable<Awaited<ReturnType<typeof findOther>>>) {
  const base = repository.shallow ? null : await repository.mergeBase(other.commit, other.newer);
  if (base !== null && base !== other.commit) return makeProblem('guard/not-merged', other);
  return makeProblem('guard/superseded', { ...other, behind: base !== null });
}
