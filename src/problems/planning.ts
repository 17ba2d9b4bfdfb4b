import { escapeSelector } from '../text.ts';
import { defineError, defineWarning, formatCount, quoteShellWord, shortenCommitId } from './catalog-entry.ts';

/** The evidence of a promotion that promptsync refuses. */
type RefusedPromotion = {
  /** The environment that the version is promoted to. */
  environment: string;
  /** The source environment, which must serve the version first. */
  from: string;
  key: string;
  version: string;
  /** The version that the source environment serves. Null if it serves none. */
  serves: string | null;
  /** The version that the target environment serves. Null if it serves none. */
  current: string | null;
  /** An environment that already serves the version. Null if there is none. */
  liveIn: string | null;
  /** Whether the file pins the source environment. */
  sourcePinned: boolean;
  /** Whether a sync would make this version active in the source environment. */
  sourceComes: boolean;
};

/** A newer commit of the branch that goes live, and the files in which it differs from the checked-out commit. */
type NewerCommitEvidence = { branch: string; newer: string; paths: readonly string[] };

function describePaths({ paths: [first = '', ...others] }: NewerCommitEvidence): string {
  return others.length === 0 ? first : `${first} and ${formatCount(others.length, 'more file')}`;
}

/** The evidence of a change that is not merged: a pull request, or a commit that the branch does not contain. */
type UnmergedEvidence = { kind: 'pull-request' } | (NewerCommitEvidence & { kind: 'commit'; commit: string });

/** The evidence of a change without a review. */
type MissingReview = {
  /** The key of the prompt. */
  prompt: string;
  /** The merged pull requests. `shown` is true if the pull request has an approval that counts. */
  pulls: readonly { pull: string; shown: boolean }[];
  /** The commit that touched the prompt's file and was merged by no pull request. Null if there is none. */
  directPush: string | null;
  /** The reason why promptsync could not read the reviews from GitHub. Null if it could. */
  failure: string | null;
};

const MAX_NAMED_PULLS = 5;

/**
 * Describes why no review has shown a change. If GitHub failed, the text does not name the prompt, so that reports can
 * show the problem once for all prompts.
 */
function describeMissingReview({ prompt, pulls, directPush, failure }: MissingReview): string {
  if (failure !== null) {
    return `No review has shown this change, because promptsync could not read the reviews from GitHub: ${failure.replace(/\.$/, '')}.`;
  }
  const reasons = pulls
    .slice(0, MAX_NAMED_PULLS)
    .map(({ pull, shown }) => (shown ? `${pull} has shown other changes.` : `${pull} has no approval that counts.`));
  const omitted = pulls.length - MAX_NAMED_PULLS;
  if (omitted === 1) reasons.push('One more pull request has not shown it.');
  if (omitted > 1) reasons.push(`${omitted} more pull requests have not shown it.`);
  if (directPush !== null) reasons.push(`No pull request merged the commit ${shortenCommitId(directPush)}.`);
  if (reasons.length === 0) reasons.push('No pull request merged it.');
  return `No review has shown this change of the prompt "${prompt}". ${reasons.join(' ')}`;
}

