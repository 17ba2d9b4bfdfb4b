import type { PrepareOptions } from '../commands/preparing/prepare-plan.ts';
import { refused, type CommandResult } from '../commands/result.ts';
import type { World } from '../commands/world.ts';
import { makeProblem } from '../problem.ts';
import type { EditFlags, PromoteFlags, PullFlags, RollbackFlags } from './add-edits.ts';
import type { HistoryFlags } from './add-history.ts';
import type { ImportFlags } from './add-import.ts';
import type { InitCommandFlags } from './add-init.ts';
import type { SharedFlags } from './program.ts';

/** What a command does, from what was typed. Each loads its command when it is called: `--help` needs none of it. */
export type Work = (world: World) => Promise<CommandResult>;

type OnCall = PrepareOptions['onCall'];

export function validateWith({ config, only }: SharedFlags): Work {
  return async (world) => (await import('../commands/validate.ts')).validate({ config, only }, world);
}

export function statusWith({ config, only }: SharedFlags, onCall: OnCall): Work {
  return async (world) => (await import('../commands/status.ts')).status({ config, only, onCall }, world);
}

export function historyWith(key: string, { config, environment }: HistoryFlags, onCall: OnCall): Work {
  const options = { key, config, environment, onCall };
  return async (world) => (await import('../commands/history.ts')).history(options, world);
}

export function initWith(flags: InitCommandFlags, onCall: OnCall): Work {
  const { url, embedded, apiKeyEnv, dir, environments, id, workflows, force } = flags;
  const options = { url, embedded, apiKeyEnv, dir, environments, id, workflows, force, onCall };
  return async (world) => (await import('../commands/init.ts')).init(options, world);
}

export function importWith(ids: readonly string[], flags: ImportFlags, onCall: OnCall): Work {
  const { config, environment, dir, dryRun } = flags;
  const options = { config, ids, environment, dir, dryRun, onCall };
  return async (world) => (await import('../commands/import.ts')).importPrompts(options, world);
}

export function promoteWith(keys: readonly string[], flags: PromoteFlags, onCall: OnCall): Work {
  const { from, to, all } = flags;
  const options = { ...optionsOf(keys, flags, onCall), from, to, all };
  return async (world) => (await import('../commands/promote.ts')).promote(options, world);
}

export function rollbackWith(key: string, flags: RollbackFlags, onCall: OnCall): Work {
  const options = { ...optionsOf([key], flags, onCall), environment: flags.environment, to: flags.to };
  return async (world) => (await import('../commands/rollback.ts')).rollback(options, world);
}

export function pullWith(keys: readonly string[], flags: PullFlags, onCall: OnCall): Work {
  const { environment, ours, theirs } = flags;
  const side = ours ? 'ours' : theirs ? 'theirs' : null;
  const reason = '--ours and --theirs exclude each other.';
  if (ours && theirs) return () => Promise.resolve(refused('pull', makeProblem('usage/invalid', { reason })));
  const options = { ...optionsOf(keys, flags, onCall), environment, side } as const;
  return async (world) => (await import('../commands/pull.ts')).pull(options, world);
}

function optionsOf(named: readonly string[], { config, only, dryRun, commit, branch }: EditFlags, onCall: OnCall) {
  return { config, only, named, dryRun, commit, branch, onCall };
}
