import { listEnvironmentsWithoutLatest, mapPromotionSources, type Config } from '../config/config.ts';
import {
  openWorkspaceRepository,
  openWorkspace,
  type Workspace,
  type WorkspaceOptions,
} from '../desired/open-workspace.ts';
import { collectAcceptedWarnings } from '../domain/accepted-warnings.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import type { World } from '../domain/world.ts';
import { checkFixedPins, findSkippedPromotions, warnAboutSkips } from '../planning/check-promotions.ts';
import { sortByPlace, isError, type Problem } from '../problem.ts';
import { chooseExitCode, makeRunWithoutPlan, type CommandResult } from './result.ts';

/**
 * Validates the configuration, the prompt files, and all rules for environments that promptsync can check without the
 * service. Sends no request and needs no API key.
 */
export async function validatePrompts(options: WorkspaceOptions, world: World): Promise<CommandResult> {
  const workspace = await openWorkspace(options, world);
  const { forbidden, warnings } = await checkPins(workspace);
  const branchProblems = await checkBranch(workspace.config);
  const run = makeRunWithoutPlan('validate', {
    config: workspace.config,
    files: workspace.files,
    acceptedWarnings: collectAcceptedWarnings(workspace.files, workspace.config),
    problems: sortByPlace([...workspace.problems, ...branchProblems, ...forbidden, ...warnings]),
  });
  const exitCode = forbidden.length > 0 ? 3 : chooseExitCode(run, {});
  return { run, exitCode };
}

/** Checks the `branch` setting. Loads the code for remotes only if the configuration has this setting. */
async function checkBranch(config: Config | null): Promise<readonly Problem[]> {
  if (config === null || config.branch === null) return [];
  const { checkBranchSetting } = await import('./check-merged-and-up-to-date.ts');
  return checkBranchSetting(config);
}

/** The problems of pins in valid prompt files. */
type PinProblems = {
  /** The problems of pins that the configuration forbids. */
  readonly forbidden: readonly Problem[];
  /** The warnings about pins to versions that the previous environment may never have served. */
  readonly warnings: readonly Problem[];
};

async function checkPins({ config, files, problems }: Workspace): Promise<PinProblems> {
  if (config === null || problems.some(isError)) return { forbidden: [], warnings: [] };
  const forbidden = await findForbiddenPins(config, files);
  // These warnings need the git history. If git fails, omit them, so that the validation can still succeed.
  return { forbidden, warnings: await readSkippedPromotions(config, files).catch(() => []) };
}

/**
 * Returns a problem for each pin that `allow_latest: false` forbids. Runs git only if an environment with this setting
 * is pinned to a git ref.
 */
async function findForbiddenPins(config: Config, files: readonly PromptFile[]): Promise<readonly Problem[]> {
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

/**
 * Returns a warning for each pin that may skip an environment in the promotion order. Reads the git history only of
 * files with such a pin, because git is slow.
 */
async function readSkippedPromotions(config: Config, files: readonly PromptFile[]): Promise<readonly Problem[]> {
  const promotionSources = mapPromotionSources(config);
  const doubtful = files.filter((file) => findSkippedPromotions(file, promotionSources).length > 0);
  const repository = doubtful.length === 0 ? null : await openWorkspaceRepository(config);
  if (repository === null || repository.head === null) return [];
  const { readPlannedLine } = await import('../history/read-line.ts');
  const warnings = doubtful.map(async (file) => {
    return warnAboutSkips(findSkippedPromotions(file, promotionSources), await readPlannedLine(file, repository));
  });
  return (await Promise.all(warnings)).flat();
}
