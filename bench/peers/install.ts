import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const CACHE = join(import.meta.dirname, '../../node_modules/.cache/promptsync/peers');

/** The versions that were measured, and the file that their command runs. */
export const PEERS = {
  langwatch: { version: '0.16.1', entry: 'dist/cli/index.js' },
  rdme: { version: '10.9.6', entry: 'bin/run.js' },
} as const;

export type Peer = keyof typeof PEERS;

/**
 * The entry of a peer's command, which is installed at its first use into a folder of its own and never becomes a
 * dependency; null where that is not possible, such as without a network. No script of a package is run.
 */
export function installPeer(name: Peer): string | null {
  const { version, entry } = PEERS[name];
  const prefix = join(CACHE, `${name}-${version}`);
  const path = join(prefix, 'node_modules', name, entry);
  // Their ranges of peer dependencies do not always agree with each other.
  const flags = [
    '--no-save',
    '--ignore-scripts',
    '--legacy-peer-deps',
    '--no-audit',
    '--no-fund',
    '--fetch-retries=0',
    '--prefix',
    prefix,
  ];
  try {
    if (!existsSync(path)) execFileSync('npm', ['install', ...flags, `${name}@${version}`], { stdio: 'ignore' });
  } catch {
    return null;
  }
  return existsSync(path) ? path : null;
}
