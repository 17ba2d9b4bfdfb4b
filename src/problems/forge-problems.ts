import { formatCount, shortenCommitId } from '../text.ts';
import { defineError, defineWarning, endSentence } from './catalog-entry.ts';

/** The hints for pull requests that promptsync could not update, by the error message of git or GitHub. */
const PULL_REQUEST_HINTS: readonly (readonly [pattern: RegExp, hint: string])[] = [
  [
    /not permitted to create/,
    'In the repository settings, turn on "Allow GitHub Actions to create and approve pull requests".',
  ],
  [/Resource not accessible by|Not Found/, 'Grant the job the `pull-requests: write` permission.'],
  [
    /\b403\b|denied|could not read|Auth/,
    'Grant the job the `contents: write` permission, and make sure that the `actions/checkout` step does not set `persist-credentials: false`.',
  ],
];

const WRITE_PERMISSIONS: Readonly<Record<string, string>> = {
  check: 'checks: write',
  comment: 'pull-requests: write',
  issue: 'issues: write',
};

function makePermissionHint({ what, reason }: { what: string; reason: string }): string {
  // No permission helps here: GitHub accepts checks only from apps, and a personal access token belongs to a user.
  if (/authenticate via a GitHub App/.test(reason)) {
    return 'Set `github-token` to a GitHub App token, or remove this input to use the workflow token.';
  }
  return `Grant the job the \`${WRITE_PERMISSIONS[what]}\` permission. If you set \`github-token\`, grant the same permission to the app or user that the token belongs to.`;
}

/** GitLab responds with 404, too, if a resource exists but the token may not see it. */
function makeGitLabHint(status: number): string {
  if (status >= 300 && status < 400) {
    return 'Check the URL in `CI_API_V4_URL`. promptsync does not follow redirects because they could expose the token.';
  }
  if (![401, 403, 404].includes(status)) {
    return 'Fix the problem, then run the job again. Until you do, the merge request will continue to show the previous report.';
  }
  return "Set `GITLAB_TOKEN` to a project access token for the merge request's project. Make sure that the token has the `api` scope and the Reporter role, and that it has not expired.";
}

const NO_CONFIG_HINT =
  'Set the `working-directory` input to the folder that contains `promptsync.yaml`. If your configuration file has a different name, also set the `config` input to its path relative to that folder.';

/** A merged pull request whose review did not cover a change. */
type ReviewEvidence = {
  pull: string;
  /** Whether the pull request has a valid approval. */
  shown: boolean;
  /** A check that promptsync ignores because `app` created it. Only checks of the token's app, `ownApp`, count. */
  otherCheck: { app: string; ownApp: string } | null;
};

function describeReview({ pull, shown, otherCheck }: ReviewEvidence): string {
  if (shown) return `The review of ${pull} did not cover this change.`;
  if (otherCheck === null) return `${pull} has no valid approval.`;
  const { app, ownApp } = otherCheck;
  return `${pull} has no valid approval because the app "${app}" created its check. This run uses a token of the app "${ownApp}", so it accepts only checks that "${ownApp}" created.`;
}

type MissingReview = {
  prompt: string;
  pulls: readonly ReviewEvidence[];
  /** The commit that touched the prompt's file and was merged by no pull request. Null if there is none. */
  directPush: string | null;
  /** The reason why promptsync could not read the reviews from GitHub. Null if it could. */
  failure: string | null;
};

const MAX_NAMED_PULLS = 5;

/** If GitHub failed, the text does not name the prompt, so that reports show the problem once for all prompts. */
function describeMissingReview({ prompt, pulls, directPush, failure }: MissingReview): string {
  if (failure !== null) {
    return `promptsync could not read the reviews from GitHub, so it could not confirm that this change was reviewed: ${failure.replace(/\.$/, '')}.`;
  }
  const reasons = pulls.slice(0, MAX_NAMED_PULLS).map(describeReview);
  const omitted = pulls.length - MAX_NAMED_PULLS;
  if (omitted === 1) reasons.push('The review of one other pull request did not cover this change either.');
  if (omitted > 1) reasons.push(`The reviews of ${omitted} other pull requests did not cover this change either.`);
  if (directPush !== null) reasons.push(`Commit ${shortenCommitId(directPush)} was not merged through a pull request.`);
  if (reasons.length === 0) reasons.push('The change was not merged through a pull request.');
  return `This change to the prompt "${prompt}" has not been reviewed. ${reasons.join(' ')}`;
}

function makeMissingReviewHint({ pulls, failure }: MissingReview): string {
  if (failure !== null) {
    return 'Make sure that `github-token` is set and that the job has the `checks: read` and `pull-requests: read` permissions. Then run the job again.';
  }
  const merge =
    'To approve the change, merge a new pull request whose "promptsync" check shows it. Every new check that runs with an API key shows all pending changes. To apply the change without approval, turn off `require-reviewed-plan` for this run.';
  return pulls.some(({ otherCheck }) => otherCheck !== null)
    ? `In both the workflow that reviews pull requests and the one that applies changes, set \`github-token\` to a token from the same GitHub App. ${merge}`
    : merge;
}

