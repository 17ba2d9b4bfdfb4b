import { gitProblem, linesIn, openGit, type Ask, type GitStart } from './driver.ts';

/** A remote that says nothing for so long has hung, or waits for a password that nobody will type. */
export const SILENCE = 60_000;

export const REMOTE = 'origin';

/** The commit that a branch of a remote is at now. */
export type Tip = { readonly remote: string; readonly branch: string; readonly commit: string };

/** The remote that a clone comes from. Each function throws a `ProblemError` when it cannot answer. */
export function openRemote(start: GitStart) {
  // The variable may say how the user's keys are found.
  const { ask } = openGit(start, { timeout: { block: SILENCE }, allowEnvironment: ['GIT_SSH_COMMAND'] });
  return {
    /** Where the clone comes from; empty where it comes from nowhere. */
    address: async () => (await ask('config', '--get', `remote.${REMOTE}.url`)).trim(),
    /** The tip of a branch (null: of the remote's default one) on its remote; null where there is no remote. */
    tipOf: (branch: string | null) => tipOf(ask, branch),
    /** Fetches the objects of a tip. No ref moves, and a full clone stays full; a shallow one gets the commit alone. */
    fetchTip: ({ remote, commit }: Tip, shallow: boolean) => {
      const alone = ['--no-tags', '--no-prune', '--refmap=', '--no-write-fetch-head', '--no-recurse-submodules'];
      return ask('fetch', '--quiet', ...alone, ...(shallow ? ['--depth=1'] : []), '--', remote, commit);
    },
    /** Fetches the history that a shallow clone leaves out, of all its branches. Files and refs of ours stay. */
    fetchHistory: () => ask('fetch', '--quiet', '--unshallow', '--no-recurse-submodules', '--', REMOTE),
  };
}

async function tipOf(ask: Ask, branch: string | null): Promise<Tip | null> {
  const remote = await remoteOf(ask, branch);
  if (remote === null) return null;
  const ref = branch === null ? 'HEAD' : `${BRANCHES}${branch}`;
  const listed = await ask('ls-remote', '--quiet', ...(branch === null ? ['--symref'] : []), '--', remote, ref);
  // A name may be a pattern here, and matches the ends of longer ones.
  const found = linesIn(listed).find((line) => line.endsWith(`\t${ref}`)) ?? '';
  const [value = ''] = found.split('\t');
  if (branch !== null && value !== '') return { remote, branch, commit: value };
  // The default branch may track another remote than the one that says its name.
  if (value.startsWith(`ref: ${BRANCHES}`)) return tipOf(ask, value.slice(`ref: ${BRANCHES}`.length));
  throw gitProblem(new Error(`the remote "${remote}" has no ${branch === null ? 'default branch' : ref}.`));
}

const BRANCHES = 'refs/heads/';

/** The remote that a branch tracks, else `origin`, else the only one; null where there is none. Throws a `ProblemError`. */
async function remoteOf(ask: Ask, branch: string | null): Promise<string | null> {
  const remotes = linesIn(await ask('remote'));
  const tracked = branch === null ? '' : (await ask('config', '--get', `branch.${branch}.remote`)).trim();
  const remote = [tracked, REMOTE].find((name) => remotes.includes(name));
  if (remote === undefined && remotes.length > 1) {
    const which = 'set `branch` in promptsync.yaml, and let that branch track one (git branch --set-upstream-to)';
    throw gitProblem(new Error(`the remotes are ${remotes.join(', ')}, and none is "${REMOTE}": ${which}.`));
  }
  return remote ?? remotes[0] ?? null;
}

/** The ref where the clone keeps the tip of a branch (null: of the default one), as it knows it; null: it does not. */
export async function knownTip(ask: Ask, branch: string | null): Promise<string | null> {
  const remote = await remoteOf(ask, branch).catch(() => undefined);
  if (remote === undefined) return null;
  if (remote === null) return branch && `${BRANCHES}${branch}`;
  const known = `refs/remotes/${remote}/`;
  if (branch !== null) return known + branch;
  const name = (await ask('symbolic-ref', '--quiet', `${known}HEAD`)).trim().slice(known.length);
  return name === '' ? null : knownTip(ask, name);
}
