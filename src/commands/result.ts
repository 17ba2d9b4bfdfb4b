import { type AcceptedWarnings, NO_ACCEPTED_WARNINGS } from '../domain/accepted-warnings.ts';
import type { EditCommit, EditedPrompt, WrittenFile } from '../domain/edits.ts';
import type { VersionHistories } from '../domain/history.ts';
import type { OutcomeStatus, Plan, PlanStatus, PromptOutcome } from '../domain/plan.ts';
import type { PromptIdentity } from '../domain/prompt-file.ts';
import type { ListedPrompt } from '../domain/provider.ts';
import type { TextChangesByPrompt } from '../domain/text-changes.ts';
import type { World } from '../domain/world.ts';
import { isError, type Problem } from '../problem.ts';
import type { Report } from '../report/schema.ts';

/** The result of a command. The entry points make a report from the run, print it, and exit with the exit code. */
export type CommandResult = {
  readonly run: CommandRun;
  readonly exitCode: number;
  /** The report that `sync` showed when it asked the user to confirm the plan. Absent if it did not ask. */
  readonly shownReport?: Report | undefined;
};

/** Everything that a command found and did. Members that do not apply to the command are absent. */
export type CommandRun = {
  /** The command that ran. `sync` is either `dry-run` or `apply`. */
  readonly mode: Report['mode'];
  /** The absolute path of the configuration's folder: all other paths are relative to it. Null without a configuration. */
  readonly folder: string | null;
  /** The name of the service in reports. Null if the command did not contact the service. */
  readonly service: string | null;
  /** The id of the commit HEAD. Null outside of a git repository, and for commands that make no plan. */
  readonly commit: string | null;
  /** The selected prompt files. Files that have neither a plan nor an outcome were not attempted. */
  readonly files: readonly PromptIdentity[];
  /** Warnings that the configuration or a file accepts. The report omits them. */
  readonly acceptedWarnings: AcceptedWarnings;
  /** The plan. Null if the command does not plan, or stopped before it planned. */
  readonly plan: Plan | null;
  /** The known texts that environments serve before and after the planned changes, by prompt id. */
  readonly texts?: TextChangesByPrompt;
  /** The outcome of applying the plan, for each prompt. Null if the command does not write to the service. */
  readonly outcomes: readonly PromptOutcome[] | null;
  /** The prompt files that `import`, `pull`, `promote` or `rollback` edited. On a dry run: the files that it would edit. */
  readonly edited?: readonly EditedPrompt[];
  /** The files that `init` wrote. */
  readonly written?: readonly WrittenFile[];
  /** The prompts of the service that have no prompt file. Only `status --orphans` looks for them. */
  readonly orphans?: readonly ListedPrompt[];
  /** The commit that `pull`, `promote` or `rollback` created for its edits. */
  readonly committed?: EditCommit;
  /** The version history of each prompt. Only the command `history` reads it. */
  readonly histories?: VersionHistories;
  /** The prompts that wait for promotion. Only the command `status` looks for them. */
  readonly waiting?: WaitingPrompts;
  /** The commit of `--changed-since`, and the number of prompts that the command skipped because they have not changed. */
  readonly narrowed?: { readonly since: string; readonly notLookedAt: number };
  /** Problems of the configuration, git, files or the whole run. Problems of a planned prompt are in its plan or outcome. */
  readonly problems: readonly Problem[];
};

/** Versions of the prompts that an environment serves in an older version than the environment that it is promoted from. */
export type WaitingPrompts = Pick<VersionHistories, 'versions'> & {
  /** For each environment, the environment that it is promoted from. */
  readonly promotionSources: ReadonlyMap<string, string>;
};

/**
 * Makes the result of a command that finished or that the user interrupted.
 * @param reportPending true if pending changes make the exit code 2, as `--exit-code` demands on a dry run
 */
export function makeCommandResult(
  run: CommandRun,
  { stopSignal }: Pick<World, 'stopSignal'>,
  reportPending = false,
): CommandResult {
  return { run, exitCode: chooseExitCode(run, { reportPending, interrupted: stopSignal.aborted }) };
}

/** Makes the run of a command that stopped before it made a plan. The problems give the reason. */
export function makeStoppedRun(mode: CommandRun['mode'], run: StoppedRun): CommandRun {
  const { folder, files, acceptedWarnings, problems } = run;
  return { mode, folder, service: null, commit: null, files, acceptedWarnings, plan: null, outcomes: null, problems };
}

/** The known parts of a run that stopped before it made a plan. */
type StoppedRun = Pick<CommandRun, 'folder' | 'files' | 'acceptedWarnings' | 'problems'>;

/** Makes the result of a command that could not start. Its exit code is 1. */
export function makeStoppedResult(mode: CommandRun['mode'], ...problems: readonly Problem[]): CommandResult {
  const run = makeStoppedRun(mode, { folder: null, files: [], acceptedWarnings: NO_ACCEPTED_WARNINGS, problems });
  return { run, exitCode: 1 };
}

type ExitConditions = { readonly reportPending?: boolean; readonly interrupted?: boolean };

/**
 * Returns the exit code of a run. It does not depend on the output format. An interruption always gives 130. If several
 * other exit codes apply, the first one in the order 4, 3, 1, 2 wins.
 */
export function chooseExitCode(run: CommandRun, { reportPending, interrupted }: ExitConditions): number {
  if (interrupted) return 130;
  const statuses = collectStatuses(run);
  const hasObserved = hasObservedPrompts(run);
  if (hasObserved && statuses.has('failed')) return 4;
  // The command edited the files, but the commit failed. So only part of the work is done.
  if (statuses.has('applied') && run.edited !== undefined && run.problems.some(isError)) return 4;
  if (statuses.has('blocked')) return 3;
  if (!hasObserved || run.problems.some(isError)) return 1;
  return reportPending && statuses.has('pending') ? 2 : 0;
}

function collectStatuses({ edited, outcomes, plan, histories }: CommandRun): ReadonlySet<PlanStatus | OutcomeStatus> {
  const statuses = (edited ?? outcomes ?? plan?.prompts ?? []).map(({ status }) => status);
  // `history` changes nothing, so blocked and pending prompts of its plan must not affect its exit code.
  return new Set(statuses.filter((status) => histories === undefined || status === 'failed'));
}

/**
 * True if promptsync observed at least one prompt, or if there was no prompt to observe. `import` makes no plan, so this
 * counts its prompts that have not failed as observed.
 */
function hasObservedPrompts({ plan, edited = [] }: CommandRun): boolean {
  if (plan === null && edited.length > 0) return edited.some(({ status }) => status !== 'failed');
  return plan === null || plan.prompts.length === 0 || plan.prompts.some(({ observed }) => observed !== null);
}
