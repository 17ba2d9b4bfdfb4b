import { IDENTITY } from './commit.ts';
import { linesIn, NO_PROGRAMS, openGit, type GitStart } from './driver.ts';
import { REMOTE, SILENCE } from './remote.ts';

/** By whom commits are where git knows nobody, as on a runner: GitHub shows them as the workflow's. */
const ACTIONS = {
  'user.name': 'github-actions[bot]',
  'user.email': '41898282+github-actions[bot]@users.noreply.github.com',
};

/** All branches on which something is proposed begin so. */
const OWN = 'promptsync/';

/** A clone in which something is committed that a branch of the remote then proposes. Each throws a `ProblemError`. */
export function openProposal(start: GitStart, branch: string) {
  const { ask } = openGit(start, { timeout: { block: SILENCE }, allowEnvironment: [...IDENTITY, 'GIT_SSH_COMMAND'] });
  const ref = `refs/heads/${OWN}${branch}`;
  return {
    branch: `${OWN}${branch}`,
    /** Leaves the branch that is checked out, so that commits move none, and sees to an identity. */
    begin: async () => {
      await ask('checkout', '--quiet', '--detach');
      const isKnown = (await ask('config', '--get', 'user.email')) !== '';
      for (const [name, value] of isKnown ? [] : Object.entries(ACTIONS)) await ask('config', name, value);
    },
    /** The commit that the branch is at, with its history; null where the remote has no such branch. */
    fetch: async (): Promise<string | null> => {
      const kept = `refs/remotes/${REMOTE}/${OWN}`;
      const all = `+refs/heads/${OWN}*:${kept}*`;
      await ask('fetch', '--quiet', '--no-tags', '--prune', '--no-recurse-submodules', '--', REMOTE, all);
      return (await ask('for-each-ref', '--format=%(objectname)', kept + branch)).trim() || null;
    },
    /** Adds what another commit has to the one that is checked out, which wins where both change the same. */
    join: async (commit: string): Promise<string> => {
      await ask('merge', '--quiet', '--no-edit', '--strategy-option=ours', commit);
      return (await ask('rev-parse', 'HEAD')).trim();
    },
    /** What the commit that is checked out says in its first line. */
    subject: async () => (await ask('log', '--max-count=1', '--no-show-signature', '--format=%s')).trim(),
    /** Puts a commit in the place of the one that was seen (null: of none), and of no other. */
    push: (commit: string, seen: string | null) =>
      ask('push', '--quiet', `--force-with-lease=${ref}:${seen ?? ''}`, '--', REMOTE, `${commit}:${ref}`),
    /** What a commit changes of what the base had when it began: paths, modes, blobs before and now; null: not known. */
    changes: (base: string, commit: string): Promise<string | null> => {
      const how = ['--raw', '-z', '--no-abbrev', '--no-renames', '--no-relative'];
      return ask('diff', ...NO_PROGRAMS, ...how, `${base}...${commit}`, '--').catch(() => null);
    },
    /** A commit on the way to another one that the base does not have and somebody else has made; null: there is none. */
    foreignCommit: async (base: string, commit: string): Promise<string | null> => {
      const [, me = ''] = /<(.*)> [0-9]+ \S+\s*$/.exec(await ask('var', 'GIT_COMMITTER_IDENT')) ?? [];
      const lines = linesIn(await ask('rev-list', '--format=tformat:%H %ce', commit, `^${base}`, '--'));
      // Before each git prints a line `commit`.
      const foreign = lines.find((line) => !line.startsWith('commit ') && !line.endsWith(` ${me}`));
      return foreign?.split(' ')[0] ?? null;
    },
  };
}
