import { configPaths, gitStartOf, type Selectors } from '../desired/workspace.ts';
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

export type NewestOptions = Selectors & {
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

/** A newest commit that wants something else than the one that is checked out. */
type Other = {
  readonly branch: string;
  readonly newer: string;
  readonly commit: string;
  readonly repository: Repository;
  /** From the folder of the configuration, at least one. */
  readonly paths: readonly string[];
};

/** Null where both are the same in all that is written from, and where nothing is guarded. */
async function findOther(desired: ReadDesired, options: NewestOptions): Promise<Other | null> {
  const { config, repository } = desired;
  if (options.anyCommit === true || repository === null || config.service?.kind === 'embedded') return null;
  const newest = await askGit(desired, repository).catch((error: unknown) => {
    if (options.askForge === undefined) throw error;
    return options.askForge(config.branch);
  });
  const { head: commit } = repository;
  if (newest === null || newest.commit === commit) return null;
  if (commit === null) throw new Error('there is no commit yet.');
  const [here, there] = [await repository.treeAt(commit), await newest.tree()];
  const different = [...new Set([...here.keys(), ...there.keys()])].filter(
    (path) => here.get(path) !== there.get(path),
  );
  const paths = different.map(repository.toFolder).filter(writtenFrom(desired, options));
  const { branch, commit: newer } = newest;
  return paths.length === 0 ? null : { branch, newer, commit, repository, paths };
}

/** Null without a remote. */
async function askGit({ config }: ReadDesired, repository: Repository): Promise<Newest | null> {
  const remote = openRemote(gitStartOf(config));
  const tip = await remote.tipOf(config.branch);
  if (tip === null) return null;
  if ((await repository.resolveRef(tip.commit)) === null) await remote.fetchTip(tip, repository.shallow);
  return { ...tip, tree: () => repository.treeAt(tip.commit) };
}

/**
 * The configuration and the prompt files, those that only the newest commit has as well. Where prompts were selected, it
 * is their files alone: what else a key would select there is not looked for.
 */
function writtenFrom({ config, files, narrowed }: ReadDesired, { only, named = [] }: NewestOptions) {
  const isWhole = only.length + named.length + (narrowed?.left.length ?? 0) === 0;
  const always = new Set([...configPaths(config), ...files.map(({ path }) => path)]);
  const matches = isWhole ? promptMatcher(config) : () => false;
  return (path: string): boolean => always.has(path) || matches(path);
}

/** In a shallow clone, and of what was not fetched, it is not known which of the two comes first. */
async function refusalOf({ repository, ...other }: Other): Promise<Problem> {
  const { commit, newer } = other;
  const base = repository.shallow ? null : await repository.mergeBase(commit, newer);
  if (base !== null && base !== commit) return makeProblem('guard/not-merged', other);
  return makeProblem('guard/superseded', { ...other, behind: base !== null });
}
