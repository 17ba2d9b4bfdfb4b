import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFailure, makeSuccess, type Result } from '../domain/result.ts';
import { showHidden } from '../text.ts';
import type { System } from '../domain/system.ts';
import { makeProblem, type Problem, describeSystemError, findSystemCode } from '../problem.ts';
import { makeRelativePath } from './paths.ts';

export type WorkspaceLock = {
  /** Returns a problem if another process has taken the lock from this process; null otherwise. */
  readonly findLossProblem: () => Problem | null;
  /** Releases the lock. Never rejects. */
  readonly release: () => Promise<void>;
};

/** A lock for dry runs. It locks nothing and cannot be lost. */
export const NO_LOCK: WorkspaceLock = { findLossProblem: () => null, release: () => Promise.resolve() };

/** In milliseconds. A process renews its lock every second. After five seconds without renewal, it counts as dead. */
const LOCK_TIMES = { update: 1000, stale: 5000 } as const;

/** The pauses take 10 seconds in total, because the lock of a dead process expires only after 5 seconds. */
const LOCK_PAUSE_MS = 200;
const MAX_LOCK_PAUSES = 50;

/**
 * Acquires the lock: an empty folder, which git does not list, in the root of the repository or else beside the
 * configuration file. All configurations of a repository share it, because they can share prompt files. Waits up to ten
 * seconds for another process, then fails. Takes over the lock of a dead process.
 * @param folder the folder of the configuration; messages show the lock's path relative to this folder
 */
export async function lockWorkspace(
  { root, folder }: { readonly root: string; readonly folder: string },
  system: Pick<System, 'printNotice' | 'sleep'>,
): Promise<Result<WorkspaceLock>> {
  // Resolve symbolic links, so that all paths to the same root use the same lock.
  const file = join(await realpath(root), LOCK_NAME);
  const path = makeRelativePath(await realpath(folder), file);
  for (let pauses = 0; pauses <= MAX_LOCK_PAUSES; pauses += 1) {
    const lock = await tryToLock(file, path);
    if (lock !== null) return lock;
    if (pauses === 0)
      system.printNotice(`Waiting for another promptsync process, which holds the lock ${showHidden(path)}`);
    try {
      await system.sleep(LOCK_PAUSE_MS);
    } catch {
      return makeFailure(makeProblem('apply/interrupted'));
    }
  }
  return makeFailure(makeProblem('edit/locked', { lock: path }));
}

const LOCK_NAME = 'promptsync.lock';

/** Tries once to acquire the lock. Returns null if another process holds it. */
async function tryToLock(file: string, path: string): Promise<Result<WorkspaceLock> | null> {
  const { lock } = await import('proper-lockfile');
  let isLost = false;
  const onCompromised = (): void => void (isLost = true);
  try {
    const release = await lock(file, { ...LOCK_TIMES, lockfilePath: file, realpath: false, onCompromised });
    return makeSuccess({
      findLossProblem: () => (isLost ? makeProblem('edit/lock-lost', { lock: path }) : null),
      // Ignore errors, because the command has finished its work. If the lock folder remains, the lock expires like
      // that of a dead process.
      release: () => release().catch(() => {}),
    });
  } catch (error) {
    if (findSystemCode(error) === 'ELOCKED') return null;
    return makeFailure(makeProblem('edit/not-lockable', { lock: path, reason: describeSystemError(error) }));
  }
}
