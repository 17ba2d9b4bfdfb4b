import type { PromptPlan } from '../domain/plan.ts';
import type { System } from '../domain/system.ts';
import { collectTextChanges } from '../planning/collect-text-changes.ts';
import { toProblem } from '../problem.ts';
import { readVersionHistories } from './history.ts';
import { makeWaitingFields } from '../report/make-history-fields.ts';
import { listPrompts } from '../run/open-service.ts';
import { describeReadFailure } from '../run/read-default-base.ts';
import {
  addNamedEnvironments,
  type CommandResult,
  type CommandRun,
  makeRunWithoutPlan,
  type WaitingPrompts,
} from '../run/command-result.ts';
import { makeCommandResult } from '../run/exit-code.ts';
import { makePlannedRun, runWithPlan, type PlannedWorkspace, type PlanningOptions } from '../run/run-with-plan.ts';

type StatusOptions = PlanningOptions & {
  /** True lists all prompts without a prompt file, and a pattern those with matching names. Undefined lists none. */
  readonly orphans?: string | true | undefined;
  /** Whether to print only errors and the summary. */
  readonly quiet?: boolean | undefined;
};

/** Shows which version is active in each environment, and which version should be active. Never writes. */
export async function showStatus(options: StatusOptions, system: System): Promise<CommandResult> {
  return addNamedEnvironments(await observeAndCompare(options, system), options);
}

async function observeAndCompare({ orphans, ...options }: StatusOptions, system: System): Promise<CommandResult> {
  return runWithPlan('status', { ...options, defaultBase: 'live' }, system, async (workspace) => {
    const texts = collectTextChanges(workspace.plan.prompts, workspace, workspace.history);
    const run = {
      ...makePlannedRun('status', workspace),
      texts,
      waiting: await readWaitingPromotions(workspace, options, system),
    };
    if (orphans === undefined) return makeCommandResult(run, system);
    try {
      const search = await findOrphans(workspace, orphans === true ? [] : [orphans]);
      return makeCommandResult({ ...run, ...search, problems: [...run.problems, ...search.problems] }, system);
    } catch (error) {
      return makeCommandResult(makeRunWithoutPlan('status', { ...workspace, problems: [toProblem(error)] }), system);
    }
  });
}

/** A prompt file counts even if it has errors or is not selected. */
async function findOrphans(
  { provider, allFiles, invalidFiles }: PlannedWorkspace,
  patterns: readonly string[],
): Promise<Pick<CommandRun, 'orphans' | 'problems'>> {
  const { files: listed, problems } = await listPrompts(provider, patterns, { isForOrphans: true });
  if (problems.length > 0) return { problems };
  const idsWithFile = new Set([...allFiles, ...invalidFiles].map(({ id }) => id));
  const orphans = listed.filter(({ id }) => !idsWithFile.has(id));
  return {
    orphans: orphans.filter(({ problem }) => problem === null),
    problems: orphans.flatMap(({ problem }) => problem ?? []),
  };
}

/** Skips prompts that do not wait for a promotion, because reading git is slow. If git fails, prints a notice. */
async function readWaitingPromotions(
  workspace: PlannedWorkspace,
  { quiet }: Pick<StatusOptions, 'quiet'>,
  { printNotice }: Pick<System, 'printNotice'>,
): Promise<WaitingPrompts> {
  const { environmentSelection } = workspace;
  const promotionSources = new Map(
    [...workspace.promotionSources].filter(
      ([environment]) => environmentSelection === null || environmentSelection.selected.includes(environment),
    ),
  );
  const withoutHistory: WaitingPrompts = { versions: new Map(), lines: new Map(), promotionSources };
  const isWaiting = (plan: PromptPlan): boolean => (makeWaitingFields(withoutHistory, plan).waiting ?? []).length > 0;
  const waiting = { ...workspace, files: workspace.plan.prompts.filter(isWaiting).map(({ file }) => file) };
  if (waiting.files.length === 0) return withoutHistory;
  const { versions, git } = await readVersionHistories(waiting).catch((error: unknown) => {
    if (quiet !== true) {
      printNotice(
        `promptsync cannot show how long prompts have been waiting for promotion because ${describeReadFailure(error)}.`,
      );
    }
    return readVersionHistories({ ...waiting, repository: null });
  });
  return { versions, lines: git.lines, promotionSources };
}