/** The problems of pins that cannot be resolved, of guards that refuse a plan, and of git. */
export const PLANNING_PROBLEMS = {
  // Pins that cannot be resolved
  'pin/unknown-number': defineError<{
    environment: string;
    number: number;
    /** Whether a sync would read the newest version, because it may have this number. */
    lookable: boolean;
  }>(
    (e) =>
      e.lookable
        ? `"${e.environment}" is pinned to version ${e.number}, but promptsync knows no version with this number. A sync would also read the newest version, which promptsync has never read.`
        : `"${e.environment}" is pinned to version ${e.number}, but promptsync knows no version with this number.`,
    'Pin a version number that `promptsync history` lists, or pin `git:<ref>`, which always works.',
  ),
  'pin/not-promoted': defineWarning<{ environment: string; from: string; number: number }>(
    (e) =>
      `"${e.environment}" is pinned to version ${e.number}, but git has no earlier commit that pins "${e.from}" to this version.`,
    (e) => `Make sure that "${e.from}" serves version ${e.number}. Otherwise, a sync refuses this pin.`,
  ),
  'pin/unknown-version': defineError<{ environment: string; id: string }>(
    (e) => `"${e.environment}" is pinned to version "${e.id}", which this prompt does not have.`,
    'Check the id. A version belongs to exactly one prompt.',
  ),
  'pin/unknown-ref': defineError<{ ref: string }>(
    (e) => `The git ref "${e.ref}" is not in this repository.`,
    'Check the name of the ref. In a shallow clone, fetch the ref first (actions/checkout: `fetch-depth: 0`; GitLab: `GIT_DEPTH: 0`).',
  ),
  'pin/no-prompt-at-ref': defineError<{ ref: string; reason: string }>(
    (e) => `This prompt has no valid file at the git ref "${e.ref}" (${e.reason}).`,
    'Pin a ref at which a prompt file with this id is valid.',
  ),

  // Guards
  'guard/latest-not-allowed': defineError<{ environment: string }>(
    (e) => `"${e.environment}" is pinned to \`latest\`, which promptsync.yaml does not allow for this environment.`,
    'Pin a version number, `git:<ref>` or `version:<id>` instead.',
  ),
  'guard/promotion-order': defineError<RefusedPromotion>(
    (e) =>
      `"${e.environment}" is promoted from "${e.from}", which serves ${e.serves ?? 'no version'}. But the pin asks for ${e.version}.`,
    makePromotionHint,
  ),
  'guard/uncommitted': defineError(
    'The prompt file differs from the last commit.',
    'Commit the file first, or use --allow-dirty. A version that --allow-dirty creates has no commit in its record.',
  ),
  'guard/uncommitted-edit': defineError(
    'The prompt file has uncommitted or staged changes. promptsync would either include them in its commit or lose them.',
    'Commit or stash the changes first (git diff HEAD and git diff --cached show them), or edit without --commit.',
  ),
  'guard/max-changes': defineError<{ changing: number; allowed: number }>(
    (e) => `The plan would change ${formatCount(e.changing, 'prompt')}, but max_changes allows ${e.allowed}.`,
    'Check the plan. To apply it, raise --max-changes for this run.',
  ),
  'guard/drift': defineError<{
    /** The drift, each as a clause such as `"production" serves v9 (id ver_9)`. */
    what: readonly string[];
  }>(
    (e) =>
      `Somebody changed the service outside of git, and on_drift is \`fail\`. In the service, ${joinClauses(e.what)}.`,
    'Take the change into the file, or undo it in the service. To overwrite it, use --on-drift overwrite for this run.',
  ),
  'guard/superseded': defineError<NewerCommitEvidence & { commit: string; behind: boolean }>(
    (e) =>
      `The tip of ${e.branch} (${e.newer}) differs from this commit (${shortenCommitId(e.commit)}) in ${describePaths(e)}. promptsync wrote nothing.`,
    (e) =>
      e.behind
        ? 'Run git pull, then sync. In continuous integration, the run of the newer commit applies both. To go back, revert the newer commit and merge the revert. To write this commit anyway, use --any-commit.'
        : 'Run git pull if this clone is behind, or merge this branch. Then sync. In continuous integration, the run of the newer commit applies both. To go back, revert the newer commit and merge the revert. To write this commit anyway, use --any-commit.',
  ),
  'guard/unknown-newest': defineError<{ reason: string }>(
    (e) => `promptsync cannot tell whether this commit is merged and the newest one: ${e.reason}`,
    'Push the branch that goes live, and make sure that this clone can reach its remote. In GitHub Actions, the checkout must keep its credentials, or `github-token` needs the permission `contents: read`. To skip this check, use --any-commit.',
  ),
  'guard/overtaken': defineWarning<NewerCommitEvidence>(
    (e) =>
      `The branch ${e.branch} got a newer commit (${e.newer}) while promptsync wrote this one. The newer commit differs in ${describePaths(e)}.`,
    'Make sure that a sync of the newer commit follows. Check its run in continuous integration, or run git pull and then sync.',
  ),
  'guard/not-reviewed': defineError<MissingReview>(
    describeMissingReview,
    'Merge a pull request whose check "promptsync" shows this change, or turn off `require-reviewed-plan` for this run.',
  ),
  'guard/stale-plan': defineError<{ expected: string; actual: string }>(
    (e) => `The plan is ${e.actual}, not the expected ${e.expected}. The files or the service have changed.`,
    'Make the plan again and review it.',
  ),
  'guard/not-merged': defineError<UnmergedEvidence>(
    (e) =>
      e.kind === 'pull-request'
        ? 'promptsync does not apply a pull request, because its changes are not merged yet.'
        : `This commit (${shortenCommitId(e.commit)}) is not merged. The tip of ${e.branch} (${e.newer}) differs from it in ${describePaths(e)}. promptsync wrote nothing.`,
    (e) =>
      e.kind === 'pull-request'
        ? 'Use the mode `auto` or `plan` on pull requests. The push to the branch that goes live then applies the changes.'
        : 'Merge this commit first, then sync. To see what it would change, run promptsync plan. To write it anyway, use --any-commit.',
  ),
  'guard/key-on-pull-request-target': defineError(
    'promptsync accepts no API key on pull_request_target, because the files may come from a stranger and the run has your secrets.',
    'Use the event pull_request, with which promptsync reviews forks without a key.',
  ),

  // git
  'git/uncommitted': defineWarning(
    'The prompt file differs from the last commit, so a sync would refuse it.',
    'Commit the file before the sync, or use --allow-dirty.',
  ),
  'git/needs-repository': defineError<{ what: string }>(
    (e) => `${e.what} needs a git repository.`,
    'Run promptsync in a clone of the repository.',
  ),
  'git/unknown-base': defineError<{ ref: string }>(
    (e) => `The base "${e.ref}" is not in this repository.`,
    'Check the name of the base. In a shallow clone, fetch the base first (actions/checkout: `fetch-depth: 0`; GitLab: `GIT_DEPTH: 0`).',
  ),
  'git/branch': defineError<{ branch: string; reason: string }>(
    (e) => `promptsync cannot create the branch "${e.branch}": ${e.reason}.`,
    'Choose another name with --branch. To continue on an existing branch, check it out first.',
  ),
  'git/not-committed': defineError<{ reason: string }>(
    (e) => `promptsync edited the files but could not commit them: ${e.reason}`,
    'Solve the problem that git reports, then commit the files yourself.',
  ),
  'git/shallow': defineWarning<{ of: 'drift' | 'history' }>(
    (e) =>
      e.of === 'drift'
        ? 'The clone is shallow, so promptsync reports changes from commits that it lacks as drift from outside.'
        : 'The clone is shallow, so the history ends at the oldest commit of the clone.',
    'Fetch the whole history (git fetch --unshallow; actions/checkout: `fetch-depth: 0`).',
  ),
  'git/base-invalid': defineWarning<{ base: string; reason: string }>(
    (e) =>
      `This file is not valid at the base ${e.base} (${e.reason.replace(/\.$/, '')}), so promptsync cannot detect its drift.`,
    'Ignore this warning if the file is valid now.',
  ),
  'git/failed': defineError<{ reason: string }>(
    (e) => `git failed: ${e.reason}`,
    'Check that git is installed and that the repository is intact.',
  ),
};

