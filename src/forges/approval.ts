import { computeDigest } from '../domain/digest.ts';
import { renderCanonicalJson, type JsonValue } from '../domain/json.ts';
import {
  type Change,
  computeDigestsAfter,
  isNewVersionRef,
  isVisibleChange,
  type Plan,
  type PromptPlan,
} from '../domain/plan.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import { makeProblem, getErrorMessage, type Problem } from '../problem.ts';

/** The digests of a reviewed plan and of its changes. `changes` is empty if they did not fit into the check. */
type ShownPlan = { readonly plan: string; readonly changes: ReadonlySet<string> };

/**
 * Computes the digest of each visible change of a prompt (SHA-256, base64url). The creation of a baseline is not
 * visible. Each digest covers the prompt and the new content or value. The digests of fields and activations also cover
 * the current state. The digest of an activation stays the same after promptsync has created the version to activate.
 * The review therefore still covers the remaining changes if an apply is interrupted.
 */
export function computeChangeDigests(prompt: PromptPlan): readonly string[] {
  const steps = prompt.changes.filter(isVisibleChange).flatMap((change) => listDigestedSteps(change, prompt));
  return steps.map((step) => {
    const [, hex = ''] = computeDigest(renderCanonicalJson([prompt.file.id, ...step])).split(':');
    return Buffer.from(hex, 'hex').toString('base64url');
  });
}

function listDigestedSteps(change: Change, prompt: PromptPlan): readonly (readonly JsonValue[])[] {
  switch (change.kind) {
    case 'create-version':
      return [['create', computeDigestsAfter(change, prompt)]];
    case 'update-prompt':
      return Object.entries(change.fields).map(([field, { before, after }]) => ['field', field, before, after]);
    case 'set-active': {
      const { environment, before, after } = change;
      // If promptsync has not read the version, it knows only the id.
      const unreadId = isNewVersionRef(after) ? null : after.id;
      return [['activate', environment, before?.id ?? null, computeDigestsAfter(change, prompt) ?? unreadId]];
    }
  }
}

/** The pull request that an approval is for, and the base branch of the pull request. */
export type ApprovalTarget = { readonly number: number; readonly into: string };

/** Renders ASCII text. If it is longer than `maxLength` characters, it omits the digests of the individual changes. */
export function renderApproval({ digest, prompts }: Plan, target: ApprovalTarget, maxLength: number): string {
  const planLines = [`pull #${target.number}`, `base ${encodeBranch(target.into)}`, `plan ${digest}`];
  const digests = new Set(prompts.flatMap(computeChangeDigests));
  const text = renderFence([...planLines, ...digests]);
  return text.length <= maxLength ? text : renderFence(planLines);
}

function renderFence(lines: readonly string[]): string {
  return `promptsync may apply the changes that this review has shown. The block lists the pull request, its base branch, and the digests of the plan and of each change.\n\n\`\`\`text\n${lines.join('\n')}\n\`\`\`\n`;
}

/** Encodes a branch name as one ASCII word, because git allows backticks and Unicode spaces in branch names. */
function encodeBranch(name: string): string {
  return encodeURI(name.toWellFormed());
}

/** Returns null if the text is not an approval for this pull request and this base branch. */
export function parseApproval(text: string, target: ApprovalTarget): ShownPlan | null {
  const format = /^```text\npull #(\d+)\nbase (\S+)\nplan (sha256:[0-9a-f]{64})\n((?:[\w-]{43}\n)*)```$/m;
  const [, number, base, plan, changes = ''] = format.exec(text.replaceAll('\r\n', '\n')) ?? [];
  if (plan === undefined || number !== String(target.number) || base !== encodeBranch(target.into)) return null;
  return { plan, changes: new Set(changes.split('\n').slice(0, -1)) };
}

/** A check that approves nothing, because another app created it. `ownApp` is the app or user that owns the token. */
export type OtherCheck = { readonly app: string; readonly ownApp: string };

export type PullRequestReview = {
  readonly pull: number;
  /** The plan that the reviewers saw. Null if the pull request has no valid approval. */
  readonly shown: ShownPlan | null;
  /** The check of another app, if the pull request has such a check and no valid check. Otherwise null. */
  readonly otherCheck: OtherCheck | null;
};

/** The commits of a branch, and the reviews that may have shown the changes of a plan. */
export type ReviewTrail = {
  /** The first-parent commits of the branch, newest first. */
  readonly commits: readonly string[];
  /** Returns true if the commit changed the prompt file or merged a commit that changed it. */
  readonly touchesFile: (file: PromptFile, commit: string) => boolean;
  readonly touchesConfig: (commit: string) => boolean;
  /** Returns the reviews of the pull requests that merged the commit. Rejects if promptsync cannot read the reviews. */
  readonly reviewsOf: (commit: string) => Promise<readonly PullRequestReview[]>;
};

