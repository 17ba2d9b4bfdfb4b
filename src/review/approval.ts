import { computeDigest } from '../domain/digest.ts';
import { canonicalJson, type JsonValue } from '../domain/json.ts';
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

/** What a review has shown to those who merged it: by its digest each change, and the plan as a whole. */
export type ShownPlan = { readonly plan: string; readonly changes: ReadonlySet<string> };

/**
 * One digest (SHA-256, base64url) for each change of a prompt that anybody sees: the prompt, the environment or field,
 * what stands there, and the text and metadata that go there. A half-applied plan goes on under the same review, because
 * an activation has the same digest before and after its version was created. A baseline is seen by nobody.
 */
export function changeDigests(prompt: PromptPlan): readonly string[] {
  const steps = prompt.changes.filter(isVisibleChange).flatMap((change) => listDigestedSteps(change, prompt));
  return steps.map((step) => {
    const [, hex = ''] = computeDigest(canonicalJson([prompt.file.id, ...step])).split(':');
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
      // Of a version that nobody has read, the id alone is known.
      const unread = isNewVersionRef(after) ? null : after.id;
      return [['activate', environment, before?.id ?? null, computeDigestsAfter(change, prompt) ?? unread]];
    }
  }
}

/** The pull request that an approval is for, and the branch that it is to be merged into. */
export type ApprovalTarget = { readonly number: number; readonly into: string };

/**
 * Returns the text with which the check of a pull request approves the changes of a plan. The text is ASCII. If it would
 * be longer than `most` characters, it contains the digest of the plan but not those of the changes.
 */
export function renderApproval({ digest, prompts }: Plan, target: ApprovalTarget, most: number): string {
  const whole = [`pull #${target.number}`, `base ${encodeBranch(target.into)}`, `plan ${digest}`];
  const changes = new Set(prompts.flatMap(changeDigests));
  const text = renderFence([...whole, ...changes]);
  return text.length <= most ? text : renderFence(whole);
}

function renderFence(lines: readonly string[]): string {
  return `An apply may make the changes that this review has shown: the pull request, its base branch, and the digests of the plan and of each change.\n\n\`\`\`text\n${lines.join('\n')}\n\`\`\`\n`;
}

/** Returns a branch name as one ASCII word. Git allows backticks and Unicode spaces in the names of branches. */
function encodeBranch(name: string): string {
  return encodeURI(name.toWellFormed());
}

/**
 * Returns what the text of a check approves. Null if the text is not an approval, or if it is for another pull request or
 * another base branch. Older versions of promptsync did not write the pull request, so their approvals do not count.
 */
export function parseApproval(text: string, target: ApprovalTarget): ShownPlan | null {
  const lines = /^```text\npull #(\d+)\nbase (\S+)\nplan (sha256:[0-9a-f]{64})\n((?:[\w-]{43}\n)*)```$/m;
  const [, number, base, plan, changes = ''] = lines.exec(text.replaceAll('\r\n', '\n')) ?? [];
  if (plan === undefined || number !== String(target.number) || base !== encodeBranch(target.into)) return null;
  return { plan, changes: new Set(changes.split('\n').slice(0, -1)) };
}

/** The review of a merged pull request. `shown` is null if the pull request has no approval that counts. */
export type PullRequestReview = { readonly pull: number; readonly shown: ShownPlan | null };

/** The history of the branch, and the reviews that may have shown the changes of a plan. */
export type ReviewTrail = {
  /** The first-parent commits of the branch, newest first. */
  readonly commits: readonly string[];
  readonly touchesFile: (file: PromptFile, commit: string) => boolean;
  readonly touchesConfig: (commit: string) => boolean;
  /** Returns the reviews of the pull requests that merged a commit. Rejects if they cannot be read. */
  readonly reviewsOf: (commit: string) => Promise<readonly PullRequestReview[]>;
};

const MAX_REVIEWS_READ = 100;

