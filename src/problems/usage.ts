import { formatCount, shortenCommitId, quoteNames } from '../text.ts';
import {
  makeSuggestionHint,
  defineError,
  type SpellingEvidence,
  quoteShellWord,
  defineWarning,
  joinWords,
} from './catalog-entry.ts';

/**
 * The hints for a pull request that promptsync could not update, by what the error message of git or GitHub contains.
 */
const PULL_REQUEST_HINTS: readonly (readonly [pattern: RegExp, hint: string])[] = [
  [
    /not permitted to create/,
    'In the repository settings, turn on "Allow GitHub Actions to create and approve pull requests".',
  ],
  [/Resource not accessible by|Not Found/, 'Give the job the `pull-requests: write` permission.'],
  [
    /\b403\b|denied|could not read|Auth/,
    'Give the job the `contents: write` permission, and let actions/checkout persist its credentials.',
  ],
];

/** The permission that a job needs to write to each destination on GitHub. */
const WRITE_PERMISSIONS: Readonly<Record<string, string>> = {
  check: 'checks: write',
  comment: 'pull-requests: write',
  issue: 'issues: write',
};

/** Returns the hint for a destination on GitHub to which the token may not write. */
function makePermissionHint({ what, reason }: { what: string; reason: string }): string {
  // No permission helps here: GitHub accepts checks only from apps, and a personal access token belongs to a user.
  if (/authenticate via a GitHub App/.test(reason)) {
    return 'Set `github-token` to a token of a GitHub App, or remove the input to use the token of the workflow.';
  }
  return `Give the job the \`${WRITE_PERMISSIONS[what]}\` permission. If you set \`github-token\`, give its app this permission instead.`;
}

/**
 * Returns the hint for a status of GitLab. GitLab also responds with 404 if a resource exists but the token may not see
 * it.
 */
function makeGitLabHint(status: number): string {
  if (status >= 300 && status < 400) {
    return 'Check the URL in CI_API_V4_URL. To protect the token, promptsync does not follow redirects.';
  }
  if (![401, 403, 404].includes(status)) {
    return 'Fix the problem, then run the job again. Until then, the merge request keeps the previous report.';
  }
  return "Set GITLAB_TOKEN to a project access token for the merge request's project. Make sure that the token has not expired and that it has the `api` scope and the Reporter role.";
}

/** Ends a reason with a period, if it does not have one. */
function endSentence(reason: string): string {
  return reason.replace(/\.?$/, '.');
}

/** The noun for what a command writes to its output. */
type OutputName = 'report' | 'bundle';

