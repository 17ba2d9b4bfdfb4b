import { literalSelector } from './domain/text.ts';

/**
 * The catalogue of everything that can go wrong for a user. Each entry says what happened (`message`) and what to do
 * (`hint`). Text in here may hold anything that a file or the service said: renderers make it inert.
 */

/** An error stops what it is about, a warning does not. */
export type Severity = 'error' | 'warning';

/** Where a problem is: a path relative to the configuration file's folder, line and column from 1. */
export type Place = { readonly path?: string; readonly line?: number; readonly column?: number };

/** One thing that is wrong, worded for the person who has to do something about it. */
export type Problem = Place & {
  readonly code: ProblemCode;
  readonly severity: Severity;
  readonly message: string;
  readonly hint: string;
};

type Entry<Evidence> = {
  readonly severity: Severity;
  readonly message: (evidence: Evidence) => string;
  readonly hint: (evidence: Evidence) => string;
};

type Wording<Evidence> = string | ((evidence: Evidence) => string);

const catalogue = {
  // Prompt files
  'prompt/none-found': error<{ patterns: readonly string[] }>(
    (e) => `No prompt file matches ${quoted(e.patterns)}.`,
    'Correct `prompts:` in promptsync.yaml, or add a first prompt file.',
  ),
  'prompt/unreadable': error<{ reason: string }>(
    (e) => `The file cannot be read (${e.reason}).`,
    'Check that it exists and that you may read it.',
  ),
  'prompt/symbolic-link': error(
    'The path is a symbolic link.',
    'Prompt files are read from the repository alone: put the file itself here.',
  ),
  'prompt/too-large': error<{ bytes: number; limit: number }>(
    (e) => `The file has ${e.bytes} bytes; at most ${e.limit} are read.`,
    'Shorten the prompt.',
  ),
  'prompt/changed-meanwhile': error('The file has changed since it was checked.', 'Run again.'),
  'prompt/not-utf8': error('The file is not valid UTF-8.', 'Save it as UTF-8.'),
  'prompt/nul': error('The file contains a NUL character.', 'Remove it: prompts are text.'),
  'prompt/conflict-markers': error(
    'A merge conflict was left in the file.',
    'Resolve it and remove the lines that begin with <<<<<<<, ||||||| and >>>>>>>.',
  ),
  'prompt/no-front-matter': error(
    'The file does not begin with front matter.',
    'Begin it with a line of exactly `---`, then id, key and name, then another line `---`.',
  ),
  'prompt/bad-delimiter': error<{ line: string }>(
    (e) => `The delimiter line is "${e.line}".`,
    'A delimiter is a line of exactly `---`. Front matter is YAML data and is never evaluated.',
  ),
  'prompt/unclosed-front-matter': error(
    'The front matter is not closed.',
    'End it with a line of exactly `---` before the text of the prompt.',
  ),
  'prompt/front-matter-too-large': error<{ bytes: number; limit: number }>(
    (e) => `The front matter has ${e.bytes} bytes; at most ${e.limit} are allowed.`,
    'Move long text into the body, or shorten the metadata.',
  ),
  'prompt/empty-body': error('The prompt has no text.', 'Write the text below the closing `---`.'),
  'prompt/missing-id': error(
    'The field `id` is missing.',
    'The service has no call that creates a prompt: create it in the service, then put the id it shows here as `id:`.',
  ),
  'prompt/missing-field': error<{ field: string }>(
    (e) => `The field \`${e.field}\` is missing.`,
    (e) => `Add \`${e.field}:\` to the front matter.`,
  ),
  'prompt/unknown-field': error<{ field: string; suggestion?: string | undefined }>(
    (e) => `The field "${e.field}" is not known.`,
    (e) =>
      e.suggestion === undefined
        ? 'Fields are id, key, name, description, pins, metadata and variables; your own data goes under `metadata:`.'
        : `Did you mean \`${e.suggestion}\`?`,
  ),
  'prompt/invalid-field': error<{ field: string; expected: string }>(
    (e) => `The field "${e.field}" is not valid: ${e.expected}.`,
    'Correct the value.',
  ),
  'prompt/invalid-pin': error<{ environment: string }>(
    (e) => `The pin of "${e.environment}" is not valid.`,
    'A pin is `latest`, a version number from 1, `version:<id>` or `git:<ref>`.',
  ),
  'prompt/reserved-metadata': error(
    'The metadata key `promptsync` is reserved.',
    'Name it differently: promptsync keeps its own record there.',
  ),
  'prompt/variables-mismatch': error<{
    missing: readonly string[];
    unused: readonly string[];
    repeated: readonly string[];
  }>(
    (e) =>
      firstOf([
        ...e.missing.map((name) => `{{${name}}} is in the text and not in \`variables\``),
        ...e.unused.map((name) => `"${name}" is in \`variables\` and not in the text`),
        ...e.repeated.map((name) => `"${name}" is in \`variables\` more than once`),
      ]) + '.',
    'Make `variables` list the placeholders of the text exactly, or remove it.',
  ),
  'prompt/duplicate-id': error<{ id: string; other: string }>(
    (e) => `The id "${e.id}" is also used by ${e.other}.`,
    'One prompt has one file: remove one of the two, or correct its id.',
  ),
  'prompt/duplicate-key': error<{ key: string; other: string }>(
    (e) => `The key "${e.key}" is also used by ${e.other}.`,
    'Give each prompt a key of its own.',
  ),
  'prompt/unknown-environment': error<{
    environment: string;
    known: readonly string[];
    suggestion?: string | undefined;
  }>(
    (e) => `The environment "${e.environment}" is not in promptsync.yaml.`,
    (e) =>
      e.suggestion === undefined
        ? `Environments are: ${e.known.join(', ')}. Add it under \`environments:\` if it is meant.`
        : `Did you mean \`${e.suggestion}\`?`,
  ),
  'prompt/tool-environment': error<{ environment: string }>(
    (e) => `The environment "${e.environment}" is promptsync's own.`,
    'Pin another environment, or set `tracking_environment` in promptsync.yaml to another name.',
  ),
  'prompt/hidden-character': warning<{ character: string; count: number }>(
    (e) => `The file contains the invisible character ${e.character}${e.count > 1 ? ` ${e.count} times` : ''}.`,
    'Check that it is meant: it is sent to the service unchanged.',
  ),

  'edit/not-kept': error<{ reason: string }>(
    (e) => `The file cannot be edited in place: ${e.reason}.`,
    'Edit it by hand.',
  ),

  // YAML, in prompt files and in promptsync.yaml
  'yaml/syntax': error<{ reason: string }>((e) => `The YAML cannot be read: ${e.reason}.`, 'Correct the syntax.'),
  'yaml/not-a-mapping': error('The YAML is not a mapping.', 'Write fields as `name: value`, one per line.'),
  'yaml/duplicate-key': error<{ key: string }>((e) => `The key "${e.key}" occurs twice.`, 'Remove one of the two.'),
  'yaml/key-not-text': error('A key is not plain text.', 'Put the key in quotes.'),
  'yaml/forbidden-key': error<{ key: string }>((e) => `The key "${e.key}" is not allowed.`, 'Name it differently.'),
  'yaml/alias': error('Anchors and aliases are not allowed.', 'Write the value out.'),
  'yaml/tag': error<{ tag: string }>((e) => `The tag "${e.tag}" is not allowed.`, 'Write the value without a tag.'),
  'yaml/number': error<{ number: string }>(
    (e) => `The number ${e.number} cannot be kept exactly.`,
    'Numbers are finite and integers at most 2^53; put others in quotes.',
  ),
  'yaml/too-deep': error('The YAML is nested too deeply.', 'Flatten it.'),

  // Configuration
  'config/not-found': error(
    'No promptsync.yaml was found from here up to the repository root.',
    'Run promptsync where one is, or name it with --config FILE.',
  ),
  'config/unreadable': error<{ reason: string }>(
    (e) => `The configuration cannot be read (${e.reason}).`,
    'Check the path given with --config.',
  ),
  'config/unknown-field': error<{ field: string; suggestion?: string | undefined }>(
    (e) => `The setting "${e.field}" is not known.`,
    (e) =>
      e.field === 'services'
        ? 'A promptsync.yaml has one `service`: write one file for each, and choose with --config.'
        : e.suggestion === undefined
          ? 'Remove it.'
          : `Did you mean \`${e.suggestion}\`?`,
  ),
  'config/invalid-field': error<{ field: string; expected: string }>(
    (e) => `The setting "${e.field}" is not valid: ${e.expected}.`,
    'Correct the value.',
  ),
  'config/missing-service': error(
    'No service is configured.',
    'Set `service.base_url` in promptsync.yaml or the variable PROMPTSYNC_BASE_URL; for a first try set `service.embedded`.',
  ),
  'config/missing-key': error<{ variable: string }>(
    (e) => `The variable ${e.variable}, which should hold the API key, is not set.`,
    (e) => `Set ${e.variable} in the environment. The key itself never belongs in a file.`,
  ),
  'config/invalid-key': error<{ variable: string }>(
    (e) => `The variable ${e.variable} holds characters that cannot be part of an API key.`,
    'Set it again; line breaks and blanks around the key are a usual cause.',
  ),
  'config/invalid-url': error<{ source: string; expected: string }>(
    (e) => `The base URL in ${e.source} is not valid: ${e.expected}.`,
    'Write it like https://prompts.example.com. Plain http is allowed for loopback addresses alone.',
  ),
  'config/pattern-outside': error<{ pattern: string }>(
    (e) => `The pattern "${e.pattern}" leaves the repository.`,
    'Prompt files are read from inside the repository alone.',
  ),

  // The service
  'service/unreachable': error<{ origin: string; reason: string }>(
    (e) => `The service at ${e.origin} cannot be reached (${e.reason}).`,
    'Check the base URL, the network and the proxy settings.',
  ),
  'service/connection-lost': error<{ reason: string }>(
    (e) => `The connection to the service was lost before its answer was complete (${e.reason}).`,
    'Run again.',
  ),
  'service/timeout': error<{ seconds: number }>(
    (e) => `The service did not answer within ${e.seconds} s.`,
    'Run again, or raise `timeout_seconds`.',
  ),
  'service/not-authorised': error<{ promptId: string }>(
    (e) => `The API key does not authorise the project of prompt "${e.promptId}" (403).`,
    'Use a key of that project. When it is read, 403 also stands for an invalid workspace.',
  ),
  'service/prompt-not-found': error<{ promptId: string }>(
    (e) => `The service has no prompt "${e.promptId}" (404).`,
    'Check the id. The interface cannot create prompts: create it in the service, and use the id that it shows there.',
  ),
  'service/version-not-found': error<{ promptId: string; versionId: string }>(
    (e) => `The service has no prompt "${e.promptId}" with a version "${e.versionId}" (404).`,
    'Check the pin; a version belongs to one prompt.',
  ),
  'service/redirect': error<{ status: number }>(
    (e) => `The service answered with a redirect (${e.status}), which is not followed.`,
    'Set the base URL to the final address: the API key is sent to the configured origin only.',
  ),
  'service/unexpected-status': error<{ status: number; said: string }>(
    (e) =>
      `The service answered with status ${e.status}, which its interface does not describe` +
      (e.said === '' ? '.' : `; it said: ${e.said}`),
    (e) => statusHint(e.status),
  ),
  'service/invalid-answer': error<{ reason: string }>(
    (e) => `The service's answer breaks its interface: ${e.reason}.`,
    'Check that the base URL is the prompt service itself and not a gateway or a web page.',
  ),
  'service/answer-too-large': error<{ limit: number }>(
    (e) => `The service's answer is larger than ${e.limit} bytes.`,
    'Check that the base URL is the prompt service itself.',
  ),
  'service/unaddressable': error<{ name: string }>(
    (e) => `"${e.name}" cannot be part of an address of the service.`,
    'An id is one segment of a path: without / \\ ? # % and blanks, and neither "." nor "..".',
  ),
  'service/not-updated': error<{ environment: string }>(
    (e) => `The service did not set the active version of "${e.environment}" (updated: false).`,
    'Run again; if it stays, ask whoever runs the service.',
  ),

  'service/not-asked': warning<{ reason: string }>(
    (e) => `The service was not asked: ${e.reason}.`,
    'The plan compares with what the base commit wants; drift, numbers and what the base does not pin are not known.',
  ),
  'service/drops-metadata': warning<{ environment: string }>(
    (e) =>
      `The version in "${e.environment}" carries no record of promptsync's: the service drops \`metadata_\`, or somebody moved that environment.`,
    'Texts are kept in sync. Metadata is not compared, numbers of versions that are active nowhere cannot be pinned, and a revert makes a new version.',
  ),

  // Pins that cannot be resolved: guards
  'pin/unknown-number': error<{ environment: string; number: number; lookable: boolean }>(
    (e) =>
      `"${e.environment}" is pinned to version ${e.number}, and no version with that number is known` +
      (e.lookable ? '; a sync would look at the newest one, which was never read.' : '.'),
    'Pin a number after the sync that made it; `git:<ref>` always works.',
  ),
  'pin/not-promoted': warning<{ environment: string; from: string; number: number }>(
    (e) => `"${e.environment}" is pinned to version ${e.number}, which git does not know of in "${e.from}" before it.`,
    (e) => `A sync refuses it unless "${e.from}" serves that version.`,
  ),
  'pin/unknown-version': error<{ environment: string; id: string }>(
    (e) => `"${e.environment}" is pinned to version "${e.id}", which this prompt does not have.`,
    'Check the id; a version belongs to one prompt.',
  ),
  'pin/unknown-ref': error<{ ref: string }>(
    (e) => `The git ref "${e.ref}" is not in this repository.`,
    'Check its name. In a shallow clone fetch it first (actions/checkout: `fetch-depth: 0`).',
  ),
  'pin/no-prompt-at-ref': error<{ ref: string; reason: string }>(
    (e) => `At the git ref "${e.ref}" this prompt has no readable file (${e.reason}).`,
    'Pin a ref at which a prompt file with this id is valid.',
  ),
  'pin/needs-git': error<{ ref: string }>(
    (e) => `The pin git:${e.ref} needs a git repository.`,
    'Run promptsync in a clone of the repository.',
  ),

  // Guards
  'guard/latest-not-allowed': error<{ environment: string }>(
    (e) => `"${e.environment}" is pinned to \`latest\`, which promptsync.yaml does not allow there.`,
    'Pin a version number, `git:<ref>` or `version:<id>`.',
  ),
  'guard/promotion-order': error<{
    environment: string;
    from: string;
    key: string;
    version: string;
    /** What is active in the environment before; null: nothing. */
    serves: string | null;
    /** What is active in this one; null: nothing. */
    current: string | null;
    /** Where the version is active already. */
    liveIn: string | null;
    /** Whether the file pins the environment before, and whether a sync would bring this very version to it. */
    sourcePinned: boolean;
    sourceComes: boolean;
  }>(
    (e) =>
      `"${e.environment}" is promoted from "${e.from}", where ${e.version} is not active (it serves ${e.serves ?? 'nothing'}).`,
    (e) => promotionHint(e),
  ),
  'guard/uncommitted': error(
    'The prompt file differs from the last commit.',
    'Commit it first, or use --allow-dirty; versions made so carry no commit.',
  ),
  'guard/uncommitted-edit': error(
    'The prompt file, or what is staged of it, differs from the last commit: a commit would carry that along or lose it.',
    'Commit or stash it first (git diff HEAD and git diff --cached show it), or edit without --commit.',
  ),
  'guard/max-changes': error<{ changing: number; allowed: number }>(
    (e) => `Prompts that would change: ${e.changing}; max_changes allows ${e.allowed}.`,
    'Check the plan, then raise --max-changes for this run.',
  ),
  'guard/drift': error<{ what: readonly string[] }>(
    (e) => `The service was changed outside of git, and on_drift is \`fail\`: ${e.what.join('; ')}.`,
    'Take the change into the file, or put the service back; --on-drift overwrite lets git win for this run.',
  ),
  'guard/superseded': error<{ commit: string; newer: string; where: string }>(
    (e) => `This commit (${short(e.commit)}) is no longer the newest: ${e.where} ${e.newer}. Nothing was written.`,
    'The run of that commit applies it, together with this one. To go back, revert the commit and merge that.',
  ),
  'guard/unknown-newest': error<{ reason: string }>(
    (e) => `It cannot be told whether this commit is still the newest of its branch: ${e.reason}`,
    'Let the checkout keep its credentials, or give `github-token` the permission `contents: read`.',
  ),
  'guard/not-reviewed': error<{ reason: string }>(
    (e) => `The plan of this commit was not reviewed: ${e.reason}.`,
    'Merge a pull request whose plan promptsync has shown in a comment, or turn `require-reviewed-plan` off for this run.',
  ),
  'guard/stale-plan': error<{ expected: string; actual: string }>(
    (e) => `The plan is ${e.actual}, not the expected ${e.expected}.`,
    'The files or the service have changed since that plan was made: make it again and review it.',
  ),

  // Editing files
  'edit/changed-meanwhile': error(
    'The file was changed while it was to be edited; it was left as it is.',
    'Save it, then run again.',
  ),
  'edit/unwritable': error<{ reason: string }>(
    (e) => `The file cannot be written (${e.reason}).`,
    'Check that you may write to it and that there is room.',
  ),
  'promote/nothing-active': error<{ environment: string }>(
    (e) => `"${e.environment}" serves no version of this prompt.`,
    'Promote a version to it, or sync it, first.',
  ),
  'promote/source-drifted': warning<{ environment: string; serves: string }>(
    (e) => `"${e.environment}" serves ${e.serves}, which is not what its pin asks for; that is what is promoted.`,
    'Sync first, to promote what the files say.',
  ),
  'pull/conflict': error<{ places: number }>(
    (e) =>
      `The file and the service have changed the same ${e.places === 1 ? 'place' : `${e.places} places`}; the file has both.`,
    'Decide between the lines <<<<<<<, ======= and >>>>>>>, or put the file back and run again with --ours or --theirs.',
  ),
  'pull/would-conflict': error<{ places: number }>(
    (e) =>
      `The file and the service have changed the same ${e.places === 1 ? 'place' : `${e.places} places`}; a pull would write both.`,
    'Run it with --ours or --theirs to have one side of each, or without --dry-run to decide in the file.',
  ),
  'pull/pin-conflict': error<{ environment: string; pin: string; serves: string }>(
    (e) =>
      `"${e.environment}" serves ${e.serves} and the file pins ${e.pin}: which of the two is the newer one is not known.`,
    'Run again with --ours, to keep what the file pins, or with --theirs, to pin what is served.',
  ),
  'pull/several': error<{ environments: readonly string[] }>(
    (e) => `Several environments were changed in different ways: ${e.environments.join(', ')}.`,
    'Pull them one after the other, with --environment.',
  ),
  'pull/known-version': warning<{ environment: string; serves: string }>(
    (e) => `"${e.environment}" serves ${e.serves}, which was made from this repository: there is no text to take over.`,
    'A sync puts back what the file says; to keep that version, use promptsync rollback.',
  ),
  'rollback/nothing-before': error<{ environment: string; number: number }>(
    (e) => `No version older than v${e.number} is known that "${e.environment}" served.`,
    'Name one with --to N; `promptsync history KEY` lists those that are known.',
  ),
  'rollback/nothing-served': error<{ environment: string }>(
    (e) => `"${e.environment}" serves no version: there is nothing to go back from.`,
    'Take its pin out of the file, or name a version with --to N.',
  ),
  'rollback/shallow': error<{ environment: string }>(
    (e) => `The clone is shallow: what "${e.environment}" was pinned to before is not in it.`,
    'Fetch the whole history (git fetch --unshallow; actions/checkout: `fetch-depth: 0`), or name one with --to N.',
  ),
  'rollback/unclear-before': error<{
    environment: string;
    commit: string;
    /** Null: `latest`, which means the text of that commit. */
    pin: string | null;
  }>(
    (e) => `Commit ${short(e.commit)} had "${e.environment}" at ${pinThen(e)}, and no version is known that it means.`,
    (e) => `Pin it to ${pinThen(e)} by hand, or name a version with --to N.`,
  ),
  'rollback/unknown-version': error<{ number: number }>(
    (e) => `No version ${e.number} of this prompt is known.`,
    '`promptsync history KEY` lists those that are known; the pin `git:<ref>` always works.',
  ),

  // Writing
  'apply/changed-meanwhile': error<{ environment: string }>(
    (e) => `The version looked at through "${e.environment}" is another one than was asked for.`,
    'Somebody else is writing at the same time: run again.',
  ),
  'apply/not-active': error<{ environment: string; expected: string; found: string }>(
    (e) => `After it was set, "${e.environment}" serves ${e.found} instead of ${e.expected}.`,
    'Somebody else may be writing at the same time: look at the prompt in the service, then run again.',
  ),
  'apply/fields-differ': error<{ fields: readonly string[] }>(
    (e) => `The service answers with another value than was sent for: ${e.fields.join(', ')}.`,
    'Ask whoever runs the service what it allows there; write the file in the form that it keeps.',
  ),
  'apply/newest-unreadable': error<{ id: string }>(
    (e) => `The service names "${e.id}" as its newest version, and says that there is none (404).`,
    'It may hold this very text, so none was made. Run again; if it stays, make a version in the service, which is then the newest.',
  ),
  'apply/other-content': error<{ version: string; known: string }>(
    (e) => `Version ${e.version} is not what ${e.known}; it was not made active.`,
    'Look at the version in the service. To go on, make a version that holds the right text active there yourself, or pin `version:<id>` of one that you have checked.',
  ),
  'apply/rewritten': error<{ version: string }>(
    (e) => `The service stored something else than was sent (version ${e.version}); it was not made active.`,
    'Ask whoever runs the service what it changes in texts or metadata; write the prompt in the form that it keeps.',
  ),
  'apply/outcome-unknown': error<{ reason: string }>(
    (e) => `It is not known whether the version was created: ${e.reason}`,
    'Run again: before a version is made, the newest one in the service is looked at.',
  ),
  'apply/somebody-else-wrote': error<{ id: string; number: number; reason: string }>(
    (e) =>
      `It is not known whether the version was created: ${e.reason} Since then somebody else made v${e.number} (id ${e.id}); nothing was made active.`,
    'Look at the versions before it in the service: if one holds this text, make it active in an environment that is pinned to `latest`, or pin `version:<id>`. Then run again; without it a new version is made.',
  ),
  'apply/keeps-changing': error(
    'The prompt is being changed in the service: it was planned afresh once, and has changed again.',
    'Wait until nobody else writes to it, then run again.',
  ),
  'apply/interrupted': error('Interrupted; the rest was not written.', 'Run again: it goes on where it stopped.'),

  // The GitHub Action
  'action/invalid-input': error<{ input: string; expected: string }>(
    (e) => `The input \`${e.input}\` is not valid: ${e.expected}.`,
    'Correct it in the workflow.',
  ),
  'action/invalid-event': error<{ reason: string }>(
    (e) => `The event of this run cannot be read (${e.reason}).`,
    'The action runs in GitHub workflows, which hand it GITHUB_EVENT_NAME and GITHUB_EVENT_PATH.',
  ),
  'action/no-checkout': error(
    'The workspace is no git repository.',
    'Put a step with actions/checkout, with `fetch-depth: 0`, before this one.',
  ),
  'action/unsupported-event': error<{ event: string; reason: string }>(
    (e) => `The mode \`auto\` does nothing for this run (${e.event}: ${e.reason}).`,
    'Run it on pull_request, push, schedule or workflow_dispatch, or set `mode`.',
  ),
  'guard/not-merged': error(
    'A pull request is not applied: what it holds is not merged yet.',
    'Use the mode `auto` or `plan` on pull requests, and let the push to the default branch apply.',
  ),
  'guard/key-on-pull-request-target': error(
    'On pull_request_target an API key is refused: the files may come from a stranger, and the run has your secrets.',
    'Use the event pull_request. A fork is then reviewed without a key.',
  ),
  'action/drift-found': error<{ prompts: number }>(
    (e) => `The service differs from the files in ${e.prompts} ${e.prompts === 1 ? 'prompt' : 'prompts'}.`,
    'Take the change into the files, or sync to put the service back.',
  ),
  'action/not-told': warning<{ what: string; reason: string }>(
    (e) => `Writing the ${e.what} failed: ${e.reason}`,
    'The log of the run says the same. Give the job the permission that docs/action.md names.',
  ),

  // Importing
  'import/not-writable': error<{ reason: string }>(
    (e) => `No prompt file can hold what the service has: ${e.reason}`,
    'Correct it in the service, then import it again.',
  ),
  'import/environment-needed': error(
    'promptsync.yaml has no `environments`, and none was given.',
    'Say which environment serves the text to import: --environment NAME.',
  ),
  'import/nothing-active': error<{
    environments: readonly string[];
    /** Whether one was asked for, and others were not looked at. */
    named: boolean;
  }>(
    (e) => `No version is active in ${quoted(e.environments)}, so there is no text to import.`,
    (e) =>
      'Make a version active there in the service first, or ' +
      (e.named
        ? 'take the text of another environment: promptsync import --environment NAME.'
        : 'add the environment that serves one under `environments:` in promptsync.yaml (promptsync init: --environments).'),
  ),
  'import/known': error<{ what: 'id' | 'key'; value: string; key: string; other: string }>(
    (e) => `The ${e.what} "${e.value}" is that of ${e.other} already.`,
    (e) =>
      e.what === 'id'
        ? `To take what the service has into that file, run: promptsync pull ${shellWord(literalSelector(e.key))}`
        : 'Give each prompt a key of its own, in the service or in that file.',
  ),
  'import/path-taken': error<{ path: string }>(
    (e) => `There is a file ${e.path} already.`,
    'Name another folder with --dir, or move that file.',
  ),
  'import/not-matched': error<{
    path: string;
    /** Where a pattern would match it; null: below none of the folders that patterns begin with. */
    elsewhere: string | null;
    /** What would match it where it is; null: the patterns exclude it. */
    pattern: string | null;
  }>(
    (e) => `The file would be ${e.path}, which no pattern under \`prompts:\` matches.`,
    (e) => notMatchedHint(e),
  ),
  'import/outside': error<{ folder: string }>(
    (e) => `The folder "${e.folder}" leaves the repository.`,
    'Name a folder inside of it with --dir; it is relative to promptsync.yaml.',
  ),
  'import/symbolic-link': error<{ path: string }>(
    (e) => `On the way to the file is a symbolic link: ${e.path}.`,
    'Name another folder with --dir: nothing is written through links.',
  ),
  'import/write-failed': error<{ path: string; reason: string }>(
    (e) => `The file ${e.path} cannot be written (${e.reason}).`,
    'Check that you may write there, then import it again.',
  ),

  // Beginning
  'init/service-needed': error(
    'It is not known where the prompt service is, and there is no terminal to ask on.',
    'Give its address with --url, or try the embedded service with --embedded.',
  ),
  'init/invalid-flag': error<{ flag: string; reason: string }>(
    (e) => `The value of ${e.flag} cannot be used: ${e.reason}`,
    'See promptsync init --help.',
  ),
  'init/nested': warning<{ path: string }>(
    (e) => `There is a configuration above this folder: ${e.path}.`,
    'Commands that run in this folder use the one that is written here.',
  ),
  'init/kept': warning<{ path: string }>(
    (e) => `${e.path} was there already and differs; it was kept.`,
    'Compare the two yourself, or overwrite it with --force.',
  ),
  'init/not-selected': warning<{ path: string }>(
    (e) => `${e.path} was not written: the promptsync.yaml that was kept does not select it.`,
    'Put prompt files where `prompts:` in it says; `promptsync import <id>` writes one there.',
  ),
  'init/in-the-way': error<{ path: string; what: string }>(
    (e) => `${e.path} cannot be written: ${e.what}.`,
    'Move it away, then run promptsync init again.',
  ),
  'init/write-failed': error<{ path: string; reason: string }>(
    (e) => `${e.path} cannot be written (${e.reason}).`,
    'Check that you may write there, then run promptsync init again: what is written already stays.',
  ),

  // Usage
  'usage/invalid': error<{ reason: string }>((e) => e.reason, 'See promptsync --help.'),
  'usage/nothing-selected': error<{
    selector: string;
    suggestion?: string | undefined;
    /** What `--only` says, where the selector selects something that this leaves out. */
    within?: readonly string[];
  }>(
    (e) =>
      `"${e.selector}" selects no prompt${e.within === undefined ? '' : ` that --only ${quoted(e.within)} selects`}.`,
    (e) => {
      if (e.within !== undefined) return 'Leave --only out: it narrows what is named.';
      return e.suggestion === undefined
        ? 'Give a key, or a path or pattern relative to promptsync.yaml.'
        : `Did you mean ${e.suggestion}?`;
    },
  ),
  'usage/nothing-named': error('No prompt is named.', 'Give keys, paths or patterns, or --all.'),
  'usage/unknown-environment': error<{
    option: string;
    environment: string;
    known: readonly string[];
    suggestion?: string | undefined;
  }>(
    (e) => `${e.option} "${e.environment}" is not an environment of promptsync.yaml.`,
    (e) => {
      if (e.known.length === 0) return 'Give a name without control characters.';
      return e.suggestion === undefined ? `Environments are: ${e.known.join(', ')}.` : `Did you mean ${e.suggestion}?`;
    },
  ),
  'usage/needs-environment': error<{ option: string; reason: string }>(
    (e) => `${e.option} is missing: ${e.reason}.`,
    (e) => `Name the environment with ${e.option}.`,
  ),
  'usage/same-environment': error<{ environment: string }>(
    (e) => `A version is not promoted from "${e.environment}" to itself.`,
    'Name two environments.',
  ),
  'usage/confirmation-needed': error(
    'Nothing was written: there is no terminal to ask on.',
    'Use --yes (or CI=true) to apply without a question, or --dry-run to see the plan.',
  ),
  'usage/cancelled': error(
    'Nothing was written: the question was not answered.',
    'Run again, or say with flags what is asked for.',
  ),
  'usage/declined': error('Nothing was written: the question was not answered with yes.', 'Run again to apply.'),
  'usage/output-unwritable': error<{ path: string; reason: string }>(
    (e) => `The report cannot be written to ${e.path} (${e.reason}).`,
    'Give a path in a folder that exists and that you may write to.',
  ),
  'usage/stdout-unwritable': error<{ reason: string }>(
    (e) => `The report cannot be written to standard output (${e.reason}).`,
    'What was done is done: `promptsync status` tells what is served. Make room, or give a file with --output.',
  ),
  'usage/cannot-serve': error<{ reason: string }>(
    (e) => `The embedded service cannot be started (${e.reason}).`,
    'Check `service.embedded`, or --db and --port of `serve`.',
  ),
  'git/uncommitted': warning(
    'The prompt file differs from the last commit: a sync would refuse it.',
    'Commit it before the sync, or use --allow-dirty.',
  ),
  'git/unknown-base': error<{ ref: string }>(
    (e) => `The base "${e.ref}" is not in this repository.`,
    'Check its name. In a shallow clone fetch it first (actions/checkout: `fetch-depth: 0`).',
  ),
  'git/base-needs-git': error<{ ref: string }>(
    (e) => `The base "${e.ref}" needs a git repository.`,
    'Run promptsync in a clone of the repository.',
  ),
  'git/branch': error<{ branch: string; reason: string }>(
    (e) => `The branch "${e.branch}" cannot be made: ${e.reason}.`,
    'Give another name with --branch.',
  ),
  'git/commit-needs-git': error(
    '--commit and --branch need a git repository.',
    'Run promptsync in a clone of the repository, or without them.',
  ),
  'git/not-committed': error<{ reason: string }>(
    (e) => `The files are edited and not committed: ${e.reason}`,
    'Solve what git says, then commit them yourself.',
  ),
  'git/shallow': warning(
    'The clone is shallow: what was made from commits that are not in it is told as drift from outside.',
    'Fetch the whole history (actions/checkout: `fetch-depth: 0`).',
  ),
  'git/shallow-history': warning(
    'The clone is shallow: what was before its oldest commit is not told.',
    'Fetch the whole history (git fetch --unshallow; actions/checkout: `fetch-depth: 0`).',
  ),
  'git/base-invalid': warning<{ base: string; reason: string }>(
    (e) => `At the base ${e.base} this file is not valid (${e.reason}): its drift cannot be told.`,
    'Nothing has to be done if the file is valid now.',
  ),
  'prompt/gone': warning<{ id: string; base: string; serves: string }>(
    (e) => `The file of prompt "${e.id}" is gone since ${e.base}; ${e.serves}`,
    'The interface cannot delete a prompt: remove it in the service if it is no longer used.',
  ),
  'config/drift-needs-base': warning(
    'on_drift is `fail`, and without --base nothing is known of drift.',
    'Give the commit that was synced last, such as --base HEAD^.',
  ),
  'git/failed': error<{ reason: string }>(
    (e) => `git could not answer: ${e.reason}`,
    'Check that git is installed and that the repository is whole.',
  ),
  'internal/unexpected': error<{ reason: string }>(
    (e) => `promptsync met an error of its own: ${e.reason}`,
    'Please report it, with the command and its version.',
  ),
} as const;

