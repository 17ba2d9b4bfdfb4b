import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readKey } from '../../src/workspace/service-settings.ts';
import { loadConfig } from '../../src/workspace/load-config.ts';
import { makeWorkspace, type Files } from '../support/folder.ts';

const GIT = { '.git/HEAD': '' };

async function load(root: string, from = '.', file?: string) {
  const { config, problems } = await loadConfig({ workingDirectory: join(root, from), file, environment: {} });
  return { config, messages: problems.map(({ code, path, message }) => `${code} ${path ?? '-'} ${message}`) };
}

describe('loadConfig', () => {
  const withEmpty = (names: string) => makeWorkspace(Object.fromEntries(names.split(' ').map((name) => [name, ''])));

  test.each([
    ['loadConfig finds the configuration in a parent folder', '.git/HEAD promptsync.yaml a/b/x', 'a/b', '.', '.'],
    [
      'loadConfig finds the configuration in the nearest of several folders',
      '.git/HEAD promptsync.yaml a/promptsync.yaml a/b/x',
      'a/b',
      'a',
      '.',
    ],
    [
      'loadConfig finds the configuration in a git worktree, where .git is a file',
      '.git/HEAD w/.git w/promptsync.yaml w/a/x',
      'w/a',
      'w',
      'w',
    ],
    [
      'loadConfig finds the configuration in a folder outside a repository, which is the root',
      'a/promptsync.yaml a/b/x',
      'a',
      'a',
      'a',
    ],
  ])('%s', async (_, files, from, folder, root) => {
    const top = withEmpty(files);
    const file = join(top, folder, 'promptsync.yaml');
    expect((await load(top, from)).config).toMatchObject({ file, folder: join(top, folder), root: join(top, root) });
  });

  test('loadConfig tells the user to rename a promptsync.yml file that it finds in a parent folder', async () => {
    const workingDirectory = join(withEmpty('.git/HEAD promptsync.yml a/x'), 'a');
    const { problems } = await loadConfig({ workingDirectory, environment: {} });
    const hint = 'Rename `../promptsync.yml` to `promptsync.yaml`.';
    expect(problems).toMatchObject([{ code: 'config/not-found', hint }]);
  });

  test.each([
    ['loadConfig ignores a configuration above the repository root', 'promptsync.yaml r/.git/HEAD r/a/x', 'r/a'],
    [
      'loadConfig ignores a configuration in a parent folder outside a git repository',
      'a/promptsync.yaml a/b/x',
      'a/b',
    ],
  ])('%s', async (_, files, from) => {
    const { config, messages } = await load(withEmpty(files), from);
    expect(config).toBeNull();
    expect(messages).toEqual([expect.stringMatching(/^config\/not-found - /)]);
  });

  test('loadConfig resolves --config relative to the working directory and configured paths relative to the configuration file', async () => {
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
});

describe('the files that loadConfig reads', () => {
  test.each<[string, Files, string]>([
    [
      'loadConfig rejects a configuration that is not valid UTF-8',
      { 'promptsync.yaml': Buffer.from([0x61, 0xff]) },
      'it is not valid UTF-8',
    ],
    [
      'loadConfig rejects a configuration that is larger than 64 KiB',
      { 'promptsync.yaml': '#'.repeat(65 * 1024) },
      'it is larger than 65536 bytes',
    ],
  ])('%s', async (_, files, reason) => {
    const { config, messages } = await load(makeWorkspace(files));
    const message = `promptsync could not read the configuration file (${reason}).`;
    expect([config, ...messages]).toEqual([null, `config/unreadable promptsync.yaml ${message}`]);
  });

  test('loadConfig rejects a named pipe or a device as the configuration', async () => {
    const top = makeWorkspace({ x: '' });
    execFileSync('mkfifo', [join(top, 'promptsync.yaml')]);
    mkdirSync(join(top, 'a'));
    symlinkSync('/dev/zero', join(top, 'a/promptsync.yaml'));
    for (const from of ['.', 'a']) expect((await load(top, from)).messages[0]).toContain('not a regular file');
  });

  test('loadConfig reports an error if a parent folder in the --config path is a file', async () => {
    const { messages } = await load(makeWorkspace({ x: '' }), '.', 'x/y.yaml');
    expect(messages).toEqual([expect.stringContaining('ENOTDIR')]);
  });

  test('loadConfig names the configuration by its own name, even if it is in a parent folder', async () => {
    const top = makeWorkspace({ ...GIT, 'promptsync.yaml': 'x1: 1', 'a/x': '' });
    expect((await load(top, 'a')).messages).toEqual([expect.stringMatching(/^config.unknown-field promptsync.yaml /)]);
  });

  test('loadConfig accepts a byte order mark and CRLF line endings in the configuration', async () => {
    const top = makeWorkspace({ 'promptsync.yaml': '\ufeffconcurrency: 3\r\non_drift: fail\r\n' });
    expect((await load(top)).config).toMatchObject({ concurrency: 3, onDrift: 'fail' });
  });
});

describe('readKey', () => {
  test('readKey returns the API key from the given environment variable', () => {
    expect(readKey('K', { K: 'sk-123!~' })).toEqual({ isSuccess: true, value: 'sk-123!~' });
  });

  test.each([{}, { K: '' }, { k: 'x' }])(
    'readKey reports a missing API key if the environment variables are %j',
    (environment) => {
      const missing = { code: 'config/missing-key', message: expect.stringContaining('K') };
      expect(readKey('K', environment)).toMatchObject({ isSuccess: false, problems: [missing] });
    },
  );

  const wrong = ['hunter2\n', ' hunter2', 'hun\tter2', 'hunter2é', 'hunter2\x7f', '\n'];
  test.each(wrong)('readKey rejects the invalid API key %j without revealing it in the error', (key) => {
    const read = readKey('K', { K: key });
    expect(read).toMatchObject({ isSuccess: false, problems: [{ code: 'config/invalid-key' }] });
    expect(JSON.stringify(read)).not.toContain('ter2');
  });
});
