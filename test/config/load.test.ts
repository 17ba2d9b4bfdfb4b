import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readKey } from '../../src/config/service.ts';
import { loadConfig } from '../../src/config/load.ts';
import { makeWorkspace, type Files } from '../support/folder.ts';

const GIT = { '.git/HEAD': '' };

async function load(root: string, from = '.', file?: string) {
  const { config, problems } = await loadConfig({ workingDirectory: join(root, from), file, environment: {} });
  return { config, told: problems.map(({ code, path, message }) => `${code} ${path ?? '-'} ${message}`) };
}

describe('the configuration is found', () => {
  const withEmpty = (names: string) => makeWorkspace(Object.fromEntries(names.split(' ').map((name) => [name, ''])));

  test.each([
    ['in the working directory', '.git/HEAD promptsync.yaml', '.', '.', '.'],
    ['above it', '.git/HEAD promptsync.yaml a/b/x', 'a/b', '.', '.'],
    ['the nearest one', '.git/HEAD promptsync.yaml a/promptsync.yaml a/b/x', 'a/b', 'a', '.'],
    ['in the root of a repository', 'promptsync.yaml r/.git/HEAD r/promptsync.yaml', 'r', 'r', 'r'],
    ['in a worktree, where .git is a file', '.git/HEAD w/.git w/promptsync.yaml w/a/x', 'w/a', 'w', 'w'],
    ['outside of a repository, whose root its folder is then', 'a/promptsync.yaml a/b/x', 'a', 'a', 'a'],
  ])('%s', async (_, files, from, folder, root) => {
    const top = withEmpty(files);
    const file = join(top, folder, 'promptsync.yaml');
    expect((await load(top, from)).config).toMatchObject({ file, folder: join(top, folder), root: join(top, root) });
  });

  test.each([
    ['above the root of the repository', 'promptsync.yaml r/.git/HEAD r/a/x', 'r/a'],
    ['above a root where .git is a file', 'promptsync.yaml r/.git r/a/x', 'r/a'],
    ['below the working directory', '.git/HEAD a/promptsync.yaml', '.'],
    ['above the working directory outside of a repository', 'a/promptsync.yaml a/b/x', 'a/b'],
    ['under another name', '.git/HEAD promptsync.yml', '.'],
  ])('but not %s', async (_, files, from) => {
    const { config, told } = await load(withEmpty(files), from);
    expect(config).toBeNull();
    expect(told).toEqual([expect.stringMatching(/^config\/not-found - /)]);
  });

  test('by --config, relative to the working directory, with paths relative to the file', async () => {
    const top = makeWorkspace({ ...GIT, 'a/x': '', 'b/my.yaml': 'service: {embedded: s.db}' });
    for (const file of ['../b/my.yaml', join(top, 'b/my.yaml')]) {
      expect((await load(top, 'a', file)).config).toMatchObject({
        file: join(top, 'b/my.yaml'),
        folder: join(top, 'b'),
        root: top,
        service: { kind: 'embedded', databasePath: join(top, 'b/s.db') },
      });
    }
  });

  test('and one that is named is not looked for elsewhere', async () => {
    const top = makeWorkspace({ ...GIT, 'promptsync.yaml': '' });
    expect((await load(top, '.', 'other.yaml')).told).toEqual([
      'config/unreadable other.yaml The configuration cannot be read (there is no such file).',
    ]);
  });
});

describe('a configuration cannot be read', () => {
  test.each([
    ['that is a folder', { 'promptsync.yaml/x': '' }, 'it is not a regular file'],
    ['that is not UTF-8', { 'promptsync.yaml': Buffer.from([0x61, 0xff]) }, 'it is not valid UTF-8'],
    ['of more than 64 KiB', { 'promptsync.yaml': '#'.repeat(65 * 1024) }, 'it has more than 65536 bytes'],
  ])('%s', async (_, files: Files, reason) => {
    const { config, told } = await load(makeWorkspace(files));
    expect(config).toBeNull();
    expect(told).toEqual([`config/unreadable promptsync.yaml The configuration cannot be read (${reason}).`]);
  });

  test('that is a pipe or a device: it might never end', async () => {
    const top = makeWorkspace({ x: '' });
    execFileSync('mkfifo', [join(top, 'promptsync.yaml')]);
    mkdirSync(join(top, 'a'));
    symlinkSync('/dev/zero', join(top, 'a/promptsync.yaml'));
    for (const from of ['.', 'a']) expect((await load(top, from)).told[0]).toContain('not a regular file');
  });

  test('where a folder on the way to it is a file', async () => {
    const { told } = await load(makeWorkspace({ x: '' }), '.', 'x/y.yaml');
    expect(told).toEqual([expect.stringContaining('ENOTDIR')]);
  });

  test('but with a byte order mark and CRLF it can', async () => {
    const top = makeWorkspace({ 'promptsync.yaml': '\ufeffconcurrency: 3\r\non_drift: fail\r\n' });
    expect((await load(top)).config).toMatchObject({ concurrency: 3, onDrift: 'fail' });
  });

  test('with problems in it is told of by its name', async () => {
    const top = makeWorkspace({ ...GIT, 'promptsync.yaml': 'x1: 1', 'a/x': '' });
    expect((await load(top, 'a')).told).toEqual([
      'config/unknown-field promptsync.yaml The setting "x1" is not known.',
    ]);
  });
});

describe('the API key', () => {
  test('is read from its variable', () => {
    expect(readKey('K', { K: 'sk-123!~' })).toEqual({ key: 'sk-123!~' });
  });

  test.each([{}, { K: '' }, { k: 'x' }])('is missing where the variables are %j', (environment) => {
    const missing = { code: 'config/missing-key', message: expect.stringContaining('K') };
    expect(readKey('K', environment)).toMatchObject(missing);
  });

  const wrong = ['hunter2\n', ' hunter2', 'hunter2\r', 'hun\tter2', 'hunter2é', 'hunter2\u200b', 'hunter2\x7f', '\n'];
  test.each(wrong)('%j cannot be sent, and is not repeated', (key) => {
    const read = readKey('K', { K: key });
    expect(read).toMatchObject({ code: 'config/invalid-key' });
    expect(JSON.stringify(read)).not.toContain('ter2');
  });
});
