import type { Config } from '../workspace/config.ts';
import { getProviderWords } from '../workspace/service-settings.ts';
import { type AcceptedWarnings, NO_ACCEPTED_WARNINGS } from '../domain/accepted-warnings.ts';
import type { EditCommit, EditedPrompt, FileEdit, ImportCommit, WrittenFile } from '../domain/edits.ts';
import type { VersionHistories } from '../domain/version-history.ts';
import type { Plan, PromptOutcome } from '../domain/plan.ts';
import type { PromptFile, TypedPromptIdentity } from '../domain/prompt-file.ts';
import type { ListedPrompt } from '../providers/provider-interface.ts';
import type { TextChangesByPrompt } from '../domain/text-changes.ts';
import type { Words } from '../service-words.ts';
import type { Line } from '../history/line-of-states.ts';
import type { Problem } from '../problem.ts';
import type { Report } from '../report/schema/report-schema.ts';

/** The result of a command. The entry points create a report from `run`, print it, and exit with `exitCode`. */
export type CommandResult = {
  readonly run: CommandRun;
  readonly exitCode: number;
  /** The report that `sync` showed when it asked the user to confirm the plan. Absent if `sync` did not ask. */
  readonly shownReport?: Report | undefined;
};

/** Everything that a command read, planned and changed. Optional members are absent if they do not apply. */
export type CommandRun = {
  /** The name of the command that ran. For `plan` and `sync`, the mode is `dry-run` or `apply` instead. */
  readonly mode: Report['mode'];
  /** The absolute path of the configuration's folder, to which all paths are relative. Null without a configuration. */
  readonly folder: string | null;
  readonly vocabulary: Words;
  /** The name of the service in reports. Null if the command did not contact the service. */
  readonly service: string | null;
  /** The id of the commit that HEAD points to. Null outside of a git repository, and for commands that make no plan. */
  readonly commit: string | null;
  /**
   * The name of the base, for the wording of drift: the live branch, a git ref, or a shortened commit id. Null if it is
   * unknown, or if the plan has neither drift nor notes.
   */
  readonly baseName: string | null;
  /** The name of the live branch, for notes. Null if it is unknown, or if the plan has neither drift nor notes. */
  readonly liveBranch: string | null;
  /** The selected prompt files. A report lists them as `not_attempted` if the run has neither a plan nor outcomes. */
  readonly files: readonly TypedPromptIdentity[];
  /** The codes of the warnings that the configuration or a prompt file accepts. The report omits these warnings. */
  readonly acceptedWarnings: AcceptedWarnings;
  /** The plan. Null if the command does not plan, or stopped before it planned. */
  readonly plan: Plan | null;
  /** The prompt text of each environment before and after the planned changes, as far as it is known, by prompt id. */
  readonly texts?: TextChangesByPrompt;
  /** The files of the composed prompts that the planned changes of each prompt affect, by prompt id. */
  readonly affected?: ReadonlyMap<string, readonly PromptFile[]>;
  /** The outcome of each prompt after an apply. Null if the command did not write to the service. */
  readonly outcomes: readonly PromptOutcome[] | null;
  /** The prompt files that the command edited, or would edit on a dry run. `rollback --now` uses `edits` instead. */
  readonly edited?: readonly EditedPrompt[];
  /** The edits to the prompt files, by prompt id. Only for `rollback --now`, which also applies the plan. */
  readonly edits?: ReadonlyMap<string, readonly FileEdit[]>;
  /** The files that `init` wrote. */
  readonly written?: readonly WrittenFile[];
  /** The remaining steps for the user. Only `init`, `new` and `rollback --now` list them, if they wrote a file. */
  readonly nextSteps?: readonly string[];
  /** The prompts in the service that have no prompt file. Only `status --orphans` looks for such prompts. */
  readonly orphans?: readonly ListedPrompt[];
  /** The commit that the command created for its edits, or the last commit of `import`. Absent if there is none. */
  readonly committed?: EditCommit;
  /** The commits of `import --commit`, oldest first, or those that a dry run would make. Absent if there are none. */
  readonly commits?: readonly ImportCommit[];
  /** The version history of each prompt. Only `history` reads version histories. */
  readonly histories?: VersionHistories;
  /** The prompts that wait for promotion. Only the command `status` looks for such prompts. */
  readonly waiting?: WaitingPrompts;
  /** The commit of `--changed-since`, and the number of prompts that the command skipped as unchanged. */
  readonly narrowed?: { readonly since: string; readonly notLookedAt: number };
  /** The setting `portable_pins`. Absent, like false, for commands that make no plan. */
  readonly portablePins?: boolean;
  /** The configured environments in promotion order. Null or absent if the configuration lists none. */
  readonly environmentOrder?: readonly string[] | null;
  /** The environments that the command was limited to, in promotion order. Null or absent if it covered all. */
  readonly selectedEnvironments?: readonly string[] | null;
  /** All problems except those of a single prompt, which are in its plan or its outcome. */
  readonly problems: readonly Problem[];
};

/** Shows which environments of which prompts wait for a promotion. */
export type WaitingPrompts = Pick<VersionHistories, 'versions'> & {
  /** The line of each prompt up to HEAD, by prompt id. */
  readonly lines: ReadonlyMap<string, Line>;
  /** The promotion source (`promote_from`) of each environment, by the name of the environment. */
  readonly promotionSources: ReadonlyMap<string, string>;
};

/** Creates the run of a command that stopped before it made a plan, or that never makes one, like `validate`. */
export function makeRunWithoutPlan(mode: CommandRun['mode'], run: RunWithoutPlan): CommandRun {
  const { config, files, acceptedWarnings, problems } = run;
  return {
    mode,
    folder: config?.folder ?? null,
    vocabulary: getProviderWords(config),
    service: null,
    commit: null,
    baseName: null,
    liveBranch: null,
    files,
    acceptedWarnings,
    plan: null,
    outcomes: null,
    problems,
  };
}

type RunWithoutPlan = Pick<CommandRun, 'files' | 'acceptedWarnings' | 'problems'> & {
  /** Null if promptsync could not read the configuration. */
  readonly config: Config | null;
};

/** Creates the result of a command that could not start. Its exit code is 1. */
export function makeStoppedResult(mode: CommandRun['mode'], ...problems: readonly Problem[]): CommandResult {
  const run = makeRunWithoutPlan(mode, { config: null, files: [], acceptedWarnings: NO_ACCEPTED_WARNINGS, problems });
  return { run, exitCode: 1 };
}

/**
 * Adds the environments that the user named to the result of a command that stopped before it checked their names.
 * Otherwise, the report would replace the sections of all environments in a comment.
 */
export function addNamedEnvironments(
  result: CommandResult,
  { environments = [] }: { readonly environments?: readonly string[] | undefined },
): CommandResult {
  if (environments.length === 0) return result;
  const selectedEnvironments = result.run.selectedEnvironments ?? environments;
  return { ...result, run: { ...result.run, selectedEnvironments } };
}
