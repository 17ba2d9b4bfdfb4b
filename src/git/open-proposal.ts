import { splitLines, NO_EXTERNAL_PROGRAMS, type GitSettings, type RunGit } from './run-git.ts';
import { DEFAULT_REMOTE, openRemoteGit } from './open-remote.ts';

/** The author of commits if git has none, for example on a runner. GitHub attributes its commits to the workflow. */
const WORKFLOW_AUTHOR = {
  'user.name': 'github-actions[bot]',
  'user.email': '41898282+github-actions[bot]@users.noreply.github.com',
};

/** The prefix of all branches on which promptsync proposes edits. */
const PROPOSAL_BRANCH_PREFIX = 'promptsync/';

/** The remote branch of a proposal. All functions except `readChanges` throw a `ProblemError` if git fails. */
export type ProposalBranch = {
  /** The name of the branch, including the prefix `promptsync/`. */
  readonly branch: string;
  /** Detaches HEAD so that new commits do not move a branch. Configures an author if git has none. */
  readonly prepareClone: () => Promise<void>;
  /** Fetches the branch with its history. Returns its tip, or null if the remote does not have the branch. */
  readonly fetch: () => Promise<string | null>;
  /** Merges a commit into the checked-out commit, which wins conflicts. Returns the id of the result. */
  readonly merge: (commit: string) => Promise<string>;
  readonly readSubject: () => Promise<string>;
  /** Pushes only if the tip of the remote branch is `expectedTip`. Null means that the branch must not exist. */
  readonly push: (commit: string, expectedTip: string | null) => Promise<void>;
  /** Returns the changes since the merge base in git's raw format, with modes and blob ids. Null if git fails. */
  readonly readChanges: (base: string, commit: string) => Promise<string | null>;
  /** Finds a commit that somebody else committed, among `commit` and its ancestors, except `base` and its ancestors. */
  readonly findForeignCommit: (base: string, commit: string) => Promise<string | null>;
};

export function openProposal(settings: GitSettings, branch: string): ProposalBranch {
  const { run } = openRemoteGit(settings);
  const ref = `refs/heads/${PROPOSAL_BRANCH_PREFIX}${branch}`;
  return {
    branch: `${PROPOSAL_BRANCH_PREFIX}${branch}`,
    prepareClone: async () => {
      await run('checkout', '--quiet', '--detach');
      const hasAuthor = (await run('config', '--get', 'user.email')) !== '';
      if (hasAuthor) return;
      for (const [name, value] of Object.entries(WORKFLOW_AUTHOR)) await run('config', name, value);
    },
    fetch: async () => {
      const trackingPrefix = `refs/remotes/${DEFAULT_REMOTE}/${PROPOSAL_BRANCH_PREFIX}`;
      const refspec = `+refs/heads/${PROPOSAL_BRANCH_PREFIX}*:${trackingPrefix}*`;
      // Fetch all proposal branches, because git fails if an exact name does not exist on the remote, but not if a
      // pattern matches nothing. `--prune` then removes the tracking ref of a deleted branch.
      await run('fetch', '--quiet', '--no-tags', '--prune', '--no-recurse-submodules', '--', DEFAULT_REMOTE, refspec);
      return (await run('for-each-ref', '--format=%(objectname)', `${trackingPrefix}${branch}`)).trim() || null;
    },
    merge: async (commit) => {
      await run('merge', '--quiet', '--no-edit', '--strategy-option=ours', commit);
      return (await run('rev-parse', 'HEAD')).trim();
    },
    readSubject: async () => (await run('log', '--max-count=1', '--no-show-signature', '--format=%s')).trim(),
    push: async (commit, expectedTip) => {
      const lease = `--force-with-lease=${ref}:${expectedTip ?? ''}`;
      await run('push', '--quiet', lease, '--', DEFAULT_REMOTE, `${commit}:${ref}`);
    },
    readChanges: (base, commit) => {
      const options = ['--raw', '-z', '--no-abbrev', '--no-renames', '--no-relative'];
      return run('diff', ...NO_EXTERNAL_PROGRAMS, ...options, `${base}...${commit}`, '--').catch(() => null);
    },
    findForeignCommit: (base, commit) => findForeignCommit(run, base, commit),
  };
}

async function findForeignCommit(run: RunGit, base: string, commit: string): Promise<string | null> {
  const [, ownEmail = ''] = /<(.*)> [0-9]+ \S+\s*$/.exec(await run('var', 'GIT_COMMITTER_IDENT')) ?? [];
  const lines = splitLines(await run('rev-list', '--format=tformat:%H %ce', commit, `^${base}`, '--'));
  // git also prints a line that starts with `commit` before the formatted line of each commit.
  const foreign = lines.find((line) => !line.startsWith('commit ') && !line.endsWith(` ${ownEmail}`));
  return foreign?.split(' ')[0] ?? null;
}
