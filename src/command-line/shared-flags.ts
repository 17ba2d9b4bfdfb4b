import { InvalidArgumentError, Option, type Command } from 'commander';
import { parseShard, SHARD_EXPECTED, type Shard } from '../domain/shard.ts';

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

/** The flags of every command that can be spread over several runs. */
export function withShard(command: Command): Command {
  return command.option(
    '--shard <i/n>',
    'only the prompts of one of n parts, by their ids: 1/3, 2/3 and 3/3 are all',
    shard,
  );
}

/** The flags of every command that ends with a report. */
export function withReport(command: Command): Command {
  return command
    .addOption(new Option('--format <format>', 'how to print the report').choices(FORMATS).default('text'))
    .option('-o, --output <file>', 'write the report to a file instead of standard output')
    .option('--no-color', 'print without colour (as does the variable NO_COLOR)')
    .option('-q, --quiet', 'print errors and the summary only', false);
}

function shard(value: string): Shard {
  const parsed = parseShard(value);
  if (parsed === null) throw new InvalidArgumentError(`Expected ${SHARD_EXPECTED}.`);
  return parsed;
}

function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}
