import type { CommandResult } from '../run/command-result.ts';
import type { System } from '../domain/system.ts';
import type { CommandName } from './command-examples.ts';
import type { Flags, FlagValues, PositionalArgument, REPORT_FLAGS } from './flags.ts';
import type { Main, SafeProcess } from './process-interface.ts';
import type { OnCall, ReportMode } from './run-command.ts';

/** The groups of commands, in the order in which the help lists them. */
export const COMMAND_GROUPS = ['Start', 'Every day', 'CI', 'Service'] as const;
type CommandGroup = (typeof COMMAND_GROUPS)[number];

type CommandUsage<Given extends Flags, Typed> = {
  readonly name: CommandName;
  readonly group: CommandGroup;
  readonly help: string;
  readonly argument?: PositionalArgument<Typed>;
  readonly flags: Given;
  /** The text that the help of the command shows below the flags. */
  readonly after?: string;
};

/** The usage of a command and the function that runs it. The command table lists all definitions. */
export type CommandDefinition<Given extends Flags = Flags, Typed = unknown> = CommandUsage<Given, Typed> & {
  /**
   * Runs the command and resolves to its exit code. The command `demo` runs other commands through `main`. `run` is
   * declared as a method, so that TypeScript accepts a definition with specific flags as a definition with any flags.
   */
  run(flags: FlagValues<Given>, typed: Typed, host: SafeProcess, main: Main): Promise<number>;
};

/** Returns the definition unchanged. TypeScript infers the parameter types of `run` from the flags and the argument. */
export function defineCommand<Given extends Flags, Typed>(
  definition: CommandDefinition<Given, Typed>,
): CommandDefinition {
  return definition;
}

/** Defines a command that ends with a report. The code for reports is loaded only when the command runs. */
export function defineReportCommand<Given extends Flags & typeof REPORT_FLAGS, Typed>({
  command,
  ...usage
}: CommandUsage<Given, Typed> & {
  readonly name: ReportMode & CommandName;
  command(
    options: FlagValues<Given> & { readonly onCall: OnCall },
    typed: Typed,
    system: System,
    host: SafeProcess,
  ): Promise<CommandResult>;
}): CommandDefinition {
  return defineCommand({
    ...usage,
    run: async (flags: FlagValues<Given>, typed: Typed, host) => {
      const work = (system: System, onCall: OnCall) => command({ ...flags, onCall }, typed, system, host);
      const withoutDiffs = 'diff' in flags && flags['diff'] === false;
      return (await import('./run-command.ts')).runReportCommand(usage.name, flags, host, work, withoutDiffs);
    },
  });
}

export function addKeysToOnly<Given extends { readonly only: readonly string[] }>(
  keys: readonly string[],
  flags: Given,
): Given {
  return { ...flags, only: [...flags.only, ...keys] };
}
