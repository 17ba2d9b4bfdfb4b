import type { Config } from '../../config/config.ts';
import type { Observed, ObserveRequest } from '../../domain/observed.ts';
import type { Plan, PromptPlan } from '../../domain/plan.ts';
import type { PromptFile } from '../../domain/prompt-file.ts';
import type { PromptService } from '../../domain/prompt-service.ts';
import { observe } from '../../observing/observe.ts';
import { joinPlans, planPrompt, unobserved, type PlanRules } from '../../planning/make-plan.ts';
import { isSettled, withoutTexts } from '../../planning/settled.ts';
import type { World } from '../world.ts';

export type Planning = {
  readonly config: Config;
  readonly files: readonly PromptFile[];
  readonly requests: readonly ObserveRequest[];
  readonly rules: PlanRules;
  readonly keepsAll: boolean;
};

/** Observes the prompts and plans each as soon as it was read, so that little is held of those that stay as they are. */
export async function observeAndPlan(
  { config, files, requests, rules, keepsAll }: Planning,
  service: PromptService,
  { stop, onProgress }: World,
): Promise<Plan> {
  const byId = new Map(files.map((file) => [file.id, file]));
  const plans = new Map<string, PromptPlan>();
  const plan = (observed: Observed): Observed => {
    const file = byId.get(observed.prompt.id);
    if (file === undefined) return observed;
    const whole = planPrompt(file, observed, rules);
    const kept = keepsAll || !isSettled(whole) ? whole : withoutTexts(whole);
    plans.set(file.id, kept);
    return kept.observed ?? observed;
  };
  const { trackingEnvironment, concurrency } = config;
  const { failed } = await observe(service, requests, {
    ...{ trackingEnvironment, concurrency, stop, keep: plan },
    onObserved: (done, all) => onProgress({ what: 'Observing', done, all }),
  });
  return joinPlans(files.map((file) => plans.get(file.id) ?? unobserved(file, failed)));
}
