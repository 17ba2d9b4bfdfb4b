import { type Config, makeGitSettings } from '../workspace/config.ts';
import { listConfigPaths, type WorkspaceOptions } from '../desired-state/open-workspace.ts';
import type { DesiredWorkspace } from '../desired-state/read-desired-state.ts';
import { makePromptMatcher } from '../workspace/find-prompt-paths.ts';
import { isRepositoryRoot } from '../workspace/paths.ts';
import { openRemote } from '../git/open-remote.ts';
import type { Repository } from '../git/open-repository.ts';
import { makeProblem, getErrorMessage, type Problem } from '../problem.ts';

/** The tip of the branch that promptsync syncs: the configured branch, or else the default branch of the remote. */
export type NewestCommit = {
  /** The remote from which git read the tip. Absent if the GitHub API returned the tip. */
  readonly remote?: string;
  readonly branch: string;
  readonly commit: string;
  /** Maps the path of each file from the repository root to its mode, type and object id, like `git ls-tree`. */
  readonly readTree: () => Promise<ReadonlyMap<string, string>>;
};

export type MergeCheckOptions = Pick<WorkspaceOptions, 'only'> & {
  /** The value of `--any-commit`. If true, promptsync does not check that the commit is merged and up to date. */
  readonly anyCommit?: boolean | undefined;
  /**
   * Reads the tip of a branch from the GitHub API, for runs in which git cannot contact the remote. Null means the
   * default branch. Throws if the API does not return the tip.
   */
  readonly readNewestFromForge?: ((branch: string | null) => Promise<NewestCommit>) | undefined;
};

/**
 * Returns a problem if the checked-out commit is not merged or out of date, that is, if its configuration or prompt
 * files differ from those at the tip of the branch. Also returns a problem if promptsync cannot read the tip.
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

/** Returns a warning if the branch moved during the sync, but none for a silent remote, because all writes are done. */
export async function checkUpToDate(
  desired: DesiredWorkspace,
  options: MergeCheckOptions,
): Promise<readonly Problem[]> {
  const newer = await findNewerCommit(desired, options).catch(() => null);
  return newer === null ? [] : [makeProblem('guard/overtaken', newer)];
}

/**
 * Returns an error if the branch on the remote has newer commits to a selected prompt file. Edits on the checked-out
 * branch do not count, because the file need not be merged. Returns a warning if the remote does not respond.
 */
export async function checkForNewerFiles(
  desired: DesiredWorkspace,
  options: MergeCheckOptions,
): Promise<readonly Problem[]> {
  try {
    const newer = await compareWithTip(desired, options);
    const paths = newer === null ? [] : await listPathsChangedOnBranch(newer, desired);
    if (newer === null || paths.length === 0) return [];
    return [makeProblem('rollback/newer-files', { branch: newer.branch, newer: newer.newer, paths })];
  } catch (error) {
    return [makeProblem('rollback/remote-silent', { reason: getErrorMessage(error) })];
  }
}

/**
 * Returns the paths of the selected prompt files that the branch has changed since its merge base with the checked-out
 * commit. Without a merge base, for example in a shallow clone, returns all selected files that differ.
 */
async function listPathsChangedOnBranch(
  { repository, commit, newer, paths }: NewerCommit,
  { files }: Pick<DesiredWorkspace, 'files'>,
): Promise<readonly string[]> {
  const { isShallow, findMergeBase, listFilesAt, toRootPath } = repository;
  const selected = files.map(({ path }) => path).filter((path) => paths.includes(path));
  const base = isShallow ? null : await findMergeBase(commit, newer);
  if (base === null) return selected;
  const [baseFiles, tipFiles] = await Promise.all([listFilesAt(base), listFilesAt(newer)]);
  return selected.filter((path) => baseFiles.get(toRootPath(path)) !== tipFiles.get(toRootPath(path)));
}

/**
 * Returns a problem if the `branch` setting names a remote-tracking branch, such as `origin/main`. The remote has no
 * branch with this name, so every sync would fail. Does not contact the remote. If git fails, returns no problem,
 * because the sync then reports the failure.
 */
export async function checkBranchSetting(config: Config): Promise<readonly Problem[]> {
  const { branch, branchPlace } = config;
  if (branch === null || !branch.includes('/') || !isRepositoryRoot(config.root)) return [];
  const name = await openRemote(makeGitSettings(config))
    .findTrackedBranch(branch)
    .catch(() => null);
  if (name === null) return [];
  const expected = `\`${branch}\` is a remote-tracking branch, not the name of a branch on the remote`;
  const evidence = { field: 'branch', expected, fix: `Set \`branch: ${name}\` in \`promptsync.yaml\`.` };
  return [makeProblem('config/invalid-field', evidence, branchPlace ?? {})];
}

