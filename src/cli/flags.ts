import { Argument, InvalidArgumentError, Option } from 'commander';
import { parseMaxChanges, type MaxChanges, type OnDrift } from '../domain/policy.ts';
import { hasControlCharacters } from '../text.ts';

/** An option of commander with the type of its value. The value is undefined if the option has no default. */
export type Flag<Value> = Option & { readonly takes?: () => Value };
export type PositionalArgument<Value> = Argument & { readonly takes?: () => Value };

/** The flags of a command, by the name that commander gives to the value. */
export type Flags = Readonly<Record<string, Flag<unknown>>>;
export type FlagValues<Given extends Flags> = {
  readonly [Name in keyof Given]: Given[Name] extends Flag<infer Value> ? Value : never;
};

export function makeBooleanFlag(flags: string, help: string): Flag<boolean> {
  return new Option(flags, help).default(false);
}

export function makeTextFlag(flags: string, help: string): Flag<string | undefined> {
  return new Option(flags, help);
}

export function makeRequiredFlag(flags: string, help: string): Flag<string> {
  return new Option(flags, help).makeOptionMandatory();
}

/** Makes a flag for a git ref. An empty value counts as absent: workflows pass one if there is no previous commit. */
export function makeRefFlag(flags: string, help: string): Flag<string | undefined> {
  return makeParsedFlag(flags, help, 'a commit, branch or tag', (typed) => (typed.trim() === '' ? null : typed));
}

export function makeEnvironmentFlag(flags: string, help: string): Flag<string | undefined> {
  const parse = (typed: string) => (typed === '' || hasControlCharacters(typed) ? null : typed);
  return makeParsedFlag(flags, help, 'the name of an environment', parse);
}

function makePlanDigestFlag(flags: string, help: string): Flag<string | undefined> {
  return makeParsedFlag(
    flags,
    help,
    'sha256: and 64 digits',
    (typed) => /^sha256:[0-9a-f]{64}$/.exec(typed)?.[0] ?? null,
  );
}

export function makeMaxChangesFlag(flags: string, help: string): Flag<MaxChanges | undefined> {
  return makeParsedFlag(flags, help, 'a number, or a percentage such as 25%', parseMaxChanges);
}

export function makeVersionNumberFlag(flags: string, help: string): Flag<number | undefined> {
  return makeParsedFlag(flags, help, 'a version number', (typed) =>
    /^[1-9][0-9]{0,14}$/.test(typed) ? Number(typed) : null,
  );
}

export function makePortFlag(flags: string, help: string, initial: number): Flag<number> {
  const parse = (typed: string) => (/^[0-9]{1,5}$/.test(typed) && Number(typed) <= 65535 ? Number(typed) : null);
  return makeParsedFlag(flags, help, '0 to 65535', parse).default(initial);
}

function makeParsedFlag(flags: string, help: string, expected: string, parse: (typed: string) => unknown): Option {
  return new Option(flags, help).argParser((typed) => {
    const value = parse(typed);
    if (value === null) throw new InvalidArgumentError(`Expected ${expected}.`);
    return value;
  });
}

export function makeArgument(usage: string, help: string): PositionalArgument<string> {
  return new Argument(usage, help);
}

export function makeListArgument(usage: string, help: string): PositionalArgument<readonly string[]> {
  return new Argument(usage, help);
}

export function makeChoiceArgument<const Value extends string>(
  usage: string,
  help: string,
  choices: readonly Value[],
): PositionalArgument<Value> {
  return new Argument(usage, help).choices(choices);
}

function makeRepeatedFlag(flags: string, help: string): Flag<readonly string[]> {
  return new Option(flags, `${help}; may be repeated`)
    .argParser((typed, before: readonly string[]) => [...before, typed])
    .default([]);
}

/** The formats of a report. */
export const FORMATS = ['text', 'json', 'markdown', 'html', 'junit'] as const;
export type Format = (typeof FORMATS)[number];

const format: Flag<Format | undefined> = new Option(
  '--format <format>',
  'how to print the report (default: text, or by the name of the output)',
).choices(FORMATS);
const output = makeRepeatedFlag(
  '-o, --output <file>',
  'write the report to a file: .txt, .json, .md, .html or .xml (JUnit)',
);
const color: Flag<boolean> = new Option('--no-color', 'print without colour (as does the variable NO_COLOR)');
const only = makeRepeatedFlag('--only <glob-or-key>', 'only these prompts, by key or path');

const onDrift: Flag<OnDrift | undefined> = new Option(
  '--on-drift <what>',
  'what to do about drift from outside',
).choices(['overwrite', 'fail']);

export const CONFIG_FLAGS = {
  config: makeTextFlag('-c, --config <file>', 'the configuration (default: promptsync.yaml here or above)'),
};

/** The flags of every command that prints a report. */
export const PRINT_FLAGS = {
  format,
  output,
  color,
  quiet: makeBooleanFlag('-q, --quiet', 'print errors and the summary only'),
};
export type PrintFlags = FlagValues<typeof PRINT_FLAGS>;

/** The flags of every command that contacts the service and ends with a report. */
export const REPORT_FLAGS = {
  ...PRINT_FLAGS,
  verbose: makeBooleanFlag('-v, --verbose', 'print every call to the service on standard error'),
};
export type ReportFlags = FlagValues<typeof REPORT_FLAGS>;

/** The flags of every command that reads a workspace. */
export const SHARED_FLAGS = { ...CONFIG_FLAGS, only, ...REPORT_FLAGS };

/** The flags of every command that edits prompt files according to the current state of the service. */
export const EDIT_FLAGS = {
  ...SHARED_FLAGS,
  dryRun: makeBooleanFlag('--dry-run', 'show what would be edited; write nothing'),
  commit: makeBooleanFlag('--commit', 'commit the edited files'),
  branch: makeTextFlag('--branch <name>', 'commit them on a new branch of this name, or on it where it is checked out'),
};

/** The flags of `plan`. */
export const PLAN_FLAGS = {
  ...SHARED_FLAGS,
  exitCode: makeBooleanFlag('--exit-code', 'on a dry run: exit with 2 when changes are pending'),
  expectPlan: makePlanDigestFlag(
    '--expect-plan <digest>',
    'refuse to apply any other plan than the one with this digest',
  ),
  maxChanges: makeMaxChangesFlag(
    '--max-changes <n>',
    'refuse when more prompts would change: a number, or a percentage',
  ),
  base: makeRefFlag('--base <ref>', 'tell what was changed in the service since this commit: drift'),
  offline: makeBooleanFlag(
    '--offline',
    'on a dry run with --base: ask nothing, and compare with what its files would have made',
  ),
  changedSince: makeRefFlag('--changed-since <ref>', 'look only at prompts whose files differ from this commit'),
  onDrift,
  allowDirty: makeBooleanFlag('--allow-dirty', 'write from files that differ from the last commit as well'),
};

/** The flags of `sync`. */
export const SYNC_FLAGS = {
  ...PLAN_FLAGS,
  dryRun: makeBooleanFlag('--dry-run', 'show what would change; write nothing'),
  yes: makeBooleanFlag('-y, --yes', 'apply without a question'),
  anyCommit: makeBooleanFlag('--any-commit', 'write what is not merged, or not the newest, as well'),
};
export type SyncFlags = FlagValues<typeof SYNC_FLAGS>;
