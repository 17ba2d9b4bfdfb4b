import type { Config } from '../config/config.ts';
import { readGitHistory } from '../desired/read-history.ts';
import type { VersionHistory } from '../domain/history.ts';
import type { World } from '../domain/world.ts';
import { makeHistory } from '../planning/make-history.ts';
import { makeProblem } from '../problem.ts';
import type { Run } from '../report/make-report.ts';
import { unknownEnvironment } from './pin-edit.ts';
import { type CommandResult, resultOf } from './result.ts';
import { plannedRun, walk, type Walked, type WalkOptions } from './walk.ts';

type HistoryOptions = WalkOptions & {
  /** The environment whose version's origin is asked for; undefined: all versions are listed. */
  readonly environment?: string | undefined;
};

/**
 * The versions of prompts: who made each, where it is active, when it was pinned. It guards nothing: pending changes
 * and pins that cannot be followed are no reason to fail. Never writes.
 */
export async function history({ environment, ...rest }: HistoryOptions, world: World): Promise<CommandResult> {
  const needs = (config: Config) => ({
    problems: environment === undefined ? [] : unknownEnvironment('--environment', environment, config),
    environments: environmentsToRead(environment, config),
    whole: 'versions' as const,
  });
  return walk('history', { ...rest, needs }, world, async (walked) => {
    return resultOf(await historyRun(walked, environment ?? null), world);
  });
}

function environmentsToRead(name: string | undefined, config: Config): readonly string[] {
  const configured = (config.environments ?? []).map((environment) => environment.name);
  return [...configured, ...(name === undefined ? [] : [name])];
}

async function historyRun(walked: Walked, environment: string | null): Promise<Run> {
  const { versions, git } = await readHistories(walked);
  const shallow = git.shallow ? [makeProblem('git/shallow', { of: 'history' })] : [];
  const problems = [...walked.problems, ...shallow];
  return { ...plannedRun('history', walked), histories: { versions, environment }, problems };
}

/** The versions of the prompts, by id. */
export async function readHistories({ files, repository, observation, environmentOrder }: Walked) {
  const git = await readGitHistory(files, observation, repository);
  const versions = files.flatMap(({ id }): [string, readonly VersionHistory[]][] => {
    const observed = observation.observed.get(id);
    if (observed === undefined) return [];
    const history = git.byPrompt.get(id) ?? { commits: [], pins: new Map(), whole: true };
    return [[id, makeHistory({ observed, history, commits: git.commits, order: environmentOrder ?? [] })]];
  });
  return { versions: new Map(versions), git };
}
