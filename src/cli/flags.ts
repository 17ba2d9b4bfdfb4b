import { Argument, InvalidArgumentError, Option } from 'commander';
import { parseMaxChanges, type MaxChanges, type OnDrift } from '../domain/policy.ts';
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

/** An empty one is what a workflow hands on when there is no commit before. */
export function ref(flags: string, help: string): Flag<string | undefined> {
  return checked(flags, help, 'a commit, branch or tag', (typed) => (typed.trim() === '' ? null : typed));
}

export function environmentName(flags: string, help: string): Flag<string | undefined> {
  const parse = (typed: string) => (typed === '' || hasControlCharacters(typed) ? null : typed);
  return checked(flags, help, 'the name of an environment', parse);
}

function planDigest(flags: string, help: string): Flag<string | undefined> {
  return checked(flags, help, 'sha256: and 64 digits', (typed) => /^sha256:[0-9a-f]{64}$/.exec(typed)?.[0] ?? null);
}

export function maxChanges(flags: string, help: string): Flag<MaxChanges | undefined> {
  return checked(flags, help, 'a number, or a percentage such as 25%', parseMaxChanges);
}

export function versionNumber(flags: string, help: string): Flag<number | undefined> {
  return checked(flags, help, 'a version number', (typed) => (/^[1-9][0-9]{0,14}$/.test(typed) ? Number(typed) : null));
}

export function port(flags: string, help: string, initial: number): Flag<number> {
  const parse = (typed: string) => (/^[0-9]{1,5}$/.test(typed) && Number(typed) <= 65535 ? Number(typed) : null);
  return checked(flags, help, '0 to 65535', parse).default(initial);
}

function checked(flags: string, help: string, expected: string, parse: (typed: string) => unknown): Option {
  return new Option(flags, help).argParser((typed) => {
    const value = parse(typed);
    if (value === null) throw new InvalidArgumentError(`Expected ${expected}.`);
    return value;
  });
}

export function word(usage: string, help: string): Words<string> {
  return new Argument(usage, help);
}

export function words(usage: string, help: string): Words<readonly string[]> {
  return new Argument(usage, help);
}

export function choice<const Value extends string>(
  usage: string,
  help: string,
  choices: readonly Value[],
): Words<Value> {
  return new Argument(usage, help).choices(choices);
}

function repeated(flags: string, help: string): Flag<readonly string[]> {
  return new Option(flags, `${help}; may be repeated`)
    .argParser((typed, before: readonly string[]) => [...before, typed])
    .default([]);
}

/** How a report may be printed. */
export const FORMATS = ['text', 'json', 'markdown', 'html', 'junit'] as const;
export type Format = (typeof FORMATS)[number];

const format: Flag<Format | undefined> = new Option(
  '--format <format>',
  'how to print the report (default: text, or by the name of the output)',
).choices(FORMATS);
const output = repeated('-o, --output <file>', 'write the report to a file: .txt, .json, .md, .html or .xml (JUnit)');
const color: Flag<boolean> = new Option('--no-color', 'print without colour (as does the variable NO_COLOR)');
const only = repeated('--only <glob-or-key>', 'only these prompts, by key or path');

const onDrift: Flag<OnDrift | undefined> = new Option(
  '--on-drift <what>',
  'what to do about drift from outside',
).choices(['overwrite', 'fail']);

export const CONFIG = {
  config: text('-c, --config <file>', 'the configuration (default: promptsync.yaml here or above)'),
};

/** The flags of every command that prints a report. */
export const PRINT = { format, output, color, quiet: yes('-q, --quiet', 'print errors and the summary only') };
export type PrintFlags = Values<typeof PRINT>;

/** The flags of every command that asks the service and ends with a report. */
export const REPORT = {
  ...PRINT,
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
  branch: text('--branch <name>', 'commit them on a new branch of this name, or on it where it is checked out'),
};

/** The flags of `plan`. */
export const PLAN = {
  ...SHARED,
  exitCode: yes('--exit-code', 'on a dry run: exit with 2 when changes are pending'),
  expectPlan: planDigest('--expect-plan <digest>', 'refuse to apply any other plan than the one with this digest'),
  maxChanges: maxChanges('--max-changes <n>', 'refuse when more prompts would change: a number, or a percentage'),
  base: ref('--base <ref>', 'tell what was changed in the service since this commit: drift'),
  offline: yes('--offline', 'on a dry run with --base: ask nothing, and compare with what its files would have made'),
  changedSince: ref('--changed-since <ref>', 'look only at prompts whose files differ from this commit'),
  onDrift,
  allowDirty: yes('--allow-dirty', 'write from files that differ from the last commit as well'),
};

/** The flags of `sync`. */
export const SYNC = {
  ...PLAN,
  dryRun: yes('--dry-run', 'show what would change; write nothing'),
  yes: yes('-y, --yes', 'apply without a question'),
  anyCommit: yes('--any-commit', 'write what is not merged, or not the newest, as well'),
};
export type SyncFlags = Values<typeof SYNC>;
