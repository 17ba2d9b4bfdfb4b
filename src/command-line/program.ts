import { Command, InvalidArgumentError, Option } from 'commander';
import { parseMaxChanges, type MaxChanges, type OnDrift } from '../domain/policy.ts';
import { addCompletion, type CompletionHandlers } from './add-completion.ts';
import { addEdits, type PromoteFlags, type PullFlags, type RollbackFlags } from './add-edits.ts';
import { addHistory, type HistoryFlags } from './add-history.ts';
import { addImport, type ImportFlags } from './add-import.ts';
import { addInit, type InitCommandFlags } from './add-init.ts';
import { addSchema, type SchemaHandlers } from './add-schema.ts';
import { describe, DESCRIPTION, EXAMPLES, SERVE_HELP } from './help-texts.ts';
import { withShared, type Format } from './shared-flags.ts';

export type SharedFlags = {
  readonly config?: string;
  readonly only: readonly string[];
  readonly format: Format;
  readonly output?: string;
  /** False with --no-color. */
  readonly color: boolean;
  readonly quiet: boolean;
  /** Long diffs whole. */
  readonly full: boolean;
  readonly verbose: boolean;
};

export type SyncFlags = SharedFlags & {
  readonly dryRun: boolean;
  readonly yes: boolean;
  readonly exitCode: boolean;
  readonly expectPlan?: string;
  readonly maxChanges?: MaxChanges;
  readonly base?: string;
  readonly changedSince?: string;
  readonly onDrift?: OnDrift;
  readonly allowDirty: boolean;
};

export type ServeFlags = {
  readonly db: string;
  readonly port: number;
  /** True without a value: the workspace found here. */
  readonly seed?: string | true;
};

/** What to do for each command that was typed. */
export type Handlers = CompletionHandlers &
  SchemaHandlers & {
    readonly sync: (flags: SyncFlags) => Promise<void>;
    readonly validate: (flags: SharedFlags) => Promise<void>;
    readonly status: (flags: SharedFlags) => Promise<void>;
    readonly init: (flags: InitCommandFlags) => Promise<void>;
    readonly import: (ids: readonly string[], flags: ImportFlags) => Promise<void>;
    readonly promote: (keys: readonly string[], flags: PromoteFlags) => Promise<void>;
    readonly rollback: (key: string, flags: RollbackFlags) => Promise<void>;
    readonly pull: (keys: readonly string[], flags: PullFlags) => Promise<void>;
    readonly history: (key: string, flags: HistoryFlags) => Promise<void>;
    readonly serve: (flags: ServeFlags) => Promise<void>;
  };

export type Streams = { readonly out: (text: string) => void; readonly err: (text: string) => void };

/**
 * The command line as a value: what is typed, parsed into the handlers' flags. Throws commander's errors.
 * @param words what was typed: of a command that is known the others are not built, and for a list of all none is whole
 */
export function makeProgram(handlers: Handlers, streams: Streams, version: string, words?: readonly string[]): Command {
  const one = COMMANDS.get(words?.[0] ?? '');
  const program = (isForList(words) ? new Listing('promptsync') : new Command('promptsync'))
    .description(DESCRIPTION)
    .version(version, '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .configureHelp({ optionDescription: describe })
    .configureOutput({ writeOut: streams.out, writeErr: streams.err })
    .exitOverride()
    .showSuggestionAfterError()
    .addHelpText('after', EXAMPLES);
  for (const add of one === undefined ? new Set(COMMANDS.values()) : [one]) add(program, handlers);
  return program;
}

function isForList(words: readonly string[] | undefined): boolean {
  return words?.length === 1 && ['-h', '--help', 'help'].includes(words[0] ?? '');
}

/** All commands, for a list of them: it says whether a command has options, so that one of them is enough. */
class Listing extends Command {
  override createCommand(name?: string): Command {
    return new Listing(name);
  }

  override addOption(option: Option): this {
    return this.parent === null || this.options.length === 0 ? super.addOption(option) : this;
  }
}

const edits = (program: Command, handlers: Handlers): void => addEdits(program, handlers, withShared);

/** What adds each command, in the order of the help. */
const COMMANDS: ReadonlyMap<string, (program: Command, handlers: Handlers) => void> = new Map([
  ['sync', addSync],
  ['plan', addSync],
  ['validate', addValidate],
  ['status', addStatus],
  ['init', addInit],
  ['import', addImport],
  ['promote', edits],
  ['rollback', edits],
  ['pull', edits],
  ['history', addHistory],
  ['serve', addServe],
  ['schema', addSchema],
  ['completion', addCompletion],
  ['complete', addCompletion],
]);

function addValidate(program: Command, handlers: Handlers): void {
  withShared(program.command('validate').description('check configuration and prompt files; needs no key')).action(
    (flags: SharedFlags) => handlers.validate(flags),
  );
}

function addStatus(program: Command, handlers: Handlers): void {
  withShared(
    program.command('status').description('show what is active in each environment, and what should be'),
  ).action((flags: SharedFlags) => handlers.status(flags));
}

function addSync(program: Command, handlers: Handlers): void {
  const sync = withWriting(withShared(program.command('sync').description('make the service match the prompt files')));
  sync.option('--dry-run', 'show what would change; write nothing', false);
  sync.action((flags: SyncFlags) => handlers.sync(flags));
  const plan = withWriting(withShared(program.command('plan').description('the same as sync --dry-run')));
  plan.action((flags: SyncFlags) => handlers.sync({ ...flags, dryRun: true }));
}

function withWriting(command: Command): Command {
  return command
    .option('-y, --yes', 'apply without a question', false)
    .option('--exit-code', 'on a dry run: exit with 2 when changes are pending', false)
    .option('--expect-plan <digest>', 'refuse to apply any other plan than the one with this digest', planDigest)
    .option('--max-changes <n>', 'refuse when more prompts would change: a number, or a percentage', maxChanges)
    .option('--base <ref>', 'tell what was changed in the service since this commit: drift', ref)
    .option('--changed-since <ref>', 'look only at prompts whose files differ from this commit', ref)
    .addOption(new Option('--on-drift <what>', 'what to do about drift from outside').choices(['overwrite', 'fail']))
    .option('--allow-dirty', 'write from files that differ from the last commit as well', false);
}

function addServe(program: Command, handlers: Handlers): void {
  program
    .command('serve')
    .description('run the embedded service: for trying and testing, on this machine alone')
    .option('--db <file>', 'the SQLite file that holds it', '.promptsync/service.db')
    .option('--port <n>', 'the port on 127.0.0.1; 0 takes a free one', port, 4010)
    .option('--seed [workspace]', 'make the prompt ids of a workspace known first: its folder or configuration')
    .addHelpText('after', SERVE_HELP)
    .action((flags: ServeFlags) => handlers.serve(flags));
}

function planDigest(value: string): string {
  if (!/^sha256:[0-9a-f]{64}$/.test(value)) throw new InvalidArgumentError('Expected sha256: and 64 digits.');
  return value;
}

/** An empty one is what a workflow hands on when there is no commit before. */
function ref(value: string): string {
  if (value.trim() === '') throw new InvalidArgumentError('Expected a commit, branch or tag.');
  return value;
}

function maxChanges(value: string): MaxChanges {
  const parsed = parseMaxChanges(value);
  if (parsed === null) throw new InvalidArgumentError('Expected a number, or a percentage such as 25%.');
  return parsed;
}

function port(value: string): number {
  if (!/^[0-9]{1,5}$/.test(value) || Number(value) > 65535) throw new InvalidArgumentError('Expected 0 to 65535.');
  return Number(value);
}
