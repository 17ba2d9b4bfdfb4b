import { exitCodeOf, type CommandResult } from './result.ts';
import { withPlan, type PrepareOptions } from './prepare-plan.ts';
import type { Run } from '../rendering/make-report.ts';
import type { World } from './world.ts';

/** What is active in each environment, and what should be. Never writes. */
export async function status(options: PrepareOptions, world: World): Promise<CommandResult> {
  const base = { mode: 'status' as const, outcomes: null };
  const run = await withPlan<Run>(
    options,
    world,
    async ({ service, repository, files, plan, problems }) => ({
      ...base,
      service: service.name,
      commit: repository?.head ?? null,
      files,
      plan,
      problems,
    }),
    (reason) => ({ ...base, service: null, commit: null, plan: null, ...reason }),
  );
  const exitCode = exitCodeOf(run, { tellPending: false, interrupted: world.stop.aborted });
  return { run, texts: new Map(), exitCode };
}
