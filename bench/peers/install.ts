import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const CACHE = join(import.meta.dirname, '../../node_modules/.cache/promptsync/peers');

/** The measured version of each peer, and the entry file of its command. */
export const PEERS = {
  langwatch: { version: '0.16.1', entry: 'dist/cli/index.js' },
  rdme: { version: '10.9.6', entry: 'bin/run.js' },
} as const;

export type Peer = keyof typeof PEERS;

/**
 * Installs a peer at its first use and returns the path of its entry file. Returns null if npm cannot install the peer,
 * for example without a network. Each peer has a separate folder and never becomes a dependency of promptsync. npm runs
 * no scripts of packages.
 */
export function installPeer(name: Peer): string | null {
  const { version, entry } = PEERS[name];
  const prefix = join(CACHE, `${name}-${version}`);
  const path = join(prefix, 'node_modules', name, entry);
  // `--legacy-peer-deps` is necessary because the ranges of peer dependencies do not always agree with each other.
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
