import type { PrepareOptions } from '../commands/prepare-plan.ts';
import { notRun, type CommandResult } from '../commands/result.ts';
import type { World } from '../commands/world.ts';
import { makeProblem } from '../problem.ts';
import type { EditFlags, PromoteFlags, PullFlags, RollbackFlags } from './add-edits.ts';

type Work = (world: World) => Promise<CommandResult>;
type OnCall = PrepareOptions['onCall'];

export function promoteWith(keys: readonly string[], flags: PromoteFlags, onCall: OnCall): Work {
  const { from, to, all } = flags;
  const options = { ...optionsOf(keys, flags, onCall), from, to };
  if (options.only.length === 0 && !all) return async () => nothingNamed('promote');
  return async (world) => (await import('../commands/promote.ts')).promote(options, world);
}

export function rollbackWith(key: string, flags: RollbackFlags, onCall: OnCall): Work {
  const options = { ...optionsOf([key], flags, onCall), environment: flags.environment, to: flags.to };
  return async (world) => (await import('../commands/rollback.ts')).rollback(options, world);
}

export function pullWith(keys: readonly string[], flags: PullFlags, onCall: OnCall): Work {
  const { environment, ours, theirs } = flags;
  const side = ours ? 'ours' : theirs ? 'theirs' : null;
  if (ours && theirs) return async () => bothSides();
  const options = { ...optionsOf(keys, flags, onCall), environment, side } as const;
  return async (world) => (await import('../commands/pull.ts')).pull(options, world);
}

/** What is named is what `--only` names. */
function optionsOf(keys: readonly string[], { config, only, dryRun, commit, branch }: EditFlags, onCall: OnCall) {
  return { config, only: [...keys, ...only], dryRun, commit, branch, onCall };
}

function nothingNamed(mode: 'promote'): CommandResult {
  return refused(mode, makeProblem('usage/nothing-named'));
}

function bothSides(): CommandResult {
  return refused('pull', makeProblem('usage/invalid', { reason: '--ours and --theirs exclude each other.' }));
}

function refused(mode: 'promote' | 'pull', problem: ReturnType<typeof makeProblem>): CommandResult {
  return { run: notRun(mode, { files: [], problems: [problem] }), texts: new Map(), exitCode: 1 };
}
