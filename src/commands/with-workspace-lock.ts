import type { ConfigResult } from '../config/load-config.ts';
import { loadConfiguration, type WorkspaceOptions } from '../desired/open-workspace.ts';
import { collectAcceptedWarnings } from '../domain/accepted-warnings.ts';
import type { World } from '../domain/world.ts';
import { lockWorkspace, NO_LOCK, type WorkspaceLock } from '../files/lock-workspace.ts';
import { type CommandResult, type CommandRun, makeRunWithoutPlan, makeCommandResult } from './result.ts';

type LockOptions = Pick<WorkspaceOptions, 'config' | 'configuration'> & { readonly dryRun: boolean };

/**
 * Runs a command that writes prompt files, and holds the repository's lock while it runs. Without the lock, two
 * commands could read the same file, and the later write would undo the earlier edit. A dry run takes no lock.
 */
export async function withWorkspaceLock(
  mode: CommandRun['mode'],
  options: LockOptions,
  world: World,
  command: (configuration: ConfigResult, lock: WorkspaceLock) => Promise<CommandResult>,
): Promise<CommandResult> {
  const configuration = await loadConfiguration(options, world);
  const { config, problems } = configuration;
  if (config === null || options.dryRun) return command(configuration, NO_LOCK);
  const lock = await lockWorkspace(config, world);
  if (!lock.isSuccess) {
    const acceptedWarnings = collectAcceptedWarnings([], config);
    return makeCommandResult(
      makeRunWithoutPlan(mode, {
        config,
        files: [],
        acceptedWarnings,
        problems: [...problems, ...lock.problems],
      }),
      world,
    );
  }
  try {
    return await command(configuration, lock.value);
  } finally {
    await lock.value.release();
  }
}
