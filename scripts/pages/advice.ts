import type { ProblemCode } from '../../src/problem.ts';

const WHOLE_HISTORY =
  'actions/checkout fetches only one commit by default: set `fetch-depth: 0`. In GitLab, set `GIT_DEPTH: 0`. In your own clone, run `git fetch --unshallow`.';

/** The advice that docs/troubleshooting.md adds to the hint of the most frequent problems. */
export const ADVICE = {
  'prompt/conflict-markers':
    'promptsync also looks for conflict markers in the text of a prompt. If the text needs such a line, indent the line.',
  'config/missing-key':
    'In a workflow, pass the key to the action as `api-key: ${{ secrets.PROMPTSYNC_API_KEY }}`. `promptsync validate` needs no key.',
  'service/not-authorised':
    'A key belongs to one project. If your prompts are in several projects, give each project its own promptsync.yaml with its own `api_key_env`.',
  'service/unreachable':
    'If promptsync cannot reach a proxy, the message names the proxy. [Install](install.md#proxies) explains how to configure proxies and the certificates of your own authority.',
  'service/unexpected-status':
    'The hint depends on the status. promptsync has already retried the request if it was a read, or a write that is safe to repeat.',
  'pin/unknown-number':
    'promptsync knows the versions that are active in a pinned environment and the versions in the [ledger](concepts.md#there-is-no-state-file). `promptsync history KEY` lists them.',
  'guard/latest-not-allowed':
    '`promptsync promote KEY --to production` pins the number of the version that the previous environment serves.',
  'guard/promotion-order':
    'A rollback is [not a promotion](configuration.md#rules-for-environments), but it needs the whole git history of the file. Neither a base nor a later commit lifts the refusal.',
  'guard/uncommitted': 'In continuous integration, an earlier step edited or created a prompt file.',
  'guard/drift': '[Drift](how-to/drift.md) explains your options.',
  'guard/superseded':
    'In continuous integration, you do not have to do anything. This guard keeps a slow or repeated run from rolling back the changes of a newer run. [Configuration](configuration.md#what-goes-live) explains what promptsync compares.',
  'guard/not-reviewed':
    'The check of a merged pull request must have shown [exactly this change](action.md#what-is-approved). If the service was changed after the check, the check did not show this change. A check approves nothing if its review had no key, was for another base branch, or ran an older version of promptsync, which did not record the number of the pull request. To approve all pending changes, merge any other pull request. Its check shows all of them.',
  'git/shallow': WHOLE_HISTORY,
  'git/unknown-base': WHOLE_HISTORY,
  'apply/somebody-else-wrote':
    'Among the versions that are not active anywhere, the service shows only the newest. Therefore promptsync cannot find the version that it may have created, and it does not guess.',
  'usage/confirmation-needed':
    'Without a terminal, for example in scripts and hooks, a sync needs `--yes`. Most systems for continuous integration set `CI=true`, which has the same effect.',
} as const satisfies Partial<Record<ProblemCode, string>>;
