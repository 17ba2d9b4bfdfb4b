import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';

export const EXAMPLE = resolve(import.meta.dirname, '../../prompts.example');

/** Makes a temporary folder and removes it at the end of the test. */
export function makeFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'promptsync-test-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Maps paths to contents. */
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

/**
 * Fixed identities and dates, so that commit ids are the same in every run. before-all.ts has the git configuration.
 */
export const GIT_VARIABLES = {
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_AUTHOR_DATE: '2026-01-02T03:04:05Z',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
  GIT_COMMITTER_DATE: '2026-01-02T03:04:05Z',
};

/** Runs a git command and returns its output without the last line feed. */
export function git(folder: string, ...words: readonly string[]): string {
  const env = { ...process.env, ...GIT_VARIABLES };
  return execFileSync('git', words, { cwd: folder, env, encoding: 'utf8', stdio: 'pipe' }).replace(/\n$/, '');
}

/** Commits all files and returns the commit. */
export function commitAll(folder: string, message: string): string {
  git(folder, 'add', '--all', '--force');
  git(folder, 'commit', '--quiet', '--allow-empty', '--message', message);
  return headOf(folder);
}

/** Commits all files at a time in ISO 8601. */
export function commitAllAt(folder: string, time: string): void {
  git(folder, 'add', '--all', '--force');
  const env = { ...process.env, ...GIT_VARIABLES, GIT_AUTHOR_DATE: time, GIT_COMMITTER_DATE: time };
  const words = ['commit', '--quiet', '--allow-empty', '--message', 'Change the prompt'];
  execFileSync('git', words, { cwd: folder, env, stdio: 'pipe' });
}

/** Commits edits of tracked files and returns the commit. This takes half the time of `commitAll`. */
export function commitEdits(folder: string, message: string): string {
  git(folder, 'commit', '--quiet', '--all', '--allow-empty', '--message', message);
  return headOf(folder);
}

/**
 * Returns the commit of HEAD. Reads the file of the branch if there is one, because a process takes 50 times as long.
 */
function headOf(folder: string): string {
  const ref = join(folder, '.git/HEAD');
  const branch = existsSync(ref) ? /^ref: (.*)\n$/.exec(readFileSync(ref, 'utf8'))?.[1] : undefined;
  const file = join(folder, '.git', branch ?? '');
  return branch !== undefined && existsSync(file)
    ? readFileSync(file, 'utf8').trim()
    : git(folder, 'rev-parse', 'HEAD');
}

/** Repositories to copy. Copying takes a tenth of the time that git needs to create one. */
const templates = new Map<string, string>();

function copyTemplate(folder: string, key: string, make: (template: string) => void): void {
  let template = templates.get(key);
  if (template === undefined) {
    template = mkdtempSync(join(process.env['TESTS_FOLDER'] ?? tmpdir(), 'template-'));
    make(template);
    templates.set(key, template);
  }
  cpSync(template, folder, { recursive: true });
}

/** Makes an empty repository with the branch main, like `git init`. */
export function initRepository(folder: string): void {
  copyTemplate(folder, 'init', (template) => git(template, 'init', '--quiet', '--initial-branch', 'main'));
}

export function makeRepository(files: Files): string {
  const folder = makeFolder();
  copyTemplate(folder, JSON.stringify(Object.entries(files)), (template) => {
    writeFiles(template, files);
    initRepository(template);
    commitAll(template, 'First prompts');
  });
  return folder;
}

/** Makes a shallow clone of a repository. */
export function cloneOf(folder: string, ...words: readonly string[]): string {
  const clone = join(makeFolder(), 'clone');
  git(folder, 'clone', '--quiet', '--depth', '1', ...words, `file://${folder}`, clone);
  return clone;
}

/** Adds a shell script as a git hook. */
export function addHook(folder: string, script: string, name = 'pre-commit'): void {
  const path = `.git/hooks/${name}`;
  writeFiles(folder, { [path]: `#!/bin/sh\n${script}\n` });
  chmodSync(join(folder, path), 0o755);
}

/** Writes several git settings at once. */
export function configure(folder: string, settings: Readonly<Record<string, string>>): void {
  const lines = Object.entries(settings).map(([name, value]) => {
    const [, section, subsection, key] = /^([^.]+)(?:\.(.*))?\.([^.]+)$/.exec(name) ?? [];
    const title = subsection === undefined ? section : `${section} ${JSON.stringify(subsection)}`;
    return `[${title}]\n  ${key} = ${JSON.stringify(value)}\n`;
  });
  appendFileSync(join(folder, '.git/config'), lines.join(''));
}