/** The maximum number of commits whose reviews promptsync reads for one plan. */
const MAX_COMMITS_READ = 100;

type Comparison = {
  /** The problems to report, by prompt id. Each prompt with at least one change that no review showed has a problem. */
  readonly unreviewed: ReadonlyMap<string, Problem>;
  /** The numbers of the pull requests whose reviews showed at least one change of the plan. */
  readonly shownBy: ReadonlySet<number>;
};

/** The search for the reviews that showed the changes of one prompt. */
type Search = {
  readonly file: PromptFile;
  /** The digests of the changes that no review has shown so far. */
  readonly unshown: readonly string[];
  /** The reviews read so far, newest first. */
  readonly reviews: readonly PullRequestReview[];
  readonly shownBy: readonly number[];
  /** Whether the search has ended at a commit that touched the file and has no valid approval. */
  readonly isOver: boolean;
  /** The commit at which the search ended, if that commit was pushed without a pull request. Otherwise null. */
  readonly directPush: string | null;
};

/**
 * Finds the changes of a plan that no review showed. The approval of the newest commit counts for all prompts. The
 * search for a prompt then visits the commits that touched its file or the configuration, newest first. It ends at the
 * first commit that touched the file without an approval. Otherwise, a direct push could restore text that was approved
 * once and reverted later.
 */
export async function compareWithReviews(plan: Plan, trail: ReviewTrail): Promise<Comparison> {
  const { commits, touchesFile, touchesConfig, reviewsOf } = trail;
  const [newest] = commits;
  let searches = plan.prompts.map(makeSearch);
  let commitsRead = 0;
  let failure: string | null = null;
  for (const commit of commits) {
    const isForAll = commit === newest || touchesConfig(commit);
    const mustVisit = (search: Search): boolean =>
      search.unshown.length > 0 && !search.isOver && (isForAll || touchesFile(search.file, commit));
    if (!searches.some(mustVisit)) continue;
    if (commitsRead === MAX_COMMITS_READ) break;
    commitsRead += 1;
    try {
      const reviews = await reviewsOf(commit);
      searches = searches.map((search) => {
        if (!mustVisit(search)) return search;
        const extended = reviews.reduce((before, review) => addReview(before, review, plan), search);
        return touchesFile(search.file, commit) ? endWithoutApproval(extended, commit, reviews) : extended;
      });
    } catch (error) {
      failure = getErrorMessage(error);
      break;
    }
  }
  const unreviewed = searches.filter(({ unshown }) => unshown.length > 0);
  return {
    unreviewed: new Map(unreviewed.map((search) => [search.file.id, makeNotReviewedProblem(search, failure)])),
    shownBy: new Set(searches.flatMap((search) => search.shownBy)),
  };
}

function makeSearch(prompt: PromptPlan): Search {
  const unshown = computeChangeDigests(prompt);
  return { file: prompt.file, unshown, reviews: [], shownBy: [], isOver: false, directPush: null };
}

function addReview(search: Search, review: PullRequestReview, plan: Plan): Search {
  const unshown = search.unshown.filter((digest) => !hasShown(review, digest, plan));
  const shownBy = unshown.length < search.unshown.length ? [...search.shownBy, review.pull] : search.shownBy;
  return { ...search, unshown, shownBy, reviews: [...search.reviews, review] };
}

function endWithoutApproval(search: Search, commit: string, reviews: readonly PullRequestReview[]): Search {
  if (reviews.some(({ shown }) => shown !== null)) return search;
  return { ...search, isOver: true, directPush: reviews.length === 0 ? commit : null };
}

function hasShown({ shown }: PullRequestReview, digest: string, plan: Plan): boolean {
  return shown !== null && (shown.plan === plan.digest || shown.changes.has(digest));
}

/** Mentions a failed request to GitHub only if the failure ended the search for this prompt. */
function makeNotReviewedProblem({ file, reviews, isOver, directPush }: Search, failure: string | null): Problem {
  const reviewByPull = new Map(reviews.map((review) => [review.pull, review]));
  const pulls = [...reviewByPull.values()].map(({ pull, shown, otherCheck }) => {
    return { pull: `#${pull}`, shown: shown !== null, otherCheck };
  });
  return makeProblem('guard/not-reviewed', { prompt: file.key, pulls, directPush, failure: isOver ? null : failure });
}