/** Names of problems, which stay the same whatever their wording becomes. */
export type ProblemCode = keyof typeof catalogue;

/** What the wording of a problem needs to know. */
export type EvidenceOf<Code extends ProblemCode> =
  (typeof catalogue)[Code] extends Entry<infer Evidence> ? Evidence : never;

type Arguments<Code extends ProblemCode> =
  Record<string, never> extends EvidenceOf<Code>
    ? [code: Code, evidence?: Record<string, never>, place?: Place]
    : [code: Code, evidence: EvidenceOf<Code>, place?: Place];

/** A problem as plain data, worded by the catalogue. */
export function makeProblem<Code extends ProblemCode>(...[code, evidence, place]: Arguments<Code>): Problem {
  const entry: Entry<never> = catalogue[code];
  const known = (evidence ?? {}) as never;
  return { code, severity: entry.severity, message: entry.message(known), hint: entry.hint(known), ...place };
}

/** An error that stops one piece of work, with the problem to show for it. */
export class ProblemError extends Error {
  readonly problem: Problem;

  constructor(problem: Problem, options?: ErrorOptions) {
    super(problem.message, options);
    this.name = 'ProblemError';
    this.problem = problem;
  }
}

/** The problem that any caught error stands for. */
export function problemOf(error: unknown): Problem {
  if (error instanceof ProblemError) return error.problem;
  return makeProblem('internal/unexpected', { reason: messageOf(error) });
}

