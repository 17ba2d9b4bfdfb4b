import type { ProblemCode } from '../../src/problem.ts';

/** What docs/troubleshooting.md says about a problem in addition to its message and its hint. */
export type Explanation = {
  /** The reason for the problem. Null if the message already gives it. */
  readonly why: string | null;
  /** Advice that follows the hint. */
  readonly advice?: string;
};

const WHOLE_HISTORY = 'By default, `actions/checkout` and GitLab fetch only the newest commits.';
const MERGED_AND_NEWEST = '[Configuration](configuration.md#what-goes-live) explains what promptsync compares.';
const SAME_TIME = 'The service changed between two requests of the same run.';
const UNAMBIGUOUS_YAML = 'promptsync allows only YAML that every parser reads in the same way.';
const PLACEHOLDER =
  'promptsync writes this placeholder to a new file if you have to create the prompt in the service first.';
const MARKERS = 'In a chat prompt, a marker line begins each message and stands for each placeholder.';

/** The explanations for docs/troubleshooting.md: one for each problem, in the order of the page. */
export const EXPLANATIONS = {
  // Prompt files
  'prompt/none-found': {
    why: 'The patterns under `prompts:` decide which files are prompt files. They are relative to the folder of `promptsync.yaml`.',
  },
  'prompt/unreadable': { why: 'The operating system reported the reason in parentheses.' },
  'prompt/symbolic-link': {
    why: 'A link could point to a file outside the repository, which no one has reviewed.',
  },
  'prompt/too-large': { why: 'promptsync limits the size of files so that a single file cannot exhaust the memory.' },
  'prompt/not-utf8': { why: 'promptsync would have to guess the characters, and might send different text.' },
  'prompt/nul': { why: 'A NUL character usually means that the file is not plain text or is damaged.' },
  'prompt/conflict-markers': {
    why: 'A merge or a pull left both sides of a conflict in the file.',
    advice:
      'promptsync also searches the prompt text for conflict markers. If your text needs such a line, indent the line.',
  },
  'prompt/no-front-matter': {
    why: 'Every file that matches `prompts:` must be a prompt file. A prompt file begins with its fields between two `---` lines.',
  },
  'prompt/bad-delimiter': {
    why: 'Some tools read a word after `---` as the language of the front matter. promptsync supports only YAML.',
  },
  'prompt/unclosed-front-matter': {
    why: 'Without a closing line, promptsync cannot tell where the prompt text begins.',
  },
  'prompt/front-matter-too-large': {
    why: 'Front matter contains settings and short metadata. The limit keeps the parser fast.',
  },
  'prompt/empty-body': { why: 'promptsync does not create versions without text.' },
  'prompt/unsupported-type': { why: 'Only some services store chat prompts. For example, Langfuse does.' },
  'prompt/other-type': { why: 'The service fixed the type when it created the prompt.' },
  'prompt/no-messages': { why: MARKERS },
  'prompt/text-outside-message': { why: MARKERS },
  'prompt/invalid-marker': {
    why: 'promptsync rejects lines that could be misspelled markers. Otherwise, a typo would move text into the wrong message.',
  },
  'prompt/placeholder-is-variable': { why: 'An application could not tell the two apart.' },
  'prompt/possible-marker': {
    why: 'The line might be a misspelled marker. If so, the message that it should begin is part of the previous message.',
  },
  'prompt/marker-in-text': { why: 'In a text prompt, markers have no meaning. promptsync sends them as text.' },
  'prompt/missing-id': { why: 'The id connects the file with a prompt in the service.' },
  'prompt/placeholder-id': { why: PLACEHOLDER },
  'prompt/missing-field': { why: 'Every prompt file needs this field.' },
  'prompt/unknown-field': { why: 'promptsync rejects unknown fields so that a typo is never ignored.' },
  'prompt/invalid-field': { why: null },
  'prompt/invalid-pin': { why: 'A pin must name one of the forms that this service supports.' },
  'prompt/not-portable-pin': { why: null },
  'prompt/reserved-metadata': {
    why: 'Your metadata would overwrite the record that promptsync keeps in each version.',
  },
  'prompt/variables-mismatch': {
    why: '`variables` is an optional check. The list must contain exactly the variables in the text.',
  },
  'prompt/duplicate-id': { why: 'Two files would change the same prompt in the service.' },
  'prompt/duplicate-key': { why: 'A key identifies exactly one prompt in commands and reports.' },
  'prompt/unknown-environment': {
    why: 'If `promptsync.yaml` lists `environments`, files can pin only these environments. A typo then cannot create a new environment.',
  },
  'prompt/tool-environment': {
    why: 'promptsync keeps [its record](record.md) in this environment.',
  },
  'prompt/hidden-character': {
    why: 'Invisible characters often come from copied text, and they can hide instructions from reviewers.',
    advice:
      'To accept the characters in one file, add `accept_warnings: [prompt/hidden-character]` to its front matter.',
  },
  'prompt/gone': { why: 'promptsync changes only prompts that have a file, so the service keeps serving this prompt.' },
  // YAML, in prompt files and in promptsync.yaml
  'yaml/syntax': { why: null },
  'yaml/not-a-mapping': { why: 'The front matter and `promptsync.yaml` consist of named values.' },
  'yaml/duplicate-key': { why: UNAMBIGUOUS_YAML },
  'yaml/key-not-text': { why: UNAMBIGUOUS_YAML },
  'yaml/forbidden-key': { why: '`<<` has a special meaning in YAML, and `__proto__` in JavaScript.' },
  'yaml/alias': { why: 'Aliases can make a small file expand to a huge value, and they hide values from reviewers.' },
  'yaml/tag': { why: UNAMBIGUOUS_YAML },
  'yaml/number': { why: 'The number would change when promptsync sends it as JSON.' },
  'yaml/too-deep': { why: 'promptsync limits the nesting so that a single file cannot exhaust the memory.' },
  // promptsync.yaml and variables
  'config/not-found': { why: 'promptsync needs `promptsync.yaml` to find the service and the prompt files.' },
  'config/foreign-file': { why: null },
  'config/foreign-repository': { why: null },
  'config/unreadable': { why: null },
  'config/unknown-field': { why: 'promptsync rejects unknown settings so that a typo is never ignored.' },
  'config/invalid-field': { why: null },
  'config/missing-service': {
    why: 'The command needs the service, but neither `promptsync.yaml` nor an environment variable contains its address.',
  },
  'config/missing-key': {
    why: 'The service accepts only requests with an API key.',
    advice:
      'In a workflow, pass the key to the action as `api-key: ${{ secrets.PROMPTSYNC_API_KEY }}`. `promptsync validate` needs no key.',
  },
  'config/invalid-key': { why: 'The value was probably copied with a space or a line break.' },
  'config/invalid-url': { why: 'promptsync sends the API key to this address, and plain HTTP would expose the key.' },
  'config/pattern-outside': { why: 'promptsync reads only files in the repository, where changes are reviewed.' },
  'config/drift-needs-base': { why: 'promptsync detects drift by comparing the service with a commit.' },
  // The command line
  'usage/invalid': { why: null },
  'usage/nothing-selected': {
    why: 'promptsync stops if a selector matches nothing, because it is probably misspelled.',
  },
  'usage/nothing-named': { why: 'This command edits files, so you must say which prompts you mean.' },
  'usage/unknown-environment': {
    why: 'promptsync knows the environments in `promptsync.yaml`, and those that the files pin.',
  },
  'usage/needs-environment': { why: null },
  'usage/same-environment': { why: 'A promotion moves a version from one environment to another.' },
  'usage/confirmation-needed': {
    why: 'Scripts, hooks, and most CI jobs have no terminal.',
    advice: 'Most CI systems set `CI=true`.',
  },
  'usage/cancelled': { why: null },
  'usage/declined': { why: null },
  'usage/output-unwritable': { why: null },
  'usage/output-unreadable': { why: null },
  'usage/output-format': { why: 'Without `--format`, the ending of the file name determines the format.' },
  'usage/not-a-report': { why: '`promptsync show` and `promptsync comment` read only JSON reports.' },
  'usage/stdout-unwritable': { why: null },
  'usage/cannot-serve': { why: null },
  // The service
  'service/unreachable': {
    why: 'The address is wrong, or a proxy, a firewall, or a certificate prevents the connection.',
    advice:
      'If promptsync cannot reach a proxy, the message names the proxy. [Install](install.md#proxies) explains how to configure proxies and your own certificate authority.',
  },
  'service/no-answer': {
    why: 'Something accepts the requests but never answers them. Waiting for each request would take very long.',
  },
  'service/connection-lost': { why: 'The service, a gateway, or the network closed the connection.' },
  'service/timeout': { why: 'The service is slow or overloaded.' },
  'service/not-authorised': {
    why: 'The service does not accept this key (401), or the key lacks a permission (403).',
    advice:
      'A key belongs to one project. If your prompts are in several projects, give each project its own `promptsync.yaml` with its own `api_key_env`.',
  },
  'service/prompt-not-found': { why: 'The `id` in the file is wrong, or the API key belongs to another project.' },
  'service/none-found': { why: 'If every prompt is missing, the base URL is usually wrong.' },
  'service/cannot-list': {
    why: 'Listing is not one of the [four calls](how-to/connect-your-service.md#the-four-calls).',
  },
  'service/version-not-found': { why: 'The pinned version was deleted, or the pin names a version of another prompt.' },
  'service/redirect': { why: 'A redirect could send the API key to another server.' },
  'service/unexpected-status': {
    why: 'The service or a gateway could not process the request.',
    advice: 'The hint depends on the status. promptsync has already retried the request if a retry was safe.',
  },
  'service/invalid-answer': { why: null },
  'service/unaddressable': { why: 'The id is part of the URL, and this id would change the URL.' },
  'service/not-updated': { why: null },
  'service/not-asked': { why: null },
  'service/drops-metadata': {
    why: 'promptsync stores [its record](record.md) in the metadata of each version.',
  },
  'langfuse/new-prompt': { why: 'In Langfuse, promptsync creates prompts that do not exist yet.' },
  'langfuse/refused': { why: null },
  'langfuse/concurrent-version': { why: 'Langfuse numbers versions in order, and someone else took the next number.' },
  'langfuse/missing-part': {
    why: 'Langfuse creates a version only if all prompts that its text includes exist.',
  },
  'langfuse/composition-fails': { why: 'Langfuse resolves composition tags only after a label has moved.' },
  'pull/kept-pin': {
    why: 'The pin names a commit, so new text in the file would not change what this pin activates.',
  },
  'pull/nothing-active': { why: 'Someone deactivated or deleted the version in the service.' },
  'langfuse/too-many': { why: 'promptsync limits what it reads so that a run cannot exhaust the memory.' },
  'langfuse/too-large': { why: 'promptsync limits what it reads so that a run cannot exhaust the memory.' },
  'langfuse/listing-too-large': { why: 'promptsync limits what it reads so that a run cannot exhaust the memory.' },
  // Pins
  'pin/unknown-number': {
    why: 'promptsync knows the versions that are active in a pinned environment, and those in [its record](record.md#there-is-no-state-file).',
  },
  'pin/not-promoted': { why: '`promptsync.yaml` requires that a version is active in the source environment first.' },
  'pin/source-not-asked': { why: null },
  'pin/not-in-git': {
    why: 'With `portable_pins`, a pin names a commit. The text was probably changed in the service, not in git.',
  },
  'pin/unknown-version': { why: null },
  'pin/unknown-ref': { why: 'The tag, branch, or commit was deleted, is misspelled, or is missing from this clone.' },
  'pin/no-prompt-at-ref': { why: null },
  // Guards
  'guard/latest-not-allowed': {
    why: '`allow_latest: false` requires that each change to this environment is a change of its pin.',
    advice: '`promptsync promote KEY --to production` pins the version that the previous environment serves.',
  },
  'guard/placeholder-id': { why: PLACEHOLDER },
  'guard/promotion-order': {
    why: '`promote_from` in `promptsync.yaml` sets the order of environments.',
    advice:
      'A rollback is [not a promotion](configuration.md#rules-for-environments), but promptsync needs the full git history of the file to recognize a rollback. A base or a later commit does not lift this guard.',
  },
  'guard/uncommitted': {
    why: 'No one has reviewed these changes, and a new version could not record its commit. In CI, an earlier step edited or created the file.',
  },
  'guard/uncommitted-edit': { why: null },
  'guard/max-changes': { why: '`max_changes` protects against large changes that no one intended.' },
  'guard/drift': { why: null, advice: '[Drift](how-to/drift.md) explains your options.' },
  'guard/superseded': {
    why: `This guard keeps a slow or repeated run from undoing the changes of a newer run. ${MERGED_AND_NEWEST}`,
  },
  'guard/unknown-newest': {
    why: `promptsync applies only commits that are merged and up to date, so it must read the remote. ${MERGED_AND_NEWEST}`,
  },
  'guard/overtaken': { why: `promptsync checks the live branch again after a sync. ${MERGED_AND_NEWEST}` },
  'guard/not-reviewed': {
    why: 'The check of a merged pull request must show [exactly this change](action.md#what-is-approved). If the service was changed after the check, the check did not show this change.',
    advice:
      'A check approves nothing if its review had no key, was for another base branch, or ran a version of promptsync that did not record the number of the pull request. To approve all pending changes, merge any other pull request. Its check shows all of them.',
  },
  'guard/stale-plan': {
    why: '`--expect-plan` applies a plan only if it is exactly the one that you reviewed.',
  },
  'guard/not-merged': {
    why: `promptsync applies only commits that are merged and up to date. ${MERGED_AND_NEWEST}`,
  },
  'guard/key-on-pull-request-target': { why: null },
  // git
  'git/uncommitted': { why: 'No one has reviewed these changes, and a new version could not record its commit.' },
  'git/unknown-base': { why: `The name is misspelled, or the commit is missing from this clone. ${WHOLE_HISTORY}` },
  'git/needs-repository': { why: 'promptsync reads earlier content and commits from git.' },
  'git/branch': { why: null },
  'git/not-committed': { why: null },
  'git/shallow': { why: WHOLE_HISTORY, advice: 'In GitLab, set `GIT_DEPTH: 0`.' },
  'git/base-invalid': { why: null },
  'git/failed': { why: null },
  // Writing
  'apply/changed-meanwhile': {
    why: `${SAME_TIME} promptsync reads some versions by [activating them](record.md) in an environment of its own.`,
  },
  'apply/not-active': { why: SAME_TIME },
  'apply/fields-differ': { why: 'The service changed the values when it saved them.' },
  'apply/newest-unreadable': { why: 'The service has not finished saving the version, or someone deleted it.' },
  'apply/other-content': {
    why: 'Someone edited the version after promptsync recorded it, or the service has a defect. A version should never change.',
  },
  'apply/unreviewed-metadata': { why: null },
  'apply/rewritten': { why: 'Some services trim text or reformat metadata.' },
  'apply/outcome-unknown': { why: 'The connection failed after promptsync sent the request.' },
  'apply/somebody-else-wrote': {
    why: 'Of the versions that are not active anywhere, the service shows only the newest. promptsync cannot find the version that it might have created, and it does not guess.',
  },
  'apply/keeps-changing': { why: null },
  'apply/interrupted': { why: 'Someone pressed Ctrl-C, or the CI system stopped the job.' },
  // promptsync promote
  'promote/nothing-active': { why: 'A promotion copies the active version of an environment, and there is none.' },
  'promote/source-unclear': {
    why: 'The source environment belongs to another service, and a version number has no meaning outside of its service.',
  },
  'promote/source-drifted': { why: 'Someone changed the source environment in the service, or a sync is missing.' },
  // promptsync rollback
  'rollback/nothing-before': {
    why: 'This is the first version that the environment served, or its record is missing.',
  },
  'rollback/nothing-served': { why: null },
  'rollback/shallow': { why: `promptsync finds the earlier version in git. ${WHOLE_HISTORY}` },
  'rollback/unclear-before': { why: 'No sync made this pin live, or the service no longer has the version.' },
  'rollback/unknown-version': {
    why: 'promptsync knows the versions that are active in a pinned environment, and those in [its record](record.md#there-is-no-state-file).',
  },
  // promptsync pull
  'pull/conflict': { why: 'Both sides changed the same lines since the last sync.' },
  'pull/would-conflict': { why: 'Both sides changed the same lines since the last sync.' },
  'pull/pin-conflict': { why: 'Both the pin and the active version changed since the last sync.' },
  'pull/several': { why: 'A file can contain only one text.' },
  'pull/config-not-mapping': { why: null },
  'pull/not-writable': { why: 'A prompt file could not store the text without changing it.' },
  'pull/known-version': { why: 'Someone activated a version in the service that git already contains.' },
  // Editing files
  'edit/not-kept': {
    why: 'promptsync edits single values and keeps comments and formatting. This file is written in a way that rules this out.',
  },
  'edit/changed-meanwhile': { why: 'An editor or another program saved the file at the same time.' },
  'edit/locked': { why: 'Two commands could overwrite each other, so only one command writes files at a time.' },
  'edit/not-lockable': { why: null },
  'edit/lock-lost': { why: 'The computer slept, or the process was stopped, for more than five seconds.' },
  'edit/unwritable': { why: null },
  // promptsync import
  'import/not-writable': { why: 'A prompt file could not store the text without changing it.' },
  'import/environment-needed': { why: null },
  'import/nothing-active': { why: 'promptsync imports the text that an environment serves.' },
  'import/unpinned': { why: null },
  'import/known': { why: 'Each prompt can have only one file, and each key only one prompt.' },
  'import/path-taken': { why: 'promptsync does not overwrite files during an import.' },
  'import/not-matched': { why: 'Other commands would not find the file.' },
  'import/outside': { why: 'promptsync writes only to the repository that contains `promptsync.yaml`.' },
  'import/symbolic-link': { why: 'A link could lead out of the repository.' },
  // promptsync new
  'new/taken': { why: 'Each prompt can have only one file, and each key only one prompt.' },
  'new/latest-not-allowed': { why: null },
  // promptsync bundle
  'bundle/nothing-pinned': { why: 'An empty bundle is usually a mistake.' },
  'bundle/not-active': { why: null },
  'bundle/too-deep': { why: 'Many programs cannot read JSON that is nested this deeply.' },
  'bundle/not-in-git': { why: null },
  'bundle/composed': { why: null },
  'bundle/contains-key': { why: 'Anyone who can read the bundle could use the key.' },
  // promptsync init
  'init/service-needed': { why: null },
  'init/invalid-flag': { why: null },
  'init/nested': { why: 'Commands use the nearest `promptsync.yaml`.' },
  'init/kept': { why: 'You might have edited the file.' },
  'init/include': { why: 'GitLab runs the jobs of promptsync only if `.gitlab-ci.yml` includes them.' },
  'init/pre-commit': { why: 'The other hooks in the file are yours, and promptsync does not edit them.' },
  'init/not-selected': { why: null },
  'init/folder-name': { why: 'The path would be part of the CI configuration.' },
  'init/in-the-way': { why: null },
  // The GitHub Action
  'action/invalid-input': { why: null },
  'action/invalid-event': { why: null },
  'action/no-config': { why: null },
  'action/no-checkout': { why: 'The action reads the prompt files and their history from a clone of the repository.' },
  'action/other-checkout': { why: 'The review would describe other files than the ones that the pull request merges.' },
  'action/unsupported-event': { why: 'The `auto` mode chooses what to do from the event.' },
  'action/closed': { why: null },
  'action/drift-found': { why: 'Someone changed the service, or a sync failed or is missing.' },
  'action/stale-base': { why: 'Other changes were merged after this pull request was last updated.' },
  'action/not-told': { why: 'The token of the job has too few permissions, or GitHub was not available.' },
  'action/not-proposed': { why: null },
  'action/foreign-commit': { why: 'promptsync never overwrites the commits of other people.' },
  // promptsync comment
  'gitlab/not-published': { why: 'The token is missing, has expired, or has too few permissions.' },
  // Faults of promptsync
  'internal/unexpected': { why: 'This is a defect in promptsync.' },
} as const satisfies { readonly [Code in ProblemCode]: Explanation };
