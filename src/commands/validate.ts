import { forbidsLatest, promotedFrom, type Config } from '../config/config.ts';
import { openRepositoryOf, openWorkspace, type Workspace, type WorkspaceOptions } from '../desired/workspace.ts';
import { ownAcceptedWarnings } from '../domain/accepted-warnings.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import type { World } from '../domain/world.ts';
import { latestProblems, possibleSkips, skipWarnings } from '../planning/promotion.ts';
import { inPlaceOrder, isError, type Problem } from '../problem.ts';
import { exitCodeOf, notRun, type CommandResult } from './result.ts';

/**
 * Checks configuration and prompt files, and what of the rules for environments can be checked without the service. Asks
 * nothing of it and needs no key.
 */
export async function validate(options: WorkspaceOptions, world: World): Promise<CommandResult> {
  const workspace = await openWorkspace(options, world);
  const { forbidden, warnings } = await checkRules(workspace);
  const run = notRun('validate', {
    files: workspace.files,
    acceptedWarnings: ownAcceptedWarnings(workspace.files, workspace.config),
    problems: inPlaceOrder([...workspace.problems, ...forbidden, ...warnings]),
  });
  const exitCode = forbidden.length > 0 ? 3 : exitCodeOf(run, {});
  return { run, exitCode };
}

async function checkRules({ config, files, problems }: Workspace) {
  if (config === null || problems.some(isError)) return { forbidden: [], warnings: [] };
  const environments = forbidsLatest(config);
  const forbidden = files.flatMap((file) => latestProblems(file, environments));
  // Without git, or without its history, there is nothing to warn of.
  return { forbidden, warnings: await skipped(config, files).catch(() => []) };
}

/** Git is asked only about pins that may be out of order. */
async function skipped(config: Config, files: readonly PromptFile[]): Promise<readonly Problem[]> {
  const order = promotedFrom(config);
  const doubtful = files.filter((file) => possibleSkips(file, order).length > 0);
  const repository = doubtful.length === 0 ? null : await openRepositoryOf(config);
  const head = repository?.head ?? null;
  if (repository === null || head === null) return [];
  const { readFileHistory, withoutHead } = await import('../desired/read-history.ts');
  const found = doubtful.map(async (file) => {
    const former = withoutHead((await readFileHistory(file, head, repository)).pins, file, head);
    return skipWarnings(possibleSkips(file, order), former);
  });
  return (await Promise.all(found)).flat();
}
