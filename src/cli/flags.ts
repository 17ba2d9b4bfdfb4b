import { Argument, InvalidArgumentError, Option } from 'commander';
import { BUNDLE_FORMATS, type BundleFormat } from '../bundle/bundle-formats.ts';
import { parseMaxChanges, type MaxChanges, type OnDrift, MAX_CHANGES_FORM } from '../domain/policy.ts';
import { SHORT_DIGEST_DIGITS } from '../text.ts';

/** A commander option. `takes` is never set. It only carries the type of the parsed value. */
export type Flag<Value> = Option & { readonly takes?: () => Value };

export type PositionalArgument<Value> = Argument & { readonly takes?: () => Value };

/** The flags of a command. Each key is the name that commander gives to the value of the flag. */
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

/** The command checks that the flag is present, because the message lists the environments of the workspace. */
export function makeRequiredEnvironmentFlag(flags: string, help: string): Flag<string | undefined> {
  return makeTextFlag(flags, `${help} (required)`);
}

/** Rejects a blank value, which a workflow passes if there is no previous commit. */
function makeRefFlag(flags: string, help: string): Flag<string | undefined> {
  return makeParsedFlag(flags, help, 'a commit, branch, or tag', (typed) => (typed.trim() === '' ? null : typed));
}

/** Creates a required flag for an environment that the user must pass exactly once. The command checks for the flag. */
function makeSingleEnvironmentFlag(flags: string, help: string): Flag<string | undefined> {
  return new Option(flags, `${help} (required)`).argParser((typed, before: string | undefined) => {
    if (before !== undefined) throw new InvalidArgumentError('Specify exactly one environment.');
    return typed;
  });
}

/** Accepts the digest of a plan, or at least its first 12 digits. The parsed value begins with `sha256:`. */
function makePlanDigestFlag(flags: string, help: string): Flag<string | undefined> {
  const pattern = new RegExp(`^(?:sha256:)?([0-9a-f]{${SHORT_DIGEST_DIGITS},64})$`, 'i');
  const parse = (typed: string) => {
    const digits = pattern.exec(typed)?.[1];
    return digits === undefined ? null : `sha256:${digits.toLowerCase()}`;
  };
  return makeParsedFlag(flags, help, `at least the first ${SHORT_DIGEST_DIGITS} digits of a plan digest`, parse);
}

function makeMaxChangesFlag(flags: string, help: string): Flag<MaxChanges | undefined> {
  return makeParsedFlag(flags, help, MAX_CHANGES_FORM, parseMaxChanges);
}

