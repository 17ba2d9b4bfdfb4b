import {
  makeSuggestionHint,
  defineError,
  formatCount,
  type SpellingEvidence,
  quoteShellWord,
  shortenCommitId,
  defineWarning,
} from './catalog-entry.ts';

/** The hints for a pull request that promptsync could not update, by what the error message of git or GitHub contains. */
const PULL_REQUEST_HINTS: readonly (readonly [pattern: RegExp, hint: string])[] = [
  [
    /not permitted to create/,
    'Turn on "Allow GitHub Actions to create and approve pull requests" in the settings of the repository.',
  ],
  [/Resource not accessible by|Not Found/, 'Give the job the permission `pull-requests: write`.'],
  [
    /\b403\b|denied|could not read|Auth/,
    'Give the job the permission `contents: write`, and let actions/checkout keep its credentials.',
  ],
];

/** Returns the hint for a status of GitLab. GitLab also responds with 404 if a resource exists but the token may not see it. */
function makeGitLabHint(status: number): string {
  if (status >= 300 && status < 400) {
    return 'Check the address in CI_API_V4_URL. promptsync does not follow the redirect, because it would send the token along.';
  }
  if (![401, 403, 404].includes(status)) {
    return 'Solve the problem and run the job again. Until then, the merge request keeps the previous report.';
  }
  return 'Set GITLAB_TOKEN to a project access token of the project of the merge request. The token must not be expired, and it needs the scope `api` and the role Reporter.';
}

/** Ends a reason with a period, if it does not have one. */
function endSentence(reason: string): string {
  return reason.replace(/\.?$/, '.');
}

