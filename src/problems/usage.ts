import {
  hintSuggestion,
  defineError,
  type SpellingEvidence,
  quoteShellWord,
  shortenCommitId,
  defineWarning,
} from './catalog-entry.ts';

/** What git and GitHub say where something is missing that a pull request needs. */
const MISSING: readonly (readonly [said: RegExp, hint: string])[] = [
  [/not permitted to create/, 'Turn on "Allow GitHub Actions to create and approve pull requests" in the settings.'],
  [/Resource not accessible by|Not Found/, 'Give the job the permission `pull-requests: write`.'],
  [/\b403\b|denied|could not read|Auth/, 'Give the job `contents: write`; the checkout has to keep its credentials.'],
];

/** What to do about a status of GitLab's; it says 404 of what a token may not see as well. */
function makeGitLabHint(status: number): string {
  if (status >= 300 && status < 400)
    return 'It is not followed, the token would go along: see where CI_API_V4_URL leads.';
  if (![401, 403, 404].includes(status)) return 'The report is as it was: run the job again once that is mended.';
  const token =
    'one of the project of the merge request that is not expired, with the scope `api` and the role Reporter';
  return `Set GITLAB_TOKEN to a project access token: ${token}.`;
}

/** What can be wrong with how promptsync is configured and called, on the command line and as the GitHub Action. */
export const USAGE_PROBLEMS = {
  // promptsync.yaml and variables
  'config/not-found': defineError(
    'There is no promptsync.yaml in the working directory or, inside a repository, in a folder above it.',
    'Run promptsync in the folder of a promptsync.yaml, or name the file with --config FILE.',
  ),
  'config/foreign-file': defineError<{ path: string }>(
    'The configuration belongs to another user.',
    (e) =>
      'Another user could choose the service that gets your API key. If you trust this file, name it: ' +
      `\`--config ${quoteShellWord(e.path)}\`.`,
  ),
  'config/foreign-repository': defineError<{ root: string }>(
    (e) => `The repository ${e.root} belongs to another user, and git does not accept it.`,
    (e) =>
      'Another user could choose the service that gets your API key. If you trust this repository, run ' +
      `\`git config --global --add safe.directory ${quoteShellWord(e.root)}\`, or name the configuration with --config FILE.`,
  ),
  'config/unreadable': defineError<{ reason: string }>(
    (e) => `The configuration cannot be read (${e.reason}).`,
    'Check the path given with --config.',
  ),
  'config/unknown-field': defineError<{ field: string } & SpellingEvidence>(
    (e) => `The setting "${e.field}" is not known.`,
    (e) =>
      e.field === 'services'
        ? 'A promptsync.yaml has one `service`: write one file for each, and choose with --config.'
        : hintSuggestion(e, 'Remove it.', '`'),
  ),
  'config/invalid-field': defineError<{ field: string; expected: string }>(
    (e) => `The setting "${e.field}" is not valid: ${e.expected}.`,
    'Correct the value.',
  ),
  'config/missing-service': defineError(
    'No service is configured.',
    'Set `service.base_url` in promptsync.yaml or the variable PROMPTSYNC_BASE_URL; for a first try set `service.embedded`.',
  ),
  'config/missing-key': defineError<{ source: string; variable: string }>(
    (e) => `${e.source}, which should hold the API key, is not set or empty.`,
    (e) =>
      `Set ${e.variable}; in a workflow look at its secret: one that is not there, or not for this job, is empty. The key itself never belongs in a file.`,
  ),
  'config/invalid-key': defineError<{ source: string }>(
    (e) => `${e.source} holds characters that cannot be part of an API key.`,
    'Set it again; line breaks and blanks around the key are a usual cause.',
  ),
  'config/invalid-url': defineError<{ source: string; expected: string }>(
    (e) => `The base URL in ${e.source} is not valid: ${e.expected}.`,
    'Write it like https://prompts.example.com. Plain http needs `allow_http: true` under `service:`, unless the address is loopback.',
  ),
  'config/pattern-outside': defineError<{ pattern: string }>(
    (e) => `The pattern "${e.pattern}" leaves the repository.`,
    'Prompt files are read from inside the repository alone.',
  ),
  'config/drift-needs-base': defineWarning(
    'on_drift is `fail`, and without --base nothing is known of drift.',
    'Give the commit that was synced last, such as --base HEAD^.',
  ),

  // The command line
  'usage/invalid': defineError<{ reason: string }>((e) => e.reason, 'See promptsync --help.'),
  'usage/nothing-selected': defineError<{ selector: string; suggestions: readonly string[] }>(
    (e) => `"${e.selector}" selects no prompt.`,
    (e) =>
      /^[^{]*,/.test(e.selector)
        ? 'Separate keys with blanks, not with commas.'
        : hintSuggestion(
            { suggestion: e.suggestions.join(', ').replace(/, ([^,]*)$/, ' or $1') || undefined },
            'Give a key, or a path or pattern relative to promptsync.yaml; for import and --orphans a pattern of names.',
          ),
  ),
  'usage/nothing-named': defineError(
    'No prompt is named.',
    'Give keys, paths or patterns (`promote` also takes --all); the action: `prompts`.',
  ),
  'usage/unknown-environment': defineError<
    { option: string; environment: string; known: readonly string[] } & SpellingEvidence
  >(
    (e) => `${e.option} "${e.environment}" is not an environment of promptsync.yaml.`,
    (e) =>
      e.known.length === 0
        ? 'Give a name without control characters.'
        : hintSuggestion(e, `Environments are: ${e.known.join(', ')}.`),
  ),
  'usage/needs-environment': defineError<{ option: string; reason: string }>(
    (e) => `${e.option} is missing: ${e.reason}.`,
    (e) => `Name the environment with ${e.option}.`,
  ),
  'usage/same-environment': defineError<{ environment: string }>(
    (e) => `A version is not promoted from "${e.environment}" to itself.`,
    'Name two environments.',
  ),
  'usage/confirmation-needed': defineError(
    'Nothing was written: there is no terminal to ask on.',
    'Use --yes (or CI=true) to apply without a question, or --dry-run to see the plan.',
  ),
  'usage/cancelled': defineError(
    'Nothing was written: the question was not answered.',
    'Run again, or say with flags what is asked for.',
  ),
  'usage/declined': defineError('Nothing was written: the question was not answered with yes.', 'Run again to apply.'),
  'usage/output-unwritable': defineError<{ path: string; reason: string }>(
    (e) => `The report cannot be written to ${e.path} (${e.reason}).`,
    'Give a path in a folder that exists and that you may write to.',
  ),
  'usage/output-format': defineError<{ reason: string }>(
    (e) => `The report is not written: ${e.reason}.`,
    'Name the file .txt, .json, .md, .html or .xml (JUnit); a single one may have any name with --format.',
  ),
  'usage/not-a-report': defineError<{ path: string; reason: string }>(
    (e) => `${e.path} cannot be read as a report (${e.reason}).`,
    'Give the file that `--output plan.json` or `--format json` has written with this version of promptsync.',
  ),
  'usage/stdout-unwritable': defineError<{ reason: string }>(
    (e) => `The report cannot be written to standard output (${e.reason}).`,
    'What was done is done: `promptsync status` tells what is served. Make room, or give a file with --output.',
  ),
  'usage/cannot-serve': defineError<{ reason: string }>(
    (e) => `The embedded service cannot be started (${e.reason}).`,
    'Check `service.embedded`, or --db and --port of `serve`.',
  ),

  // promptsync init
  'init/service-needed': defineError(
    'It is not known where the prompt service is, and there is no terminal to ask on.',
    'Give its address with --url, or try the embedded service with --embedded.',
  ),
  'init/invalid-flag': defineError<{ flag: string; reason: string }>(
    (e) => `The value of ${e.flag} cannot be used: ${e.reason}`,
    'See promptsync init --help.',
  ),
  'init/nested': defineWarning<{ path: string }>(
    (e) => `There is a configuration above this folder: ${e.path}.`,
    'Commands that run in this folder use the one that is written here.',
  ),
  'init/folder-name': defineError<{ path: string; what: string }>(
    (e) => `The path of this folder in the repository, "${e.path}", contains ${e.what}.`,
    'Rename the folder, then run promptsync init again.',
  ),
  'init/kept': defineWarning<{ path: string }>(
    (e) => `${e.path} was there already and differs; it was kept.`,
    'Compare the two yourself, or overwrite it with --force.',
  ),
  'init/include': defineWarning<{ path: string; include: string }>(
    (e) => `${e.path} was there already and stays as it is; it does not include ${e.include}.`,
    (e) => `Next: add to it \`include: [{ local: ${e.include} }]\`, or the entry to the list that it has.`,
  ),
  'init/not-selected': defineWarning<{ path: string }>(
    (e) => `${e.path} was not written: the promptsync.yaml that was kept does not select it.`,
    'Put prompt files where `prompts:` in it says; `promptsync import <id>` writes one there.',
  ),
  'init/in-the-way': defineError<{ path: string; what: string }>(
    (e) => `${e.path} cannot be written: ${e.what}.`,
    'Move it away, then run promptsync init again.',
  ),

  // The GitHub Action
  'action/invalid-input': defineError<{ input: string; expected: string }>(
    (e) => `The input \`${e.input}\` is not valid: ${e.expected}.`,
    'Correct it in the workflow.',
  ),
  'action/invalid-event': defineError<{ reason: string }>(
    (e) => `The event of this run cannot be read (${e.reason}).`,
    'The action runs in GitHub workflows, which hand it GITHUB_EVENT_NAME and GITHUB_EVENT_PATH.',
  ),
  'action/no-config': defineError<{ path: string }>(
    (e) => `There is no file ${e.path} in the workspace.`,
    'Set the input `working-directory` to the folder of a promptsync.yaml, or the input `config` to the path of the file ' +
      'from that folder. The action does not look in parent folders.',
  ),
  'action/no-checkout': defineError(
    'The workspace is no git repository.',
    'Put a step with actions/checkout, with `fetch-depth: 0`, before this one.',
  ),
  'action/other-checkout': defineError<{ number: number; head: string; found: string }>(
    (e) =>
      `What is checked out (${shortenCommitId(e.found)}) is neither #${e.number} (${shortenCommitId(e.head)}) nor its merge.`,
    (e) =>
      `Give actions/checkout \`fetch-depth: 0\` and no \`ref\`; on pull_request_target \`ref: refs/pull/${e.number}/merge\`, and this action no key.`,
  ),
  'action/unsupported-event': defineError<{ event: string }>(
    (e) => `The mode \`auto\` does nothing on the event ${e.event}.`,
    'Run it on pull_request, push, schedule or workflow_dispatch, or set `mode`.',
  ),
  'action/drift-found': defineError<{ prompts: number }>(
    (e) => `The service differs from the files in ${e.prompts} ${e.prompts === 1 ? 'prompt' : 'prompts'}.`,
    'What was changed there is taken into the files, or a sync puts it back; what is merged and not live, a sync makes live.',
  ),
  'action/stale-base': defineWarning<{ branch: string; base: string; tip: string }>(
    (e) =>
      `This review is made for ${e.branch} at ${shortenCommitId(e.base)}, which is at ${shortenCommitId(e.tip)} by now.`,
    'Update the branch: what was merged meanwhile may make another plan of the same files.',
  ),
  'action/not-told': defineWarning<{ what: string; reason: string; forbidden: boolean }>(
    (e) => `Writing the ${e.what} failed: ${e.reason.replace(/\.?$/, '.')}`,
    (e) =>
      `The log of the run says the same. ${e.forbidden ? 'Give the job the permission that docs/action.md names' : 'Run the job again once that is mended'}.`,
  ),
  'action/not-proposed': defineError<{ branch: string; reason: string }>(
    (e) => `The pull request from ${e.branch} is not up to date: ${e.reason}`,
    (e) =>
      MISSING.find(([said]) => said.test(e.reason))?.[1] ??
      'Start the run again; a rule of the repository may forbid it.',
  ),
  'action/foreign-commit': defineError<{ branch: string; commit: string }>(
    (e) =>
      `Somebody else has committed to the branch ${e.branch} (${shortenCommitId(e.commit)}): nothing was pushed to it.`,
    'Merge its pull request, or delete the branch; the next run then proposes what is left.',
  ),

  // promptsync comment
  'gitlab/not-published': defineError<{ reason: string; status: number }>(
    (e) => `No note could be published on the merge request: ${e.reason.replace(/\.?$/, '.')}`,
    (e) => makeGitLabHint(e.status),
  ),

  // Faults of promptsync
  'internal/unexpected': defineError<{ reason: string }>(
    (e) => `promptsync met an error of its own: ${e.reason}`,
    'Please report it, with the command and its version.',
  ),
};
