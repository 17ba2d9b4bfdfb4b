import { escapeSelector } from '../text.ts';
import { defineError, quoteShellWord, shortenCommitId, defineWarning } from './catalog-entry.ts';

/** A promotion that is refused. */
type Refusal = {
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
};

/** What the branch that goes live is at, and the files that it has otherwise. */
type NewerCommitEvidence = { branch: string; newer: string; paths: readonly string[] };

function describeNewerCommit({ branch, newer, paths: [first = '', ...more] }: NewerCommitEvidence): string {
  const files = more.length === 0 ? `${first} is` : `${first} and ${more.length} more are`;
  return `${branch} is at ${newer}, where ${files}`;
}

/** What is not merged: a pull request, or a commit that the branch does not contain. */
type UnmergedEvidence = { kind: 'pull-request' } | (NewerCommitEvidence & { kind: 'commit'; commit: string });

/** What promptsync found when it looked for the review of a prompt's changes. */
type Unreviewed = {
  /** The key of the prompt. */
  prompt: string;
  /** The merged pull requests. `shown`: whether the pull request has an approval that counts. */
  pulls: readonly { pull: string; shown: boolean }[];
  /** The commit that touched the prompt's file and was merged by no pull request; null if there is none. */
  directPush: string | null;
  /** The reason why promptsync could not ask GitHub; null if it could. */
  failure: string | null;
};

const MAX_NAMED_PULLS = 5;

/** Without the name of the prompt if GitHub failed: reports then show the problem once for all prompts. */
function describeMissingReview({ prompt, pulls, directPush, failure }: Unreviewed): string {
  const what = 'No review has shown this change';
  if (failure !== null) return `${what}: GitHub could not be asked: ${failure.replace(/\.$/, '')}.`;
  const reasons = pulls.slice(0, MAX_NAMED_PULLS).map(({ pull, shown }) => {
    return `${pull} ${shown ? 'has shown other changes' : 'has no approval that counts'}`;
  });
  const more = pulls.length - MAX_NAMED_PULLS;
  if (more > 0) reasons.push(`${more} more pull requests have not shown it`);
  if (directPush !== null) reasons.push(`no merged pull request brought commit ${shortenCommitId(directPush)}`);
  if (reasons.length === 0) reasons.push('no merged pull request brought it');
  return `${what} of the prompt "${prompt}": ${reasons.join(', ')}.`;
}

