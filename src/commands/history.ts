import type { Config } from '../workspace/config.ts';
import type { PromptRepository } from '../history/read-at-commit.ts';
import { EMPTY_LINE } from '../history/line-of-states.ts';
import { type GitHistory, readGitHistory } from '../history/read-lines-with-commits.ts';
import { addMessageSources } from '../history/read-message-sources.ts';
import type { VersionHistory } from '../domain/version-history.ts';
import type { Observation, ObservedPrompt } from '../domain/observed-prompt.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import type { System } from '../domain/system.ts';
import { makeHistory } from '../planning/make-history.ts';
import { makeProblem } from '../problem.ts';
import { checkEnvironmentExists } from '../editing/pin-edit.ts';
import type { CommandResult, CommandRun } from '../run/command-result.ts';
import { makeCommandResult } from '../run/exit-code.ts';
import { makePlannedRun, runWithPlan, type PlannedWorkspace, type PlanningOptions } from '../run/run-with-plan.ts';

type HistoryOptions = PlanningOptions & {
  /** The environment whose active version `history` explains. If undefined, it lists all versions. */
  readonly environment?: string | undefined;
};

/** Pending changes and pins that cannot be resolved do not make the command fail. Never writes. */
export async function showHistory({ environment, ...rest }: HistoryOptions, system: System): Promise<CommandResult> {
  const findNeeds = (config: Config) => ({
    problems: environment === undefined ? [] : checkEnvironmentExists('--environment', environment, config),
    environments: chooseEnvironmentsToRead(environment, config),
    readDepth: 'versions' as const,
  });
  return runWithPlan('history', { ...rest, findNeeds }, system, async (workspace) => {
    return makeCommandResult(await makeHistoryRun(workspace, environment ?? null), system);
  });
}

function chooseEnvironmentsToRead(name: string | undefined, config: Config): readonly string[] {
  const configured = (config.environments ?? []).map((environment) => environment.name);
  return [...configured, ...(name === undefined ? [] : [name])];
}

async function makeHistoryRun(workspace: PlannedWorkspace, environment: string | null): Promise<CommandRun> {
  const { versions, git } = await readVersionHistories(workspace);
  const shallow = git.isShallow ? [makeProblem('git/shallow', { of: 'history' })] : [];
  const problems = [...workspace.problems, ...shallow];
  return { ...makePlannedRun('history', workspace), histories: { versions, environment }, problems };
}

type PromptHistories = {
  /** The versions of each prompt, by prompt id. Omits prompts that promptsync could not observe. */
  readonly versions: ReadonlyMap<string, readonly VersionHistory[]>;
  readonly git: GitHistory;
};

/** Reads the git history of the prompts and combines it with the versions that promptsync observed in the service. */
export async function readVersionHistories({
  files,
  repository,
  observation,
  environmentOrder,
}: PlannedWorkspace): Promise<PromptHistories> {
  const observedPrompts = await addSourcesFromMessages(files, observation, repository);
  const git = await readGitHistory(files, { observed: observedPrompts }, repository);
  const versions = files.flatMap(({ id }): [string, readonly VersionHistory[]][] => {
    const observed = observedPrompts.get(id);
    if (observed === undefined) return [];
    const line = git.lines.get(id) ?? EMPTY_LINE;
    return [[id, makeHistory({ observed, line, commits: git.commits, order: environmentOrder ?? [] })]];
  });
  return { versions: new Map(versions), git };
}

/** Returns the observed prompts, and adds to each version the git source that its message names. */
async function addSourcesFromMessages(
  files: readonly PromptFile[],
  { observed }: Observation,
  repository: PromptRepository | null,
): Promise<Observation['observed']> {
  if (repository === null) return observed;
  const added = files.map(async (file): Promise<readonly [string, ObservedPrompt][]> => {
    const prompt = observed.get(file.id);
    return prompt === undefined ? [] : [[file.id, await addMessageSources(file, prompt, repository)]];
  });
  return new Map((await Promise.all(added)).flat());
}
