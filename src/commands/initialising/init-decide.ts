import { join } from 'node:path';
import { CONFIG_NAME } from '../../config/config.ts';
import { parseConfig } from '../../config/parse.ts';
import { makeProblem, type Problem } from '../../problem.ts';
import { promptMatcher } from '../../files/find.ts';
import type { InitFile } from './init-files.ts';
import { decideOn, type Decided, type InitTarget } from './init-write.ts';

export type AllDecided = {
  readonly decided: readonly Decided[];
  /** What stands in the way: then nothing is written. */
  readonly obstacles: readonly Problem[];
  /** Files that are left out, and were asked for. */
  readonly warnings: readonly Problem[];
};

/** Decides on everything before anything is written. What a configuration that stays has no use for is left out. */
export async function decideAll(
  config: InitFile,
  others: readonly InitFile[],
  target: InitTarget,
): Promise<AllDecided> {
  const first = await decideOn(config, target);
  const isOfUse = 'code' in first ? () => true : useBeside(first, target);
  const all = [first];
  for (const file of others.filter(isOfUse)) all.push(await decideOn(file, target));
  const left = others.filter((file) => !isOfUse(file) && file.kind === 'whole');
  return {
    decided: all.filter((one) => 'file' in one),
    obstacles: all.filter((one) => 'code' in one),
    warnings: left.map(({ path }) => makeProblem('init/not-selected', { path })),
  };
}

/** A configuration of somebody's own may have its prompts elsewhere; one that cannot be read selects nothing. */
function useBeside({ file, status, before }: Decided, { workspace, root }: InitTarget): (file: InitFile) => boolean {
  if (status !== 'kept' || before === file.content) return () => true;
  const around = { file: join(workspace, CONFIG_NAME), shownPath: CONFIG_NAME, root, environment: {} };
  const { config } = parseConfig(before, around);
  const selects = config === null ? () => false : promptMatcher(config);
  return ({ prompts }) => prompts === undefined || prompts.some(selects);
}
