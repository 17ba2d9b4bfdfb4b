import type { World } from '../domain/world.ts';
import { textsOf } from '../planning/texts.ts';
import { type CommandResult, resultOf } from './result.ts';
import { plannedRun, walk, type WalkOptions } from './walk.ts';

/** What is active in each environment, and what should be. Never writes. */
export async function status(options: WalkOptions, world: World): Promise<CommandResult> {
  return walk('status', options, world, async (walked) => {
    const texts = textsOf(walked.plan.prompts, walked, walked.history);
    return resultOf({ ...plannedRun('status', walked), texts }, world);
  });
}
