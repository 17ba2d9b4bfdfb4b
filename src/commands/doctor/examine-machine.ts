import { basename } from 'node:path';
import { type Config, makeGitSettings } from '../../workspace/config.ts';
import type { Workspace } from '../../desired-state/open-workspace.ts';
import {
  type DoctorPoint,
  makeErrorPoint,
  makeOkPoint,
  makeProblemPoint,
  makeUncheckedPoint,
  makeWarningPoint,
} from '../../domain/doctor-point.ts';
import type { System } from '../../domain/system.ts';
import { findRepositoryRoot, isRepositoryRoot } from '../../workspace/paths.ts';
import { type GitSettings, readGitVersion } from '../../git/run-git.ts';
import { openRemote, type Remote } from '../../git/open-remote.ts';
import { openRepository, type Repository } from '../../git/open-repository.ts';
import { toProblem } from '../../problem.ts';
import { KEY_SETTINGS } from '../../providers/provider-list.ts';
import { formatCount, joinNames, shortenCommitId } from '../../text.ts';

/** The version of Node.js that runs promptsync, and the range that the package supports, such as `>=22.19`. */
export type NodeVersions = { readonly nodeVersion: string; readonly requiredNode: string };

export type MachineExamination = {
  readonly points: readonly DoctorPoint[];
  /** The id of the checked-out commit. Null if there is none, or if git could not find it. */
  readonly head: string | null;
};

/** Checks Node.js, git and the repository. Sends at most one request to the git remote, to read the tip of a branch. */
export async function examineMachine(
  versions: NodeVersions,
  workspace: Workspace,
  system: System,
): Promise<MachineExamination> {
  const settings = findGitSettings(workspace.config, system);
  const git = await examineGit(settings);
  const { points, head } = await examineRepository(settings, git.level !== 'error', workspace, system);
  return { points: [examineNode(versions), git, ...points], head };
}

/** If the configuration is invalid, hides the variables with the default names from git. They may contain keys. */
function findGitSettings(config: Config | null, { workingDirectory }: System): GitSettings {
  if (config !== null) return makeGitSettings(config);
  const keyVariables = KEY_SETTINGS.map(({ defaultVariable }) => defaultVariable);
  return { root: findRepositoryRoot(workingDirectory), keyVariables };
}

function examineNode({ nodeVersion, requiredNode }: NodeVersions): DoctorPoint {
  const name = 'Node.js';
  if (isAtLeast(nodeVersion, requiredNode)) return makeOkPoint(name, nodeVersion);
  return makeErrorPoint(name, `${nodeVersion}, but promptsync needs ${requiredNode}`, 'Install a newer Node.js.');
}

/** Compares the major and the minor version with a range such as `>=22.19`. */
function isAtLeast(version: string, range: string): boolean {
  const [major = 0, minor = 0] = listNumbers(version);
  const [leastMajor = 0, leastMinor = 0] = listNumbers(range);
  return major === leastMajor ? minor >= leastMinor : major > leastMajor;
}

function listNumbers(text: string): readonly number[] {
  return (text.match(/\d+/g) ?? []).map(Number);
}

async function examineGit(settings: GitSettings): Promise<DoctorPoint> {
  try {
    return makeOkPoint('git', await readGitVersion(settings));
  } catch (error) {
    const hint = 'Install git, and make sure that its folder is in `PATH`.';
    return makeErrorPoint('git', toProblem(error).message, hint);
  }
}

/** The names of the points about the repository, in the order of the output. */
const REPOSITORY_POINTS = ['remote', 'live branch', 'history', 'uncommitted files'] as const;

async function examineRepository(
  settings: GitSettings,
  isGitUsable: boolean,
  workspace: Workspace,
  system: System,
): Promise<MachineExamination> {
  const { root } = settings;
  const folder = workspace.config?.folder ?? system.workingDirectory;
  const listUnchecked = (reason: string) => REPOSITORY_POINTS.map((name) => makeUncheckedPoint(name, reason));
  if (!isRepositoryRoot(root)) {
    const missing = makeWarningPoint(
      'repository',
      'none',
      'Run `git init`. Without a repository, promptsync cannot detect drift or check whether the files are merged.',
    );
    return { points: [missing], head: null };
  }
  const found = makeOkPoint('repository', `"${root}"`);
  if (!isGitUsable) return { points: [found, ...listUnchecked('git does not run')], head: null };
  try {
    const repository = await openRepository(settings, folder);
    const points = [
      found,
      ...(await examineRemote(openRemote(settings), workspace.config, system)),
      examineHistory(repository, system),
      await examineUncommitted(repository, workspace),
    ];
    return { points, head: repository.head };
  } catch (error) {
    const broken = makeProblemPoint('repository', toProblem(error));
    return { points: [broken, ...listUnchecked('git cannot read the repository')], head: null };
  }
}

