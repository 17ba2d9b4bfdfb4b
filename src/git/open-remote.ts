import { toGitError, splitLines, openGit, type RunGit, type GitSettings } from './open-git.ts';

/** A remote that says nothing for so long has hung, or waits for a password that nobody will type. */
export const MAX_SILENCE_MS = 60_000;

export const DEFAULT_REMOTE = 'origin';

/** The commit that a branch of a remote is at now. */
export type BranchTip = { readonly remote: string; readonly branch: string; readonly commit: string };

/** The remote that a clone comes from. Each function throws a `ProblemError` if git or the remote cannot answer. */
export type Remote = {
  /** Returns the address of `origin`; empty if the clone has none. */
  readonly readAddress: () => Promise<string>;
  /**
   * Asks the remote for the tip of a branch. The branch null is the remote's default branch. Returns null if the clone
   * has no remote.
   */
  readonly readTip: (branch: string | null) => Promise<BranchTip | null>;
  /** Fetches the objects of a tip. No ref moves. A shallow clone gets the commit without its history. */
  readonly fetchTip: (tip: BranchTip, shallow: boolean) => Promise<void>;
  /** Fetches the history of all branches that a shallow clone leaves out. Local files and branches stay as they are. */
  readonly fetchHistory: () => Promise<void>;
};

export function openRemote(start: GitSettings): Remote {
  // The variable may say how the user's keys are found.
  const { run } = openGit(start, { timeout: { block: MAX_SILENCE_MS }, allowEnvironment: ['GIT_SSH_COMMAND'] });
  return {
    readAddress: async () => (await run('config', '--get', `remote.${DEFAULT_REMOTE}.url`)).trim(),
    readTip: (branch) => readTip(run, branch),
    fetchTip: async ({ remote, commit }, shallow) => {
      const alone = ['--no-tags', '--no-prune', '--refmap=', '--no-write-fetch-head', '--no-recurse-submodules'];
      await run('fetch', '--quiet', ...alone, ...(shallow ? ['--depth=1'] : []), '--', remote, commit);
    },
    fetchHistory: async () => {
      await run('fetch', '--quiet', '--unshallow', '--no-recurse-submodules', '--', DEFAULT_REMOTE);
    },
  };
}

async function readTip(run: RunGit, branch: string | null): Promise<BranchTip | null> {
  const remote = await chooseRemote(run, branch);
  if (remote === null) return null;
  const ref = branch === null ? 'HEAD' : `${BRANCHES}${branch}`;
  const listed = await run('ls-remote', '--quiet', ...(branch === null ? ['--symref'] : []), '--', remote, ref);
  // A name may be a pattern here, and matches the ends of longer ones.
  const found = splitLines(listed).find((line) => line.endsWith(`\t${ref}`)) ?? '';
  const [value = ''] = found.split('\t');
  if (branch !== null && value !== '') return { remote, branch, commit: value };
  // The default branch may track another remote than the one that says its name.
  if (value.startsWith(`ref: ${BRANCHES}`)) return readTip(run, value.slice(`ref: ${BRANCHES}`.length));
  throw toGitError(new Error(`the remote "${remote}" has no ${branch === null ? 'default branch' : ref}.`));
}

const BRANCHES = 'refs/heads/';

/** The remote that a branch tracks, else `origin`, else the only one; null where there is none. Throws a `ProblemError`. */
async function chooseRemote(run: RunGit, branch: string | null): Promise<string | null> {
  const remotes = splitLines(await run('remote'));
  const tracked = branch === null ? '' : (await run('config', '--get', `branch.${branch}.remote`)).trim();
  const remote = [tracked, DEFAULT_REMOTE].find((name) => remotes.includes(name));
  if (remote === undefined && remotes.length > 1) {
    const which = 'set `branch` in promptsync.yaml, and let that branch track one (git branch --set-upstream-to)';
    throw toGitError(new Error(`the remotes are ${remotes.join(', ')}, and none is "${DEFAULT_REMOTE}": ${which}.`));
  }
  return remote ?? remotes[0] ?? null;
}

/** The ref where the clone keeps the tip of a branch (null: of the default one), as it knows it; null: it does not. */
export async function readKnownTip(run: RunGit, branch: string | null): Promise<string | null> {
  const remote = await chooseRemote(run, branch).catch(() => undefined);
  if (remote === undefined) return null;
  if (remote === null) return branch && `${BRANCHES}${branch}`;
  const known = `refs/remotes/${remote}/`;
  if (branch !== null) return known + branch;
  const name = (await run('symbolic-ref', '--quiet', `${known}HEAD`)).trim().slice(known.length);
  return name === '' ? null : readKnownTip(run, name);
}
