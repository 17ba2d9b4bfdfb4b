import { formatCount, joinWords, shortenCommitId, shortenDigest } from '../text.ts';
import { defineError, defineWarning, endSentence, makePromptCommand, quoteShellWord } from './catalog-entry.ts';

type RefusedPromotion = {
  environment: string;
  /** The source environment, which must serve the version first. */
  from: string;
  /** Whether another configuration manages the source environment. */
  isOtherSource: boolean;
  key: string;
  version: string;
  /** Whether the pin names a commit whose content has no version yet. */
  isNewFromCommit: boolean;
  serves: string | null;
  /** Compared with the version in the source. A version that does not exist yet is newer. Null if either is unknown. */
  age: 'older' | 'newer' | null;
  current: string | null;
  /** An environment that already serves the version. Null if there is none. */
  liveIn: string | null;
  sourcePinned: boolean;
  /** Whether a sync would make this version active in the source environment. */
  sourceComes: boolean;
  /** Whether the clone is shallow. A commit that it lacks may then allow the promotion. */
  isShallow: boolean;
};

/** Returns the hint with the command that takes the next step of a promotion, even if more steps must follow. */
function makePromotionHint(e: RefusedPromotion): string {
  if (e.isShallow)
    return 'This clone is shallow, so promptsync cannot read all earlier commits. To fetch the full history, run `git fetch --unshallow`. In CI, set `fetch-depth: 0` for `actions/checkout` in GitHub Actions, or `GIT_DEPTH: 0` in GitLab CI. Then run the command again.';
  if (e.isOtherSource)
    return `First merge a commit that pins "${e.from}" to the content that you want in "${e.environment}". Then pin "${e.environment}" to the same content in a later commit. Pins to branches do not count, because branches move.`;
  if (e.isNewFromCommit && !e.sourceComes) {
    return `Pin "${e.from}" to the same commit as "${e.environment}", then run \`promptsync sync --environment ${quoteShellWord(e.from)}\`. After that, sync "${e.environment}". If you have already made this promotion in another service, check out the commit that made the promotion, and sync that commit with \`--any-commit\` before you sync the newest one.`;
  }
  // Without `--allow-older`, promote would leave the prompt alone.
  const makeStep = (from: string, to: string, isOlder = false) =>
    makePromptCommand(
      'promote',
      e.key,
      `--from ${quoteShellWord(from)} --to ${quoteShellWord(to)}${isOlder ? ' --allow-older' : ''}`,
    );
  const lastStep = makeStep(e.from, e.environment);
  // Only a sync of the source alone works, because the refused pin stops a sync of all environments.
  const syncSteps = `\`promptsync sync --environment ${quoteShellWord(e.from)}\`, then sync "${e.environment}".`;
  if (e.sourceComes) return `First run ${syncSteps}`;
  if (e.liveIn !== null && e.liveIn !== e.environment)
    return `First run \`${makeStep(e.liveIn, e.from, e.age === 'older')}\`. Then commit the file, run ${syncSteps}`;
  if (e.serves !== null) {
    const step = makeStep(e.from, e.environment, e.age === 'newer');
    return `To promote the version that "${e.from}" serves (${e.serves}), run: \`${step}\``;
  }
  // A refused pin stops the whole prompt. While the file has this pin, a sync of all environments changes none of them.
  const first = e.sourcePinned ? '' : `Pin "${e.from}". `;
  const orPin = e.current === null ? '' : `, or pin "${e.environment}" to its active version (${e.current})`;
  return `${first}Remove the pin for "${e.environment}" from the file${orPin}. After the next sync, run: \`${lastStep}\``;
}

/** The details of a file whose current content is not in HEAD. */
type UncommittedFile = {
  /** The submodule, or the other repository, that contains the file. Null if there is none. */
  submodule: string | null;
  /** Whether the prompt takes its id or pins from promptsync.yaml. If so, that file may be the uncommitted one. */
  dependsOnConfig?: boolean;
};

function describeUncommitted({ dependsOnConfig = false }: UncommittedFile): string {
  return dependsOnConfig
    ? "The prompt file has uncommitted changes, or promptsync.yaml has uncommitted changes that affect the prompt's id or pins"
    : 'The prompt file has uncommitted changes';
}

function describeSubmodule({ submodule }: UncommittedFile): string | null {
  if (submodule === null) return null;
  return `The prompt file is in "${submodule}", which is a git submodule or another repository. promptsync reads only the commits of the repository that contains promptsync.yaml, and these commits do not contain the file.`;
}

/** A newer commit on the live branch, and the files in which it differs from the checked-out commit. */
type NewerCommitEvidence = { branch: string; newer: string; paths: readonly string[] };

