import { shortDigest } from '../domain/digest.ts';
import { digestPlan, type Plan } from '../domain/plan.ts';
import { makeProblem, type Problem } from '../problem.ts';

/** Each changing prompt's part in a plan, shortened: what is to be done for it, from what to what. */
export function partsOf({ prompts }: Pick<Plan, 'prompts'>): readonly string[] {
  return prompts.filter(({ changes }) => changes.length > 0).map((prompt) => shortDigest(digestPlan([prompt])));
}

/**
 * The second line of a comment whose plan can be approved, which no reader sees: the plan's digest, and that of each
 * prompt's part.
 */
export function planMark(digest: string, parts: readonly string[]): string {
  return `<!-- plan ${[digest, ...parts].join(' ')} -->`;
}

/** The parts that a comment shows; null where it shows no plan that can be approved. */
export function shownParts(comment: string): readonly string[] | null {
  const [, line = ''] = comment.split(/\r?\n/);
  const [, parts] = /^<!-- plan sha256:[0-9a-f]{64}((?: [0-9a-f]{16})*) -->$/.exec(line) ?? [];
  return parts?.split(' ').slice(1) ?? null;
}

/** How a merged commit was reviewed. */
export type Review = {
  /** The pull request that brought it; null where none did. */
  readonly pull: number | null;
  /** The text of promptsync's comment there; empty where there is none. */
  readonly comment: string;
};

/** The parts of a plan that none of these reviews has shown. */
export function uncovered(parts: readonly string[], reviews: readonly Review[]): readonly string[] {
  const shown = new Set(reviews.flatMap(({ comment }) => shownParts(comment) ?? []));
  return parts.filter((part) => !shown.has(part));
}

/** Why a plan with parts that no review covers is refused; the newest review comes first. */
export function notReviewed(parts: readonly string[], reviews: readonly Review[]): Problem {
  const count = uncovered(parts, reviews).length;
  const [newest] = reviews;
  const lack = newest === undefined ? 'there is no commit' : lackOf(newest);
  const reason = `${lack}; of ${count} changing prompts no comment has shown what is to be done`;
  return makeProblem('guard/not-reviewed', { reason });
}

function lackOf({ pull, comment }: Review): string {
  if (pull === null) return 'no merged pull request brought it';
  const shown = shownParts(comment) !== null;
  return shown ? `#${pull} has shown another plan` : `#${pull} has no comment of promptsync with a whole plan`;
}
