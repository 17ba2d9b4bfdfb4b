import { gitProblem, openGit, type Ask, type GitStart } from './driver.ts';

/** A remote that says nothing for so long has hung, or waits for a password that nobody will type. */
const SILENCE = 60_000;

const REMOTE = 'origin';

/** Says how the user's keys are found. */
const SSH = 'GIT_SSH_COMMAND';

/** The commit that a branch of a remote is at now. */
export type Tip = { readonly remote: string; readonly branch: string; readonly commit: string };

/** The remote that a clone comes from. Each function throws a `ProblemError` when it cannot answer. */
export function openRemote(start: GitStart) {
  const { ask } = openGit(start, { timeout: { block: SILENCE }, allowEnvironment: [SSH] });
  return {
    /** The tip of a branch (null: of the remote's default one) on its remote; null where there is no remote. */
    tipOf: (branch: string | null) => tipOf(ask, branch),
    /** Fetches the objects of a tip. No ref moves, and a full clone stays full; a shallow one gets the commit alone. */
    fetchTip: ({ remote, commit }: Tip, shallow: boolean) =>
      ask('fetch', ...NOTHING_ELSE, ...(shallow ? ['--depth=1'] : []), '--', remote, commit),
    /** Fetches the history that a shallow clone leaves out, of all its branches. Files and refs of ours stay. */
    fetchHistory: () => ask('fetch', '--quiet', '--unshallow', '--no-recurse-submodules', '--', REMOTE),
  };
}

/** Whatever the user has configured for fetching. */
const NOTHING_ELSE = [
  ...['--quiet', '--no-tags', '--no-prune', '--refmap=', '--no-write-fetch-head', '--no-recurse-submodules'],
  '--no-auto-gc',
];

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
