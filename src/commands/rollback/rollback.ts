import type { ObservedPromptPlan } from '../../domain/plan.ts';
import { formatPin } from '../../domain/prompt-file.ts';
import type { System } from '../../domain/system.ts';
import { EMPTY_LINE } from '../../history/line-of-states.ts';
import { readPlannedLine } from '../../history/read-line-of-states.ts';
import {
  findOlderVersion,
  findPreviousGitPin,
  findPreviousVersion,
  type RollbackSource,
  wantsServed,
} from '../../planning/find-previous-pin.ts';
import { makeProblem, type Problem } from '../../problem.ts';
import {
  type PromptDraft,
  type EditCommand,
  editFiles,
  type EditOptions,
  makeDraftWithoutEdits,
} from '../../editing/edit-files.ts';
import { draftContentPin, wantVersion } from '../../editing/content-pin.ts';
import {
  draftPinEdit,
  draftWrittenPin,
  checkEnvironmentFlag,
  listEnvironmentsToRead,
  findServedVersion,
} from '../../editing/pin-edit.ts';
import { makeMissingEnvironmentResult } from '../../run/require-environment.ts';
import { type CommandResult, makeStoppedResult } from '../../run/command-result.ts';
import { rollBackNow } from './roll-back-now.ts';
import type { PlannedWorkspace } from '../../run/run-with-plan.ts';
import type { SyncOptions } from '../sync.ts';

type RollbackOptions = EditOptions & {
  /** The environment to roll back. The command requires it. */
  readonly environment?: string | undefined;
  /** Defaults to the version before the active one. */
  readonly to?: number | undefined;
  /** Whether to also commit the pins on a new branch and activate the versions. */
  readonly now?: boolean | undefined;
  /** With `now`: whether to do this without asking the user for confirmation. */
  readonly yes?: boolean | undefined;
  /** With `now`: renders the plan for the confirmation question. */
  readonly renderPlan?: SyncOptions['renderPlan'];
};

/** Pins the version before the active one, or the version from `--to`. With `now`, also makes it live. */
export async function rollBackPrompts(options: RollbackOptions, system: System): Promise<CommandResult> {
  const { environment } = options;
  if (environment === undefined) return makeMissingEnvironmentResult('rollback', '--environment', options, system);
  if (options.only.length === 0) return makeStoppedResult('rollback', makeProblem('usage/nothing-named'));
  if (options.yes === true && options.now !== true) {
    const reason =
      '`--yes` requires `--now`. Without `--now`, a rollback only edits files and does not ask for confirmation.';
    return makeStoppedResult('rollback', makeProblem('usage/invalid', { reason }));
  }
  const command: EditCommand = {
    mode: 'rollback',
    findNeeds: (config) => ({
      problems: checkEnvironmentFlag('--environment', environment, config),
      environments: listEnvironmentsToRead(environment, config),
      readDepth: 'versions' as const,
    }),
    makeDraft: (prompt, workspace) => draftRollback(prompt, environment, options.to, workspace),
    renderSubject: (names) => `Roll ${names} back in ${environment}`,
  };
  if (options.now !== true) return editFiles(command, options, system);
  return rollBackNow(command, { ...options, environment, yes: options.yes === true }, system);
}

async function draftRollback(
  prompt: ObservedPromptPlan,
  environment: string,
  to: number | undefined,
  workspace: PlannedWorkspace,
): Promise<PromptDraft> {
  if (to === undefined) return draftPreviousPin(prompt, environment, workspace);
  const { file, observed } = prompt;
  const version = observed.known.find(({ number }) => number === to);
  if (version === undefined) {
    return refuseRollback(
      prompt,
      makeProblem('rollback/unknown-version', { number: to, key: file.key }, { path: file.path }),
    );
  }
  if (!workspace.config.portablePins) return draftPinEdit({ environment, version }, prompt, workspace);
  const wanted = { ...wantVersion(version, observed), description: `the text of v${to}` };
  return draftContentPin(environment, wanted, prompt, workspace);
}

/** Warns if an earlier state of the file wanted the served version: somebody may have rolled back already. */
async function draftPreviousPin(
  prompt: ObservedPromptPlan,
  environment: string,
  workspace: PlannedWorkspace,
): Promise<PromptDraft> {
  const { file, observed } = prompt;
  const { repository } = workspace;
  const place = { path: file.path };
  const served = findServedVersion(prompt, environment);
  if (served === null) return refuseRollback(prompt, makeProblem('rollback/nothing-served', { environment }, place));
  const line = repository === null ? EMPTY_LINE : await readPlannedLine(file, repository);
  const source = { environment, served, line, metadata: observed.metadata };
  const draft = await draftPinBefore(source, prompt, workspace);
  const isBack = line.states.findIndex((state) => wantsServed(state, source)) > 0;
  if (!isBack || draft.status !== 'pending') return draft;
  const warning = makeProblem('rollback/already-back', { environment, number: served.number }, place);
  return { ...draft, problems: [...draft.problems, warning] };
}

/**
 * Prefers the previous pin in git to the newest known older version. With portable pins, writes the previous pin
 * exactly as it is in git, because a version number means something different in each service.
 */
async function draftPinBefore(
  source: RollbackSource,
  prompt: ObservedPromptPlan,
  workspace: PlannedWorkspace,
): Promise<PromptDraft> {
  const { environment, served } = source;
  const { file, observed } = prompt;
  const { repository, config } = workspace;
  const place = { path: file.path };
  const previous = config.portablePins ? findPreviousGitPin(source) : findPreviousVersion(source, observed.known);
  switch (previous.kind) {
    case 'version':
      return draftPinEdit({ environment, version: previous.version }, prompt, workspace);
    case 'pin':
      return draftWrittenPin({ environment, value: formatPin(previous.pin), comment: '' }, prompt, workspace);
    case 'unclear': {
      const evidence = { environment, commit: previous.commit, pin: formatPin(previous.pin) };
      return refuseRollback(prompt, makeProblem('rollback/unclear-before', evidence, place));
    }
    case 'nothing': {
      // In a shallow clone, a commit that git lacks may contain the previous pin.
      if (repository?.isShallow) return refuseRollback(prompt, makeProblem('rollback/shallow', { environment }, place));
      const version = config.portablePins ? undefined : findOlderVersion(observed.known, served);
      if (version !== undefined) return draftPinEdit({ environment, version }, prompt, workspace);
      const evidence = { environment, number: served.number, key: file.key };
      return refuseRollback(prompt, makeProblem('rollback/nothing-before', evidence, place));
    }
  }
}

function refuseRollback({ file }: ObservedPromptPlan, problem: Problem): PromptDraft {
  return makeDraftWithoutEdits(file, 'blocked', [problem]);
}
