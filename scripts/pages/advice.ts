import type { ProblemCode } from '../../src/problem.ts';

const WHOLE_HISTORY =
  'actions/checkout fetches one commit unless it is told `fetch-depth: 0`; in GitLab set `GIT_DEPTH: 0`. In a clone of your own, run `git fetch --unshallow`.';

/** What docs/troubleshooting.md adds to the hint, for the problems that people meet most. */
export const ADVICE = {
  'prompt/conflict-markers':
    'Such lines are what a merge or `promptsync pull` leaves behind. They count in the text of a prompt as well: one that needs such a line can indent it.',
  'prompt/variables-mismatch':
    'Placeholders are `{{name}}`: letters, digits, `_`, `.` and `-`, with blanks allowed inside the braces. Without `variables` nothing is checked.',
  'config/missing-key':
    'In a workflow hand it to the action as `api-key: ${{ secrets.PROMPTSYNC_API_KEY }}`. Pull requests from forks get no secrets: the action reviews those without a key ([Forks](action.md#forks-and-dependabot)). `promptsync validate` needs none.',
  'service/unreachable':
    '`--verbose` prints each call and how it ended. Proxies are taken from `HTTPS_PROXY` and `NO_PROXY`; loopback addresses are always reached directly.',
  'service/not-authorised':
    'A key belongs to a project. Where prompts are in several projects, give each its own promptsync.yaml, with its own `api_key_env`.',
  'service/unexpected-status':
    'The hint is that of the status: 401 is a key that was refused, 429 a limit, 500 and above a failure of the service or of a gateway. Reads, and writes that may be repeated, have been repeated before.',
  'service/prompt-not-found':
    'promptsync makes versions and never prompts. A prompt is created in the service once, by hand; `promptsync import` then writes its file.',
  'service/drops-metadata':
    'promptsync keeps what it knows in the metadata of the versions that it makes. A service that drops `metadata_` leaves it with what is active in the environments.',
  'pin/unknown-number':
    'Known are the versions that are active in a pinned environment, and those in the ledger: the 20 newest, and all that were active in an environment that was observed. `promptsync history KEY` lists them. Pin a number after the sync that made it.',
  'guard/latest-not-allowed':
    'That is `allow_latest: false` in promptsync.yaml. `promptsync promote KEY --to production` pins the number that the environment before serves.',
  'guard/promotion-order':
    'What goes live has to be active in the environment of `promote_from` at that moment. A rollback to what the environment was pinned to before is no promotion: git tells that, so the checkout needs its whole history.',
  'guard/uncommitted':
    'Versions carry the commit that they were made from, and what is live is what git has. In continuous integration a step before has edited, or made, a prompt file.',
  'guard/max-changes': 'It counts prompts with changes. A percentage is one of the prompts selected, rounded up.',
  'guard/drift':
    'Three ways on. `promptsync pull` takes the change into the file; a sync with `--on-drift overwrite` lets the file win, and the report names the version that goes back; or put it back in the service.',
  'guard/stale-plan':
    'The digest covers prompts, changes and what is active before and after, but no commit and no path: a squash merge keeps it. Somebody who changed the service since changes it.',
  'guard/superseded':
    'Nothing has to be done: this keeps a slow run, or one that is run again, from rolling back what a newer one has applied.',
  'guard/not-reviewed':
    'That is the input `require-reviewed-plan`. The comment on the pull request has to have shown what is done to each prompt, from what to what: where the service was changed since, or the comment was too long to hold all of it, that is not so.',
  'git/shallow': WHOLE_HISTORY,
  'git/unknown-base': WHOLE_HISTORY,
  'apply/outcome-unknown':
    'A call that creates a version is sent once. When its answer is lost, promptsync waits and looks for the version; here it found none, or could not look. The next run looks before it makes one, so running again makes no second version of the same text.',
  'apply/somebody-else-wrote':
    'The service shows no version that is active nowhere but the newest one. So the version that may have been made cannot be found any more, and promptsync does not guess.',
  'pull/conflict':
    'The base of the merge is the file at the commit that the edited version was made from. `promptsync validate` refuses the file until no marker is left.',
  'usage/confirmation-needed':
    'Without a terminal, as in scripts and hooks, a sync needs `--yes`. Most systems of continuous integration set `CI=true`, which counts as well.',
} as const satisfies Partial<Record<ProblemCode, string>>;
