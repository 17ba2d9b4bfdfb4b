import type { PromptFile } from '../domain/prompt-file.ts';
import type { World } from '../domain/world.ts';
import { textsOf } from '../planning/texts.ts';
import type { Run } from '../report/make-report.ts';
import { readHistories } from './history.ts';
import { type CommandResult, resultOf } from './result.ts';
import { plannedRun, walk, type Walked, type WalkOptions } from './walk.ts';

/** What is active in each environment, and what should be. Never writes. */
export async function status(options: WalkOptions, world: World): Promise<CommandResult> {
  return walk('status', options, world, async (walked) => {
    const texts = textsOf(walked.plan.prompts, walked, walked.history);
    return resultOf({ ...plannedRun('status', walked), texts, waiting: await readWaiting(walked) }, world);
  });
}

/** Of the prompts that wait for promotion alone: git has to be asked for it. */
async function readWaiting(walked: Walked): Promise<NonNullable<Run['waiting']>> {
  const { files, observation, promotedFrom } = walked;
  const isBehind = ({ id }: PromptFile) => {
    const numberIn = (environment: string) => Number(observation.observed.get(id)?.active.get(environment)?.number);
    return [...promotedFrom].some(([to, from]) => numberIn(to) < numberIn(from));
  };
  return { ...(await readHistories({ ...walked, files: files.filter(isBehind) })), promotedFrom };
}
