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
const MARKERS = 'In a chat prompt, every message begins with a marker line, and every placeholder is a marker line.';

/** The explanations for docs/troubleshooting.md: one for each problem, in the order of the page. */
export const EXPLANATIONS = {
  // Prompt files
  'prompt/none-found': {
    why: 'The patterns under `prompts:` decide which files are prompt files. They are relative to the folder that contains `promptsync.yaml`.',
  },
  'prompt/unreadable': {
    why: 'The operating system did not let promptsync read the file. The reason is in parentheses.',
  },
  'prompt/symbolic-link': {
    why: 'A symbolic link could point to a file outside the repository that no one has reviewed.',
  },
  'prompt/too-large': { why: 'promptsync limits the file size so that a single file cannot exhaust memory.' },
  'prompt/not-utf8': { why: 'If promptsync guessed the encoding, it might send the wrong text.' },
  'prompt/nul': { why: 'A NUL character usually means that the file is not plain text or is damaged.' },
  'prompt/conflict-markers': {
    why: 'After a merge or a pull, the file still contains both sides of a conflict.',
    advice:
      'promptsync also searches the prompt text for conflict markers. If your text needs such a line, indent the line.',
  },
  'prompt/no-front-matter': {
    why: 'Every file that matches `prompts:` must be a prompt file. A prompt file begins with front matter, which is the block between two `---` lines.',
  },
  'prompt/bad-delimiter': {
    why: 'Some tools treat a word after `---` as the language of the front matter, but promptsync supports only YAML.',
  },
  'prompt/unclosed-front-matter': {
    why: 'Without a closing line, promptsync cannot tell where the prompt text begins.',
  },
  'prompt/front-matter-too-large': {
    why: 'Front matter is meant for settings and short metadata. The limit keeps parsing fast.',
  },
  'prompt/empty-body': { why: 'promptsync does not create versions without text.' },
  'prompt/unsupported-type': {
    why: 'Some services, such as Langfuse, store chat prompts, but others store only text.',
  },
  'prompt/other-type': { why: "A prompt's type is set when the prompt is created in the service." },
  'prompt/no-messages': { why: MARKERS },
  'prompt/text-outside-message': { why: MARKERS },
  'prompt/invalid-marker': {
    why: 'promptsync rejects lines that could be misspelled markers. Otherwise, a typo would move text into the wrong message.',
  },
  'prompt/placeholder-is-variable': { why: 'An application could not tell the placeholder and the variable apart.' },
  'prompt/possible-marker': {
    why: 'The line might be a misspelled marker. If so, the text below it has become part of the previous message.',
  },
  'prompt/marker-in-text': {
    why: 'Markers have no special meaning in a text prompt, so promptsync sends them as text.',
  },
  'prompt/missing-id': { why: 'The id connects the file with a prompt in the service.' },
  'prompt/placeholder-id': { why: PLACEHOLDER },
  'prompt/missing-field': { why: 'Every prompt file needs this field.' },
  'prompt/unknown-field': { why: 'promptsync rejects unknown fields so that a typo is never ignored.' },
  'prompt/invalid-field': { why: null },
  'prompt/invalid-pin': { why: 'A pin must have one of the forms that the service supports.' },
  'prompt/not-portable-pin': { why: null },
  'prompt/reserved-metadata': {
    why: 'Your metadata would overwrite the record that promptsync keeps in each version.',
  },
  'prompt/variables-mismatch': {
    why: 'The `variables` list is optional. If it is present, it must contain exactly the variables used in the text.',
  },
  'prompt/duplicate-id': { why: 'With the same id, two files would change the same prompt in the service.' },
  'prompt/duplicate-key': { why: 'A key identifies exactly one prompt in commands and reports.' },
  'prompt/unknown-environment': {
    why: 'If `promptsync.yaml` lists `environments`, files can pin only those environments. This way, a typo cannot create a new environment.',
  },
  'prompt/tool-environment': {
    why: 'promptsync uses this environment for [its own record](record.md).',
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
  'yaml/number': { why: 'JSON cannot represent this number exactly.' },
  'yaml/too-deep': { why: 'promptsync limits the nesting depth so that a single file cannot exhaust memory.' },
  // promptsync.yaml and variables
  'config/not-found': { why: '`promptsync.yaml` tells promptsync where to find the service and the prompt files.' },
  'config/foreign-file': { why: null },
  'config/foreign-repository': { why: null },
  'config/unreadable': { why: null },
  'config/unknown-field': { why: 'promptsync rejects unknown settings so that a typo is never ignored.' },
  'config/invalid-field': { why: null },
  'config/missing-service': {
    why: 'The command must contact the service, but neither `promptsync.yaml` nor an environment variable sets its URL.',
  },
  'config/missing-key': {
    why: 'The service accepts only requests with an API key.',
    advice:
      'In a workflow, pass the key to the action as `api-key: ${{ secrets.PROMPTSYNC_API_KEY }}`. `promptsync validate` does not need a key.',
  },
  'config/invalid-key': { why: 'The value was probably copied with a space or a line break.' },
  'config/invalid-url': { why: 'promptsync sends the API key to this URL, and plain HTTP would expose the key.' },
  'config/pattern-outside': { why: 'promptsync reads only files in the repository, where changes are reviewed.' },
  'config/drift-needs-base': { why: 'promptsync detects drift by comparing the service with a commit.' },
  // The command line
  'usage/invalid': { why: null },
  'usage/nothing-selected': {
    why: 'A selector that matches nothing is probably misspelled, so promptsync stops.',
  },
  'usage/nothing-named': { why: 'This command edits files, so you must name the prompts.' },
  'usage/unknown-environment': {
    why: 'promptsync knows only the environments that `promptsync.yaml` lists or that the prompt files pin.',
  },
  'usage/needs-environment': { why: null },
  'usage/same-environment': { why: 'A promotion moves a version from one environment to another.' },
  'usage/confirmation-needed': {
    why: 'promptsync can ask for confirmation only in a terminal, which scripts, hooks, and most CI jobs do not have.',
    advice: 'Most CI systems set `CI=true`.',
  },
  'usage/cancelled': { why: null },
  'usage/declined': { why: null },
  'usage/output-unwritable': { why: null },
  'usage/output-unreadable': { why: null },
  'usage/output-format': { why: 'If you do not pass `--format`, the file extension determines the format.' },
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
    why: 'A server accepts the requests but never responds. promptsync stops because waiting for every request would take too long.',
  },
  'service/connection-lost': { why: 'The service, a gateway, or the network closed the connection.' },
  'service/timeout': { why: 'The service is slow or overloaded.' },
  'service/not-authorised': {
    why: 'With 401, the service does not accept the key. With 403, the key lacks a permission.',
    advice:
      'A key belongs to one project. If your prompts are in several projects, give each project its own `promptsync.yaml` with its own `api_key_env`.',
  },
  'service/prompt-not-found': { why: 'The `id` in the file is wrong, or the API key belongs to another project.' },
  'service/none-found': { why: 'If the service does not find any of the prompts, the base URL is usually wrong.' },
  'service/cannot-list': {
    why: 'The [four-call API](how-to/connect-your-service.md#the-four-calls) has no call that lists prompts.',
  },
  'service/version-not-found': { why: 'The pinned version was deleted, or it belongs to another prompt.' },
  'service/redirect': { why: 'A redirect could send the API key to another server.' },
  'service/unexpected-status': {
    why: 'The service or a gateway could not process the request.',
    advice: 'The hint depends on the status. promptsync has already retried the request if a retry was safe.',
  },
  'service/invalid-answer': { why: null },
  'service/unaddressable': {
    why: 'The id becomes part of the request URL, and this id would change which resource the URL refers to.',
  },
  'service/not-updated': { why: null },
  'service/not-asked': { why: null },
  'service/drops-metadata': {
    why: 'promptsync stores [its record](record.md) in the metadata of each version.',
  },
  'langfuse/new-prompt': { why: 'In Langfuse, promptsync creates prompts that do not exist yet.' },
  'langfuse/refused': { why: null },
  'langfuse/concurrent-version': { why: 'Langfuse numbers versions in order, and someone else took the next number.' },
  'langfuse/missing-part': {
    why: 'Langfuse rejects a version whose text includes a prompt that does not exist.',
  },
  'langfuse/composition-fails': { why: 'Langfuse resolves composition tags only after a label has moved.' },
  'pull/kept-pin': {
    why: 'The pin refers to a commit, so editing the text in the file would not change the pinned version.',
  },
  'pull/nothing-active': { why: 'Someone deactivated or deleted the previously active version in the service.' },
  'langfuse/too-many': { why: 'promptsync limits how much it reads so that a run cannot exhaust memory.' },
  'langfuse/too-large': { why: 'promptsync limits how much it reads so that a run cannot exhaust memory.' },
  'langfuse/listing-too-large': { why: 'promptsync limits how much it reads so that a run cannot exhaust memory.' },
  // Pins
  'pin/unknown-number': {
    why: 'promptsync knows only the versions that are active in a pinned environment or listed in [its record](record.md#there-is-no-state-file).',
  },
  'pin/not-promoted': { why: '`promptsync.yaml` requires that a version be active in the source environment first.' },
  'pin/source-not-asked': { why: null },
  'pin/not-in-git': {
    why: 'With `portable_pins`, a pin refers to a commit. The text was probably changed in the service instead of in git.',
  },
  'pin/unknown-version': { why: null },
  'pin/unknown-ref': {
    why: 'The tag, branch, or commit is misspelled, has been deleted, or is missing from this clone.',
  },
  'pin/no-prompt-at-ref': { why: null },
  // Guards
  'guard/latest-not-allowed': {
    why: 'With `allow_latest: false`, this environment changes only when someone edits its pin.',
    advice: '`promptsync promote KEY --to production` pins the version that the previous environment serves.',
  },
  'guard/placeholder-id': { why: PLACEHOLDER },
  'guard/promotion-order': {
    why: '`promote_from` in `promptsync.yaml` sets the order of environments.',
    advice:
      "A rollback does not count as [a promotion](configuration.md#rules-for-environments), but promptsync needs the file's full git history to recognize one.",
  },
  'guard/uncommitted': {
    why: 'Uncommitted changes have not been reviewed, and a new version could not record their commit. In CI, an earlier step edited or created the file.',
  },
  'guard/uncommitted-edit': { why: null },
  'guard/max-changes': { why: 'The `max_changes` setting protects you against large accidental changes.' },
  'guard/drift': { why: null, advice: '[Drift](how-to/drift.md) explains your options.' },
  'guard/superseded': {
    why: `This guard prevents a slow or repeated run from undoing the changes made by a newer run. ${MERGED_AND_NEWEST}`,
  },
  'guard/unknown-newest': {
    why: `promptsync applies only commits that are merged and up to date, so it must read the remote. ${MERGED_AND_NEWEST}`,
  },
  'guard/overtaken': { why: `promptsync checks the live branch again after a sync. ${MERGED_AND_NEWEST}` },
  'guard/not-reviewed': {
    why: 'The check on the merged pull request must have shown [exactly this change](action.md#what-is-approved). A later change in the service is not part of the check.',
    advice:
      'A check does not approve changes if its review had no API key, was for another base branch, or ran a version of promptsync that did not record the pull request number. To approve all pending changes, merge any other pull request, because its check shows all of them.',
  },
  'guard/stale-plan': {
    why: 'With `--expect-plan`, promptsync applies a plan only if it is exactly the plan that you reviewed.',
  },
  'guard/not-merged': {
    why: `promptsync applies only commits that are merged and up to date. ${MERGED_AND_NEWEST}`,
  },
  'guard/key-on-pull-request-target': { why: null },
  // git
  'git/uncommitted': {
    why: 'Uncommitted changes have not been reviewed, and a new version could not record their commit.',
  },
  'git/unknown-base': { why: `The name is misspelled, or the commit is missing from this clone. ${WHOLE_HISTORY}` },
  'git/needs-repository': { why: 'promptsync reads earlier prompt text and commits from git.' },
  'git/branch': { why: null },
  'git/not-committed': { why: null },
  'git/shallow': { why: WHOLE_HISTORY, advice: 'In GitLab, set `GIT_DEPTH: 0`.' },
  'git/base-invalid': { why: null },
  'git/failed': { why: null },
  // Writing
  'apply/changed-meanwhile': {
    why: `${SAME_TIME} To read some versions, promptsync [activates them in its own environment](record.md).`,
  },
  'apply/not-active': { why: SAME_TIME },
  'apply/fields-differ': { why: 'The service saved values that differ from the ones that promptsync sent.' },
  'apply/newest-unreadable': { why: 'The service has not finished saving the version, or someone deleted it.' },
  'apply/other-content': {
    why: 'Someone edited the version after promptsync recorded it, or the service has a defect. A version should never change.',
  },
  'apply/unreviewed-metadata': { why: null },
  'apply/rewritten': { why: 'Some services trim text or reformat metadata.' },
  'apply/outcome-unknown': {
    why: 'The connection failed after promptsync sent the request, so promptsync does not know whether the service carried it out.',
  },
  'apply/somebody-else-wrote': {
    why: 'Among versions that are not active anywhere, the service shows only the newest. promptsync therefore cannot check whether it created an earlier one, and it does not guess.',
  },
  'apply/keeps-changing': { why: null },
  'apply/interrupted': { why: 'Someone pressed Ctrl-C, or the CI system stopped the job.' },
  // promptsync promote
  'promote/nothing-active': {
    why: 'A promotion pins the active version of the source environment, but no version is active there.',
  },
  'promote/source-unclear': {
    why: 'The source environment belongs to another service, and version numbers have no meaning outside their own service.',
  },
  'promote/source-drifted': {
    why: 'Someone changed the source environment in the service, or its latest changes have not been synced.',
  },
  // promptsync rollback
  'rollback/nothing-before': {
    why: 'The environment has not served any other version, or the record of that version is missing.',
  },
  'rollback/nothing-served': { why: null },
  'rollback/shallow': { why: `promptsync finds the earlier version in git. ${WHOLE_HISTORY}` },
  'rollback/unclear-before': { why: 'No sync has activated this pin, or the service no longer has the version.' },
  'rollback/unknown-version': {
    why: 'promptsync knows only the versions that are active in a pinned environment or listed in [its record](record.md#there-is-no-state-file).',
  },
  // promptsync pull
  'pull/conflict': { why: 'Both sides changed the same lines since the last sync.' },
  'pull/would-conflict': { why: 'Both sides changed the same lines since the last sync.' },
  'pull/pin-conflict': { why: 'Both the pin and the active version changed since the last sync.' },
  'pull/several': { why: 'A file can contain the text of only one version.' },
  'pull/config-not-mapping': { why: null },
  'pull/not-writable': { why: 'A prompt file cannot store this text without changing it.' },
  'pull/known-version': { why: 'Someone activated a version in the service whose text is already in git.' },
  // Editing files
  'edit/not-kept': {
    why: 'promptsync edits single values and preserves comments and formatting. The way in which this file is written makes that impossible.',
  },
  'edit/changed-meanwhile': { why: 'An editor or another program saved the file while promptsync was editing it.' },
  'edit/locked': {
    why: "Only one command can write files at a time, because two commands could overwrite each other's changes.",
  },
  'edit/not-lockable': { why: null },
  'edit/lock-lost': { why: 'The computer was asleep or the process was suspended for more than five seconds.' },
  'edit/unwritable': { why: null },
  // promptsync import
  'import/not-writable': { why: 'A prompt file cannot store this text without changing it.' },
  'import/environment-needed': { why: null },
  'import/nothing-active': { why: 'promptsync can import only text that an environment serves.' },
  'import/unpinned': { why: null },
  'import/known': { why: 'Each prompt can have only one file, and each prompt key can refer to only one prompt.' },
  'import/path-taken': { why: 'An import does not overwrite files.' },
  'import/not-matched': { why: 'Other commands would not find a file whose path does not match any pattern.' },
  'import/outside': { why: 'promptsync writes only to the repository that contains `promptsync.yaml`.' },
  'import/symbolic-link': { why: 'A symbolic link could lead outside the repository.' },
  // promptsync new
  'new/taken': { why: 'Each prompt can have only one file, and each prompt key can refer to only one prompt.' },
  'new/latest-not-allowed': { why: null },
  // promptsync bundle
  'bundle/nothing-pinned': { why: 'An empty bundle is usually a mistake.' },
  'bundle/not-active': { why: null },
  'bundle/too-deep': { why: 'Many programs cannot read JSON that is nested this deeply.' },
  'bundle/not-in-git': { why: null },
  'bundle/composed': { why: null },
  'bundle/contains-key': { why: 'Anyone who can read the bundle could use the API key.' },
  // promptsync init
  'init/service-needed': { why: null },
  'init/invalid-flag': { why: null },
  'init/nested': {
    why: 'promptsync commands use the nearest `promptsync.yaml`, so a second one would hide the first.',
  },
  'init/kept': { why: 'promptsync keeps the file because you might have edited it.' },
  'init/include': { why: 'GitLab runs the promptsync jobs only if `.gitlab-ci.yml` includes them.' },
  'init/pre-commit': { why: 'promptsync does not edit a file that contains your own hooks.' },
  'init/not-selected': { why: null },
  'init/folder-name': {
    why: '`init` writes the path to the CI configuration, where the character would have a special meaning.',
  },
  'init/in-the-way': { why: null },
  // The GitHub Action
  'action/invalid-input': { why: null },
  'action/invalid-event': { why: null },
  'action/no-config': { why: null },
  'action/no-checkout': { why: 'The action reads the prompt files and their history from a clone of the repository.' },
  'action/other-checkout': { why: 'The review would describe files that differ from the files in the pull request.' },
  'action/unsupported-event': { why: 'In `auto` mode, the event determines what the action does.' },
  'action/closed': { why: null },
  'action/drift-found': { why: 'Someone changed the service, or a sync failed or has not run yet.' },
  'action/stale-base': { why: 'Other changes were merged after this pull request was last updated.' },
  'action/not-told': { why: "The job's token lacks a permission, or GitHub was unavailable." },
  'action/not-proposed': { why: null },
  'action/foreign-commit': { why: "promptsync never overwrites other people's commits." },
  // promptsync comment
  'gitlab/not-published': { why: 'The token is missing, has expired, or lacks a permission.' },
  // Faults of promptsync
  'internal/unexpected': { why: 'This is a defect in promptsync.' },
} as const satisfies { readonly [Code in ProblemCode]: Explanation };
