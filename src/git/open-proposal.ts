import { IDENTITY_VARIABLES } from './open-committer.ts';
import { splitLines, NO_EXTERNAL_PROGRAMS, openGit, type GitSettings } from './open-git.ts';
import { DEFAULT_REMOTE, MAX_SILENCE_MS } from './open-remote.ts';

/** By whom commits are where git knows nobody, as on a runner: GitHub shows them as the workflow's. */
const ACTIONS = {
  'user.name': 'github-actions[bot]',
  'user.email': '41898282+github-actions[bot]@users.noreply.github.com',
};

/** All branches on which something is proposed begin so. */
const PROPOSAL_BRANCH_PREFIX = 'promptsync/';

/**
 * The clone that holds a commit, and the branch of the remote that proposes it. Each function throws a `ProblemError` if
 * git fails.
 */
export type ProposalBranch = {
  /** The full name of the branch. */
  readonly branch: string;
  /** Detaches HEAD, so that commits move no branch, and configures an author if git has none. */
  readonly prepareClone: () => Promise<void>;
  /** Fetches the branch with its history. Returns the commit that it is at, or null if the remote has no such branch. */
  readonly fetch: () => Promise<string | null>;
  /**
   * Merges another commit into the one that is checked out, which wins in conflicts. Returns the id of the commit that
   * is checked out then.
   */
  readonly merge: (commit: string) => Promise<string>;
  /** Returns the subject of the commit that is checked out. */
  readonly readSubject: () => Promise<string>;
  /** Pushes a commit to the branch. Fails unless the branch is still at `seen`. If `seen` is null, it must not exist. */
  readonly push: (commit: string, seen: string | null) => Promise<void>;
  /**
   * Returns what a commit changes compared with its merge base with `base`: paths, modes, and blobs before and after.
   * Returns null if git cannot tell.
   */
  readonly readChanges: (base: string, commit: string) => Promise<string | null>;
  /** Returns an ancestor of a commit, or itself, that `base` lacks and somebody else committed; null if there is none. */
  readonly findForeignCommit: (base: string, commit: string) => Promise<string | null>;
};

export function openProposal(start: GitSettings, branch: string): ProposalBranch {
  const { run } = openGit(start, {
    timeout: { block: MAX_SILENCE_MS },
    allowEnvironment: [...IDENTITY_VARIABLES, 'GIT_SSH_COMMAND'],
  });
  const ref = `refs/heads/${PROPOSAL_BRANCH_PREFIX}${branch}`;
  return {
    branch: `${PROPOSAL_BRANCH_PREFIX}${branch}`,
    prepareClone: async () => {
      await run('checkout', '--quiet', '--detach');
      const isKnown = (await run('config', '--get', 'user.email')) !== '';
      for (const [name, value] of isKnown ? [] : Object.entries(ACTIONS)) await run('config', name, value);
    },
    fetch: async () => {
      const kept = `refs/remotes/${DEFAULT_REMOTE}/${PROPOSAL_BRANCH_PREFIX}`;
      const all = `+refs/heads/${PROPOSAL_BRANCH_PREFIX}*:${kept}*`;
      await run('fetch', '--quiet', '--no-tags', '--prune', '--no-recurse-submodules', '--', DEFAULT_REMOTE, all);
      return (await run('for-each-ref', '--format=%(objectname)', kept + branch)).trim() || null;
    },
    merge: async (commit) => {
      await run('merge', '--quiet', '--no-edit', '--strategy-option=ours', commit);
      return (await run('rev-parse', 'HEAD')).trim();
    },
    readSubject: async () => (await run('log', '--max-count=1', '--no-show-signature', '--format=%s')).trim(),
    push: async (commit, seen) => {
      await run('push', '--quiet', `--force-with-lease=${ref}:${seen ?? ''}`, '--', DEFAULT_REMOTE, `${commit}:${ref}`);
    },
    readChanges: (base, commit) => {
      const how = ['--raw', '-z', '--no-abbrev', '--no-renames', '--no-relative'];
      return run('diff', ...NO_EXTERNAL_PROGRAMS, ...how, `${base}...${commit}`, '--').catch(() => null);
    },
    findForeignCommit: async (base, commit) => {
      const [, me = ''] = /<(.*)> [0-9]+ \S+\s*$/.exec(await run('var', 'GIT_COMMITTER_IDENT')) ?? [];
      const lines = splitLines(await run('rev-list', '--format=tformat:%H %ce', commit, `^${base}`, '--'));
      // Before each git prints a line `commit`.
      const foreign = lines.find((line) => !line.startsWith('commit ') && !line.endsWith(` ${me}`));
      return foreign?.split(' ')[0] ?? null;
    },
  };
}
