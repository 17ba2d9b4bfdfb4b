import type { Config } from '../config/config.ts';
import { listConfigPaths, makeGitSettings, type WorkspaceOptions } from '../desired/open-workspace.ts';
import type { DesiredWorkspace } from '../desired/read-desired-state.ts';
import { makePromptMatcher } from '../files/find-prompt-paths.ts';
import { openRemote } from '../git/open-remote.ts';
import type { Repository } from '../git/open-repository.ts';
import { makeProblem, getErrorMessage, type Problem } from '../problem.ts';

/** The tip of the branch whose prompt files promptsync may sync. */
export type NewestCommit = {
  readonly branch: string;
  readonly commit: string;
  /**
   * Reads the files of the commit: mode, kind and id as `git ls-tree` prints them, by path from the repository root.
   */
  readonly readTree: () => Promise<ReadonlyMap<string, string>>;
};

export type MergeCheckOptions = Pick<WorkspaceOptions, 'only'> & {
  /** Skips the check whether the checked-out commit is merged and up to date, as `--any-commit` does. */
  readonly anyCommit?: boolean | undefined;
  /**
   * Reads the tip of a branch from the API of GitHub, for runs in which git cannot contact the remote. A null branch
   * stands for the default branch. Throws if the API does not return the tip.
   */
  readonly readNewestFromForge?: ((branch: string | null) => Promise<NewestCommit>) | undefined;
};

/**
 * Returns the problem that forbids a sync of the checked-out commit, if there is one. The commit must be merged into
 * the branch, and the branch must have no newer changes of the configuration or of prompt files.
 */
export async function checkMergedAndUpToDate(
  desired: DesiredWorkspace,
  options: MergeCheckOptions,
): Promise<readonly Problem[]> {
  try {
    const newer = await findNewerCommit(desired, options);
    return newer === null ? [] : [await makeNotNewestProblem(newer)];
  } catch (error) {
    return [makeProblem('guard/unknown-newest', { reason: getErrorMessage(error) })];
  }
}

/**
 * Warns if the branch got newer commits while promptsync wrote to the service. Returns no warning if the remote does
 * not respond, because all writes are done.
 */
export async function checkUpToDate(
  desired: DesiredWorkspace,
  options: MergeCheckOptions,
): Promise<readonly Problem[]> {
  const newer = await findNewerCommit(desired, options).catch(() => null);
  return newer === null ? [] : [makeProblem('guard/overtaken', newer)];
}

/** The tip of the branch, if its configuration or prompt files differ from those of the checked-out commit. */
type NewerCommit = {
  readonly branch: string;
  /** The id of the branch's tip. */
  readonly newer: string;
  /** The id of the checked-out commit. */
  readonly commit: string;
  /** The paths of the files that differ, relative to the folder of the configuration. */
  readonly paths: readonly string[];
  readonly repository: Repository;
};

/**
 * Finds the tip of the branch if it differs from the checked-out commit. Returns null if both have the same
 * configuration and prompt files. Also returns null if the check does not apply: with `--any-commit`, outside of git,
 * without a remote, or for the embedded service.
 */
async function findNewerCommit(desired: DesiredWorkspace, options: MergeCheckOptions): Promise<NewerCommit | null> {
  const { config, repository } = desired;
  if (options.anyCommit === true || repository === null || config.service?.kind === 'embedded') return null;
  const newest = await readNewestFromGit(config, repository).catch((error: unknown) => {
    if (options.readNewestFromForge === undefined) throw error;
    return options.readNewestFromForge(config.branch);
  });
  const { head: commit, listFilesAt, toFolderPath } = repository;
  if (newest === null || newest.commit === commit) return null;
  if (commit === null) throw new Error('the repository has no commit yet.');
  const [headFiles, tipFiles] = [await listFilesAt(commit), await newest.readTree()];
  const allPaths = [...new Set([...headFiles.keys(), ...tipFiles.keys()])];
  const changedPaths = allPaths.filter((path) => headFiles.get(path) !== tipFiles.get(path)).map(toFolderPath);
  const paths = changedPaths.filter(makePlannedPathCheck(desired, options));
  return paths.length === 0 ? null : { branch: newest.branch, newer: newest.commit, commit, paths, repository };
}

/** Reads the tip of the branch from the remote. Returns null if the repository has no remote. */
async function readNewestFromGit(config: Config, { listFilesAt, isShallow }: Repository): Promise<NewestCommit | null> {
  const remote = openRemote(makeGitSettings(config));
  const tip = await remote.readTip(config.branch);
  if (tip === null) return null;
  const listTipFiles = () => listFilesAt(tip.commit);
  // The clone may already have the commit. So promptsync fetches the commit only if git does not find it.
  return { ...tip, readTree: () => listTipFiles().catch(() => remote.fetchTip(tip, isShallow).then(listTipFiles)) };
}

/**
 * Returns a function that is true for the paths that a sync depends on: the configuration and the prompt files. If the
 * user selected prompts, only their files in the work tree count. A key could also select other files in the newer
 * commit, but promptsync does not parse the files of that commit.
 */
function makePlannedPathCheck(
  { config, files, skipped }: DesiredWorkspace,
  { only }: MergeCheckOptions,
): (path: string) => boolean {
  const includesAllPrompts = only.length + (skipped?.prompts.length ?? 0) === 0;
  const knownPaths = new Set([...listConfigPaths(config), ...files.map(({ path }) => path)]);
  const isPromptPath = includesAllPrompts ? makePromptMatcher(config) : () => false;
  return (path) => knownPaths.has(path) || isPromptPath(path);
}

/**
 * Makes the problem of a commit that is not the tip of the branch. If git knows the merge base of the two commits, the
 * problem says whether to merge the commit or to check out the tip. In a shallow clone, or if a commit is missing, git
 * cannot tell which commit is older. The problem then names both options.
 */
async function makeNotNewestProblem({ repository, ...newerCommit }: NewerCommit): Promise<Problem> {
  const base = repository.isShallow ? null : await repository.findMergeBase(newerCommit.commit, newerCommit.newer);
  if (base !== null && base !== newerCommit.commit) {
    return makeProblem('guard/not-merged', { kind: 'commit', ...newerCommit });
  }
  return makeProblem('guard/superseded', { ...newerCommit, behind: base !== null });
}
