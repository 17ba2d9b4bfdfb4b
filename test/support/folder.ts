import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';

export const EXAMPLE = resolve(import.meta.dirname, '../../prompts.example');

/** A folder of its own, removed when the test is finished. */
export function makeFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'promptsync-test-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Paths to contents; folders are made where they are missing. */
export type Files = Readonly<Record<string, string | Uint8Array>>;

export function writeFiles(folder: string, files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    const full = join(folder, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, content);
  }
}

export function makeWorkspace(files: Files): string {
  const folder = makeFolder();
  writeFiles(folder, files);
  return folder;
}

/** The example workspace, without what trying it has left behind. */
export function copyExample(folder: string): void {
  cpSync(EXAMPLE, folder, { recursive: true, filter: (source) => !source.includes('.promptsync') });
}

/** Nothing of the user's own git configuration, and the same commit ids in each run. */
export const GIT_VARIABLES = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_AUTHOR_DATE: '2026-01-02T03:04:05Z',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
  GIT_COMMITTER_DATE: '2026-01-02T03:04:05Z',
};

/** The output of a git command, without its last line feed. */
export function git(folder: string, ...words: readonly string[]): string {
  const env = { ...process.env, ...GIT_VARIABLES };
  return execFileSync('git', words, { cwd: folder, env, encoding: 'utf8', stdio: 'pipe' }).replace(/\n$/, '');
}

/** Commits all that there is, and returns the commit. */
export function commitAll(folder: string, message: string): string {
  git(folder, 'add', '--all', '--force');
  git(folder, 'commit', '--quiet', '--allow-empty', '--message', message);
  return git(folder, 'rev-parse', 'HEAD');
}

export function makeRepository(files: Files): string {
  const folder = makeWorkspace(files);
  git(folder, 'init', '--quiet', '--initial-branch', 'main');
  commitAll(folder, 'First prompts');
  return folder;
}
