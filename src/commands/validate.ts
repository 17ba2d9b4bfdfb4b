import { listEnvironmentsWithoutLatest, type Config } from '../workspace/config.ts';
import {
  openWorkspaceRepository,
  openWorkspace,
  type Workspace,
  type WorkspaceOptions,
} from '../desired-state/open-workspace.ts';
import { collectAcceptedWarnings } from '../domain/accepted-warnings.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import type { System } from '../domain/system.ts';
import { checkFixedPins } from '../planning/check-promotions.ts';
import { sortByPlace, isError, type Problem } from '../problem.ts';
import { chooseExitCode } from '../run/exit-code.ts';
import { makeRunWithoutPlan, type CommandResult } from '../run/command-result.ts';

/** Checks everything that promptsync can check without the service. Sends no request and needs no API key. */
export async function validatePrompts(options: WorkspaceOptions, system: System): Promise<CommandResult> {
  const workspace = await openWorkspace(options, system);
  const forbidden = await findForbiddenPins(workspace);
  const branchProblems = await checkBranch(workspace.config);
  const run = makeRunWithoutPlan('validate', {
    config: workspace.config,
    files: workspace.files,
    acceptedWarnings: collectAcceptedWarnings(workspace.files, workspace.config),
    problems: sortByPlace([...workspace.problems, ...branchProblems, ...forbidden]),
  });
  const exitCode = forbidden.length > 0 ? 3 : chooseExitCode(run, {});
  return { run, exitCode };
}

/** Checks the `branch` setting. Loads the code for remotes only if the configuration has this setting. */
async function checkBranch(config: Config | null): Promise<readonly Problem[]> {
  if (config === null || config.branch === null) return [];
  const { checkBranchSetting } = await import('../run/check-merged-and-up-to-date.ts');
  return checkBranchSetting(config);
}

/** Returns a problem for each pin that `allow_latest: false` forbids. Runs git only for pins to git refs. */
async function findForbiddenPins({ config, files, problems }: Workspace): Promise<readonly Problem[]> {
  if (config === null || problems.some(isError)) return [];
  const environmentsWithoutLatest = listEnvironmentsWithoutLatest(config);
  const pinsRef = files.some(({ pins }) =>
    pins.some(({ environment, pin }) => pin.kind === 'git' && environmentsWithoutLatest.includes(environment)),
  );
  const movingRefs = pinsRef ? await readMovingRefs(config, files) : new Set<string>();
  return files.flatMap((file) => checkFixedPins(file, { environmentsWithoutLatest, movingRefs }));
}

async function readMovingRefs(config: Config, files: readonly PromptFile[]): Promise<ReadonlySet<string>> {
  const { findMovingRefs } = await import('../history/read-at-commit.ts');
  return findMovingRefs(files, await openWorkspaceRepository(config));
}