/** Pins that cannot be resolved, guards that refuse a plan, and what git lacks for either. */
export const PLANNING_PROBLEMS = {
  // Pins that cannot be resolved
  'pin/unknown-number': defineError<{ environment: string; number: number; lookable: boolean }>(
    (e) =>
      `"${e.environment}" is pinned to version ${e.number}, and no version with that number is known` +
      (e.lookable ? '; a sync would look at the newest one, which was never read.' : '.'),
    'Pin the number of a version that `promptsync history` lists; `git:<ref>` always works.',
  ),
  'pin/not-promoted': defineWarning<{ environment: string; from: string; number: number }>(
    (e) => `"${e.environment}" is pinned to version ${e.number}, which git does not know of in "${e.from}" before it.`,
    (e) => `A sync refuses it unless "${e.from}" serves that version.`,
  ),
  'pin/unknown-version': defineError<{ environment: string; id: string }>(
    (e) => `"${e.environment}" is pinned to version "${e.id}", which this prompt does not have.`,
    'Check the id; a version belongs to one prompt.',
  ),
  'pin/unknown-ref': defineError<{ ref: string }>(
    (e) => `The git ref "${e.ref}" is not in this repository.`,
    'Check its name. In a shallow clone fetch it first (actions/checkout: `fetch-depth: 0`; GitLab: `GIT_DEPTH: 0`).',
  ),
  'pin/no-prompt-at-ref': defineError<{ ref: string; reason: string }>(
    (e) => `At the git ref "${e.ref}" this prompt has no readable file (${e.reason}).`,
    'Pin a ref at which a prompt file with this id is valid.',
  ),

  // Guards
  'guard/latest-not-allowed': defineError<{ environment: string }>(
    (e) => `"${e.environment}" is pinned to \`latest\`, which promptsync.yaml does not allow there.`,
    'Pin a version number, `git:<ref>` or `version:<id>`.',
  ),
  'guard/promotion-order': defineError<Refusal>(
    (e) =>
      `"${e.environment}" is promoted from "${e.from}", where ${e.version} is not active (it serves ${e.serves ?? 'nothing'}).`,
    makePromotionHint,
  ),
  'guard/uncommitted': defineError(
    'The prompt file differs from the last commit.',
    'Commit it first, or use --allow-dirty; versions made so carry no commit.',
  ),
  'guard/uncommitted-edit': defineError(
    'The prompt file, or what is staged of it, differs from the last commit: a commit would carry that along or lose it.',
    'Commit or stash it first (git diff HEAD and git diff --cached show it), or edit without --commit.',
  ),
  'guard/max-changes': defineError<{ changing: number; allowed: number }>(
    (e) => `Prompts that would change: ${e.changing}; max_changes allows ${e.allowed}.`,
    'Check the plan, then raise --max-changes for this run.',
  ),
  'guard/drift': defineError<{ what: readonly string[] }>(
    (e) => `The service was changed outside of git, and on_drift is \`fail\`: ${e.what.join('; ')}.`,
    'Take the change into the file, or put the service back; --on-drift overwrite lets git win for this run.',
  ),
  'guard/superseded': defineError<NewerCommitEvidence & { commit: string; behind: boolean }>(
    (e) => `${describeNewerCommit(e)} not as in this commit (${shortenCommitId(e.commit)}). Nothing was written.`,
    (e) =>
      `Run git pull${e.behind ? '' : ' if this clone is behind, or merge this branch'}, then sync; in continuous ` +
      'integration the run of that commit applies both. To go back, revert and merge that. --any-commit writes this one.',
  ),
  'guard/unknown-newest': defineError<{ reason: string }>(
    (e) => `It cannot be told whether this commit is merged and the newest: ${e.reason}`,
    'Push the branch that goes live, and let this clone reach its remote (a checkout has to keep its credentials, or ' +
      '`github-token` needs the permission `contents: read`); or use --any-commit.',
  ),
  'guard/overtaken': defineWarning<NewerCommitEvidence>(
    (e) => `This commit was overtaken while it was written: ${describeNewerCommit(e)} not as here.`,
    'The sync of that commit has to follow: look at its run, or run git pull, then sync.',
  ),
  'guard/not-reviewed': defineError<Unreviewed>(
    describeMissingReview,
    'Merge a pull request whose check "promptsync" shows it, or turn `require-reviewed-plan` off for this run.',
  ),
  'guard/stale-plan': defineError<{ expected: string; actual: string }>(
    (e) => `The plan is ${e.actual}, not the expected ${e.expected}.`,
    'The files or the service have changed since that plan was made: make it again and review it.',
  ),
  'guard/not-merged': defineError<UnmergedEvidence>(
    (e) =>
      e.kind === 'pull-request'
        ? 'A pull request is not applied: what it holds is not merged yet.'
        : `This commit (${shortenCommitId(e.commit)}) is not merged: ${describeNewerCommit(e)} not as here. Nothing was written.`,
    (e) =>
      e.kind === 'pull-request'
        ? 'Use the mode `auto` or `plan` on pull requests, and let the push to the branch that goes live apply.'
        : 'Merge it first, and sync then; `plan` shows what it would do. --any-commit writes it all the same.',
  ),
  'guard/key-on-pull-request-target': defineError(
    'On pull_request_target an API key is refused: the files may come from a stranger, and the run has your secrets.',
    'Use the event pull_request. A fork is then reviewed without a key.',
  ),

  // git
  'git/uncommitted': defineWarning(
    'The prompt file differs from the last commit: a sync would refuse it.',
    'Commit it before the sync, or use --allow-dirty.',
  ),
  'git/needs-repository': defineError<{ what: string }>(
    (e) => `${e.what} needs a git repository.`,
    'Run promptsync in a clone of the repository.',
  ),
  'git/unknown-base': defineError<{ ref: string }>(
    (e) => `The base "${e.ref}" is not in this repository.`,
    'Check its name. In a shallow clone fetch it first (actions/checkout: `fetch-depth: 0`; GitLab: `GIT_DEPTH: 0`).',
  ),
  'git/branch': defineError<{ branch: string; reason: string }>(
    (e) => `The branch "${e.branch}" cannot be made: ${e.reason}.`,
    'Give another name with --branch; to go on with a branch that is there, check it out first.',
  ),
  'git/not-committed': defineError<{ reason: string }>(
    (e) => `The files are edited and not committed: ${e.reason}`,
    'Solve what git says, then commit them yourself.',
  ),
  'git/shallow': defineWarning<{ of: 'drift' | 'history' }>(
    (e) =>
      e.of === 'drift'
        ? 'The clone is shallow: what was made from commits that are not in it is told as drift from outside.'
        : 'The clone is shallow: what was before its oldest commit is not told.',
    'Fetch the whole history (git fetch --unshallow; actions/checkout: `fetch-depth: 0`).',
  ),
  'git/base-invalid': defineWarning<{ base: string; reason: string }>(
    (e) => `At the base ${e.base} this file is not valid (${e.reason}): its drift cannot be told.`,
    'Nothing has to be done if the file is valid now.',
  ),
  'git/failed': defineError<{ reason: string }>(
    (e) => `git could not answer: ${e.reason}`,
    'Check that git is installed and that the repository is whole.',
  ),
};

/** The command that would be right: the next step on the way, not all of it. */
function makePromotionHint(e: Refusal): string {
  const step = (from: string, to: string) =>
    makePromoteCommand(e.key, `--from ${quoteShellWord(from)} --to ${quoteShellWord(to)}`);
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
function makePromoteCommand(key: string, options: string): string {
  return key.startsWith('-')
    ? `promptsync promote ${options} -- ${quoteShellWord(escapeSelector(key))}`
    : `promptsync promote ${quoteShellWord(escapeSelector(key))} ${options}`;
}