function describePaths({ paths: [first = '', ...others] }: NewerCommitEvidence): string {
  return others.length === 0 ? `\`${first}\`` : `\`${first}\` and ${formatCount(others.length, 'more file')}`;
}

/** The evidence of a change that is not merged: a pull request, or a commit that the branch does not contain. */
type UnmergedEvidence =
  | { kind: 'pull-request' }
  | (NewerCommitEvidence & {
      kind: 'unmerged';
      commit: string;
      /** The name of the branch with its remote, such as `origin/main`. */
      tip: string;
    });

/** Says where a commit is, compared with the branch of the remote. */
function describeUnmergedCommit(e: Exclude<UnmergedEvidence, { kind: 'pull-request' }>): string {
  const files = e.paths.length === 1 ? `\`${e.paths.join('')}\`` : formatCount(e.paths.length, 'file');
  return `Commit ${shortenCommitId(e.commit)} is not merged into ${e.tip}, so nothing was synced. ${e.tip} is at ${shortenCommitId(e.newer)}. The two commits differ in ${files}.`;
}

export const PLANNING_PROBLEMS = {
  // Pins that cannot be resolved
  'pin/unknown-number': defineError<{
    environment: string;
    number: number;
    key: string;
    /**
     * What promptsync knows about the versions. A sync would create the prompt for `no-prompt`. For `newest-unread`, it
     * would read the newest version, which may be the pinned one.
     */
    known: 'no-prompt' | 'no-version' | 'newest-unread' | 'others';
    /** Whether the id of the prompt comes from the path of its file. */
    hasPathId: boolean;
  }>(
    (e, w) => {
      const pinned = `"${e.environment}" is pinned to version ${e.number}, but`;
      switch (e.known) {
        case 'no-prompt':
          return `${pinned} ${w.service} does not have the prompt.`;
        case 'no-version':
          return `${pinned} ${w.service} has no version of this prompt.`;
        case 'newest-unread':
          return `${pinned} promptsync could not find this version among those that it has read so far.`;
        case 'others':
          return `${pinned} promptsync could not find this version.`;
      }
    },
    (e, w) => {
      const steps = `remove the pin, sync the text to another ${w.environment}, and then`;
      const promotion = makePromptCommand('promote', e.key, `--to ${quoteShellWord(e.environment)}`);
      const otherPlace =
        'If the version is in another project or database, connect promptsync to that project or database.';
      switch (e.known) {
        case 'no-prompt':
          return `${e.hasPathId ? 'The id comes from the path of the file. If you moved the file, set `id` in it to the former id. ' : ''}If the prompt was deleted in ${w.service}, delete the file to retire the prompt. To create the prompt, ${steps} run: \`${promotion}\``;
        case 'no-version':
          return `${otherPlace} With an embedded service, each clone has its own database. If the prompt is new or its versions are lost, ${steps} run: \`${promotion}\``;
        case 'newest-unread':
          return `Pin a version number that \`promptsync history\` lists. If you pinned the newest version in ${w.service}, promptsync has not read that version yet. Commit the file, and then run: \`${makePromptCommand('sync', e.key)}\``;
        case 'others':
          return `Pin an existing version number, or pin \`git:<ref>\` to use the prompt's text from a commit or tag. If the version has not been created yet, ${steps} use \`promptsync promote\`. ${otherPlace} To list the version numbers, run: \`${makePromptCommand('history', e.key)}\``;
      }
    },
  ),
  'pin/source-not-asked': defineWarning<{ from: string }>(
    (e, w) =>
      `Another configuration manages "${e.from}", so promptsync relied on the pins for "${e.from}" in git instead of asking ${w.service} which version is active.`,
    'First, run `promptsync sync` with the other configuration. Then use the current configuration to sync this prompt.',
  ),
  'pin/gone': defineWarning<{
    base: string;
    /** The removed pins, such as `"staging" to "latest"`. */
    pins: readonly string[];
    /** The sentence that says what the service still serves. Empty if promptsync did not request the prompt. */
    serves: string;
  }>(
    (e) =>
      `Since the base commit \`${e.base}\`, these pins have been removed from the file: ${joinWords(e.pins, 'and')}.${e.serves && ` ${e.serves}`}`,
    (_, w) => `Make sure that the removal is intentional. Later syncs will not change these ${w.environment}s.`,
  ),
  'pin/not-in-git': defineError<{
    /** The missing text, such as `the text that "staging" serves (v7)`. */
    text: string;
    /** Whether the clone is shallow. The commit may then be one that the clone does not have. */
    isShallow: boolean;
  }>(
    (e) =>
      e.isShallow
        ? `This clone is shallow, so promptsync cannot find the commit on the live branch that introduced ${e.text}.`
        : `promptsync found no commit containing ${e.text} on the live branch, so there is no commit to pin.`,
    (e, w) =>
      e.isShallow
        ? 'Run `git fetch --unshallow`, or set `fetch-depth: 0` for `actions/checkout`. Then run the command again.'
        : `If this clone is out of date, run \`git fetch\`. If the text of the version is not in git yet, run \`promptsync pull\` to copy it from ${w.service} into the file, and merge the change. In either case, run the command again afterward. promptsync does not search the individual commits of merged branches, so if the text exists only in one of those commits, pin that commit manually.`,
  ),
  'pin/unknown-version': defineError<{ environment: string; id: string }>(
    (e) => `"${e.environment}" is pinned to version "${e.id}", but this prompt has no version with that id.`,
    'Make sure that the version id in the pin is correct and belongs to this prompt.',
  ),
  'pin/unknown-ref': defineError<{ ref: string }>(
    (e) => `The git ref \`${e.ref}\` does not exist in this repository.`,
    (e) => {
      const isId = /^[0-9a-f]{12,}$/i.test(e.ref);
      const check = isId
        ? `Check the commit id. To pin a tag with this name, pin \`git:refs/tags/${e.ref}\`.`
        : 'Check the name of the ref.';
      return `${check} If this clone is shallow, fetch the ref. In CI, fetch the full history: set \`fetch-depth: 0\` for \`actions/checkout\` in GitHub Actions, or \`GIT_DEPTH: 0\` in GitLab CI.`;
    },
  ),
  /** `commits` contains the ids of all commits that begin with the digits of the ref. */
  'pin/short-commit-id': defineError<{ ref: string; commits: readonly string[] }>(
    (e) =>
      `The pin \`git:${e.ref}\` has too few digits for a commit id. Use the full id: ${joinWords(e.commits, 'or')}.`,
    (e) =>
      `Pin the full id of a commit, or at least its first 12 digits. If you mean a tag with this name, pin \`git:refs/tags/${e.ref}\`.`,
  ),
  'pin/ambiguous-commit-id': defineError<{ ref: string; commits: readonly string[] }>(
    (e) => `The pin \`git:${e.ref}\` is a prefix of several commit ids: ${joinWords(e.commits, 'and')}.`,
    'Pin the full id of the commit.',
  ),
  'pin/no-prompt-at-ref': defineError<{ ref: string; reason: string }>(
    (e) => `The git ref \`${e.ref}\` does not contain a valid file for this prompt (${e.reason}).`,
    'Pin a ref that contains a valid prompt file with this id.',
  ),

  // Guards
  'guard/latest-not-allowed': defineError<{
    environment: string;
    pin: string;
  }>(
    (e, w) =>
      e.pin === 'latest'
        ? `"${e.environment}" is pinned to \`latest\`, which \`promptsync.yaml\` does not allow for this ${w.environment}.`
        : `"${e.environment}" is pinned to \`${e.pin}\`, which can refer to a different commit later. \`allow_latest: false\` in \`promptsync.yaml\` does not allow this.`,
    'Pin a version number, the id of a commit (`git:<commit>`), or a tag (`git:<tag>`) instead.',
  ),
  'guard/placeholder-id': defineError(
    'The prompt file still has the placeholder id `replace_me`.',
    (_, w) => `Create the prompt in ${w.service}, then replace \`replace_me\` with the prompt's id.`,
  ),
  'guard/promotion-order': defineError<RefusedPromotion>(
    (e) =>
      e.isOtherSource
        ? `"${e.environment}" is pinned to ${e.version}, but an earlier commit must already have pinned "${e.from}" to the same content.`
        : `"${e.environment}" is pinned to ${e.version}. That version must first be active in "${e.from}", but "${e.from}" serves ${e.serves ?? 'no version'}.`,
    makePromotionHint,
  ),
  'guard/uncommitted': defineError<UncommittedFile>(
    (e) => describeSubmodule(e) ?? `${describeUncommitted(e)}.`,
    (e) =>
      e.submodule === null
        ? 'Commit the changes, or use `--allow-dirty`, which creates new versions without recording a commit.'
        : 'Move promptsync.yaml into the submodule and sync there, or use `--allow-dirty`, which creates new versions without recording a commit.',
  ),
  'guard/uncommitted-edit': defineError<UncommittedFile>(
    (e) =>
      describeSubmodule(e) ??
      `${describeUncommitted(e)}, so promptsync did not edit the prompt file. An edit could overwrite these changes or include them in the commit that promptsync creates.`,
    (e) =>
      e.submodule === null
        ? 'Commit or stash the changes first, or run the command without `--commit`, `--branch`, and `--now`. To see the changes, run `git diff HEAD` and `git diff --cached`.'
        : 'Move promptsync.yaml into the submodule and run the command there, or run it without `--commit`, `--branch`, and `--now`.',
  ),
  'guard/max-changes': defineError<{ changing: number; allowed: number }>(
    (e) => `The plan would change ${formatCount(e.changing, 'prompt')}, but \`max_changes\` allows only ${e.allowed}.`,
    'Review the plan. To apply only part of it, select fewer prompts. To apply all of it, raise `max_changes` in `promptsync.yaml`, or pass a higher limit to `sync` with `--max-changes`.',
  ),
  'guard/drift': defineError<{
    key: string;
    /** What has drifted, as clauses such as `"production" serves v9`. */
    what: readonly string[];
    /** Whether `pull` can copy a change into the file. It cannot if the environments serve nothing. */
    canPull: boolean;
    /** Whether an environment serves a version from a commit that the clone lacks. */
    lacksCommit?: boolean;
    /** Whether `rollback --now` would overwrite the change. */
    isRollback?: boolean;
  }>(
    (e, w) =>
      `Someone changed this prompt in ${w.service}: ${joinWords(e.what, 'and')}. With \`on_drift: fail\`, promptsync does not overwrite this change.`,
    (e, w) => {
      const how = e.canPull
        ? `run \`${makePromptCommand('pull', e.key)}\`, then merge the updated file`
        : `remove the pins for these ${w.environment}s from the file`;
      const keep = e.lacksCommit
        ? 'This clone lacks the commit that an active version was made from, so run `git fetch` first.'
        : `To keep the change, ${how}.`;
      const first = e.isRollback ? 'run the command without `--now`, merge the edited file, and then ' : '';
      return `${keep} To overwrite the change, ${first}run \`${makePromptCommand('sync', e.key, '--on-drift overwrite')}\`.`;
    },
  ),
  'guard/superseded': defineError<NewerCommitEvidence & { commit: string; behind: boolean }>(
    (e) =>
      `promptsync made no changes because this commit (${shortenCommitId(e.commit)}) is not the newest one on ${e.branch}. The newest commit (${shortenCommitId(e.newer)}) differs from it in ${describePaths(e)}.`,
    (e) => {
      const unmerged = e.behind ? '' : 'If your branch is not merged yet, merge it first. ';
      return `${unmerged}On your machine, switch to ${e.branch}, run \`git pull\`, and then run \`promptsync sync\`. In CI, no action is needed: the run for the newer commit applies the changes from both commits. To sync this commit anyway, use \`--any-commit\`.`;
    },
  ),
  'guard/unknown-newest': defineError<{ reason: string }>(
    (e) => `promptsync could not verify that this commit is merged and up to date: ${e.reason}`,
    'Make sure that the live branch has been pushed, that `branch` in `promptsync.yaml` names it, and that this clone can reach the remote. In GitHub Actions, either remove `persist-credentials: false` from the `actions/checkout` step or grant `github-token` the `contents: read` permission. To skip this check, use `--any-commit`.',
  ),
  'guard/overtaken': defineWarning<NewerCommitEvidence>(
    (e) =>
      `Someone pushed a newer commit (${shortenCommitId(e.newer)}) to ${e.branch} while promptsync was syncing this commit. The two commits differ in ${describePaths(e)}.`,
    'Make sure that the newer commit has been synced. In CI, check the run for that commit. Locally, run `git pull`, then `promptsync sync`.',
  ),
  'guard/stale-plan': defineError<{ expected: string; actual: string }>(
    (e, w) =>
      `The digest of this plan is ${shortenDigest(e.actual)}, but ${shortenDigest(e.expected)} was expected. The files, a ref that they pin, or the prompts in ${w.service} have changed since the expected plan was created.`,
    'Create and review a new plan.',
  ),
  'guard/not-merged': defineError<UnmergedEvidence>(
    (e) =>
      e.kind === 'pull-request'
        ? 'promptsync does not apply changes when it runs on a pull request.'
        : describeUnmergedCommit(e),
    (e) =>
      e.kind === 'pull-request'
        ? 'Use `auto` or `plan` mode for pull requests. promptsync applies the changes after the merge, when the push to the live branch triggers a run.'
        : `If you are on ${e.branch}, run \`git pull\` and \`git push\`. If you are on any other branch, merge this commit through a pull request. In either case, run \`promptsync sync\` afterward. To sync this commit without merging it, use \`--any-commit\`.`,
  ),

  // git
  'git/uncommitted': defineWarning<UncommittedFile>(
    (e) => describeSubmodule(e) ?? `${describeUncommitted(e)}, so a sync would reject the file.`,
    (e) =>
      e.submodule === null
        ? 'Commit the changes before you sync, or use `--allow-dirty`.'
        : 'Move promptsync.yaml into the submodule and sync there, or use `--allow-dirty`.',
  ),
  'git/needs-repository': defineError<{ what: string }>(
    (e) => `${e.what} requires a git repository.`,
    'Run promptsync in a clone of the repository.',
  ),
  'git/unknown-base': defineError<{ ref: string }>(
    (e) => `\`${e.ref}\` is not a commit, branch, or tag in this repository.`,
    'Check the name of the commit, branch, or tag. If this clone is shallow, fetch the missing commit. In CI, fetch the full history: set `fetch-depth: 0` for `actions/checkout` in GitHub Actions, or `GIT_DEPTH: 0` in GitLab CI.',
  ),
  'git/branch': defineError<{ branch: string; reason: string }>(
    (e) => `promptsync could not create the branch \`${e.branch}\`: ${e.reason}.`,
    'If a merge or a rebase is in progress, finish it, undo it with `git merge --abort` or `git rebase --abort`, or run this command in a new folder that you create with `git worktree add --detach ../clean`. Otherwise, specify another name with `--branch`. To use an existing branch, check it out and pass `--commit`.',
  ),
  'git/not-committed': defineError<{ reason: string; files: 'edited' | 'new' }>(
    (e) =>
      `promptsync ${e.files === 'edited' ? 'edited the files' : 'wrote the new files'} but could not commit them: ${endSentence(e.reason)}`,
    (e, w) =>
      e.files === 'edited'
        ? 'Fix the problem that git reported, then commit the files manually.'
        : `Fix the problem that git reported, delete the new files, and run the same command again. If you commit the new files yourself instead, the git history will not include the other versions that your ${w.environment}s serve.`,
  ),
  'git/shallow': defineWarning<{ of: 'drift' | 'history' }>(
    (e, w) =>
      e.of === 'drift'
        ? `This clone is shallow, so promptsync cannot distinguish a change made in ${w.service} from an unfinished sync.`
        : 'This clone is shallow, so the history begins at the oldest commit in the clone.',
    'Run `git fetch --unshallow` to fetch the full history. In a workflow, set `fetch-depth: 0` for `actions/checkout`.',
  ),
  'git/base-invalid': defineWarning<{ base: string; reason: string }>(
    (e) =>
      `In the base commit \`${e.base}\`, this file is not valid (${e.reason.replace(/\.$/, '')}), so promptsync cannot detect drift for this prompt.`,
    'If the current file is valid, you can ignore this warning.',
  ),
  'git/ident': defineError(
    'The file contains the keyword `$Id$` and has the git attribute `ident`. git replaces the keyword at each checkout, so the text of the prompt would differ between clones.',
    'Remove `$Id$` from the file, or remove the attribute `ident` for this file from `.gitattributes`.',
  ),
  'git/failed': defineError<{
    reason: string;
    /** The hint. If absent, it is derived from the other fields. */
    advice?: string;
    /** Whether the clone is partial (`git clone --filter`). */
    isPartial?: boolean;
  }>(
    (e) => `git failed: ${endSentence(e.reason)}`,
    (e) => e.advice ?? makeGitHint(e.reason, e.isPartial === true),
  ),
};

/** Failed filters, partial clones and foreign folders have their own hints. */
function makeGitHint(reason: string, isPartial: boolean): string {
  const [, folder] = /dubious ownership in repository at '([^']+)'/.exec(reason) ?? [];
  const [, filter] = /(?:smudge|clean) filter '?([^\s']+)'? failed/.exec(reason) ?? [];
  if (filter !== undefined || /external filter '.*' failed/s.test(reason))
    return `Make sure that the program and the key for the git attribute \`filter${filter === undefined ? '' : `=${filter}`}\` are available. For example, run \`git-crypt unlock\` or \`git lfs pull\`.`;
  if (folder === undefined && isPartial)
    return 'This is a partial clone (`git clone --filter`), so git fetches older files from the remote. Make sure that git can reach the remote, or use a full clone.';
  if (folder === undefined) return 'Make sure that git is installed and that the repository is not corrupted.';
  return `If you trust the owner of the repository, run \`git config --global --add safe.directory ${quoteShellWord(folder)}\`.`;
}
