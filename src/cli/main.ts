import { Command, CommanderError, Help, type Option } from 'commander';
import package_ from '../../package.json' with { type: 'json' };
import { showHidden } from '../text.ts';
import { type ProcessInterface, makeSafeProcess, type SafeProcess } from './process-interface.ts';
import { formatExamples } from './command-examples.ts';
import { COMMAND_GROUPS, type CommandDefinition } from './define-command.ts';
import { COMMANDS } from './command-table.ts';
import { COMPLETE_COMMAND } from './completion.ts';
import { KEYS_ARGUMENT } from './define-edit-commands.ts';
import { findFlagGroup, sortFlags } from './flag-groups.ts';
import { PRINT_FLAGS } from './flags.ts';
import { findForeignCommandHint } from './foreign-commands.ts';
import { wrapForTerminal } from './wrap-for-terminal.ts';

/** Runs one command line and resolves to its exit code. Never throws. */
export async function main(given: ProcessInterface): Promise<number> {
  const host = makeSafeProcess(given);
  const [name, ...words] = host.arguments;
  // Skip commander. Otherwise, it would parse flags in the command line that the user is still typing.
  if (name === COMPLETE_COMMAND) return (await import('./run-complete.ts')).runComplete(words, host);
  let exitCode = 0;
  const program = makeProgram(host, (code) => void (exitCode = code));
  try {
    const typed = isHelpOnUnknownCommand(host.arguments) ? words : host.arguments;
    const hint = findForeignCommandHint(typed[0]);
    if (hint !== null) {
      program.error(`error: unknown command '${typed[0]}'\n(${hint})`, { code: 'commander.unknownCommand' });
    }
    await program.parseAsync([...typed], { from: 'user' });
    return exitCode;
  } catch (error) {
    // commander also throws after it has printed the help or the version. The exit code of that error is 0.
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    return (await import('./run-command.ts')).reportFailure(error, writesReports(name), host);
  }
}

/** Returns false for an unknown command, because the user may have meant one that writes something else. */
function writesReports(name: string | undefined): boolean {
  return COMMANDS.find((definition) => definition.name === name)?.flags['output'] === PRINT_FLAGS.output;
}

/** Returns true for `help` and the name of an unknown command, for which commander would print the whole help. */
function isHelpOnUnknownCommand([name, topic = '-']: readonly string[]): boolean {
  const topics = ['help', ...COMMANDS.map((command) => command.name)];
  return name === 'help' && !topic.startsWith('-') && !topics.includes(topic);
}

const DESCRIPTION = `GitOps sync for LLM prompts.

Prompts are Markdown files in git, and a prompt service stores their versions.
promptsync compares the two and makes the service match the files.`;

export const EXIT_CODES = [
  { code: 0, short: 'nothing to do, or all changes applied' },
  { code: 1, short: 'the command could not run and changed nothing' },
  { code: 2, short: 'changes are pending (with --exit-code or --check)' },
  { code: 3, short: 'blocked by a guard' },
  { code: 4, short: 'at least one prompt failed' },
  { code: 130, short: 'interrupted' },
] as const;

const EXAMPLES = `
Examples:
  promptsync demo                      try promptsync in a temporary repository
  promptsync init                      create a workspace in this folder
  promptsync import prm_greeting       write a file for a prompt in the service
  promptsync validate                  check the files without the service
  promptsync plan                      show what a sync would change
  promptsync sync                      show the changes, ask, and apply them
  promptsync sync --yes --format json  apply them from a script
  promptsync promote support/greeting --to production --branch live
  promptsync history support/greeting --environment production

Exit codes:
${EXIT_CODES.map(({ code, short }) => `  ${String(code).padEnd(5)}${short}`).join('\n')}`;

/** Creates the commander program, whose parser throws a `CommanderError`. `end` receives the exit code. */
function makeProgram(host: SafeProcess, end: (exitCode: number) => void): Command {
  const program = new Command('promptsync')
    .description(DESCRIPTION)
    .version(package_.version, '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .commandsGroup(`${COMMAND_GROUPS[0]}:`)
    .helpCommand('help [command]', 'print the help for a command')
    // The list of commands shows only names, so that most descriptions fit on one line.
    .configureHelp({ optionDescription: describeOption, subcommandTerm: (command) => command.name() })
    .configureOutput({
      writeOut: (text) => void host.output.write(text),
      // In a workflow, arguments may come from a stranger, so escape control characters in messages that quote them.
      writeErr: (text) => void host.errors.write(wrapLines(showHidden(text), host)),
    })
    .exitOverride()
    .showSuggestionAfterError()
    .showHelpAfterError('For help, run `promptsync --help`.')
    .addHelpText('after', EXAMPLES);
  // The help of the whole program shows no flags of commands, and adding them would take a tenth of its time.
  const namesCommand = host.arguments.some((word) => !word.startsWith('-'));
  for (const definition of COMMANDS) {
    const command = addCommand(program, definition);
    if (!namesCommand) continue;
    addUsage(command, definition, async (...typed) => end(await definition.run(...typed, host, main)));
  }
  return program;
}

function wrapLines(text: string, { errors }: Pick<SafeProcess, 'errors'>): string {
  return text
    .split('\n')
    .map((line) => wrapForTerminal(line, errors))
    .join('\n');
}

type RunCommand = (flags: Parameters<CommandDefinition['run']>[0], typed: unknown) => Promise<void>;

function addCommand(program: Command, { name, group, help }: CommandDefinition): Command {
  return program.command(name).description(help).helpGroup(`${group}:`);
}

/** Adds the argument and the flags to a command, the rest of its help, and the function that runs it. */
function addUsage(command: Command, { name, argument, flags, after }: CommandDefinition, run: RunCommand): void {
  command.configureOutput({ outputError: (text, write) => write(explainUnknownFlag(text, command.options, argument)) });
  if (argument !== undefined) command.addArgument(argument);
  for (const flag of sortFlags(Object.values(flags))) {
    const flagGroup = findFlagGroup(flag);
    command.addOption(flagGroup === undefined ? flag : flag.helpGroup(`${flagGroup}:`));
  }
  if (after !== undefined) command.addHelpText('after', after);
  command.addHelpText('after', `\n${formatExamples(name)}`);
  command.showHelpAfterError(`For help, run \`promptsync ${name} --help\`.`);
  command.action((typed: unknown) => run(command.opts(), typed));
}

/** Explains `--all`, for which commander would suggest a similar flag that turns off a check. */
function explainUnknownFlag(
  message: string,
  options: readonly Option[],
  argument: CommandDefinition['argument'],
): string {
  const unknownAll = "error: unknown option '--all'\n";
  if (!message.startsWith(unknownAll)) return addLongerFlag(message, options);
  return argument === KEYS_ARGUMENT
    ? `${unknownAll}(Omit it, because this command selects all prompts by default.)\n`
    : unknownAll;
}

/** Suggests the one flag that begins with the unknown flag. commander suggests only flags of a similar length. */
function addLongerFlag(message: string, options: readonly Option[]): string {
  const [, typed] = /^error: unknown option '(--[a-z-]+)'\n$/.exec(message) ?? [];
  const flags = options.flatMap(({ long = '' }) => (typed !== undefined && long.startsWith(typed) ? [long] : []));
  return flags.length === 1 ? `${message}(Did you mean ${flags.join('')}?)\n` : message;
}

/** Returns the help text of an option. Omits the defaults `false` and `[]`, because they would not help the user. */
function describeOption(option: Option): string {
  return new Help().optionDescription(option).replace(/ \(default: (false|\[\])\)$/, '');
}