/** Joins clauses to one: "a", "a and b", "a, b and c". */
function joinClauses(clauses: readonly string[]): string {
  const last = clauses.at(-1) ?? '';
  return clauses.length < 2 ? last : `${clauses.slice(0, -1).join(', ')} and ${last}`;
}

/** Returns the hint with the command that takes the next step of a promotion, even if more steps must follow. */
function makePromotionHint(e: RefusedPromotion): string {
  const makeStep = (from: string, to: string) =>
    makePromoteCommand(e.key, `--from ${quoteShellWord(from)} --to ${quoteShellWord(to)}`);
  const lastStep = makeStep(e.from, e.environment);
  if (e.liveIn !== null && e.liveIn !== e.environment) {
    return `First run \`${makeStep(e.liveIn, e.from)}\` and sync. Then run: ${lastStep}`;
  }
  if (e.serves !== null && !e.sourceComes) {
    return `To promote the version that "${e.from}" serves (${e.serves}), run: ${lastStep}`;
  }
  // A refused pin stops the whole prompt. While the file has this pin, no sync changes the source environment either.
  const first = e.sourcePinned ? '' : `Pin "${e.from}". `;
  const removal =
    e.current === null
      ? `Remove the pin of "${e.environment}" from the file.`
      : `Remove the pin of "${e.environment}" from the file, or pin the version that it serves (${e.current}).`;
  return `${first}${removal} Sync, then run: ${lastStep}`;
}

/** Returns a promote command. A key that looks like an option comes last, after `--`. */
function makePromoteCommand(key: string, options: string): string {
  const word = quoteShellWord(escapeSelector(key));
  return key.startsWith('-') ? `promptsync promote ${options} -- ${word}` : `promptsync promote ${word} ${options}`;
}
