import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeFolder, makeRepository, writeFiles } from '../support/folder.ts';
import { workspaceFiles } from '../support/prompts.ts';
import { run } from '../support/run.ts';

/** Makes a repository, and beside it a folder that no branch may change. */
function makePlace(config: string) {
  const above = makeFolder();
  const elsewhere = join(above, 'elsewhere');
  mkdirSync(elsewhere);
  writeFiles(elsewhere, { 'notes.txt': 'Not yours.' });
  const folder = makeRepository(workspaceFiles({ greeting: {} }, config));
  const link = (from: string, to = elsewhere) => symlinkSync(to, join(folder, from));
  return { folder, elsewhere, link };
}

type Place = ReturnType<typeof makePlace>;

function expectUntouched({ elsewhere }: Place): void {
  expect(readdirSync(elsewhere)).toEqual(['notes.txt']);
  expect(readFileSync(join(elsewhere, 'notes.txt'), 'utf8')).toBe('Not yours.');
}

const embedded = (path: string) => `service: { embedded: ${path} }\n`;

describe('the database path of a configuration', () => {
  /** Expects plan and sync to refuse the configuration with this code. */
  async function expectRefused(place: Place, config: string, code: string): Promise<void> {
    writeFiles(place.folder, workspaceFiles({ greeting: {} }, config));
    for (const words of [['plan'], ['sync', '--yes']]) {
      const { exitCode, stdout } = await run(place.folder, [...words, '--format', 'json'], {});
      expect([config, exitCode, stdout]).toEqual([config, 1, expect.stringContaining(code)]);
    }
    expectUntouched(place);
  }

  test('promptsync refuses a database path that leads outside the repository or into the .git folder', async () => {
    const place = makePlace('');
    const paths = ['../elsewhere/new/x.db', 'a/../../elsewhere/new/x.db', '.git/info/attributes', place.elsewhere];
    for (const path of paths) await expectRefused(place, embedded(path), 'config/invalid-field');
    expect(existsSync(join(place.folder, '.git/info/attributes'))).toBe(false);
  });

  test('promptsync refuses a database path that leads through a symlink', async () => {
    const place = makePlace('');
    place.link('.promptsync');
    place.link('missing.db', join(place.elsewhere, 'x.db'));
    place.link('notes.db', join(place.elsewhere, 'notes.txt'));
    for (const path of ['.promptsync/new/x.db', 'missing.db', 'notes.db']) {
      await expectRefused(place, embedded(path), 'usage/cannot-serve');
    }
    writeFiles(place.folder, workspaceFiles({ greeting: {} }));
    const ran = await run(place.folder, ['serve', '--port', '0'], {});
    expect(ran).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('usage/cannot-serve') });
    expectUntouched(place);
  });
});

test('validate refuses a configuration behind a symlink that leads outside the repository', async () => {
  const { folder, elsewhere, link } = makePlace('');
  writeFiles(elsewhere, { 'promptsync.yaml': 'prompts: ["**/*.md"]\n', '.git/HEAD': '' });
  link('team.yaml', join(elsewhere, 'promptsync.yaml'));
  link('team');
  for (const config of ['team.yaml', 'team/promptsync.yaml']) {
    const { exitCode, stdout } = await run(folder, ['validate', '--config', config], {});
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: expect.stringContaining('config/unreadable') });
  }
});

describe('--output', () => {
  test('validate --output refuses to write through a symlink in a repository', async () => {
    const place = makePlace('');
    place.link('out');
    place.link('notes.txt', join(place.elsewhere, 'notes.txt'));
    place.link('new.txt', join(place.elsewhere, 'new.txt'));
    for (const output of ['out/report.txt', 'notes.txt', 'new.txt']) {
      const { exitCode, stdout } = await run(place.folder, ['validate', '--output', output], {});
      expect([exitCode, stdout]).toEqual([1, expect.stringContaining('usage/output-unwritable')]);
    }
    expectUntouched(place);
  });

  test('validate --output writes through a symlink that is not inside a repository', async () => {
    const { folder } = makePlace('');
    const [above, target] = [makeFolder(), makeFolder()];
    writeFiles(target, { 'b.txt': '' });
    symlinkSync(target, join(above, 'tmp'));
    symlinkSync(join(target, 'b.txt'), join(target, 'a.txt'));
    const words = ['validate', '--output', join(above, 'tmp', 'a.txt')];
    expect(await run(folder, words, {})).toMatchObject({ exitCode: 0, stdout: '' });
    expect(readFileSync(join(target, 'b.txt'), 'utf8')).toContain('1 prompt');
  });
});
