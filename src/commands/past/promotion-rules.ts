import type { Plan, PromptPlan } from '../../domain/plan.ts';
import type { Repository } from '../../git/repository.ts';
import type { PlanRules } from '../../planning/make-plan.ts';
import type { FormerPins } from '../../planning/former-pins.ts';
import { before, readFormerPins } from './former-pins.ts';
import type { BaseFiles } from './read-base.ts';

/** What git can be asked about earlier commits. */
type Earlier = { readonly repository: Repository; readonly base: Pick<BaseFiles, 'commit' | 'files'> | null };

/**
 * The rules with the earlier pins of those prompts that would be refused without: a rollback is no promotion. What a
 * pull request adds itself is not earlier, so where there is a base, the history is that of the base.
 */
export async function withFormerPins(
  plan: Pick<Plan, 'prompts'>,
  rules: PlanRules,
  earlier: Earlier,
): Promise<PlanRules> {
  const refused = plan.prompts.filter(isRefused).filter(({ file }) => !rules.formerPins.has(file.id));
  if (refused.length === 0) return rules;
  const read = await Promise.all(
    refused.map(async (prompt): Promise<[string, FormerPins]> => [prompt.file.id, await formerOf(prompt, earlier)]),
  );
  return { ...rules, formerPins: new Map([...rules.formerPins, ...read]) };
}

function isRefused({ problems }: PromptPlan): boolean {
  return problems.some(({ code }) => code === 'guard/promotion-order');
}

async function formerOf({ file }: PromptPlan, { repository, base }: Earlier): Promise<FormerPins> {
  const then = base === null ? file : base.files.get(file.id);
  const commit = base?.commit ?? repository.head;
  if (then === undefined || commit === null) return new Map();
  const former = await readFormerPins(then, commit, repository);
  return base === null ? before(former, file, commit) : former;
}
