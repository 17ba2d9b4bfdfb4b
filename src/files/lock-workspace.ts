import { realpath } from 'node:fs/promises';
import { dirname, relative } from 'node:path';
import { makeFailure, makeSuccess, type Result } from '../domain/result.ts';
import { showHidden } from '../text.ts';
import type { World } from '../domain/world.ts';
import { makeProblem, type Problem, getSystemCode } from '../problem.ts';
import { toForwardSlashes } from './paths.ts';

/** The lock that a command holds while it reads and writes the prompt files of a workspace. */
export type WorkspaceLock = {
  /** Returns the problem that another process has taken the lock over meanwhile; null if it has not. */
  readonly lossProblem: () => Problem | null;
  readonly release: () => Promise<void>;
};

/** What a dry run holds. */
export const NO_LOCK: WorkspaceLock = { lossProblem: () => null, release: () => Promise.resolve() };

/** In milliseconds. The holder renews its lock every second. A lock that is five seconds old has a dead holder. */
const LOCK_TIMES = { update: 1000, stale: 5000 } as const;

/** In milliseconds. All pauses together take longer than the lock of a dead process stays valid. */
const LOCK_PAUSE_MS = 200;
const MAX_LOCK_PAUSES = 50;

/**
 * Locks a workspace by an empty folder beside its configuration file. git does not list empty folders. If another process
 * holds the lock, this waits for ten seconds and then fails. A lock that nobody renews is taken over.
 */
export async function lockWorkspace(
  configFile: string,
  world: Pick<World, 'printNotice' | 'sleep'>,
): Promise<Result<WorkspaceLock>> {
  // A symbolic link to the configuration leads to the same lock.
  const file = await realpath(configFile);
  const path = toForwardSlashes(relative(await realpath(dirname(configFile)), `${file}.lock`));
  for (let pauses = 0; pauses <= MAX_LOCK_PAUSES; pauses += 1) {
    const lock = await tryToLock(file, path);
    if (lock !== null) return lock;
    if (pauses === 0)
      world.printNotice(`Waiting for another promptsync process, which holds the lock ${showHidden(path)}`);
    try {
      await world.sleep(LOCK_PAUSE_MS);
    } catch {
      return makeFailure(makeProblem('apply/interrupted'));
    }
  }
  return makeFailure(makeProblem('edit/locked', { lock: path }));
}

/** Returns null if another process holds the lock. */
async function tryToLock(file: string, path: string): Promise<Result<WorkspaceLock> | null> {
  const { lock } = await import('proper-lockfile');
  let isLost = false;
  const onCompromised = (): void => void (isLost = true);
  try {
    const release = await lock(file, { ...LOCK_TIMES, realpath: false, onCompromised });
    return makeSuccess({
      lossProblem: () => (isLost ? makeProblem('edit/lock-lost', { lock: path }) : null),
      // The command has done its work. A folder that cannot be removed is the problem of the next command.
      release: () => release().catch(() => {}),
    });
  } catch (error) {
    const reason = getSystemCode(error);
    return reason === 'ELOCKED' ? null : makeFailure(makeProblem('edit/not-lockable', { lock: path, reason }));
  }
}
