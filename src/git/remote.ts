import { gitProblem, openGit, type Ask, type GitStart } from './driver.ts';

/** A remote that says nothing for so long has hung, or waits for a password that nobody will type. */
const SILENCE = 60_000;

const REMOTE = 'origin';

/** The remote that a clone comes from. Each function throws a `ProblemError` when it cannot answer. */
export function openRemote(start: GitStart) {
  const { ask } = openGit(start, { timeout: { block: SILENCE } });
  return {
    /** The commit that a full ref (`refs/heads/main`) is at, a tag's own included; null where the remote has no such ref. */
    tipOf: async (ref: string): Promise<string | null> => {
      const peeled = `${ref}^{}`;
      const listed = await ask('ls-remote', '--quiet', '--', REMOTE, ref, peeled);
      const byName = new Map(listed.split('\n').map((line) => [line.split('\t')[1], line.split('\t')[0]]));
      return byName.get(peeled) ?? byName.get(ref) ?? null;
    },
    /** Fetches the history that a shallow clone leaves out, of all its branches. Files and refs of ours stay. */
    fetchHistory: () => ask('fetch', '--quiet', '--unshallow', '--no-recurse-submodules', '--', REMOTE),
  };
}

/** The remote that a branch tracks, else `origin`, else the only one; null where there is none. Throws a `ProblemError`. */
async function remoteOf(ask: Ask, branch: string | null): Promise<string | null> {
  const remotes = linesIn(await ask('remote'));
  const tracked = branch === null ? '' : (await ask('config', '--get', `branch.${branch}.remote`)).trim();
  const remote = [tracked, REMOTE].find((name) => remotes.includes(name));
  if (remote === undefined && remotes.length > 1) {
    throw gitProblem(new Error(`it has several remotes (${remotes.join(', ')}), and none of them is the branch's.`));
  }
  return remote ?? remotes[0] ?? null;
}

/**
 * The ref that holds the tip of a branch as the clone knows it: that of its remote, without a remote its own. Without a
 * branch that of the remote's default branch; null where the clone does not know it.
 */
export async function knownTip(ask: Ask, branch: string | null): Promise<string | null> {
  const remote = await remoteOf(ask, branch).catch(() => undefined);
  if (remote === undefined) return null;
  if (branch !== null) return remote === null ? `refs/heads/${branch}` : `refs/remotes/${remote}/${branch}`;
  const known = `refs/remotes/${remote}/`;
  const target = remote === null ? '' : await ask('symbolic-ref', '--quiet', `${known}HEAD`).catch(() => '');
  const name = target.trim().slice(known.length);
  return name === '' ? null : knownTip(ask, name);
}

function linesIn(listed: string): readonly string[] {
  return listed.split('\n').filter((line) => line !== '');
}
