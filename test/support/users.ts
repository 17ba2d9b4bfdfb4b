import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync } from 'node:fs';
import { childEnvironment } from './cli.ts';
import { makeFolder } from './folder.ts';

/** The user and group id of the other user. No account of this number has to exist. */
export const OTHER_USER = 65534;

const AS_OTHER_USER = [`--reuid=${OTHER_USER}`, `--regid=${OTHER_USER}`, '--clear-groups'] as const;

/** Why this machine cannot run a test with two users, or null if it can. Pass both to `skip` of the test. */
export function reasonForOneUser(): string | null {
  if (process.getuid?.() !== 0) return 'Only root can start processes as two users.';
  const { status } = spawnSync('setpriv', [...AS_OTHER_USER, process.execPath, '--version']);
  return status === 0 ? null : 'setpriv cannot start Node as another user.';
}

/** Runs a program as the other user and returns its standard output. Throws if the program fails. */
export function runAsOther(folder: string, words: readonly string[]): string {
  return execFileSync('setpriv', [...AS_OTHER_USER, ...words], {
    cwd: folder,
    env: childEnvironment(),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Gives a file, or a folder with all that it contains, to the other user. */
export function giveToOther(path: string): void {
  execFileSync('chown', ['-hR', `${OTHER_USER}:${OTHER_USER}`, path]);
}

/** Makes a folder that everybody may enter. It belongs to the user with this id, or to the user that runs the tests. */
export function makeOpenFolder(owner?: number): string {
  const folder = makeFolder();
  chmodSync(folder, 0o755);
  if (owner !== undefined) chownSync(folder, owner, owner);
  return folder;
}
