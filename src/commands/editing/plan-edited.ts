import type { ServedTexts } from '../../domain/texts.ts';
import type { PromptPlan } from '../../domain/plan.ts';
import type { EnvironmentPin, PromptFile } from '../../domain/prompt-file.ts';
import { planPrompt } from '../../planning/make-plan.ts';
import type { Problem } from '../../problem.ts';
import { gatherTexts } from '../preparing/gather-texts.ts';
import type { Prepared } from '../preparing/prepare-plan.ts';
import { withFormerPins } from '../past/promotion-rules.ts';

/** What a sync would do in one environment once the file is edited, and why it would refuse. */
export type EnvironmentPlan = { readonly problems: readonly Problem[]; readonly serves: ServedTexts | null };

/** Plans for a prompt's file as it would be, with what was observed already. */
export async function planEdited(
  edited: PromptFile,
  environment: string,
  { observed }: PromptPlan,
  prepared: Prepared,
): Promise<EnvironmentPlan> {
  if (observed === null) return { problems: [], serves: null };
  const { rules, repository } = prepared;
  const first = planPrompt(edited, observed, rules);
  const told =
    repository === null ? rules : await withFormerPins({ prompts: [first] }, rules, { repository, base: null });
  const planned = told === rules ? first : planPrompt(edited, observed, told);
  const pin = edited.pins.find((one) => one.environment === environment);
  const texts = (await gatherTexts({ prompts: [planned] }, prepared)).get(edited.id) ?? [];
  return {
    problems: planned.problems.filter((problem) => pin !== undefined && isAt(problem, pin)),
    serves: texts.find((text) => text.environment === environment) ?? null,
  };
}

function isAt(problem: Problem, { line, column }: EnvironmentPin): boolean {
  return problem.line === line && problem.column === column;
}