/** Users sometimes pass the name of an environment to this flag. The message for a name therefore mentions `-e`. */
export function makeVersionNumberFlag(flags: string, help: string): Flag<number | undefined> {
  return new Option(flags, help).argParser((typed) => {
    if (/^[1-9][0-9]{0,14}$/.test(typed)) return Number(typed);
    const isName = /^(?!v\d|latest$)[a-z][\w.-]*$/i.test(typed);
    const hint = isName ? ` To specify an environment, use -e: promptsync rollback KEY -e ${typed}` : '';
    throw new InvalidArgumentError(`Expected a version number.${hint}`);
  });
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

export function makeRepeatedFlag(flags: string, help: string): Flag<readonly string[]> {
  return new Option(flags, `${help}; can be repeated`)
    .argParser((typed, before: readonly string[]) => [...before, typed])
    .default([]);
}

export const FORMATS = ['text', 'json', 'markdown', 'html', 'junit'] as const;
export type Format = (typeof FORMATS)[number];

const format: Flag<Format | undefined> = new Option(
  '--format <format>',
  'the format of the report (default: inferred from the name of the --output file; without --output, text)',
).choices(FORMATS);
const output = makeRepeatedFlag(
  '-o, --output <file>',
  'write the report to a file; its name must end in .txt, .json, .md, .html, or .xml (JUnit)',
);
const color: Flag<boolean> = new Option('--no-color', 'print without color; setting NO_COLOR has the same effect');
const only = makeRepeatedFlag('--only <glob-or-key>', 'select only these prompts, by key or path');

/** The flag that omits the texts of prompts. Its value is true by default, and false if the user passes `--no-diff`. */
export const DIFF_FLAG: Flag<boolean> = new Option('--no-diff', 'print one line for each change, without diffs');

const onDrift: Flag<OnDrift | undefined> = new Option(
  '--on-drift <action>',
  'what to do about changes that someone made in the service',
).choices(['overwrite', 'fail']);

export const CONFIG_FLAGS = {
  config: makeTextFlag(
    '-c, --config <file>',
    'the configuration file (default: promptsync.yaml in this folder or in a parent folder)',
  ),
};

/** The flags of every command that prints a report. */
export const PRINT_FLAGS = {
  format,
  output,
  color,
  quiet: makeBooleanFlag('-q, --quiet', 'print only errors and the summary'),
};
export type PrintFlags = FlagValues<typeof PRINT_FLAGS>;

/** The flags of every command that makes a new report. */
export const REPORT_FLAGS = {
  ...PRINT_FLAGS,
  verbose: makeBooleanFlag('-v, --verbose', 'print every request to the service on standard error'),
};
export type ReportFlags = FlagValues<typeof REPORT_FLAGS>;

/** The flags of every command that selects prompts by key or path. */
export const SHARED_FLAGS = { ...CONFIG_FLAGS, only, ...REPORT_FLAGS };

export const BRANCH_FLAG = makeTextFlag(
  '--branch <branch>',
  'commit to a new branch with this name, or to the current branch if it has this name',
);

/** The flags of every command that edits existing prompt files: `pull`, `promote` and `rollback`. */
export const EDIT_FLAGS = {
  ...SHARED_FLAGS,
  dryRun: makeBooleanFlag('--dry-run', 'show the edits that the command would make, without making them'),
  commit: makeBooleanFlag('--commit', 'commit the edited files'),
  branch: BRANCH_FLAG,
  diff: DIFF_FLAG,
};

const bundleFormat: Flag<BundleFormat | undefined> = new Option(
  '--format <format>',
  'the format of the bundle (default: inferred from the name of the --output file, or json without --output)',
).choices(BUNDLE_FORMATS);

export const BUNDLE_FLAGS = {
  ...SHARED_FLAGS,
  environment: makeSingleEnvironmentFlag('-e, --environment <env>', 'the environment whose prompts are bundled'),
  format: bundleFormat,
  output: makeRepeatedFlag(
    '-o, --output <file>',
    'write the bundle to a file; its name must end in .json, .ts, or .py',
  ),
  check: makeBooleanFlag('--check', 'do not write; exit with code 2 if an --output file differs from the bundle'),
  offline: makeBooleanFlag(
    '--offline',
    'do not contact the service; bundle the text that `latest` and git:<ref> pins select',
  ),
};

export const ENVIRONMENTS_FLAG = makeRepeatedFlag(
  '-e, --environment <env>',
  'select only this environment (default: all environments)',
);

const DOCTOR_FORMATS = ['text', 'json'] as const;
export type DoctorFormat = (typeof DOCTOR_FORMATS)[number];

const doctorFormat: Flag<DoctorFormat | undefined> = new Option(
  '--format <format>',
  'the format of the result (default: inferred from the name of the --output file; without --output, text)',
).choices(DOCTOR_FORMATS);

export const DOCTOR_FLAGS = {
  ...CONFIG_FLAGS,
  ...REPORT_FLAGS,
  format: doctorFormat,
  output: makeRepeatedFlag('-o, --output <file>', 'write the result to a file; its name must end in .txt or .json'),
  write: makeBooleanFlag('--write', 'also check how the service behaves; this writes to the service'),
  prompt: makeTextFlag(
    '--prompt <id>',
    'with --write: the prompt in the service to use for test writes (must not have a prompt file)',
  ),
  yes: makeBooleanFlag('-y, --yes', 'with --write: write without asking for confirmation'),
};

export const PLAN_FLAGS = {
  ...SHARED_FLAGS,
  environment: ENVIRONMENTS_FLAG,
  exitCode: makeBooleanFlag('--exit-code', 'on a dry run, exit with code 2 if changes are pending'),
  expectPlan: makePlanDigestFlag(
    '--expect-plan <digest>',
    'apply the plan only if it has this digest; the first 12 digits are enough',
  ),
  maxChanges: makeMaxChangesFlag(
    '--max-changes <n>',
    'block the plan if it would change more than this number or percentage of prompts',
  ),
  base: makeRefFlag(
    '--base <ref>',
    'compare with this commit to find drift and deleted files: for a pull request, its merge base; for a push, the commit before the push (default: the merge base of HEAD and the live branch)',
  ),
  offline: makeBooleanFlag(
    '--offline',
    'on a dry run with --base, do not contact the service; compare with the files at the base commit',
  ),
  changedSince: makeRefFlag('--changed-since <ref>', 'select only prompts whose files differ from this commit'),
  onDrift,
  diff: DIFF_FLAG,
  allowDirty: makeBooleanFlag('--allow-dirty', 'also sync files that have uncommitted changes'),
};

export const SYNC_FLAGS = {
  ...PLAN_FLAGS,
  dryRun: makeBooleanFlag('--dry-run', 'show what would change, without changing anything'),
  yes: makeBooleanFlag('-y, --yes', 'apply without asking for confirmation'),
  anyCommit: makeBooleanFlag('--any-commit', 'sync even if the commit is unmerged or out of date'),
};
export type SyncFlags = FlagValues<typeof SYNC_FLAGS>;
