import { chmodSync, cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { runAction } from '../support/action.ts';
import { scheduleEvent } from '../github/support.ts';
import { wrapGit } from '../support/count-git.ts';
import { commitAll, git, makeFolder, makeRepository, writeFiles } from '../support/folder.ts';
import { promptText } from '../support/prompts.ts';
import { run, runJson } from '../support/run.ts';
import { KEY, startTestService } from '../support/service.ts';

afterEach(() => vi.unstubAllEnvs());

const CONFIG = 'service: { api_key_env: TEAM_KEY }\n';
const FILES = { 'team/promptsync.yaml': CONFIG, 'team/prompts/greeting.md': promptText('greeting') };

/** Somebody has committed what git takes for a repository, with a command in its configuration. */
function makeDecoy(): { readonly folder: string; readonly marker: string } {
  const folder = makeRepository(FILES);
  const marker = join(makeFolder(), 'marker');
  for (const name of ['HEAD', 'index', 'objects', 'refs']) {
    cpSync(join(folder, '.git', name), join(folder, 'team', name), { recursive: true });
  }
  const command = `sh -c 'touch ${marker}' --`;
  const settings = `[core]\n\trepositoryformatversion = 0\n\tworktree = ..\n\tfsmonitor = "${command}"\n`;
  writeFiles(folder, {
    'team/config': settings,
    'team/prompts/greeting.md': promptText('greeting', { text: 'Mine.' }),
  });
  commitAll(folder, 'A decoy');
  return { folder, marker };
}

/** A `git` that hands on what it is given but for some words, and notes its variables. */
function makeGit(without: string): { readonly path: string; readonly variables: () => string } {
  const { folder, path } = wrapGit((real) => [
    'env >> "${0%/*}/variables"',
    'words=()',
    `for word; do [[ $word == ${without} ]] && unset 'words[-1]' || words+=("$word"); done`,
    `exec ${real} "\${words[@]}"`,
  ]);
  return { path, variables: () => readFileSync(join(folder, 'variables'), 'utf8') };
}

const GITS = [
  ['git', 'no-word'],
  ['a git that knows no safe.bareRepository', 'safe.bareRepository=*'],
] as const;

describe.each(GITS)('a folder with a decoy of a repository runs no command, with %s', (_, without) => {
  test.each(['history greeting', 'sync --yes'])('%s', async (line) => {
    const { folder, marker } = makeDecoy();
    const { environment } = await startKeyed();
    const { path, variables } = makeGit(without);
    vi.stubEnv('PATH', path);
    const ran = await run(folder, [...line.split(' '), '--config', 'team/promptsync.yaml'], { environment });
    expect({ ...ran, marked: existsSync(marker) }).toMatchObject({ exitCode: 0, marked: false });
    expect(variables()).not.toContain(KEY);
  });
});

test('a folder with a decoy of a repository runs no command of the action', async () => {
  const { folder, marker } = makeDecoy();
  const service = await startTestService(['greeting']);
  const { path, variables } = makeGit('no-word');
  const ran = await runAction(folder, {
    eventName: 'schedule',
    event: scheduleEvent(),
    inputs: { 'working-directory': 'team', 'base-url': service.baseUrl, 'api-key': KEY },
    environment: { PATH: path, TEAM_KEY: KEY },
  });
  expect(existsSync(marker)).toBe(false);
  // It differs from the service, and the commit is that of the repository itself.
  expect(ran).toMatchObject({ exitCode: 1, outputs: { 'failure-reason': 'drift' } });
  expect(ran.summary).toContain(git(folder, 'rev-parse', 'HEAD').slice(0, 12));
  expect(variables()).not.toContain(KEY);
});

test('a command that commits hands its hooks no key', async () => {
  const folder = makeRepository(FILES);
  const noted = join(makeFolder(), 'noted');
  writeFiles(folder, { '.git/hooks/pre-commit': `#!/bin/sh\nenv > ${noted}\n` });
  chmodSync(join(folder, '.git/hooks/pre-commit'), 0o755);
  const options = await startKeyed();
  expect(await run(join(folder, 'team'), ['sync', '--yes'], options)).toMatchObject({ exitCode: 0 });
  const promote = ['promote', 'greeting', '--from', 'staging', '--to', 'production', '--commit'];
  expect(await run(join(folder, 'team'), promote, options)).toMatchObject({ exitCode: 0 });
  expect(readFileSync(noted, 'utf8')).toContain('PATH=');
  expect(readFileSync(noted, 'utf8')).not.toContain(KEY);
});

describe('a repository whose .git is a file works as one whose .git is a folder', () => {
  const places: readonly (readonly [string, (origin: string) => string])[] = [
    ['a worktree', addWorktree],
    ['a worktree of a bare repository', (origin) => addWorktree(cloneTo(origin, 'bare.git', '--bare'))],
    ['a submodule', addSubmodule],
    ['a separate git folder', (origin) => cloneTo(origin, 'tree', '--separate-git-dir', join(makeFolder(), 'git'))],
  ];
  test.each(places)('%s', async (_, make) => {
    const folder = make(makeRepository(FILES));
    const options = await startKeyed();
    const ran = await runJson(join(folder, 'team'), ['sync', '--yes'], options);
    expect([ran.exitCode, ran.report.commit]).toEqual([0, git(folder, 'rev-parse', 'HEAD')]);
    writeFiles(folder, { 'team/prompts/greeting.md': promptText('greeting', { text: 'Edited.' }) });
    expect((await run(join(folder, 'team'), ['sync', '--yes'], options)).exitCode).toBe(3);
  });
});

/** A service whose key this process has in its environment, as the shell of a user would. */
async function startKeyed() {
  const { baseUrl } = await startTestService(['greeting']);
  vi.stubEnv('TEAM_KEY', KEY);
  vi.stubEnv('PROMPTSYNC_API_KEY', KEY);
  return { environment: { PROMPTSYNC_BASE_URL: baseUrl, TEAM_KEY: KEY } };
}

function cloneTo(origin: string, name: string, ...how: readonly string[]): string {
  const folder = makeFolder();
  git(folder, 'clone', '--quiet', ...how, origin, name);
  return join(folder, name);
}

function addWorktree(repository: string): string {
  const folder = join(makeFolder(), 'tree');
  git(repository, 'worktree', 'add', '--quiet', folder, '-b', 'side');
  return folder;
}

function addSubmodule(origin: string): string {
  const above = makeRepository({ 'a.md': 'a' });
  git(above, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', origin, 'sub');
  return join(above, 'sub');
}
