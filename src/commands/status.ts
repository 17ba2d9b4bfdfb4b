import { exitCodeOf, notRun, plannedRun, type CommandResult } from './result.ts';
import type { World } from '../domain/world.ts';
import { textsOf } from '../planning/texts.ts';
import type { Run } from '../report/make-report.ts';
import { walk, type WalkOptions } from './walk.ts';

/** What is active in each environment, and what should be. Never writes. */
export async function status(options: WalkOptions, world: World): Promise<CommandResult> {
  const run = await walk(
    options,
    world,
    async (walked): Promise<Run> => ({
      ...plannedRun('status', walked),
      texts: textsOf(walked.plan.prompts, walked, walked.history),
    }),
    (reason) => notRun('status', reason),
  );
  const exitCode = exitCodeOf(run, { tellPending: false, interrupted: world.stop.aborted });
  return { run, exitCode };
}
