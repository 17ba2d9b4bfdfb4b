import { problemOf, ProblemError, type Problem } from '../../problem.ts';
import { readBase, type BaseFiles } from '../past/read-base.ts';
import { openRepositoryOf } from '../workspace.ts';
import type { World } from '../world.ts';
import { reasonNotToAsk } from './may-ask.ts';
import type { Prepared, PrepareOptions } from './prepare-plan.ts';

/** What is read before the service is asked. */
export type Sources = Pick<Prepared, 'config' | 'files' | 'repository' | 'narrowed' | 'problems'> & {
  readonly base: BaseFiles | null;
  readonly asked: boolean;
  readonly alsoRead: readonly string[];
  /** Whether all of what is read of the service is kept. */
  readonly keepsAll: boolean;
};

/** Reads what git knows, and finds out whether the service may be asked. A problem says why there is nothing to plan from. */
export async function readSources(
  given: Pick<Sources, 'config' | 'files' | 'problems' | 'narrowed' | 'alsoRead'>,
  options: PrepareOptions,
  world: World,
): Promise<Sources | Problem> {
  const { config, files, problems, narrowed } = given;
  const { base: ref, only, keepsAll = false } = options;
  const left = narrowed?.left ?? [];
  try {
    const repository = narrowed?.repository ?? (await openRepositoryOf(config));
    const base = ref === undefined ? null : await readBase({ ref, config, files, only, left }, repository);
    const obstacle = await reasonNotToAsk(options, config, base, repository, world);
    const told = [...problems, ...(base?.problems ?? []), ...(obstacle === null ? [] : [obstacle])];
    return { ...given, repository, problems: told, base, asked: obstacle === null, keepsAll };
  } catch (error) {
    if (error instanceof ProblemError) return problemOf(error);
    throw error;
  }
}
