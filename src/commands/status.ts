import type { World } from '../domain/world.ts';
import { notRun, plannedRun, resultOf, type CommandResult } from './result.ts';
import { walk, type WalkOptions } from './walk.ts';

/** What is active in each environment, and what should be. Never writes. */
export async function status(options: WalkOptions, world: World): Promise<CommandResult> {
  return walk(
    options,
    world,
    async (walked) => resultOf(plannedRun('status', walked), world),
    (reason) => resultOf(notRun('status', reason), world),
  );
}
