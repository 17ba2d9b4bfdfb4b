import type { Plan } from '../../domain/plan.ts';
import type { Texts } from '../../domain/texts.ts';
import { needlessLeave, unmeantBreaking } from '../../planning/variables.ts';
import type { Problem } from '../../problem.ts';
import { gatherTexts } from './gather-texts.ts';
import type { Prepared } from './prepare-plan.ts';

/** What `variables: strict` says of a plan. */
export type BreakingIn = {
  /** By prompt id: why it is refused. */
  readonly breaking: ReadonlyMap<string, readonly Problem[]>;
  /** Warnings of files that allow what does not happen. */
  readonly leaves: readonly Problem[];
  /** Those that were compared; null where none were. */
  readonly texts: Texts | null;
};

type Judged = Pick<Prepared, 'config' | 'repository' | 'rules' | 'service'> & { readonly plan: Pick<Plan, 'prompts'> };

/** Compares the variables of what environments serve with those of what they would serve. */
export async function breakingIn({ config, plan, service, ...sources }: Judged): Promise<BreakingIn> {
  if (!config.strictVariables) return { breaking: new Map(), leaves: [], texts: null };
  const texts = await gatherTexts(plan, sources);
  const observed = plan.prompts.filter((prompt) => prompt.observed !== null);
  const textsOf = (id: string) => texts.get(id) ?? [];
  // Where the service was not asked, that a text was never read says nothing of it.
  const judged = (id: string) => textsOf(id).filter(({ after }) => after !== 'unknown' || service.name !== null);
  return {
    breaking: new Map(observed.map((one) => [one.file.id, unmeantBreaking(one, judged(one.file.id))])),
    texts,
    leaves: observed.flatMap((one) => needlessLeave(one, textsOf(one.file.id))),
  };
}