/** A branch tip whose configuration or prompt files differ from those of the checked-out commit. */
type NewerCommit = {
  readonly branch: string;
  /** The name of the branch with its remote, such as `origin/main`. */
  readonly tip: string;
  /** The commit id of the branch tip. */
  readonly newer: string;
  /** The id of the checked-out commit. */
  readonly commit: string;
  /** The paths of the files that differ, relative to the configuration's folder. */
  readonly paths: readonly string[];
  readonly repository: Repository;
};

/** Returns null with `--any-commit` and for the embedded service, which need no merged commit. */
async function findNewerCommit(desired: DesiredWorkspace, options: MergeCheckOptions): Promise<NewerCommit | null> {
  if (options.anyCommit === true || desired.config.service?.kind === 'embedded') return null;
  return compareWithTip(desired, options);
}

/**
 * Compares the checked-out commit with the tip of the branch. Returns null if the configuration and the prompt files
 * are the same, outside a git repository, and without a remote.
 */
async function compareWithTip(desired: DesiredWorkspace, options: MergeCheckOptions): Promise<NewerCommit | null> {
  const { config, repository } = desired;
  if (repository === null) return null;
  const newest = await readNewestFromGit(config, repository).catch((error: unknown) => {
    if (options.readNewestFromForge === undefined) throw error;
    return options.readNewestFromForge(config.branch);
  });
  const { head: commit, listFilesAt, toFolderPath } = repository;
  if (newest === null || newest.commit === commit) return null;
  if (commit === null) throw new Error('the repository has no commits yet.');
  const headFiles = await listFilesAt(commit);
  const tipFiles = await newest.readTree();
  const allPaths = [...new Set([...headFiles.keys(), ...tipFiles.keys()])];
  const changedPaths = allPaths.filter((path) => headFiles.get(path) !== tipFiles.get(path)).map(toFolderPath);
  const paths = changedPaths.filter(makePlannedPathCheck(desired, options));
  if (paths.length === 0) return null;
  const { remote, branch } = newest;
  const tip = remote === undefined ? branch : `${remote}/${branch}`;
  return { branch, tip, newer: newest.commit, commit, paths, repository };
}

/** Reads the tip of the branch from the remote. Returns null if the repository has no remote. */
async function readNewestFromGit(config: Config, { listFilesAt, isShallow }: Repository): Promise<NewestCommit | null> {
  const remote = openRemote(makeGitSettings(config));
  const tip = await remote.readTip(config.branch);
  if (tip === null) return null;
  const listTipFiles = () => listFilesAt(tip.commit);
  // The clone may already contain the commit, so fetch it only if git cannot list its files.
  return { ...tip, readTree: () => listTipFiles().catch(() => remote.fetchTip(tip, isShallow).then(listTipFiles)) };
}

/**
 * Returns a function that decides whether a changed file matters to the sync. Configuration files and prompt files
 * matter. If the command covers only some prompts, a file that exists only in the newer commit never matters, because
 * promptsync does not parse the files of that commit.
 */
function makePlannedPathCheck(
  { config, files, skipped }: DesiredWorkspace,
  { only }: MergeCheckOptions,
): (path: string) => boolean {
  const includesAllPrompts = only.length === 0 && (skipped?.prompts.length ?? 0) === 0;
  const knownPaths = new Set([...listConfigPaths(config), ...files.map(({ path }) => path)]);
  const isPromptPath = includesAllPrompts ? makePromptMatcher(config) : () => false;
  return (path) => knownPaths.has(path) || isPromptPath(path);
}

/**
 * If git finds the merge base of the two commits, the problem says whether to merge the checked-out commit or to check
 * out the tip. Otherwise, for example in a shallow clone, the problem suggests both actions.
 */
async function makeNotNewestProblem({ repository, ...newerCommit }: NewerCommit): Promise<Problem> {
  const { newer, commit } = newerCommit;
  const base = repository.isShallow ? null : await repository.findMergeBase(commit, newer);
  if (base === null || base === commit) {
    return makeProblem('guard/superseded', { ...newerCommit, behind: base !== null });
  }
  return makeProblem('guard/not-merged', { kind: 'unmerged', ...newerCommit });
}
