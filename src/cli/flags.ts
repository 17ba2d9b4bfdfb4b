import { Argument, InvalidArgumentError, Option } from 'commander';
import { parseMaxChanges, type MaxChanges } from '../domain/policy.ts';
import { hasControlCharacters } from '../domain/text.ts';

/** An option of commander that knows of which type its value is. Without an initial value it may be undefined. */
export type Flag<Value> = Option & { readonly takes?: () => Value };
export type Words<Value> = Argument & { readonly takes?: () => Value };

/** The flags of a command, each by the name that commander gives its value. */
export type Flags = Readonly<Record<string, Flag<unknown>>>;
export type Values<Given extends Flags> = {
  readonly [Name in keyof Given]: Given[Name] extends Flag<infer Value> ? Value : never;
};

export function yes(flags: string, help: string): Flag<boolean> {
  return new Option(flags, help).default(false);
}

export function text(flags: string, help: string): Flag<string | undefined> {
  return new Option(flags, help);
}

export function needed(flags: string, help: string): Flag<string> {
  return new Option(flags, help).makeOptionMandatory();
}

export function parsed<Value>(flags: string, help: string, parse: (text: string) => Value): Flag<Value | undefined> {
  return new Option(flags, help).argParser(parse);
}

export function oneOf<const Value extends string>(
  flags: string,
  help: string,
  choices: readonly Value[],
): Flag<Value | undefined> {
  return new Option(flags, help).choices(choices);
}

export function word(usage: string, help: string): Words<string> {
  return new Argument(usage, help);
}

export function words(usage: string, help: string): Words<readonly string[]> {
  return new Argument(usage, help);
}

/** How a report may be printed. */
export const FORMATS = ['text', 'json', 'markdown', 'html'] as const;
export type Format = (typeof FORMATS)[number];

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];
const format: Flag<Format> = new Option('--format <format>', 'how to print the report')
  .choices(FORMATS)
  .default('text');
const only: Flag<readonly string[]> = new Option(
  '--only <glob-or-key>',
  'only these prompts, by key or path; may be repeated',
)
  .argParser(collect)
  .default([]);
const noColor: Flag<boolean> = new Option('--no-color', 'print without colour (as does the variable NO_COLOR)');

export const CONFIG = {
  config: text('-c, --config <file>', 'the configuration (default: promptsync.yaml here or above)'),
};

/** The flags of every command that asks the service and ends with a report. */
export const REPORT = {
  format,
  output: text('-o, --output <file>', 'write the report to a file instead of standard output'),
  color: noColor,
  quiet: yes('-q, --quiet', 'print errors and the summary only'),
  verbose: yes('-v, --verbose', 'print every call to the service on standard error'),
};
export type ReportFlags = Values<typeof REPORT>;

/** The flags of every command that reads a workspace. */
export const SHARED = { ...CONFIG, only, ...REPORT };

/** The flags of every command that edits prompt files after what the service serves. */
export const EDIT = {
  ...SHARED,
  dryRun: yes('--dry-run', 'show what would be edited; write nothing'),
  commit: yes('--commit', 'commit the edited files'),
  branch: text('--branch <name>', 'commit them on a new branch of this name'),
};

export function planDigest(value: string): string {
  if (!/^sha256:[0-9a-f]{64}$/.test(value)) throw new InvalidArgumentError('Expected sha256: and 64 digits.');
  return value;
}

/** An empty one is what a workflow hands on when there is no commit before. */
export function ref(value: string): string {
  if (value.trim() === '') throw new InvalidArgumentError('Expected a commit, branch or tag.');
  return value;
}

export function maxChanges(value: string): MaxChanges {
  const limit = parseMaxChanges(value);
  if (limit === null) throw new InvalidArgumentError('Expected a number, or a percentage such as 25%.');
  return limit;
}

export function port(value: string): number {
  if (!/^[0-9]{1,5}$/.test(value) || Number(value) > 65535) throw new InvalidArgumentError('Expected 0 to 65535.');
  return Number(value);
}

export function versionNumber(value: string): number {
  if (!/^[1-9][0-9]{0,14}$/.test(value)) throw new InvalidArgumentError('Expected a version number.');
  return Number(value);
}

export function environmentName(value: string): string {
  const fit = value !== '' && !hasControlCharacters(value);
  if (!fit) throw new InvalidArgumentError('Expected the name of an environment.');
  return value;
}
