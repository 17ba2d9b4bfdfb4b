import { exitCodeOf, notRun, plannedRun, type CommandResult } from './result.ts';
import type { World } from '../domain/world.ts';
import { walk, type WalkOptions } from './walk.ts';

/** What is active in each environment, and what should be. Never writes. */
export async function status(options: WalkOptions, world: World): Promise<CommandResult> {
  const run = await walk(
    options,
    world,
    async (walked) => plannedRun('status', walked),
    (reason) => notRun('status', reason),
  );
  const exitCode = exitCodeOf(run, { tellPending: false, interrupted: world.stop.aborted });
  return { run, texts: new Map(), exitCode };
}