/** The problem with what was being done when it came up. */
export function during(step: string, problem: Problem): Problem {
  return { ...problem, message: `${step}: ${problem.message}` };
}

/** What any caught error says. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The system's short name for why a file cannot be read or written, such as `EACCES`. */
export function systemCodeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
}

/** By path, line and column; those without a place come first, and equals keep their order. */
export function inPlaceOrder<Placed extends { readonly [Part in keyof Place]: Place[Part] | undefined }>(
  problems: readonly Placed[],
): readonly Placed[] {
  return problems.toSorted(
    (a, b) =>
      Number((a.path ?? '') > (b.path ?? '')) - Number((a.path ?? '') < (b.path ?? '')) ||
      (a.line ?? 0) - (b.line ?? 0) ||
      (a.column ?? 0) - (b.column ?? 0),
  );
}

/** Whether the problem stops what it is about; a warning stops nothing. */
export function isError({ severity }: Pick<Problem, 'severity'>): boolean {
  return severity === 'error';
}

function error<Evidence = Record<string, never>>(message: Wording<Evidence>, hint: Wording<Evidence>): Entry<Evidence> {
  return { severity: 'error', message: worded(message), hint: worded(hint) };
}

function warning<Evidence = Record<string, never>>(
  message: Wording<Evidence>,
  hint: Wording<Evidence>,
): Entry<Evidence> {
  return { severity: 'warning', message: worded(message), hint: worded(hint) };
}

