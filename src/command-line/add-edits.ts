import { InvalidArgumentError, type Command } from 'commander';
import type { Handlers, SharedFlags } from './program.ts';

export type EditFlags = SharedFlags & {
  readonly dryRun: boolean;
  readonly commit: boolean;
  readonly branch?: string;
};

export type PromoteFlags = EditFlags & { readonly all: boolean; readonly from?: string; readonly to: string };
export type RollbackFlags = EditFlags & { readonly environment: string; readonly to?: number };
export type PullFlags = EditFlags & { readonly environment?: string; readonly ours: boolean; readonly theirs: boolean };

type Share = (command: Command) => Command;

const KEYS = 'keys, paths or patterns of prompts';

/** The commands that edit prompt files after what the service serves. */
export function addEdits(program: Command, handlers: Handlers, shared: Share): void {
  addPromote(program, handlers, shared);
  addRollback(program, handlers, shared);
  addPull(program, handlers, shared);
}

function addPromote(program: Command, handlers: Handlers, shared: Share): void {
  const command = program
    .command('promote')
    .description('pin an environment to the version that another one serves')
    .argument('[keys...]', KEYS)
    .requiredOption('--to <env>', 'the environment to pin')
    .option('--from <env>', 'the one that serves the version (default: promote_from of the other)')
    .option('--all', 'all prompts', false);
  withCommit(shared(command)).action((keys: string[], flags: PromoteFlags) => handlers.promote(keys, flags));
}

function addRollback(program: Command, handlers: Handlers, shared: Share): void {
  const command = program
    .command('rollback')
    .description('pin an environment to the version that it served before')
    .argument('<key>', 'key, path or pattern of the prompt')
    .requiredOption('-e, --environment <env>', 'the environment to pin')
    .option('--to <n>', 'a version number instead of the one before', versionNumber);
  withCommit(shared(command)).action((key: string, flags: RollbackFlags) => handlers.rollback(key, flags));
}

function addPull(program: Command, handlers: Handlers, shared: Share): void {
  const command = program
    .command('pull')
    .description('bring what was changed in the service into the files')
    .argument('[keys...]', `${KEYS} (default: all)`)
    .option('-e, --environment <env>', 'the environment to pull from (default: all that are pinned)')
    .option('--ours', 'in a conflict keep what the file has', false)
    .option('--theirs', 'in a conflict take what the service has', false);
  withCommit(shared(command)).action((keys: string[], flags: PullFlags) => handlers.pull(keys, flags));
}

function withCommit(command: Command): Command {
  return command
    .option('--dry-run', 'show what would be edited; write nothing', false)
    .option('--commit', 'commit the edited files', false)
    .option('--branch <name>', 'commit them on a new branch of this name');
}

function versionNumber(value: string): number {
  if (!/^[1-9][0-9]{0,14}$/.test(value)) throw new InvalidArgumentError('Expected a version number.');
  return Number(value);
}
