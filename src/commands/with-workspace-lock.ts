import { type ConfigResult, loadConfig } from '../config/load.ts';
import type { WorkspaceOptions } from '../desired/workspace.ts';
import { ownAcceptedWarnings } from '../domain/accepted-warnings.ts';
import type { World } from '../domain/world.ts';
import { lockWorkspace, NO_LOCK, type WorkspaceLock } from '../files/lock-workspace.ts';
import type { Run } from '../report/make-report.ts';
import { type CommandResult, notRun, resultOf } from './result.ts';

type LockOptions = Pick<WorkspaceOptions, 'config' | 'configuration'> & { readonly dryRun: boolean };

/**
 * Runs a command that writes prompt files, and holds the lock of the workspace meanwhile. Two such commands would read
 * the same file, and the second one to write it would undo the edit of the first. A dry run takes no lock.
 */
export async function withWorkspaceLock(
  mode: Run['mode'],
  options: LockOptions,
  world: World,
  command: (configuration: ConfigResult, lock: WorkspaceLock) => Promise<CommandResult>,
): Promise<CommandResult> {
  const { workingDirectory, environment } = world;
  const configuration =
    options.configuration ?? (await loadConfig({ workingDirectory, file: options.config, environment }));
  const { config, problems } = configuration;
  if (config === null || options.dryRun) return command(configuration, NO_LOCK);
  const lock = await lockWorkspace(config.file, world);
  if ('code' in lock) {
    world.keepFolder(config.folder);
    const acceptedWarnings = ownAcceptedWarnings([], config);
    return resultOf(notRun(mode, { files: [], acceptedWarnings, problems: [...problems, lock] }), world);
  }
  try {
    return await command(configuration, lock);
  } finally {
    await lock.release();
  }
}
