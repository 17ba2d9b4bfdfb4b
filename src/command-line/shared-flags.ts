import { Option, type Command } from 'commander';

/** How a report may be printed. */
export const FORMATS = ['text', 'json', 'markdown', 'html'] as const;
export type Format = (typeof FORMATS)[number];

/** The flags of every command that reads a workspace. */
export function withShared(command: Command): Command {
  return withOutput(
    withConfig(command).option(
      '--only <glob-or-key>',
      'only these prompts, by key or path; may be repeated',
      collect,
      [],
    ),
  );
}

export function withConfig(command: Command): Command {
  return command.option('-c, --config <file>', 'the configuration (default: promptsync.yaml here or above)');
}

/** The flags of every command that asks the service and ends with a report. */
export function withOutput(command: Command): Command {
  return withReport(command).option('-v, --verbose', 'print every call to the service on standard error', false);
}

/** The flags of every command that ends with a report. */
export function withReport(command: Command): Command {
  return command
    .addOption(new Option('--format <format>', 'how to print the report').choices(FORMATS).default('text'))
    .option('-o, --output <file>', 'write the report to a file instead of standard output')
    .option('--no-color', 'print without colour (as does the variable NO_COLOR)')
    .option('-q, --quiet', 'print errors and the summary only', false);
}

function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}
