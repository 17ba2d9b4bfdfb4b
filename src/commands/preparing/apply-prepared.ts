import { applyPlan } from '../../applying/apply-plan.ts';
import type { Observed } from '../../domain/observed.ts';
import type { PromptOutcome } from '../../domain/outcome.ts';
import type { Plan, PromptPlan } from '../../domain/plan.ts';
import { observePrompt } from '../../observing/observe-prompt.ts';
import { planPrompt } from '../../planning/make-plan.ts';
import { refuseAfresh, type Guards } from '../../planning/refuse.ts';
import { pathsToCreate, promptWithProvenance } from '../../planning/with-provenance.ts';
import { makeProblem, ProblemError } from '../../problem.ts';
import { contentInGit } from '../past/content-in-git.ts';
import type { Prepared } from './prepare-plan.ts';
import type { World } from '../world.ts';

/** Writes what was prepared. `plan` is the prepared one with what the guards refuse. Never throws. */
export async function applyPrepared(
  plan: Plan,
  guards: Guards,
  prepared: Prepared,
  world: World,
): Promise<readonly PromptOutcome[]> {
  const { config, service, repository, requests } = prepared;
  const { trackingEnvironment, concurrency } = config;
  return applyPlan(plan, {
    service: service.service,
    trackingEnvironment,
    concurrency,
    newOperation: world.newId,
    observe: async (stoppable, { file: { id } }) => {
      const request = requests.get(id);
      if (request === undefined)
        throw new ProblemError(makeProblem('internal/unexpected', { reason: 'never observed' }));
      return observePrompt(stoppable, request, trackingEnvironment);
    },
    replan: (planned, observed) => replan(planned, observed, guards, prepared),
    digestAt: async (commit, path) => (await contentInGit(repository, commit, path))?.digest ?? null,
    sleep: world.sleep,
    stop: world.stop,
    onApplied: (_, done) => world.onProgress({ what: 'Applying', done, all: plan.prompts.length }),
  });
}

/** With the same rules and guards; what git knows is asked for a file that was not to be made a version of at first. */
async function replan(
  planned: PromptPlan,
  observed: Observed,
  guards: Guards,
  prepared: Prepared,
): Promise<PromptPlan> {
  const { rules, provenance, repository, uncommitted } = prepared;
  const fresh = planPrompt(planned.file, observed, rules);
  const unasked = pathsToCreate({ prompts: [fresh] }).filter((path) => !provenance.has(path) && !uncommitted.has(path));
  const asked = unasked.length === 0 ? provenance : await repository?.lastCommits(unasked);
  return refuseAfresh(promptWithProvenance(fresh, asked ?? provenance), planned, guards);
}