/** The problems of configuring and calling promptsync, on the command line and as the GitHub Action. */
export const USAGE_PROBLEMS = {
  // promptsync.yaml and variables
  'config/not-found': defineError(
    'promptsync found no promptsync.yaml in the working directory or, inside a repository, in a folder above it.',
    'Run promptsync in the folder of a promptsync.yaml, or name the file with --config FILE.',
  ),
  'config/foreign-file': defineError<{ path: string }>(
    'The configuration belongs to another user, who could choose the service that gets your API key.',
    (e) => `If you trust this file, name it with \`--config ${quoteShellWord(e.path)}\`.`,
  ),
  'config/foreign-repository': defineError<{ root: string }>(
    (e) =>
      `The repository ${e.root} belongs to another user, and git does not trust it. That user could choose the service that gets your API key.`,
    (e) =>
      `If you trust this repository, run \`git config --global --add safe.directory ${quoteShellWord(e.root)}\`, or name the configuration with --config FILE.`,
  ),
  'config/unreadable': defineError<{ reason: string }>(
    (e) => `The configuration cannot be read (${e.reason}).`,
    'Check the path of the configuration and your permission to read it.',
  ),
  'config/unknown-field': defineError<{ field: string } & SpellingEvidence>(
    (e) => `The setting "${e.field}" is unknown.`,
    (e) =>
      e.field === 'services'
        ? 'Write one file for each service, and choose the file with --config. A promptsync.yaml has only one `service`.'
        : makeSuggestionHint(e, 'Remove the setting.', '`'),
  ),
  'config/invalid-field': defineError<{ field: string; expected: string }>(
    (e) => `The setting "${e.field}" is not valid: ${e.expected}.`,
    'Correct the setting in the configuration file.',
  ),
  'config/missing-service': defineError(
    'No service is configured.',
    'Set `service.base_url` in promptsync.yaml, or set the variable PROMPTSYNC_BASE_URL. To try promptsync first, set `service.embedded`.',
  ),
  'config/missing-key': defineError<{
    /** The place of the key, such as "The variable PROMPTSYNC_API_KEY". It is the subject of the message. */
    source: string;
    variable: string;
  }>(
    (e) => `${e.source} should hold the API key, but it is not set or is empty.`,
    (e) =>
      `Set ${e.variable}. In a workflow, check its secret: a secret is empty if it does not exist or if this job may not use it. Never write the key into a file.`,
  ),
  'config/invalid-key': defineError<{ source: string }>(
    (e) => `${e.source} contains characters that cannot be part of an API key.`,
    'Set the key again. The usual causes are line breaks and spaces around the key.',
  ),
  'config/invalid-url': defineError<{ source: string; expected: string }>(
    (e) => `The base URL in ${e.source} is not valid: ${e.expected}.`,
    'Write the URL like https://prompts.example.com. To use plain http for an address that is not loopback, set `allow_http: true` under `service:`.',
  ),
  'config/pattern-outside': defineError<{ pattern: string }>(
    (e) => `The pattern "${e.pattern}" leads out of the repository.`,
    'Use patterns inside the repository. promptsync reads prompt files from nowhere else.',
  ),
  'config/drift-needs-base': defineWarning(
    'on_drift is `fail`, but promptsync cannot detect drift without --base.',
    'Name the commit that was synced last, for example with --base HEAD^.',
  ),

  // The command line
  'usage/invalid': defineError<{ reason: string }>((e) => e.reason, 'See promptsync --help.'),
  'usage/nothing-selected': defineError<{ selector: string; suggestions: readonly string[] }>(
    (e) => `No prompt matches "${e.selector}".`,
    (e) =>
      /^[^{]*,/.test(e.selector)
        ? 'Separate keys with spaces, not with commas.'
        : makeSuggestionHint(
            { suggestion: e.suggestions.join(', ').replace(/, ([^,]*)$/, ' or $1') || undefined },
            'Give a key, or a path or pattern relative to promptsync.yaml. For import and --orphans, give a pattern of names.',
          ),
  ),
  'usage/nothing-named': defineError(
    'The command names no prompt.',
    'Give keys, paths or patterns. For promote, you can also use --all. In the action, set the input `prompts`.',
  ),
  'usage/unknown-environment': defineError<
    { option: string; environment: string; known: readonly string[] } & SpellingEvidence
  >(
    (e) => `${e.option} names "${e.environment}", which is not an environment in promptsync.yaml.`,
    (e) =>
      e.known.length === 0
        ? 'Give a valid name without control characters.'
        : makeSuggestionHint(e, `Use one of these environments: ${e.known.join(', ')}.`),
  ),
  'usage/needs-environment': defineError<{ option: string; reason: string }>(
    (e) => `The command needs ${e.option}, because ${e.reason}.`,
    (e) => `Name the environment with ${e.option}.`,
  ),
  'usage/same-environment': defineError<{ environment: string }>(
    (e) => `promptsync cannot promote a version from "${e.environment}" to the same environment.`,
    'Name two different environments.',
  ),
  'usage/confirmation-needed': defineError(
    'promptsync wrote nothing, because it needs a confirmation and there is no terminal to ask for it.',
    'Use --yes (or CI=true) to apply without a question, or --dry-run to see the plan.',
  ),
  'usage/cancelled': defineError(
    'promptsync wrote nothing, because the question was canceled.',
    'Run the command again, or use flags instead of answering questions.',
  ),
  'usage/declined': defineError(
    'promptsync wrote nothing, because the answer to its question was not yes.',
    'Run the command again to apply the plan.',
  ),
  'usage/output-unwritable': defineError<{ path: string; reason: string }>(
    (e) => `The report cannot be written to ${e.path} (${e.reason}).`,
    'Give a path in an existing folder that you have permission to write to.',
  ),
  'usage/output-format': defineError<{ reason: string }>(
    (e) => `promptsync wrote no report, because ${e.reason}.`,
    'Give the file a name that ends in .txt, .json, .md, .html or .xml (JUnit). With --format, a single file may have any name.',
  ),
  'usage/not-a-report': defineError<{ path: string; reason: string }>(
    (e) => `${e.path} cannot be read as a report (${e.reason}).`,
    'Give a file that this version of promptsync wrote with `--output plan.json` or `--format json`.',
  ),
  'usage/stdout-unwritable': defineError<{ reason: string }>(
    (e) =>
      `The report cannot be written to standard output (${e.reason}). The changes that it reports remain in effect.`,
    'Run `promptsync status` to see what each environment serves. Then free space on the disk, or write to a file with --output.',
  ),
  'usage/cannot-serve': defineError<{ reason: string }>(
    (e) => `The embedded service cannot be started (${e.reason}).`,
    'Check `service.embedded` in promptsync.yaml, or the flags --db and --port of promptsync serve.',
  ),

  // promptsync init
  'init/service-needed': defineError(
    'promptsync does not know the address of the prompt service, and there is no terminal to ask for it.',
    'Give the address with --url, or try the embedded service with --embedded.',
  ),
  'init/invalid-flag': defineError<{ flag: string; reason: string }>(
    (e) => `The value of ${e.flag} is not valid: ${e.reason}`,
    'See promptsync init --help.',
  ),
  'init/nested': defineWarning<{ path: string }>(
    (e) => `A folder above this one already has a configuration: ${e.path}.`,
    'Note that commands in this folder use the new configuration, not the one above.',
  ),
  'init/folder-name': defineError<{ path: string; what: string }>(
    (e) => `The path of this folder in the repository, "${e.path}", contains ${e.what}.`,
    'Rename the folder, then run promptsync init again.',
  ),
  'init/kept': defineWarning<{ path: string }>(
    (e) => `${e.path} already exists with different content, so promptsync kept it.`,
    'Compare the contents yourself, or overwrite the file with --force.',
  ),
  'init/include': defineWarning<{ path: string; include: string }>(
    (e) => `${e.path} already exists, so promptsync kept it. The file does not include ${e.include}.`,
    (e) =>
      `Add \`include: [{ local: ${e.include} }]\` to the file. If the file already has a list \`include\`, add the entry to that list.`,
  ),
  'init/not-selected': defineWarning<{ path: string }>(
    (e) => `promptsync did not write ${e.path}, because the existing promptsync.yaml does not select it.`,
    'Put prompt files where a pattern under `prompts:` matches them. `promptsync import <id>` writes a file to such a place.',
  ),
  'init/in-the-way': defineError<{ path: string; what: string }>(
    (e) => `promptsync cannot write ${e.path}, because ${e.what}.`,
    (e) => `Move ${e.path} away, then run promptsync init again.`,
  ),

  // The GitHub Action
  'action/invalid-input': defineError<{ input: string; expected: string }>(
    (e) => `The input \`${e.input}\` is not valid: ${e.expected}.`,
    'Correct the input in the workflow.',
  ),
  'action/invalid-event': defineError<{ reason: string }>(
    (e) => `The event of this run cannot be read (${e.reason}).`,
    'Run the action in a GitHub workflow, which sets GITHUB_EVENT_NAME and GITHUB_EVENT_PATH.',
  ),
  'action/no-config': defineError<{ path: string }>(
    (e) => `The workspace has no file ${e.path}. The action does not look in parent folders.`,
    'Set the input `working-directory` to the folder of a promptsync.yaml, or set the input `config` to the path of the file from that folder.',
  ),
  'action/no-checkout': defineError(
    'The workspace is not a git repository.',
    'Add a step with actions/checkout and `fetch-depth: 0` before this step.',
  ),
  'action/other-checkout': defineError<{
    number: number;
    head: string;
    /** The id of the checked-out commit, or "no commit". */
    found: string;
  }>(
    (e) =>
      `The checkout (${shortenCommitId(e.found)}) is neither the head of #${e.number} (${shortenCommitId(e.head)}) nor its merge commit.`,
    (e) =>
      `Give actions/checkout \`fetch-depth: 0\` and no \`ref\`. On pull_request_target, use \`ref: refs/pull/${e.number}/merge\` and give this action no key.`,
  ),
  'action/unsupported-event': defineError<{ event: string }>(
    (e) => `The mode \`auto\` does nothing on the event ${e.event}.`,
    'Run the action on pull_request, push, schedule or workflow_dispatch, or set the input `mode`.',
  ),
  'action/drift-found': defineError<{ prompts: number }>(
    (e) => `The service differs from the files in ${formatCount(e.prompts, 'prompt')}.`,
    'Take the changes from the service into the files, or run a sync to undo them. A sync also makes merged changes live.',
  ),
  'action/stale-base': defineWarning<{ branch: string; base: string; tip: string }>(
    (e) =>
      `This review is for ${e.branch} at ${shortenCommitId(e.base)}, but ${e.branch} is now at ${shortenCommitId(e.tip)}.`,
    'Update the branch. The plan of the same files may differ after the newer commits.',
  ),
  'action/not-told': defineWarning<{ what: string; reason: string; forbidden: boolean }>(
    (e) => `promptsync could not write the ${e.what}: ${endSentence(e.reason)}`,
    (e) =>
      e.forbidden
        ? 'Give the job the permission that docs/action.md names. The log of the run has the same information.'
        : 'Solve the problem and run the job again. The log of the run has the same information.',
  ),
  'action/not-proposed': defineError<{ branch: string; reason: string }>(
    (e) => `promptsync could not update the pull request from ${e.branch}: ${e.reason}`,
    (e) =>
      PULL_REQUEST_HINTS.find(([pattern]) => pattern.test(e.reason))?.[1] ??
      'Run the workflow again. If it fails again, check whether a rule of the repository forbids the pull request.',
  ),
  'action/foreign-commit': defineError<{ branch: string; commit: string }>(
    (e) =>
      `Somebody else committed to the branch ${e.branch} (${shortenCommitId(e.commit)}), so promptsync pushed nothing to it.`,
    'Merge the pull request of the branch, or delete the branch. The next run then proposes the remaining changes.',
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
    'Please report this error, with the command and the version of promptsync.',
  ),
};