export const FORGE_PROBLEMS = {
  // The GitHub Action
  'action/invalid-input': defineError<{ input: string; expected: string }>(
    (e) => `The \`${e.input}\` input is invalid: ${e.expected}.`,
    'Correct this input in the workflow.',
  ),
  'action/invalid-event': defineError<{ reason: string }>(
    (e) => `promptsync could not read the event that triggered this run (${e.reason}).`,
    'Run the action in a GitHub Actions workflow, which sets `GITHUB_EVENT_NAME` and `GITHUB_EVENT_PATH`.',
  ),
  'action/no-config': defineError<{
    path: string;
    misnamed: string | null;
  }>(
    (e) => `The workspace does not contain \`${e.path}\`. The action does not search parent folders.`,
    (e) => (e.misnamed === null ? NO_CONFIG_HINT : `Rename \`${e.misnamed}\` to \`promptsync.yaml\`.`),
  ),
  'action/linked-config': defineError<{ link: string }>(
    (e) => `The path to the configuration file goes through the symbolic link \`${e.link}\`.`,
    'Set the `working-directory` and `config` inputs to paths without symbolic links, or replace the link with a real file or folder.',
  ),
  'action/no-checkout': defineError(
    'The workspace is not a git repository.',
    'Before this step, add a step that uses `actions/checkout` with `fetch-depth: 0`.',
  ),
  'action/other-checkout': defineError<{
    number: number;
    head: string;
    /** The id of the checked-out commit, or "no commit". */
    found: string;
  }>(
    (e) =>
      `The checked-out commit (${shortenCommitId(e.found)}) is neither the head of #${e.number} (${shortenCommitId(e.head)}) nor its merge commit.`,
    (e) =>
      `In the \`actions/checkout\` step, set \`fetch-depth: 0\` and remove \`ref\`. If the workflow runs on \`pull_request_target\`, set \`ref: refs/pull/${e.number}/merge\` instead of removing \`ref\`, and do not pass an API key to this action.`,
  ),
  'action/unsupported-event': defineError<{ event: string }>(
    (e) => `In \`auto\` mode, the action does nothing for the \`${e.event}\` event.`,
    'Run the action on `pull_request`, `push`, `schedule`, or `workflow_dispatch`, or choose another mode with the `mode` input.',
  ),
  'action/closed': defineWarning<{ number: number; merged: boolean }>(
    (e) =>
      `promptsync did not review #${e.number} because the pull request is already ${e.merged ? 'merged' : 'closed'}.`,
    (e) =>
      e.merged
        ? 'Make sure that the action also runs on pushes to the live branch. The run triggered by the push applies the merged changes.'
        : 'To have promptsync review the pull request again, reopen it.',
  ),
  'action/drift-found': defineError<{ prompts: number }>(
    (e, w) =>
      `promptsync found differences between ${w.service} and the files for ${formatCount(e.prompts, 'prompt')}.`,
    (_, w) =>
      `To keep the changes made in ${w.service}, run \`promptsync pull\`. To undo these changes, run \`promptsync sync\`, which also applies merged changes that are not live yet.`,
  ),
  'action/stale-base': defineWarning<{ branch: string; base: string; tip: string }>(
    (e) =>
      `This review is based on commit ${shortenCommitId(e.base)} of ${e.branch}, but ${e.branch} is now at ${shortenCommitId(e.tip)}.`,
    "Update the pull request's branch. Newer commits on the base branch might change the plan.",
  ),
  'action/not-told': defineWarning<{ what: string; reason: string; forbidden: boolean }>(
    (e) => `promptsync could not write the ${e.what}: ${endSentence(e.reason)}`,
    (e) =>
      e.forbidden
        ? `${makePermissionHint(e)} In the meantime, you can find the report in the job log.`
        : 'Fix the problem, then run the job again. In the meantime, you can find the report in the job log.',
  ),
  'action/not-proposed': defineError<{ branch: string; reason: string }>(
    (e) =>
      `promptsync could not create or update the pull request for the branch ${e.branch}: ${endSentence(e.reason)}`,
    (e) =>
      PULL_REQUEST_HINTS.find(([pattern]) => pattern.test(e.reason))?.[1] ??
      'Run the workflow again. If the workflow fails again, check whether a repository rule blocks the pull request.',
  ),
  'action/foreign-commit': defineError<{ branch: string; commit: string }>(
    (e) =>
      `Someone else committed to the branch ${e.branch} (${shortenCommitId(e.commit)}), so promptsync did not push to it.`,
    'Merge the pull request from this branch, or delete the branch. The next run will propose the remaining changes.',
  ),

  // promptsync comment
  'gitlab/not-published': defineError<{
    reason: string;
    /** The status of the response. 0 if there was no response. */
    status: number;
  }>(
    (e) => `promptsync could not post a note on the merge request: ${endSentence(e.reason)}`,
    (e) => makeGitLabHint(e.status),
  ),

  // Guards of the GitHub Action
  'guard/not-reviewed': defineError<MissingReview>(describeMissingReview, makeMissingReviewHint),
  'guard/key-on-pull-request-target': defineError(
    'promptsync does not accept an API key in runs triggered by `pull_request_target`, because these runs have access to your secrets but can use files from untrusted contributors.',
    'Use the `pull_request` event instead. With this event, promptsync does not need an API key to review pull requests from forks.',
  ),
};
