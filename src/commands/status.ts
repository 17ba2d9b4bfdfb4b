import { exitCodeOf, notRun, plannedRun, type CommandResult } from './result.ts';
import type { Run } from '../report/make-report.ts';
import { gatherTexts } from './preparing/gather-texts.ts';
import { withPlan, type PrepareOptions } from './preparing/prepare-plan.ts';
import type { World } from './world.ts';

/** What is active in each environment, and what should be. Never writes. */
export async function status(options: PrepareOptions, world: World): Promise<CommandResult> {
  const run = await withPlan(
    options,
    world,
    async (prepared): Promise<Run> => ({
      ...plannedRun('status', prepared),
      texts: await gatherTexts(prepared.plan, prepared),
    }),
    (reason) => notRun('status', reason),
  );
  const exitCode = exitCodeOf(run, { tellPending: false, interrupted: world.stop.aborted });
  return { run, exitCode };
}
