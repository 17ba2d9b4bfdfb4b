import type { ProblemCode } from '../../src/problem.ts';

const WHOLE_HISTORY =
  'actions/checkout fetches one commit unless it is given `fetch-depth: 0`; in GitLab set `GIT_DEPTH: 0`. In a clone of your own, run `git fetch --unshallow`.';

/** What docs/troubleshooting.md adds to the hint, for the problems that people meet most. */
export const ADVICE = {
  'prompt/conflict-markers': 'They count in the text of a prompt as well: a text that needs such a line can indent it.',
  'config/missing-key':
    'In a workflow hand it to the action as `api-key: ${{ secrets.PROMPTSYNC_API_KEY }}`. `promptsync validate` needs none.',
  'service/not-authorised':
    'A key belongs to a project. Where prompts are in several projects, give each its own promptsync.yaml, with its own `api_key_env`.',
  'service/unreachable':
    'A proxy that cannot be reached is named. [Install](install.md#proxies) says how to set proxies and certificates of an authority of your own.',
  'service/unexpected-status':
    'The hint depends on the status. Reads, and writes that may be repeated, have been repeated before.',
  'pin/unknown-number':
    'Known are the versions that are active in a pinned environment, and those in the [ledger](concepts.md#there-is-no-state-file). `promptsync history KEY` lists them.',
  'guard/latest-not-allowed':
    '`promptsync promote KEY --to production` pins the number that the environment before serves.',
  'guard/promotion-order':
    "A rollback is [no promotion](configuration.md#rules-for-environments), but it needs git's whole history of the file. A base or a later commit does not lift the refusal.",
  'guard/uncommitted': 'In continuous integration a step before has edited, or made, a prompt file.',
  'guard/drift': '[Drift](how-to/drift.md) shows the ways on.',
  'guard/superseded':
    'In continuous integration nothing has to be done: this keeps a slow run, or one that is run again, from rolling back what a newer one has applied. [What is compared](configuration.md#what-goes-live).',
  'guard/not-reviewed':
    'The check of a merged pull request must have shown [this very change](action.md#what-is-approved). It has not if the service was changed since. A check approves nothing if its review had no key, was made for another base branch, or ran an older version of promptsync, which did not write the number of the pull request. To approve everything that is left to do, merge any other pull request: its check shows all of it.',
  'git/shallow': WHOLE_HISTORY,
  'git/unknown-base': WHOLE_HISTORY,
  'apply/somebody-else-wrote':
    'The service shows no version that is active nowhere but the newest one. So the version that may have been made cannot be found any more, and promptsync does not guess.',
  'usage/confirmation-needed':
    'Without a terminal, as in scripts and hooks, a sync needs `--yes`. Most systems of continuous integration set `CI=true`, which counts as well.',
} as const satisfies Partial<Record<ProblemCode, string>>;
