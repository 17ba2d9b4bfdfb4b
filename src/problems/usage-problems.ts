import { joinCodeNames, joinNames, joinQuotedNames, joinWords } from '../text.ts';
import { capitalize, type Words } from '../service-words.ts';
import {
  makeSuggestionHint,
  defineError,
  type SpellingEvidence,
  quoteShellWord,
  defineWarning,
  endSentence,
} from './catalog-entry.ts';

/** The hint for the setting `services`, which users may expect in promptsync.yaml. */
const SERVICES_HINT =
  'Each `promptsync.yaml` can configure only one `service`. Create a separate file for each service, and choose the file with `--config`.';

type OutputName = 'report' | 'bundle';

type UnknownEnvironment = SpellingEvidence & {
  option: string;
  environment: string;
  known: readonly string[];
  /** True if another configuration manages the environment. */
  isOther?: boolean;
};

const MAX_LISTED_PATHS = 10;

export const USAGE_PROBLEMS = {
  // promptsync.yaml and variables
  'config/not-found': defineError<{
    misnamed: string | null;
  }>(
    'promptsync could not find `promptsync.yaml` in the current folder. In a git repository, promptsync also searches the parent folders.',
    (e) =>
      e.misnamed === null
        ? 'To create `promptsync.yaml` in this folder, run `promptsync init`. If the file exists elsewhere, run promptsync in that folder, or use `--config FILE`.'
        : `Rename \`${e.misnamed}\` to \`promptsync.yaml\`.`,
  ),
  'config/foreign-file': defineError<{ path: string }>(
    'promptsync did not use the configuration file because it belongs to another user, who could use it to send your API key to a service of their choice.',
    (e) => `If you trust this file, run the command again with \`--config ${quoteShellWord(e.path)}\`.`,
  ),
  'config/foreign-repository': defineError<{ root: string }>(
    (e) =>
      `promptsync did not use the configuration file in the repository \`${e.root}\` because git does not trust this repository. The repository belongs to another user, who could use the file to send your API key to a service of their choice.`,
    (e) =>
      `If you trust this repository, run \`git config --global --add safe.directory ${quoteShellWord(e.root)}\` or specify its configuration file with \`--config FILE\`.`,
  ),
  'config/unreadable': defineError<{ reason: string }>(
    (e) => `promptsync could not read the configuration file (${e.reason}).`,
    'Check the path to the configuration file, and make sure that you have permission to read the file.',
  ),
  'config/unknown-field': defineError<
    {
      field: string;
      /** The settings that are allowed in this place. Empty if there are none. */
      known: readonly string[];
    } & SpellingEvidence
  >(
    (e) => `The setting \`${e.field}\` is unknown.`,
    (e) => {
      if (e.field === 'services') return SERVICES_HINT;
      const allowed = `The only settings allowed here are ${joinCodeNames(e.known, 'and')}.`;
      return makeSuggestionHint(e, e.known.length === 0 ? 'Remove the setting.' : allowed, '`');
    },
  ),
  'config/invalid-field': defineError<{
    field: string;
    expected: string;
    fix?: string | undefined;
  }>(
    (e) => `The setting \`${e.field}\` is invalid: ${e.expected}.`,
    (e) => e.fix ?? 'Correct this setting in the configuration file.',
  ),
  'config/missing-service': defineError<{
    variables: readonly string[];
    /** The address to suggest, because many users of the provider need it. Null if there is none. */
    suggestedUrl: string | null;
  }>('No service is configured.', (e) => {
    const example = e.suggestedUrl === null ? '' : `, for example to \`${e.suggestedUrl}\``;
    const advice = `Set \`service.base_url\` in \`promptsync.yaml\`${example}, or set the environment variable ${joinCodeNames(e.variables, 'or')}.`;
    return e.suggestedUrl === null
      ? `${advice} To try promptsync without a hosted service, set \`service.embedded\`.`
      : advice;
  }),
  'config/different-addresses': defineError<{
    variables: readonly string[];
  }>(
    (e) => `${joinCodeNames(e.variables, 'and')} contain different addresses.`,
    'Set both variables to the same address, or unset the wrong one. You can also set `service.base_url` in `promptsync.yaml`, or pass `--url` to `promptsync init`.',
  ),
  'config/missing-key': defineError<{
    /** The place of the key, such as "The variable PROMPTSYNC_API_KEY". It is the subject of the message. */
    source: string;
    variable: string;
  }>(
    (e) => `${e.source} must contain the API key, but it is empty or not set.`,
    (e) =>
      `Set \`${e.variable}\` to the API key. Never store the key in a file. In a workflow, make sure that the secret exists and that the job can access it; otherwise, the variable is empty.`,
  ),
  'config/invalid-key': defineError<{ source: string }>(
    (e) => `${e.source} contains characters that are not allowed in an API key.`,
    'Set the API key again without leading or trailing spaces or line breaks.',
  ),
  'config/swapped-keys': defineError<{ secretSource: string; publicSource: string }>(
    (e) => `${capitalize(e.publicSource)} contains a secret key.`,
    (e) => `Set ${e.secretSource} to the secret key, and ${e.publicSource} to the public key.`,
  ),
  'config/invalid-url': defineError<{ source: string; expected: string }>(
    (e) => `The base URL in ${e.source} is invalid: ${e.expected}.`,
    'Use a URL such as `https://prompts.example.com`. To use plain HTTP with a host other than your own machine, set `allow_http: true` under `service:`.',
  ),
  'config/pattern-outside': defineError<{ pattern: string }>(
    (e) => `The pattern "${e.pattern}" refers to files outside the repository.`,
    'Use a pattern that matches only files inside the repository. promptsync does not read files outside it.',
  ),
  'config/pattern-unmatched': defineError<{
    pattern: string;
    suggestion: string;
  }>(
    (e) => `The pattern "${e.pattern}" matches no file.`,
    (e) => `Write \`${e.suggestion}\`. Patterns match files, not folders. Put forward slashes between folder names.`,
  ),
  'config/drift-needs-base': defineWarning(
    '`on_drift` is set to `fail`, but promptsync cannot detect drift because it has no commit to compare with.',
    'Run promptsync in a full clone of the git repository.',
  ),

  // The command line
  'usage/invalid': defineError<{ reason: string }>((e) => e.reason, 'For help, run the command with `--help`.'),
  'usage/nothing-selected': defineError<{
    selector: string;
    suggestions: readonly string[];
    /** Whether the selector selects prompt files or the names of prompts in the service. */
    selects: 'files' | 'names';
    /** The paths of files with errors. promptsync may be unable to read the key in such a file. */
    invalidPaths: readonly string[];
  }>(
    (e) => {
      const invalid = joinNames(e.invalidPaths, MAX_LISTED_PATHS);
      return `No prompt matches "${e.selector}".${invalid === '' ? '' : ` These files have errors: ${invalid}.`}`;
    },
    (e) => {
      // A comma after "{" may belong to a pattern such as {a,b}. An earlier comma was meant to separate keys.
      if (/^[^{]*,/.test(e.selector)) return 'Separate keys with spaces, not commas.';
      const suggestion = e.suggestions.length === 0 ? undefined : joinQuotedNames(e.suggestions, 'or');
      if (e.selects === 'names')
        return makeSuggestionHint({ suggestion }, 'Specify the name of a prompt, or a pattern for names.');
      const otherHint =
        e.invalidPaths.length === 0
          ? 'Specify a key, path, folder, or pattern. Paths are relative to the working directory, or to the folder that contains `promptsync.yaml`.'
          : 'If the prompt is in a file with errors, fix the file first. To see the errors, run `promptsync validate`.';
      return makeSuggestionHint({ suggestion }, otherHint);
    },
  ),
  'usage/nothing-named': defineError(
    'The command does not specify any prompts.',
    'Specify the prompts by key, path, folder, or pattern. With `promptsync promote`, you can use `--all` instead. In the GitHub Action, set the `prompts` input.',
  ),
  'usage/unknown-environment': defineError<UnknownEnvironment>(
    (e, w) =>
      e.isOther === true
        ? `\`${e.option}\` is set to "${e.environment}", which another configuration manages.`
        : `\`${e.option}\` is set to "${e.environment}", which is not a known ${w.environment}.`,
    makeUnknownEnvironmentHint,
  ),
  'usage/needs-environment': defineError<{
    option: string;
    /** The reason as a clause. Null if the command always requires the option. */
    reason: string | null;
    known: readonly string[];
  }>(
    (e) =>
      e.reason === null
        ? `The command requires \`${e.option}\`.`
        : `The command requires \`${e.option}\` because ${e.reason}.`,
    (e, w) =>
      e.known.length === 0
        ? `Use \`${e.option}\` to specify the ${w.environment}.`
        : `Use \`${e.option}\` to specify ${joinQuotedNames(e.known, 'or')}.`,
  ),
  'usage/same-environment': defineError<{ environment: string }>(
    (e, w) => `promptsync cannot promote a version from "${e.environment}" to the same ${w.environment}.`,
    (_, w) => `Specify two different ${w.environment}s.`,
  ),
  'usage/confirmation-needed': defineError(
    'promptsync made no changes because it could not ask for confirmation without a terminal.',
    'To apply the plan without confirmation, use `--yes` or set `CI=true`. To preview the plan, use `--dry-run`.',
  ),
  'usage/cancelled': defineError(
    'promptsync made no changes because you canceled the command.',
    'To continue, run the command again. To skip the questions, pass the answers as flags.',
  ),
  'usage/declined': defineError(
    'promptsync made no changes because you did not confirm the plan.',
    'To apply the plan, run the command again and answer `yes`.',
  ),
  'usage/output-unwritable': defineError<{ what: OutputName; path: string; reason: string }>(
    (e) => `promptsync could not write the ${e.what} to \`${e.path}\` (${e.reason}).`,
    'Choose a path in an existing folder that you can write to.',
  ),
  'usage/output-unreadable': defineError<{ path: string; reason: string }>(
    (e) => `promptsync could not read \`${e.path}\` (${e.reason}), so it could not compare that file with the bundle.`,
    'Check the path in `--output`, and make sure that you have permission to read the existing file at that path.',
  ),
  'usage/output-format': defineError<{
    what: OutputName;
    reason: string;
    /** The endings of file names that determine a format, such as `.json`. */
    endings: readonly string[];
  }>(
    (e) => `promptsync did not write the ${e.what} because ${e.reason}.`,
    (e) =>
      `Use a file name that ends in ${joinCodeNames(e.endings, 'or')}. If you are writing a single file, you can use any file name as long as you specify the format with \`--format\`.`,
  ),
  'usage/not-a-report': defineError<{ path: string; reason: string }>(
    (e) => `promptsync could not read a report from \`${e.path}\` (${e.reason}).`,
    'Use a file that this version of promptsync created with `--output plan.json` or `--format json`.',
  ),
  'usage/stdout-unwritable': defineError<{ reason: string }>(
    (e) =>
      `promptsync could not write to standard output (${e.reason}). Changes that promptsync has already made remain in effect.`,
    (_, w) =>
      `To see which version each ${w.environment} serves, run \`promptsync status\`. If the disk is full, free up space. You can also write the output to a file on another disk with \`--output\`.`,
  ),
  'usage/no-current-folder': defineError<{ reason: string }>(
    (e) => `promptsync could not find the current folder (${e.reason}). Another program may have deleted the folder.`,
    'Change to an existing folder, then run promptsync again.',
  ),
  'usage/cannot-serve': defineError<{ reason: string }>(
    (e) => `promptsync could not start the embedded service (${e.reason}).`,
    'Check `service.embedded` in `promptsync.yaml`. For `promptsync serve`, check `--db` and `--port`.',
  ),

  // promptsync init
  'init/service-needed': defineError<{
    /** Null if no provider with a default address is selected. */
    defaultAddress: { readonly variables: readonly string[]; readonly suggestedUrl: string } | null;
    /** The flag for each provider, such as "`--provider other` for Other". */
    providerFlags: readonly string[];
  }>(
    (_, w) => `promptsync needs the URL of ${w.service} but cannot ask for it without a terminal.`,
    ({ defaultAddress, providerFlags }) =>
      defaultAddress === null
        ? `Use ${joinWords(['`--url` to specify the URL of your service', ...providerFlags, '`--embedded` to try the embedded service'], 'or')}.`
        : `Use \`--url\` to specify the URL, for example \`--url ${defaultAddress.suggestedUrl}\`, or set the environment variable ${joinCodeNames(defaultAddress.variables, 'or')}. \`init\` writes the URL to \`service.base_url\` in \`promptsync.yaml\`.`,
  ),
  'init/invalid-flag': defineError<{ flag: string; reason: string }>(
    (e) => `The value of \`${e.flag}\` is invalid: ${endSentence(e.reason)}`,
    (e) =>
      e.flag === '--url'
        ? 'Use an https URL. If the service is on a private network and supports only plain http, first run `promptsync init` with an https URL. Then, under `service:` in `promptsync.yaml`, change `base_url` to the http URL and set `allow_http: true`.'
        : 'For help, run `promptsync init --help`.',
  ),
  'init/nested': defineWarning<{ path: string }>(
    (e) =>
      `A parent folder already contains a configuration file: \`${e.path}\`. Commands that you run in this folder use the new configuration file instead.`,
    'If you did not mean to create a second configuration, delete the new files and edit the existing configuration instead.',
  ),
  'init/folder-name': defineError<{ path: string; what: string }>(
    (e) => `This folder's path in the repository (\`${e.path}\`) contains ${e.what}.`,
    'Rename the folder, then run `promptsync init` again.',
  ),
  'init/kept': defineWarning<{ path: string }>(
    (e) => `\`${e.path}\` already exists with different content, so promptsync did not overwrite it.`,
    'Edit the file manually, or use `--force` to overwrite it.',
  ),
  'init/include': defineWarning<{ path: string; include: string }>(
    (e) => `\`${e.path}\` already exists and does not include \`${e.include}\`. promptsync did not overwrite the file.`,
    (e) =>
      `Add \`include: [{ local: ${e.include} }]\` to the file. If the file already has an \`include\` list, add the entry to that list.`,
  ),
  'init/pre-commit': defineWarning<{ path: string; hook: string }>(
    (e) =>
      `\`${e.path}\` already exists and does not contain the \`${e.hook}\` hook. promptsync did not overwrite the file.`,
    (e) =>
      `Add \`- { repo: https://github.com/OWNER/promptsync, rev: <commit>, hooks: [{ id: ${e.hook} }] }\` to the \`repos\` list in the file.`,
  ),
  'init/not-selected': defineWarning<{ path: string }>(
    (e) =>
      `promptsync did not write \`${e.path}\` because no pattern in the existing \`promptsync.yaml\` matches this path.`,
    'Store prompt files at paths that match a pattern under `prompts:`. To create a prompt file at a matching path, run `promptsync import <id>`.',
  ),
  'init/in-the-way': defineError<{ path: string; what: string }>(
    (e) => `promptsync could not write \`${e.path}\` because ${e.what}.`,
    (e) => `Move \`${e.path}\` to another location, then run \`promptsync init\` again.`,
  ),

  // Faults of promptsync
  'internal/unexpected': defineError<{ reason: string }>(
    (e) => `promptsync failed with an internal error: ${endSentence(e.reason)}`,
    'Report this error. Include the command and the output of `promptsync --version`.',
  ),
};

function makeUnknownEnvironmentHint(e: UnknownEnvironment, w: Words): string {
  if (e.isOther === true) return `Use \`--config\` to specify the configuration that manages this ${w.environment}.`;
  if (e.known.length === 0)
    return `Use a valid ${w.environment} name. The name must not be empty or contain control characters.`;
  return makeSuggestionHint(e, `Use ${joinQuotedNames(e.known, 'or')}.`, '"');
}