function worded<Evidence>(wording: Wording<Evidence>): (evidence: Evidence) => string {
  return typeof wording === 'string' ? () => wording : wording;
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}

function firstOf(parts: readonly string[], between = '; '): string {
  const further = parts.length - 20;
  return parts.slice(0, 20).join(between) + (further > 0 ? `${between}and ${further} more` : '');
}

/** As it can be pasted into a shell: a key may hold blanks, and worse. */
function shellWord(text: string): string {
  return /^[\w./][\w./-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function short(commit: string): string {
  return commit.slice(0, 12);
}

function pinThen({ pin, commit }: { pin: string | null; commit: string }): string {
  return pin ?? `git:${short(commit)}`;
}

/** Another folder helps alone where a pattern matches the file there. */
function notMatchedHint({ elsewhere, pattern }: { elsewhere: string | null; pattern: string | null }): string {
  const folder = elsewhere === null ? null : `name another folder, such as --dir ${word(elsewhere || '.')}`;
  const further =
    pattern === null
      ? 'change the patterns under `prompts:` in promptsync.yaml'
      : `add a pattern such as \`${pattern}\` to \`prompts:\` in promptsync.yaml`;
  const hint = folder === null ? further : `${folder}, or ${further}`;
  return `${hint.charAt(0).toUpperCase()}${hint.slice(1)}.`;
}

/** The command that would be right: the next step on the way, not all of it. */
function promotionHint(e: {
  environment: string;
  from: string;
  key: string;
  serves: string | null;
  current: string | null;
  liveIn: string | null;
  sourcePinned: boolean;
  sourceComes: boolean;
}) {
  const step = (from: string, to: string) => promoteCommand(e.key, `--from ${word(from)} --to ${word(to)}`);
  if (e.liveIn !== null && e.liveIn !== e.environment) {
    return `Run: ${step(e.liveIn, e.from)}; sync it, then: ${step(e.from, e.environment)}`;
  }
  // What is refused stops the whole prompt: with this pin in the file, no sync brings the environment before any further.
  if (e.serves === null || e.sourceComes) {
    const first = e.sourcePinned ? '' : `Pin "${e.from}". `;
    const stays = e.current === null ? '' : `, or pin what is served there (${e.current})`;
    const out = `Take the pin of "${e.environment}" out of the file${stays}`;
    return `${first}${out}; sync, then run: ${step(e.from, e.environment)}`;
  }
  return `To promote what "${e.from}" serves (${e.serves}), run: ${step(e.from, e.environment)}`;
}

/** A key that begins like an option goes last. */
function promoteCommand(key: string, options: string): string {
  return key.startsWith('-')
    ? `promptsync promote ${options} -- ${word(literalSelector(key))}`
    : `promptsync promote ${word(literalSelector(key))} ${options}`;
}

/** A word as a shell takes it: what is shown as a command may be copied, and keys come from strangers. */
function word(text: string): string {
  return /^[\w./][\w./-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function statusHint(status: number): string {
  if (status === 401) return 'The API key was probably refused: check the variable that holds it.';
  if (status === 429) return 'The service limits requests: run again later, or lower `concurrency`.';
  if (status >= 500) return 'The service or a gateway before it failed: run again later.';
  return 'Check that the base URL is right; otherwise ask whoever runs the service.';
}
