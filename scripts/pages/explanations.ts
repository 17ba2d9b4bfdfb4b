import type { ProblemCode } from '../../src/problem.ts';

/** What docs/troubleshooting.md says about a problem in addition to its message and its hint. */
export type Explanation = {
  /** The reason for the problem. Null if the message already gives it. */
  readonly why: string | null;
  /** Advice that follows the hint. */
  readonly advice?: string;
};

const WHOLE_HISTORY = 'By default, `actions/checkout` and GitLab fetch only the newest commits.';
const MERGED_AND_NEWEST = 'For details, see [What goes live](configuration.md#what-goes-live).';
const SAME_TIME = 'The prompt changed in the service between two requests of the same run.';
const UNAMBIGUOUS_YAML = 'promptsync rejects YAML that different parsers read differently.';
const PLACEHOLDER =
  'The id in the file is still the placeholder that `promptsync new` writes for a prompt that does not exist in the service yet.';
const MARKERS =
  'promptsync uses marker lines to split a chat prompt into messages, so every message and every placeholder needs its own marker.';
const READ_LIMIT = 'promptsync limits how much data it reads so that a run cannot exhaust memory.';
const KNOWN_VERSIONS =
  'promptsync knows only about versions that are active in a pinned environment or listed in [its record](record.md#there-is-no-state-file).';
const SAME_LINES = 'Since the last sync, the same lines have changed in both the file and the service.';
const NOT_REPRESENTABLE = 'A prompt file cannot represent this text exactly.';
const ONE_FILE = 'Each prompt can have only one file, and each prompt key can refer to only one prompt.';

