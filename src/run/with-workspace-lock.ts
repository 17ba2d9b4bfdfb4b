import type { ConfigResult } from '../workspace/load-config.ts';
import { loadConfiguration, type WorkspaceOptions } from '../desired-state/open-workspace.ts';
import { collectAcceptedWarnings } from '../domain/accepted-warnings.ts';
import type { System } from '../domain/system.ts';
import { lockWorkspace, NO_LOCK, type WorkspaceLock } from '../workspace/lock-workspace.ts';
import { type CommandResult, type CommandRun, makeRunWithoutPlan } from './command-result.ts';
import { makeCommandResult } from './exit-code.ts';

type LockOptions = Pick<WorkspaceOptions, 'config' | 'configuration'> & { readonly dryRun: boolean };

/**
 * Holds the repository's lock while the command runs. Without the lock, two commands could read the same file, and the
 * later write would undo the earlier edit. A dry run takes no lock.
 */
export async function withWorkspaceLock(
  mode: CommandRun['mode'],
  options: LockOptions,
  system: System,
  command: (configuration: ConfigResult, lock: WorkspaceLock) => Promise<CommandResult>,
): Promise<CommandResult> {
  const configuration = await loadConfiguration(options, system);
  const { config, problems } = configuration;
  if (config === null || options.dryRun) return command(configuration, NO_LOCK);
  const lock = await lockWorkspace(config, system);
  if (!lock.isSuccess) {
    const acceptedWarnings = collectAcceptedWarnings([], config);
    return makeCommandResult(
      makeRunWithoutPlan(mode, {
        config,
        files: [],
        acceptedWarnings,
        problems: [...problems, ...lock.problems],
      }),
      system,
    );
  }
  try {
    return await command(configuration, lock.value);
  } finally {
    await lock.value.release();
  }
}
