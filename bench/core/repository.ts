import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CONCURRENCY, fileOf } from './prompts.ts';

/** The environment variables that keep git from reading the user's settings. */
export const GIT_ENVIRONMENT = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
} as const;

/** The configurations in each repository. Without `--config`, promptsync uses the first. */
const CONFIGS = {
  // This configuration has the same concurrency as the bare loops.
  'promptsync.yaml': `concurrency: ${CONCURRENCY}\n`,
  // This configuration uses the default concurrency.
  'default.yaml': '',
  'wide.yaml': 'concurrency: 64\n',
} as const;

export type RepositoryOptions = {
  /** Whether no pin is a number. Then a single sync is enough, because pins on numbers need a second sync. */
  readonly withoutNumbers?: boolean;
};

/**
 * Makes a git repository with this many prompt files. Its last commit edits the first file. The caller must remove the
 * repository.
 */
export function makeRepository(count: number, { withoutNumbers = false }: RepositoryOptions = {}): string {
  const folder = makeFolder();
  mkdirSync(join(folder, 'prompts'));
  for (const [name, settings] of Object.entries(CONFIGS)) {
    writeFileSync(join(folder, name), `service:\n  api_key_env: PROMPTSYNC_API_KEY\n${settings}`);
  }
  const write = (index: number, edition: 0 | 1) =>
    writeFileSync(join(folder, 'prompts', `${index}.md`), fileOf(index, edition, !withoutNumbers));
  for (let index = 0; index < count; index++) write(index, index === 0 ? 0 : 1);
  git(folder, 'init', '--quiet', '--initial-branch', 'main');
  commit(folder, 'Base');
  write(0, 1);
  commit(folder, 'Edit one prompt');
  return folder;
}

export function makeFolder(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), 'promptsync-bench-')));
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

export function git(folder: string, ...args: readonly string[]): string {
  const env = { ...process.env, ...GIT_ENVIRONMENT };
  return execFileSync('git', args, { cwd: folder, env, encoding: 'utf8' }).trim();
}

export function commit(folder: string, message: string): void {
  git(folder, 'add', '--all');
  git(folder, 'commit', '--quiet', '--message', message);
}