async function examineRemote(remote: Remote, config: Config | null, system: System): Promise<readonly DoctorPoint[]> {
  const branch = config?.branch ?? null;
  // promptsync writes to the embedded service from any commit, so it never contacts the remote.
  if (config?.service?.kind === 'embedded') return [makeOkPoint('remote', 'not needed for the embedded service')];
  const point = await remote.findRemote(branch).then(
    (address) => {
      if (address !== null) return makeOkPoint('remote', `"${address.name}": ${address.url}`);
      const hint =
        'Add a remote with `git remote add origin URL`. Without a remote, a sync cannot check that the files are merged and up to date.';
      return makeWarningPoint('remote', 'none', hint);
    },
    (error: unknown) => makeProblemPoint('remote', toProblem(error)),
  );
  if (point.level !== 'ok') return [point, makeUncheckedPoint('live branch', 'the remote is not known')];
  return [point, await examineLiveBranch(remote, branch, system)];
}

async function examineLiveBranch(remote: Remote, branch: string | null, { environment }: System): Promise<DoctorPoint> {
  const name = 'live branch';
  try {
    const tip = await remote.readTip(branch);
    if (tip === null) return makeUncheckedPoint(name, 'there is no remote');
    const source = branch === null ? 'the default branch of the remote' : '`branch` in `promptsync.yaml`';
    return makeOkPoint(name, `"${tip.branch}" at ${shortenCommitId(tip.commit)} (${source})`);
  } catch (error) {
    const { message } = toProblem(error);
    // The action gets the tip from GitHub's API, so the failure affects only a `sync` in a step of its own.
    if (environment['GITHUB_ACTIONS'] === 'true') {
      return makeWarningPoint(
        name,
        message,
        'If a step runs `promptsync sync`, do not set `persist-credentials: false` on `actions/checkout`.',
      );
    }
    const hint =
      'Make sure that `git ls-remote` works here without a password prompt and that `branch` names an existing branch. Otherwise, promptsync blocks every sync.';
    return makeErrorPoint(name, message, hint);
  }
}

function examineHistory({ isShallow }: Repository, { environment }: System): DoctorPoint {
  const name = 'history';
  if (!isShallow) return makeOkPoint(name, 'complete');
  return makeWarningPoint(
    name,
    'the clone is shallow, so promptsync cannot read earlier commits',
    `${chooseFullCloneAdvice(environment)} promptsync needs the history to find drift and to check promotions.`,
  );
}

function chooseFullCloneAdvice(environment: System['environment']): string {
  if (environment['GITHUB_ACTIONS'] === 'true') return 'Set `fetch-depth: 0` for `actions/checkout`.';
  if (environment['GITLAB_CI'] === 'true') return 'Set the variable `GIT_DEPTH: 0` for the job.';
  return 'Run `git fetch --unshallow`. In CI, set `fetch-depth: 0` (GitHub) or `GIT_DEPTH: 0` (GitLab).';
}

/** The maximum number of paths in one point. */
const MAX_PATHS = 5;

async function examineUncommitted(
  repository: Repository,
  { config, allFiles }: Pick<Workspace, 'config' | 'allFiles'>,
): Promise<DoctorPoint> {
  const name = 'uncommitted files';
  if (config === null) return makeUncheckedPoint(name, 'the configuration is not valid');
  try {
    const paths = [...(await repository.findUncommitted([basename(config.file), ...allFiles.map(({ path }) => path)]))];
    if (paths.length === 0) return makeOkPoint(name, 'none');
    const files = paths.toSorted().map((path) => ({ path, submodule: repository.findSubmodule(path) }));
    const labels = files.map(({ path, submodule }) =>
      submodule === null ? `"${path}"` : `"${path}" (in the submodule "${submodule}")`,
    );
    const found = `${formatCount(files.length, 'file')}: ${joinNames(labels, MAX_PATHS)}`;
    const advice = files.some(({ submodule }) => submodule !== null)
      ? 'Move promptsync.yaml into the submodule, and commit the listed files that are outside the submodule.'
      : 'Commit these files.';
    return makeWarningPoint(
      name,
      found,
      `${advice} A sync rejects uncommitted prompt files, and CI reads only committed files.`,
    );
  } catch (error) {
    return makeProblemPoint(name, toProblem(error));
  }
}