type Comparison = {
  /** The reason why promptsync refuses a prompt, by prompt id. */
  readonly unreviewed: ReadonlyMap<string, Problem>;
  /** The pull requests whose reviews have shown some of the changes. */
  readonly shownBy: ReadonlySet<number>;
};

/** The search for the reviews that have shown the changes of one prompt. */
type Search = {
  readonly file: PromptFile;
  /** The digests of the changes that no review has shown so far. */
  readonly left: readonly string[];
  /** The reviews read so far, newest first. */
  readonly reviews: readonly PullRequestReview[];
  readonly shownBy: readonly number[];
  /** Whether the search has reached a commit that touched the file and has no approval that counts. */
  readonly isOver: boolean;
  /** The commit at which the search ended, if no pull request merged it. Otherwise null. */
  readonly directPush: string | null;
};

/**
 * Finds the changes that no review has shown. The approval of the newest commit counts for all prompts. Then the search
 * goes through the commits that touched the prompt's file or the configuration. It ends at a commit that touched the
 * file without an approval. Otherwise a direct push could bring back a text that was approved once and reverted since.
 */
export async function compareWithReviews(plan: Plan, trail: ReviewTrail): Promise<Comparison> {
  const { commits, touchesFile, touchesConfig, reviewsOf } = trail;
  const [newest] = commits;
  let searches = plan.prompts.map(makeSearch);
  let asked = 0;
  let failure: string | null = null;
  for (const commit of commits) {
    const isForAll = commit === newest || touchesConfig(commit);
    const concerns = (search: Search): boolean =>
      search.left.length > 0 && !search.isOver && (isForAll || touchesFile(search.file, commit));
    if (!searches.some(concerns)) continue;
    if (asked === MAX_REVIEWS_READ) break;
    asked += 1;
    try {
      const reviews = await reviewsOf(commit);
      searches = searches.map((search) => {
        if (!concerns(search)) return search;
        const found = reviews.reduce((before, review) => addReview(before, review, plan), search);
        return touchesFile(search.file, commit) ? endWithoutApproval(found, commit, reviews) : found;
      });
    } catch (error) {
      failure = getErrorMessage(error);
      break;
    }
  }
  const refused = searches.filter(({ left }) => left.length > 0);
  return {
    unreviewed: new Map(refused.map((search) => [search.file.id, makeNotReviewedProblem(search, failure)])),
    shownBy: new Set(searches.flatMap((search) => search.shownBy)),
  };
}

function makeSearch(prompt: PromptPlan): Search {
  return { file: prompt.file, left: changeDigests(prompt), reviews: [], shownBy: [], isOver: false, directPush: null };
}

function addReview(search: Search, review: PullRequestReview, plan: Plan): Search {
  const left = search.left.filter((digest) => !covers(review, digest, plan));
  const shownBy = left.length < search.left.length ? [...search.shownBy, review.pull] : search.shownBy;
  return { ...search, left, shownBy, reviews: [...search.reviews, review] };
}

function endWithoutApproval(search: Search, commit: string, reviews: readonly PullRequestReview[]): Search {
  if (reviews.some(({ shown }) => shown !== null)) return search;
  return { ...search, isOver: true, directPush: reviews.length === 0 ? commit : null };
}

function covers({ shown }: PullRequestReview, digest: string, plan: Plan): boolean {
  return shown !== null && (shown.plan === plan.digest || shown.changes.has(digest));
}

/** A failure of GitHub concerns only the prompts whose search is not over. */
function makeNotReviewedProblem({ file, reviews, isOver, directPush }: Search, failure: string | null): Problem {
  const asked = new Map(reviews.map(({ pull, shown }) => [pull, shown !== null]));
  const pulls = [...asked].map(([pull, shown]) => ({ pull: `#${pull}`, shown }));
  return makeProblem('guard/not-reviewed', { prompt: file.key, pulls, directPush, failure: isOver ? null : failure });
}
