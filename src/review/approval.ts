import { digestOf } from '../domain/digest.ts';
import { canonicalJson, type JsonValue } from '../domain/json.ts';
import { type Change, digestsAfter, isNew, isVisible, type Plan, type PromptPlan } from '../domain/plan.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import { makeProblem, messageOf, type Problem } from '../problem.ts';

/** What a review has shown to those who merged it: by its digest each change, and the plan as a whole. */
export type Shown = { readonly plan: string; readonly changes: ReadonlySet<string> };

/**
 * One digest (SHA-256, base64url) for each change of a prompt that anybody sees: the prompt, the environment or field,
 * what stands there, and the text and metadata that go there. A half-applied plan goes on under the same review, because
 * an activation has the same digest before and after its version was created. A baseline is seen by nobody.
 */
export function changeDigests(prompt: PromptPlan): readonly string[] {
  const steps = prompt.changes.filter(isVisible).flatMap((change) => stepsOf(change, prompt));
  return steps.map((step) => {
    const [, hex = ''] = digestOf(canonicalJson([prompt.file.id, ...step])).split(':');
    return Buffer.from(hex, 'hex').toString('base64url');
  });
}

function stepsOf(change: Change, prompt: PromptPlan): readonly (readonly JsonValue[])[] {
  switch (change.kind) {
    case 'create-version':
      return [['create', digestsAfter(change, prompt)]];
    case 'update-prompt':
      return Object.entries(change.fields).map(([field, { before, after }]) => ['field', field, before, after]);
    case 'set-active': {
      const { environment, before, after } = change;
      // Of a version that nobody has read, the id alone is known.
      const unread = isNew(after) ? null : after.id;
      return [['activate', environment, before?.id ?? null, digestsAfter(change, prompt) ?? unread]];
    }
  }
}

/** What a check holds, besides its report, so that the plan can be applied: at most so many characters, all of them ASCII. */
export function renderApproval({ digest, prompts }: Plan, base: string | null, most: number): string {
  const whole = [`base ${base ?? 'none'}`, `plan ${digest}`];
  const changes = new Set(prompts.flatMap(changeDigests));
  const text = inFence([...whole, ...changes]);
  return text.length <= most ? text : inFence(whole);
}

function inFence(lines: readonly string[]): string {
  return `An apply may do what this review has shown. Its base, its plan and each change by their digests:\n\n\`\`\`text\n${lines.join('\n')}\n\`\`\`\n`;
}

/** Null where nothing can be applied by it. */
export function parseApproval(text: string): Shown | null {
  const lines = /^```text\nbase \S+\nplan (sha256:[0-9a-f]{64})\n((?:[\w-]{43}\n)*)```$/m;
  const [, plan, changes = ''] = lines.exec(text.replaceAll('\r\n', '\n')) ?? [];
  return plan === undefined ? null : { plan, changes: new Set(changes.split('\n').slice(0, -1)) };
}

/** What the review of a merged pull request has shown; null where nothing can be applied by it. */
export type Review = { readonly pull: number; readonly shown: Shown | null };

/** Where the changes of a plan may have been shown. */
export type Trail = {
  /** What the branch has come through, newest first. */
  readonly commits: readonly string[];
  readonly concerns: (file: PromptFile, commit: string) => boolean;
  /** Null where no pull request brought the commit. Rejects where it cannot be told. */
  readonly reviewOf: (commit: string) => Promise<Review | null>;
};

const MOST_ASKED = 100;

type Compared = {
  /** By prompt id, why it may not be applied. */
  readonly unreviewed: ReadonlyMap<string, Problem>;
  /** The pull requests whose reviews have shown some of the changes. */
  readonly shownBy: ReadonlySet<number>;
};

/** Each change of a prompt must have been shown in the review of a commit that is about it. */
export async function compareWithReviews(plan: Plan, { commits, concerns, reviewOf }: Trail): Promise<Compared> {
  const all = plan.prompts.map((prompt) => ({
    file: prompt.file,
    left: changeDigests(prompt),
    reviews: [] as Review[],
  }));
  const shownBy = new Set<number>();
  let asked = 0;
  let failure: string | null = null;
  for (const commit of commits) {
    const about = all.filter(({ file, left }) => left.length > 0 && concerns(file, commit));
    if (about.length === 0) continue;
    if (asked === MOST_ASKED) break;
    asked += 1;
    try {
      const review = await reviewOf(commit);
      if (review === null) continue;
      for (const one of about) {
        one.reviews.push(review);
        const left = one.left.filter((digest) => !covers(review, digest, plan));
        if (left.length < one.left.length) shownBy.add(review.pull);
        one.left = left;
      }
    } catch (error) {
      failure = messageOf(error);
      break;
    }
  }
  const refused = all.filter(({ left }) => left.length > 0);
  return { unreviewed: new Map(refused.map(({ file, reviews }) => [file.id, notReviewed(reviews, failure)])), shownBy };
}

function covers({ shown }: Review, digest: string, plan: Plan): boolean {
  return shown !== null && (shown.plan === plan.digest || shown.changes.has(digest));
}

/** Without a place: the prompt has one, and what is said of all is said once. */
function notReviewed(reviews: readonly Review[], failure: string | null): Problem {
  const asked = new Map(reviews.map(({ pull, shown }) => [pull, shown !== null]));
  const pulls = [...asked].map(([pull, shown]) => ({ pull: `#${pull}`, shown }));
  return makeProblem('guard/not-reviewed', { pulls, failure });
}
