import { digestOf, shortDigest } from '../domain/digest.ts';
import type { Plan } from '../domain/plan.ts';
import { digestPlan } from '../planning/digest-plan.ts';

/** Each prompt's part in a plan, shortened: what is to be done for it, from what to what. */
export function partsOf({ prompts }: Pick<Plan, 'prompts'>): readonly string[] {
  return prompts.filter(({ changes }) => changes.length > 0).map((prompt) => shortDigest(digestPlan([prompt])));
}

/**
 * The second line of a comment whose plan can be approved, which no reader sees: the plan's digest, that of each
 * prompt's part, and one over them all.
 */
export function planMark(digest: string, parts: readonly string[]): string {
  const shown = [digest, ...parts].join(' ');
  return `<!-- plan ${shown} ${checkOf(shown)} -->`;
}

/** The parts that a comment shows; null where it shows no plan that can be approved. */
export function shownParts(body: string): readonly string[] | null {
  const [, line = ''] = body.split(/\r?\n/);
  const [, shown, check] = /^<!-- plan (sha256:[0-9a-f]{64}(?: [0-9a-f]{16})*) ([0-9a-f]{16}) -->$/.exec(line) ?? [];
  if (shown === undefined || check !== checkOf(shown)) return null;
  return shown.split(' ').slice(1);
}

function checkOf(shown: string): string {
  return shortDigest(digestOf(shown));
}
