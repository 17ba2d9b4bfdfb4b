import type { PromptFile } from '../domain/prompt-file.ts';
import type { World } from '../domain/world.ts';
import { readPrompts } from '../files/read.ts';
import { textsOf } from '../planning/texts.ts';
import type { Run } from '../report/make-report.ts';
import { readHistories } from './history.ts';
import { listPrompts } from './open-service.ts';
import { type CommandResult, resultOf } from './result.ts';
import { plannedRun, walk, type Walked, type WalkOptions } from './walk.ts';

type StatusOptions = WalkOptions & {
  /** Whether to look for prompts that no file is of: for all, or for those whose names match a pattern. */
  readonly orphans?: string | true | undefined;
};

/** What is active in each environment, and what should be. Never writes. */
export async function status({ orphans, ...options }: StatusOptions, world: World): Promise<CommandResult> {
  return walk('status', options, world, async (walked) => {
    const texts = textsOf(walked.plan.prompts, walked, walked.history);
    const run = { ...plannedRun('status', walked), texts, waiting: await readWaiting(walked) };
    if (orphans === undefined) return resultOf(run, world);
    const found = await findOrphans(walked, orphans === true ? [] : [orphans]);
    return resultOf({ ...run, ...found, problems: [...run.problems, ...found.problems] }, world);
  });
}

/** What the service has and no file of the workspace is of, whichever were selected. */
async function findOrphans({ provider, config }: Walked, patterns: readonly string[]) {
  const { files: listed, problems } = await listPrompts(provider, patterns);
  const { files } = await readPrompts(config);
  const known = new Set(files.map(({ id }) => id));
  if (problems.length > 0) return { problems };
  const orphans = listed.filter(({ id }) => !known.has(id));
  return {
    orphans: orphans.filter(({ problem }) => problem === null),
    problems: orphans.flatMap(({ problem }) => problem ?? []),
  };
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