/** The problems of configuring and calling promptsync, on the command line and as the GitHub Action. */
export const USAGE_PROBLEMS = {
  // promptsync.yaml and variables
  'config/not-found': defineError(
    'promptsync could not find promptsync.yaml in the working directory. Inside a repository, it also searches the parent folders.',
    'To create promptsync.yaml in this folder, run promptsync init. If you have one, run promptsync in its folder, or specify the file with --config FILE.',
  ),
  'config/foreign-file': defineError<{ path: string }>(
    'The configuration file belongs to another user. That user could choose the service that receives your API key.',
    (e) => `If you trust this file, specify it with \`--config ${quoteShellWord(e.path)}\`.`,
  ),
  'config/foreign-repository': defineError<{ root: string }>(
    (e) =>
      `The repository ${e.root} belongs to another user, and git does not trust it. That user could choose the service that receives your API key.`,
    (e) =>
      `If you trust this repository, run \`git config --global --add safe.directory ${quoteShellWord(e.root)}\`, or specify the configuration file with --config FILE.`,
  ),
  'config/unreadable': defineError<{ reason: string }>(
    (e) => `promptsync could not read the configuration file (${e.reason}).`,
    'Check the path of the configuration file, and make sure that you have permission to read it.',
  ),
  'config/unknown-field': defineError<
    {
      field: string;
      /** The settings that are allowed in this place. Empty if there are none. */
      known: readonly string[];
    } & SpellingEvidence
  >(
    (e) => `The setting "${e.field}" is unknown.`,
    (e) =>
      e.field === 'services'
        ? 'Each promptsync.yaml can configure only one `service`. Create a separate file for each service, and choose the file with --config.'
        : makeSuggestionHint(
            e,
            e.known.length === 0
              ? 'Remove the setting.'
              : `Use only these settings here: ${joinWords(e.known, 'and')}.`,
            '`',
          ),
  ),
  'config/invalid-field': defineError<{
    field: string;
    /** The fault or the expected value, as a clause. */
    expected: string;
    /** What to write instead. Undefined if `expected` already says it. */
    fix?: string | undefined;
  }>(
    (e) => `The setting "${e.field}" is invalid: ${e.expected}.`,
    (e) => e.fix ?? 'Fix the setting in the configuration file.',
  ),
  'config/missing-service': defineError<{
    /** The environment variables that can contain the address of the service. */
    variables: readonly string[];
  }>(
    'No service is configured.',
    (e) =>
      `Set \`service.base_url\` in promptsync.yaml, or set the environment variable ${joinWords(e.variables, 'or')}. To try promptsync without a hosted service, set \`service.embedded\`.`,
  ),
  'config/missing-key': defineError<{
    /** The place of the key, such as "The variable PROMPTSYNC_API_KEY". It is the subject of the message. */
    source: string;
    variable: string;
  }>(
    (e) => `${e.source} must contain the API key, but it is empty or not set.`,
    (e) =>
      `Set ${e.variable}. In a workflow, check the secret. It is empty if it does not exist or if this job is not allowed to use it. Never write the key to a file.`,
  ),
  'config/invalid-key': defineError<{ source: string }>(
    (e) => `${e.source} contains characters that are not allowed in an API key.`,
    'Set the key again, without any spaces or line breaks around it.',
  ),
  'config/invalid-url': defineError<{ source: string; expected: string }>(
    (e) => `The base URL in ${e.source} is invalid: ${e.expected}.`,
    'Use a URL such as https://prompts.example.com. To use plain HTTP for a non-loopback address, set `allow_http: true` under `service:`.',
  ),
  'config/pattern-outside': defineError<{ pattern: string }>(
    (e) => `The pattern "${e.pattern}" points outside the repository.`,
    'Use patterns that stay within the repository. promptsync does not read files outside it.',
  ),
  'config/drift-needs-base': defineWarning(
    '`on_drift` is set to `fail`, but there is no commit to compare with, so promptsync cannot detect drift.',
    'Run promptsync in a full clone of the git repository.',
  ),

  // The command line
  'usage/invalid': defineError<{ reason: string }>((e) => e.reason, 'See promptsync --help.'),
  'usage/nothing-selected': defineError<{ selector: string; suggestions: readonly string[] }>(
    (e) => `No prompt matches "${e.selector}".`,
    (e) =>
      // A comma after "{" may belong to a pattern such as {a,b}. An earlier comma was meant to separate keys.
      /^[^{]*,/.test(e.selector)
        ? 'Separate keys with spaces, not commas.'
        : makeSuggestionHint(
            { suggestion: e.suggestions.length === 0 ? undefined : joinWords(e.suggestions, 'or') },
            'Specify a key, or a path, folder, or pattern relative to promptsync.yaml. For import and --orphans, specify a name pattern.',
          ),
  ),
  'usage/nothing-named': defineError(
    'The command does not specify any prompts.',
    'Specify keys, paths, folders, or patterns. With promote, you can also use --all. In the GitHub Action, set the `prompts` input.',
  ),
  'usage/unknown-environment': defineError<
    {
      option: string;
      environment: string;
      known: readonly string[];
      /** True if another configuration manages the environment. */
      isOther?: boolean;
    } & SpellingEvidence
  >(
    (e) =>
      e.isOther === true
        ? `${e.option} is set to "${e.environment}", which another configuration manages.`
        : `${e.option} is set to "${e.environment}", which is not a known environment.`,
    makeUnknownEnvironmentHint,
  ),
  'usage/needs-environment': defineError<{
    option: string;
    /** The reason as a clause. Null if the command always requires the option. */
    reason: string | null;
    /** The environments of the workspace. Empty if promptsync knows none. */
    known: readonly string[];
  }>(
    (e) =>
      e.reason === null
        ? `The command requires ${e.option}.`
        : `The command requires ${e.option}, because ${e.reason}.`,
    (e) =>
      e.known.length === 0
        ? `Specify the environment with ${e.option}.`
        : `Specify one of these environments with ${e.option}: ${quoteNames(e.known)}.`,
  ),
  'usage/same-environment': defineError<{ environment: string }>(
    (e) => `promptsync cannot promote a version from "${e.environment}" to the same environment.`,
    'Specify two different environments.',
  ),
  'usage/confirmation-needed': defineError(
    'promptsync made no changes, because it could not ask for confirmation without a terminal.',
    'To apply the plan without confirmation, use --yes or set CI=true. To preview the plan, use --dry-run.',
  ),
  'usage/cancelled': defineError(
    'promptsync made no changes, because you canceled the command.',
    'Run the command again. To avoid interactive questions, use flags.',
  ),
  'usage/declined': defineError(
    'promptsync made no changes, because you did not confirm the plan.',
    'To apply the plan, run the command again and answer yes.',
  ),
  'usage/output-unwritable': defineError<{ what: OutputName; path: string; reason: string }>(
    (e) => `promptsync could not write the ${e.what} to ${e.path} (${e.reason}).`,
    'Choose a path in an existing folder that you have permission to write to.',
  ),
  'usage/output-unreadable': defineError<{ path: string; reason: string }>(
    (e) => `promptsync could not read ${e.path} to compare it with the bundle (${e.reason}).`,
    'Check the path in --output, and make sure that you have permission to read the file.',
  ),
  'usage/output-format': defineError<{
    what: OutputName;
    reason: string;
    /** The endings of file names that determine a format, such as `.json`. */
    endings: readonly string[];
  }>(
    (e) => `promptsync did not write a ${e.what}, because ${e.reason}.`,
    (e) =>
      `Use a file name that ends in ${joinWords(e.endings, 'or')}. With --format, you can give a single output file any name.`,
  ),
  'usage/not-a-report': defineError<{ path: string; reason: string }>(
    (e) => `promptsync could not read ${e.path} as a report (${e.reason}).`,
    'Use a file that this version of promptsync created with `--output plan.json` or `--format json`.',
  ),
  'usage/stdout-unwritable': defineError<{ reason: string }>(
    (e) =>
      `promptsync could not write to standard output (${e.reason}). Changes that it has already made remain in effect.`,
    'Run `promptsync status` to see which version each environment serves. Then free up disk space, or write to a file with --output.',
  ),
  'usage/cannot-serve': defineError<{ reason: string }>(
    (e) => `promptsync could not start the embedded service (${e.reason}).`,
    'Check `service.embedded` in promptsync.yaml, or the --db and --port flags of promptsync serve.',
  ),

  // promptsync init
  'init/service-needed': defineError(
    'promptsync needs the URL of the prompt service, but it cannot ask for the URL without a terminal.',
    'Specify the URL with --url, or try the embedded service with --embedded.',
  ),
  'init/invalid-flag': defineError<{ flag: string; reason: string }>(
    (e) => `The value of ${e.flag} is invalid: ${e.reason}`,
    'See promptsync init --help.',
  ),
  'init/nested': defineWarning<{ path: string }>(
    (e) => `A parent folder already contains a configuration file: ${e.path}.`,
    'Note that commands in this folder use the new configuration file, not the one in the parent folder.',
  ),
  'init/folder-name': defineError<{ path: string; what: string }>(
    (e) => `The path of this folder within the repository, "${e.path}", contains ${e.what}.`,
    'Rename the folder, then run promptsync init again.',
  ),
  'init/kept': defineWarning<{ path: string }>(
    (e) => `${e.path} already exists with different content, so promptsync did not overwrite it.`,
    'Update the file manually, or overwrite it with --force.',
  ),
  'init/include': defineWarning<{ path: string; include: string }>(
    (e) => `${e.path} already exists, so promptsync did not overwrite it. The file does not include ${e.include}.`,
    (e) =>
      `Add \`include: [{ local: ${e.include} }]\` to the file. If the file already has an \`include\` list, add the entry to that list.`,
  ),
  'init/pre-commit': defineWarning<{ path: string; hook: string }>(
    (e) =>
      `${e.path} already exists, so promptsync did not overwrite it. The file does not contain the hook ${e.hook}.`,
    (e) =>
      `Add \`- { repo: https://github.com/OWNER/promptsync, rev: <commit>, hooks: [{ id: ${e.hook} }] }\` to the \`repos\` list in the file.`,
  ),
  'init/not-selected': defineWarning<{ path: string }>(
    (e) => `promptsync did not write ${e.path}, because no pattern in the existing promptsync.yaml matches it.`,
    'Store prompt files at paths that match a pattern under `prompts:`. To create a prompt file at a matching path, run `promptsync import <id>`.',
  ),
  'init/in-the-way': defineError<{ path: string; what: string }>(
    (e) => `promptsync could not write ${e.path}, because ${e.what}.`,
    (e) => `Move ${e.path} to another location, then run promptsync init again.`,
  ),

  // The GitHub Action
  'action/invalid-input': defineError<{ input: string; expected: string }>(
    (e) => `The \`${e.input}\` input is invalid: ${e.expected}.`,
    'Fix the input in the workflow.',
  ),
  'action/invalid-event': defineError<{ reason: string }>(
    (e) => `promptsync could not read the event that triggered this run (${e.reason}).`,
    'Run the action in a GitHub Actions workflow, which sets GITHUB_EVENT_NAME and GITHUB_EVENT_PATH.',
  ),
  'action/no-config': defineError<{ path: string }>(
    (e) => `The workspace does not contain ${e.path}. The action does not search parent folders.`,
    'Set the `working-directory` input to a folder that contains promptsync.yaml, or set the `config` input to the path of the file relative to that folder.',
  ),
  'action/no-checkout': defineError(
    'The workspace is not a git repository.',
    'Before this step, add a step that runs actions/checkout with `fetch-depth: 0`.',
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
      `In the actions/checkout step, set \`fetch-depth: 0\` and remove \`ref\`. For \`pull_request_target\`, set \`ref: refs/pull/${e.number}/merge\`, and do not give this action an API key.`,
  ),
  'action/unsupported-event': defineError<{ event: string }>(
    (e) => `The \`auto\` mode does nothing for the \`${e.event}\` event.`,
    'Run the action on `pull_request`, `push`, `schedule`, or `workflow_dispatch`, or select a different mode with the `mode` input.',
  ),
  'action/closed': defineWarning<{ number: number; merged: boolean }>(
    (e) => `promptsync did not review #${e.number}, because it is already ${e.merged ? 'merged' : 'closed'}.`,
    (e) =>
      e.merged
        ? 'Make sure that the action also runs on pushes to the live branch, because that run applies the merged changes.'
        : 'To review the pull request again, reopen it.',
  ),
  'action/drift-found': defineError<{ prompts: number }>(
    (e) => `promptsync found differences between the service and the files for ${formatCount(e.prompts, 'prompt')}.`,
    'Pull the changes from the service into the files, or run a sync to undo them. A sync also applies any merged changes that are not live yet.',
  ),
  'action/stale-base': defineWarning<{ branch: string; base: string; tip: string }>(
    (e) =>
      `This review is based on ${e.branch} at ${shortenCommitId(e.base)}, but ${e.branch} is now at ${shortenCommitId(e.tip)}.`,
    'Update the branch. The newer commits may change the plan.',
  ),
  'action/not-told': defineWarning<{ what: string; reason: string; forbidden: boolean }>(
    (e) => `promptsync could not write the ${e.what}: ${endSentence(e.reason)}`,
    (e) =>
      e.forbidden
        ? `${makePermissionHint(e)} You can also find this information in the run log.`
        : 'Fix the problem, then run the job again. You can also find this information in the run log.',
  ),
  'action/not-proposed': defineError<{ branch: string; reason: string }>(
    (e) => `promptsync could not update the pull request from ${e.branch}: ${e.reason}`,
    (e) =>
      PULL_REQUEST_HINTS.find(([pattern]) => pattern.test(e.reason))?.[1] ??
      'Run the workflow again. If it fails again, check whether a repository rule blocks the pull request.',
  ),
  'action/foreign-commit': defineError<{ branch: string; commit: string }>(
    (e) =>
      `Somebody else committed to the branch ${e.branch} (${shortenCommitId(e.commit)}), so promptsync did not push to it.`,
    'Merge the pull request for this branch, or delete the branch. The next run then proposes the remaining changes.',
  ),

  // promptsync comment
  'gitlab/not-published': defineError<{
    reason: string;
    /** The status of the response. 0 if there was no response. */
    status: number;
  }>(
    (e) => `promptsync could not publish a note on the merge request: ${endSentence(e.reason)}`,
    (e) => makeGitLabHint(e.status),
  ),

  // Faults of promptsync
  'internal/unexpected': defineError<{ reason: string }>(
    (e) => `promptsync failed with an internal error: ${e.reason}`,
    'Report this error, and include the command and the promptsync version.',
  ),
};

function makeUnknownEnvironmentHint(e: { known: readonly string[]; isOther?: boolean } & SpellingEvidence): string {
  if (e.isOther === true) return 'Use --config to name the configuration that manages this environment.';
  if (e.known.length === 0) return 'Use a valid name without control characters.';
  return makeSuggestionHint(e, `Use one of these environments: ${e.known.join(', ')}.`);
}
