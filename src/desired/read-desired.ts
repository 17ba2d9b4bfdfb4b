import { forbidsLatest, promotedFrom, type Config } from '../config/config.ts';
import type { Desired } from '../domain/desired.ts';
import type { Repository } from '../git/repository.ts';
import { problemOf, ProblemError, type Problem } from '../problem.ts';
import { readContentsAtRefs } from './at-commit.ts';
import { readBase, type BaseFiles } from './base.ts';
import type { Selectors } from './select-files.ts';
import { openRepositoryOf, type Narrowed, type Workspace } from './workspace.ts';

/** All that files, configuration and git say before the service is asked, and where it comes from. */
export type ReadDesired = Desired & {
  readonly config: Config;
  readonly repository: Repository | null;
  readonly base: BaseFiles | null;
  /** Paths of the files that differ from HEAD; empty outside of git. */
  readonly uncommitted: ReadonlySet<string>;
  readonly narrowed: Narrowed | null;
  /** Warnings. */
  readonly problems: readonly Problem[];
};

export type DesiredOptions = Pick<Selectors, 'only'> & {
  /** The ref that drift is compared with. */
  readonly base?: string | undefined;
};

/** Reads what git knows of a workspace without errors. A problem says why there is nothing to plan from. */
export async function readDesired(
  workspace: Workspace & { readonly config: Config },
  { base: ref, only }: DesiredOptions,
): Promise<ReadDesired | Problem> {
  const { config, files, narrowed } = workspace;
  try {
    const repository = await openRepositoryOf(config);
    const left = narrowed?.left ?? [];
    const base = ref === undefined ? null : await readBase({ ref, config, files, only, left }, repository);
    const now = new Set(files);
    const then = [...(base?.files.values() ?? [])].filter((file) => !now.has(file));
    return {
      ...{ config, files, repository, base, narrowed },
      contentsAtRefs: await readContentsAtRefs([...files, ...then], repository),
      environmentOrder: config.environments?.map(({ name }) => name) ?? null,
      latestForbidden: forbidsLatest(config),
      promotedFrom: promotedFrom(config),
      uncommitted: await uncommittedOf(workspace, repository),
      problems: [...workspace.problems, ...(base?.problems ?? [])],
    };
  } catch (error) {
    if (error instanceof ProblemError) return problemOf(error);
    throw error;
  }
}

async function uncommittedOf({ files }: Workspace, repository: Repository | null): Promise<ReadonlySet<string>> {
  if (repository === null || files.length === 0) return new Set();
  return repository.uncommitted(files.map(({ path }) => path));
}