/** The explanations for docs/troubleshooting.md: one for each problem, in the order of the page. */
export const EXPLANATIONS = {
  // Prompt files
  'prompt/none-found': {
    why: 'promptsync looks for prompt files that match the patterns under `prompts:`. The patterns are relative to the folder that contains `promptsync.yaml`.',
  },
  'prompt/others-invalid': {
    why: 'If you select prompts, only errors in their files stop the command. If you do not select prompts, an error in any file stops it.',
  },
  'prompt/unreadable': {
    why: 'The operating system did not let promptsync read the file. The reason is in parentheses.',
  },
  'prompt/symbolic-link': {
    why: 'A symbolic link could point to an unreviewed file outside the repository.',
  },
  'prompt/too-large': { why: 'The size limit keeps a single file from exhausting memory.' },
  'prompt/not-decoded': {
    why: 'A git filter stores the file in another form, and the checkout did not restore the original. For a file that is encrypted with git-crypt, run `git-crypt unlock`.',
  },
  'prompt/not-utf8': { why: 'promptsync does not guess the encoding, because a wrong guess would change the text.' },
  'prompt/nul': { why: 'A NUL character usually means that the file is corrupted or is not plain text.' },
  'prompt/conflict-markers': {
    why: 'The file still has unresolved conflicts from a merge or a pull, so it contains both sides. promptsync also searches the prompt text for conflict markers.',
    advice:
      '`promptsync import` and `promptsync pull` add this setting to the file if the text in the service contains conflict markers. `promptsync.yaml` cannot accept conflict markers for all files. If a pull request adds the setting, its review shows a warning.',
  },
  'prompt/no-front-matter': {
    why: 'Every file that matches `prompts:` must be a prompt file, which begins with front matter (a block between two `---` lines).',
  },
  'prompt/bad-delimiter': {
    why: 'Some tools treat a word after `---` as the language of the front matter. promptsync does not, because it supports only YAML.',
  },
  'prompt/unclosed-front-matter': {
    why: 'Without a closing `---` line, promptsync cannot tell where the prompt text begins.',
  },
  'prompt/front-matter-too-large': {
    why: 'Front matter is meant for settings and short metadata, so promptsync limits its size to keep parsing fast.',
  },
  'prompt/too-many-blank-lines': {
    why: 'promptsync reads front matter with gray-matter, which becomes slow if there are many blank lines in a row.',
  },
  'prompt/empty-body': {
    why: 'The file has no text after the front matter, and promptsync does not create empty versions.',
  },
  'prompt/unsupported-type': {
    why: 'Not every service stores chat prompts. Langfuse does, but other services store only text.',
  },
  'prompt/other-type': {
    why: "A prompt's type is fixed when the prompt is created in the service and cannot be changed later.",
  },
  'prompt/no-messages': { why: MARKERS },
  'prompt/text-outside-message': { why: MARKERS },
  'prompt/invalid-marker': {
    why: 'The line could be a misspelled marker. If promptsync treated it as text, the text below it would end up in the wrong message.',
  },
  'prompt/placeholder-is-variable': {
    why: 'If a placeholder and a variable have the same name, an application cannot tell them apart.',
  },
  'prompt/possible-marker': {
    why: 'The line might be a misspelled marker. If so, the text below it has become part of the previous message. promptsync looks for lines that a reader could mistake for a marker, so it treats capital and small letters alike, all kinds of quotation marks alike, and all characters that look like spaces alike. It also warns about a valid marker if its role contains an unusual space, because a reader could mistake the role for a different one.',
  },
  'prompt/marker-in-text': {
    why: 'Markers have no special meaning in a text prompt, so promptsync sends them as text.',
  },
  'prompt/missing-id': {
    why: 'Without an id, promptsync cannot match the file to a prompt in the service.',
  },
  'prompt/invalid-path-id': {
    why: 'With Langfuse, a file without an `id` gets its id from its path, but not every path results in an id that Langfuse accepts as a prompt name.',
  },
  'prompt/placeholder-id': { why: PLACEHOLDER },
  'prompt/missing-field': { why: 'Every prompt file must contain this field.' },
  'prompt/unknown-field': {
    why: 'promptsync rejects unknown fields because it would otherwise ignore a misspelled one.',
  },
  'prompt/invalid-field': { why: null },
  'prompt/invalid-pin': { why: 'The service does not support pins in this format.' },
  'prompt/not-portable-pin': { why: null },
  'prompt/reserved-metadata': {
    why: 'Your metadata would overwrite the record that promptsync stores in each version.',
  },
  'prompt/variables-mismatch': {
    why: 'The `variables` list is optional, but if it is present, it must contain exactly the variables used in the text.',
  },
  'prompt/duplicate-id': { why: 'If two files had the same id, both would change the same prompt in the service.' },
  'prompt/duplicate-key': { why: 'In commands and reports, a key must identify exactly one prompt.' },
  'prompt/unknown-environment': {
    why: 'If `promptsync.yaml` lists `environments`, prompt files can pin only those environments. Without this rule, a typo could create a new environment.',
  },
  'prompt/tool-environment': {
    why: 'promptsync reserves this environment for [its own record](record.md).',
  },
  'prompt/hidden-character': {
    why: 'Invisible characters often slip in with pasted text, and they can hide instructions from reviewers.',
  },
  'prompt/gone': {
    why: 'promptsync changes only prompts whose file matches a pattern under `prompts`. From now on, it leaves this prompt alone, so the service keeps serving it.',
  },
  // YAML, in prompt files and in promptsync.yaml
  'yaml/syntax': { why: null },
  'yaml/look-alike': {
    why: 'Some keyboards type a full-width colon, and text from web pages often contains no-break spaces. YAML gives these characters no special meaning.',
  },
  'yaml/ambiguous-value': {
    why: 'Many tools still use YAML 1.1, so people who write metadata often expect these values to have the meaning that they have in YAML 1.1. promptsync warns once per file.',
  },
  'yaml/not-a-mapping': { why: 'The front matter and `promptsync.yaml` must consist of named values (`name: value`).' },
  'yaml/duplicate-key': { why: UNAMBIGUOUS_YAML },
  'yaml/key-not-text': { why: UNAMBIGUOUS_YAML },
  'yaml/forbidden-key': {
    why: 'The keys `<<` and `__proto__` have special meanings: `<<` in YAML and `__proto__` in JavaScript.',
  },
  'yaml/alias': { why: 'With an alias, a small file can expand into a huge value that reviewers do not see.' },
  'yaml/tag': { why: UNAMBIGUOUS_YAML },
  'yaml/number': { why: 'JSON cannot represent this number exactly.' },
  'yaml/too-deep': { why: 'promptsync limits the nesting depth so that a single file cannot exhaust memory.' },
  // promptsync.yaml and variables
  'config/not-found': {
    why: 'Without `promptsync.yaml`, promptsync does not know where the service and the prompt files are.',
  },
  'config/foreign-file': { why: null },
  'config/foreign-repository': { why: null },
  'config/unreadable': { why: null },
  'config/unknown-field': {
    why: 'promptsync rejects unknown settings because it would otherwise ignore a misspelled one.',
  },
  'config/invalid-field': { why: null },
  'config/missing-service': {
    why: 'The command must contact the service, but neither `promptsync.yaml` nor an environment variable sets its URL.',
  },
  'config/different-addresses': {
    why: 'The variables name different servers, and promptsync cannot know which of them is meant to receive the keys.',
  },
  'config/missing-key': {
    why: 'The service rejects requests without an API key.',
    advice:
      'Pass the key to the action as `api-key: ${{ secrets.PROMPTSYNC_API_KEY }}`. `promptsync validate` does not need a key.',
  },
  'config/invalid-key': { why: 'The key was probably copied with a space or a line break.' },
  'config/swapped-keys': { why: 'In Langfuse, each secret key begins with `sk-lf-`.' },
  'config/invalid-url': { why: 'promptsync sends the API key to this URL, and plain HTTP would expose the key.' },
  'config/pattern-outside': {
    why: 'promptsync reads only files in the repository, because changes elsewhere are not reviewed.',
  },
  'config/pattern-unmatched': {
    why: 'The pattern names a folder, or it separates folders with backslashes. In a pattern, a backslash makes the next character literal.',
  },
  'config/drift-needs-base': { why: 'To detect drift, promptsync must compare the service with a commit.' },
  // The command line
  'usage/invalid': { why: null },
  'usage/nothing-selected': {
    why: 'A selector that matches nothing is probably misspelled, so promptsync stops.',
  },
  'usage/nothing-named': { why: 'Because this command edits files, it does not apply to all prompts by default.' },
  'usage/unknown-environment': {
    why: 'promptsync knows only about environments that are listed in `promptsync.yaml` or pinned in a prompt file.',
  },
  'usage/needs-environment': { why: null },
  'usage/same-environment': { why: 'A promotion needs two different environments: a source and a target.' },
  'usage/confirmation-needed': {
    why: 'promptsync can ask for confirmation only in a terminal, and scripts, hooks, and most CI jobs do not run in one.',
    advice: 'Most CI systems set `CI=true` automatically.',
  },
  'usage/cancelled': { why: null },
  'usage/declined': { why: null },
  'usage/output-unwritable': { why: null },
  'usage/output-unreadable': { why: null },
  'usage/output-format': {
    why: 'If you do not pass `--format`, promptsync determines the format from the file extension.',
  },
  'usage/not-a-report': { why: '`promptsync show` and `promptsync comment` read only JSON reports.' },
  'usage/stdout-unwritable': { why: null },
  'usage/no-current-folder': { why: null },
  'usage/cannot-serve': { why: null },
  // The service
  'service/unreachable': {
    why: 'The URL is wrong, or a proxy, a firewall, or a certificate problem is blocking the connection.',
    advice:
      'If promptsync cannot reach a proxy, the message names that proxy. [Install](install.md#proxies) explains how to configure proxies and a custom certificate authority.',
  },
  'service/no-answer': {
    why: 'A server accepts the requests but never responds. promptsync stops early because waiting for every request to time out would take too long.',
  },
  'service/connection-lost': { why: 'The service, a gateway, or the network closed the connection.' },
  'service/timeout': { why: 'The service is slow or overloaded.' },
  'service/not-authorised': {
    why: 'Status 401 means that the service does not accept the key. Status 403 means that the key lacks a permission.',
    advice:
      'A key belongs to one project. If your prompts are in several projects, create a `promptsync.yaml` with its own `api_key_env` for each project.',
  },
  'service/prompt-not-found': {
    why: 'The `id` in the file is wrong, the prompt was deleted in the service, or the API key belongs to another project.',
  },
  'service/cannot-list': {
    why: 'The [four-call API](how-to/connect-your-service.md#the-four-calls) does not include a call for listing prompts.',
  },
  'service/version-not-found': { why: 'The pinned version was deleted, or it belongs to a different prompt.' },
  'service/redirect': {
    why: 'promptsync does not follow redirects, because a redirect could send the API key to another server.',
  },
  'service/unexpected-status': {
    why: 'The service or a gateway could not process the request. If a retry was safe, promptsync has already retried the request.',
    advice: 'For a status below 500, follow the hint in the message instead.',
  },
  'service/invalid-answer': { why: null },
  'service/unaddressable': {
    why: 'The id becomes part of the request URL, and this id would make the URL point to a different resource.',
  },
  'service/not-updated': { why: null },
  'service/not-asked': { why: null },
  'service/drops-metadata': {
    why: "promptsync stores [its record](record.md) in each version's metadata, so the service must keep the metadata.",
  },
  'langfuse/refused': { why: null },
  'langfuse/concurrent-version': {
    why: 'Langfuse numbers versions in order, and someone else took the next number first. When that happens, promptsync plans the prompt again, up to five times, after a random pause of up to a second. It reports this error only if someone else is first every time.',
  },
  'langfuse/missing-part': {
    why: 'Langfuse rejects a version whose text refers to a prompt that does not exist.',
  },
  'langfuse/composition-fails': {
    why: 'Langfuse resolves composition tags only after a sync has moved a label, so promptsync cannot check them in advance.',
  },
  'pull/kept-pin': {
    why: 'The pin refers to a commit, so editing the text in the file would not change the pinned version.',
  },
  'pull/nothing-active': { why: 'Someone deactivated or deleted the previously active version in the service.' },
  'langfuse/too-many': { why: READ_LIMIT },
  'langfuse/too-large': { why: READ_LIMIT },
  'langfuse/listing-too-large': {
    why: READ_LIMIT,
  },
  // Pins
  'pin/unknown-number': {
    why: KNOWN_VERSIONS,
  },
  'pin/source-not-asked': { why: null },
  'pin/gone': {
    why: 'promptsync changes only environments that the file pins. From now on, it leaves these environments alone, so they keep serving the same version.',
  },
  'pin/not-in-git': {
    why: 'With `portable_pins`, a pin must refer to a commit, but no commit contains the text of this version. Someone probably changed the text in the service.',
  },
  'pin/unknown-version': {
    why: 'The pin may be a typo, or the version may be in another project. A plan reports this error only if promptsync knows every version of the prompt. If it does not, you see the error when you sync.',
  },
  'pin/unknown-ref': {
    why: 'The tag, branch, or commit is misspelled, has been deleted, or is missing from this clone.',
  },
  'pin/short-commit-id': {
    why: 'A short id is easy to imitate: somebody could push a tag with this name, or a commit whose id begins with the same digits. Therefore a pin needs at least 12 digits of a commit id.',
  },
  'pin/ambiguous-commit-id': { why: null },
  'pin/no-prompt-at-ref': { why: null },
  // Guards
  'guard/latest-not-allowed': {
    why: 'With `allow_latest: false`, this environment changes only when someone edits its pin. `latest`, branches, `HEAD`, and relative refs such as `v1~1` change without such an edit. Commit ids and tags do not.',
    advice:
      'To pin the version that is live in the source environment, even if it is older than the version in production, run `promptsync promote KEY --to production --allow-older`.',
  },
  'guard/placeholder-id': { why: PLACEHOLDER },
  'guard/promotion-order': {
    why: '`promote_from` in `promptsync.yaml` requires a version to be active in the source environment before it goes live in the target environment.',
    advice:
      'If an earlier commit already pinned the version in one of these environments, make sure that the full git history of the file is available. promptsync reads it to check [the conditions](configuration.md#promote_from).',
  },
  'guard/uncommitted': {
    why: 'Uncommitted changes have not been reviewed, and a version created from them could not be linked to a commit. In CI, an earlier step probably edited or created the file. Files in a git submodule also count as uncommitted, because the commits of your repository do not contain their text.',
  },
  'guard/uncommitted-edit': { why: null },
  'guard/max-changes': { why: 'The `max_changes` setting protects you against large accidental changes.' },
  'guard/drift': { why: null, advice: '[Drift](how-to/drift.md) explains your options.' },
  'guard/superseded': {
    why: `This guard prevents a slow or repeated run from undoing changes made by a newer run. ${MERGED_AND_NEWEST}`,
    advice: 'To undo the newer commit, merge a commit that reverts it.',
  },
  'guard/unknown-newest': {
    why: `promptsync applies a commit only if it is merged and up to date with the live branch. To check this, promptsync must read the remote. ${MERGED_AND_NEWEST}`,
  },
  'guard/overtaken': {
    why: `After each sync, promptsync checks whether the live branch changed while the sync was running. ${MERGED_AND_NEWEST}`,
  },
  'guard/not-reviewed': {
    why: 'promptsync applies only [changes shown in the check](action.md#what-is-approved) on the merged pull request. The service might have changed since that check ran, or the check might not count. A check does not count if it ran without an API key, ran against a different base branch, or was created by a promptsync version that did not record the pull request number.',
  },
  'guard/stale-plan': {
    why: 'With `--expect-plan`, promptsync applies a plan only if it is identical to the one that you reviewed.',
  },
  'guard/not-merged': {
    why: `promptsync applies a commit only if it is merged and up to date with the live branch. ${MERGED_AND_NEWEST}`,
  },
  'guard/key-on-pull-request-target': { why: null },
  // git
  'git/uncommitted': {
    why: 'Uncommitted changes have not been reviewed, and a version created from them could not be linked to a commit.',
  },
  'git/unknown-base': { why: `The name is misspelled, or the commit is missing from this clone. ${WHOLE_HISTORY}` },
  'git/needs-repository': { why: 'promptsync needs git to read commits and earlier prompt text.' },
  'git/branch': { why: null },
  'git/not-committed': { why: null },
  'git/shallow': { why: WHOLE_HISTORY, advice: 'In GitLab, set `GIT_DEPTH: 0`.' },
  'git/base-invalid': { why: null },
  'git/ident': { why: null },
  'git/failed': { why: null },
  // Writing
  'apply/changed-meanwhile': {
    why: `${SAME_TIME} For example, two overlapping runs might both have activated versions in [promptsync's own environment](record.md), because promptsync can read some versions only by activating them there.`,
  },
  'apply/not-active': { why: SAME_TIME },
  'apply/fields-differ': { why: 'The service saved different values from those that promptsync sent.' },
  'apply/newest-unreadable': { why: 'The service has not finished saving the version, or someone deleted it.' },
  'apply/other-content': {
    why: 'Versions should never change. Either someone edited this one after promptsync recorded it, or the service has a bug.',
  },
  'apply/unreviewed-metadata': { why: null },
  'apply/rewritten': {
    why: 'Some services trim text, reformat metadata, or round numbers when they save a version. With Langfuse, the version can already be active, because Langfuse moves the labels in the same request that creates the version. In that case, the message names the environments.',
  },
  'apply/outcome-unknown': {
    why: 'The connection failed after promptsync sent the request, so promptsync cannot tell whether the service processed it.',
  },
  'apply/somebody-else-wrote': {
    why: 'The service shows only the newest inactive version. After promptsync tried to create its version, someone else created a newer one, so promptsync can no longer check whether its own version exists.',
  },
  'apply/keeps-changing': { why: null },
  'apply/interrupted': { why: 'Someone pressed Ctrl-C, or the CI system stopped the job.' },
  // promptsync promote
  'promote/nothing-active': {
    why: 'A promotion pins the version that is active in the source environment, but no version is active there.',
  },
  'promote/not-pinned': {
    why: 'A sync activates a version only in the environments listed under `pins` in the file, and only an active version can be promoted.',
  },
  'promote/source-unclear': {
    why: 'The source environment belongs to another service, where the same version number can refer to different text.',
  },
  'promote/source-drifted': {
    why: 'Either someone changed the source environment in the service, the latest changes to the file have not been synced yet, or this clone is out of date.',
  },
  'promote/rolled-back': {
    why: 'A rollback changes only one environment, so the version that you rolled back is still active in the environment that you promote from.',
  },
  'promote/older': {
    why: 'The source environment is behind the target, for example after a rollback in staging. A promotion would make an older version live.',
  },
  // promptsync rollback
  'rollback/nothing-before': {
    why: 'Either every older version has the same text as the active version, or promptsync has no record of an older version with different text.',
  },
  'rollback/already-back': {
    why: '`rollback --now` changes the service before its branch is merged. Until the merge, the files in other clones do not show the rollback.',
  },
  'rollback/nothing-served': { why: null },
  'rollback/shallow': {
    why: `promptsync looks up the earlier version in the git history, but the history in this clone is incomplete. ${WHOLE_HISTORY}`,
  },
  'rollback/unclear-before': {
    why: 'promptsync does not know the pinned version, or the pinned ref can move or no longer exists.',
  },
  'rollback/unknown-version': {
    why: KNOWN_VERSIONS,
  },
  'rollback/newer-files': {
    why: 'Someone may already have rolled back these prompts, or your clone may be out of date, so promptsync cannot be sure which version is the previous one.',
  },
  'rollback/remote-silent': { why: 'An incident must not wait for a git remote.' },
  'rollback/branch-exists': { why: 'With `--now`, each rollback gets a branch of its own.' },
  'rollback/new-version': {
    why: 'The previous pin was a `git:` pin, and promptsync has no record of a version with the text at the pinned commit. A rollback with `--now` creates no versions. It activates only versions that have been live before.',
  },
  'rollback/not-committed': { why: 'Usually a hook refused the commit, or git has no author.' },
  'rollback/not-live': {
    why: 'The activation failed or was interrupted after promptsync had committed the pin. For the cause, see the problem reported above this one.',
  },
  // promptsync pull
  'pull/conflict': { why: SAME_LINES },
  'pull/would-conflict': { why: SAME_LINES },
  'pull/side-needed': {
    why: "If the text of a prompt is allowed to contain conflict markers, nobody can tell promptsync's markers from those in the text.",
  },
  'pull/pin-conflict': {
    why: 'Since the last sync, both the pin in the file and the active version in the service have changed.',
  },
  'pull/several': { why: 'A file can contain the text of only one version.' },
  'pull/config-not-mapping': { why: null },
  'pull/not-writable': { why: NOT_REPRESENTABLE },
  'pull/known-version': {
    why: 'Either a commit newer than yours was synced, or someone activated the version directly in the service.',
  },
  // Editing files
  'edit/not-kept': {
    why: 'Because of the way this file is written, promptsync cannot change just one value without losing comments or formatting.',
  },
  'edit/changed-meanwhile': { why: 'An editor or another program saved the file while promptsync was editing it.' },
  'edit/locked': {
    why: "Only one command can edit files at a time. Without this rule, two commands could overwrite each other's changes.",
  },
  'edit/not-lockable': { why: null },
  'edit/lock-lost': { why: 'The computer went to sleep, or the process was suspended for more than five seconds.' },
  'edit/unwritable': { why: null },
  // promptsync import
  'import/not-writable': { why: NOT_REPRESENTABLE },
  'import/environment-needed': { why: null },
  'import/nothing-active': { why: 'promptsync can import only text that an environment serves.' },
  'import/unpinned': { why: null },
  'import/known': { why: ONE_FILE },
  'import/path-taken': { why: '`promptsync import` never overwrites a file.' },
  'import/not-matched': { why: 'If the path does not match any pattern, other commands cannot find the file.' },
  'import/outside': { why: 'promptsync writes only to the repository that contains `promptsync.yaml`.' },
  'import/symbolic-link': {
    why: 'A symbolic link could lead outside the repository.',
  },
  // promptsync new
  'new/taken': { why: ONE_FILE },
  'new/latest-not-allowed': { why: null },
  // promptsync bundle
  'bundle/nothing-pinned': { why: 'An empty bundle is usually a mistake.' },
  'bundle/not-active': { why: null },
  'bundle/too-deep': { why: 'Many programs cannot read JSON that is nested this deeply.' },
  'bundle/not-in-git': { why: null },
  'bundle/composed': { why: null },
  'bundle/uncommitted': { why: 'A bundle with uncommitted changes cannot be reproduced from git.' },
  'bundle/contains-key': { why: 'Anyone who can read the bundle could use the API key in it.' },
  // promptsync init
  'init/service-needed': { why: null },
  'init/invalid-flag': { why: null },
  'init/nested': {
    why: 'promptsync uses the nearest `promptsync.yaml`, so a new one in this folder hides the existing one.',
  },
  'init/kept': { why: 'promptsync does not overwrite the file, because you might have edited it.' },
  'init/include': { why: 'GitLab runs the promptsync jobs only if `.gitlab-ci.yml` includes them.' },
  'init/pre-commit': { why: 'promptsync does not edit a file that contains your own hooks.' },
  'init/not-selected': { why: null },
  'init/folder-name': {
    why: "`init` writes the folder's path to the CI configuration, where this character has a special meaning.",
  },
  'init/in-the-way': { why: null },
  // The GitHub Action
  'action/invalid-input': { why: null },
  'action/invalid-event': { why: null },
  'action/no-config': { why: null },
  'action/linked-config': {
    why: "Otherwise, a pull request could replace a team's folder with a link and send the team's key to a different service.",
  },
  'action/no-checkout': {
    why: 'The action needs a clone of the repository to read the prompt files and their history.',
  },
  'action/other-checkout': {
    why: 'The checked-out files differ from those in the pull request, so the review would describe the wrong files.',
  },
  'action/unsupported-event': {
    why: 'In `auto` mode, the event that triggered the job determines what the action does.',
  },
  'action/closed': { why: null },
  'action/drift-found': {
    why: 'Someone made a change directly in the service, a sync failed, or no sync has run yet.',
  },
  'action/stale-base': { why: 'Other changes were merged after this pull request was last updated.' },
  'action/not-told': { why: "The job's token lacks a permission, or GitHub was unavailable." },
  'action/not-proposed': { why: null },
  'action/foreign-commit': { why: "promptsync never overwrites other people's commits." },
  // promptsync comment
  'gitlab/not-published': { why: 'The token is missing or expired, or it lacks a permission.' },
  // Faults of promptsync
  'internal/unexpected': { why: 'This is a bug in promptsync.' },
} as const satisfies { readonly [Code in ProblemCode]: Explanation };
