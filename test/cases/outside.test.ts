import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { openStore } from '../../src/embedded/prompt-store.ts';
import { runCli } from '../support/cli.ts';
import { commitAll, makeFolder, makeRepository, writeFiles } from '../support/folder.ts';
import { workspaceFiles } from '../support/prompts.ts';
import { run } from '../support/run.ts';

/** Makes a repository, and beside it a folder that no branch may change. */
function makePlace(config: string) {
  const above = makeFolder();
  const elsewhere = join(above, 'elsewhere');
  mkdirSync(elsewhere);
  writeFiles(elsewhere, { 'notes.txt': 'Not yours.' });
  const folder = makeRepository(workspaceFiles({ greeting: {} }, config.replace('ELSEWHERE', elsewhere)));
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
  test.each<[string, string, (place: Place) => void, string]>([
    [
      'promptsync refuses a database path that leads outside the repository',
      embedded('../elsewhere/new/x.db'),
      () => {},
      'config/invalid-field',
    ],
    [
      'promptsync refuses a database path that enters a subfolder and then leaves the repository',
      embedded('a/../../elsewhere/new/x.db'),
      () => {},
      'config/invalid-field',
    ],
    [
      'promptsync refuses a database path inside the .git folder',
      embedded('.git/info/attributes'),
      () => {},
      'config/invalid-field',
    ],
    ['promptsync refuses an absolute database path', embedded('ELSEWHERE/new/x.db'), () => {}, 'config/invalid-field'],
    [
      'promptsync refuses a database path that leads through a symlinked folder',
      embedded('.promptsync/new/x.db'),
      ({ link }) => link('.promptsync'),
      'usage/cannot-serve',
    ],
    [
      'promptsync refuses a database path that is a symlink to a missing file outside the repository',
      embedded('x.db'),
      ({ link, elsewhere }) => link('x.db', join(elsewhere, 'x.db')),
      'usage/cannot-serve',
    ],
    [
      'promptsync refuses a database path that is a symlink to an existing file outside the repository',
      embedded('x.db'),
      ({ link, elsewhere }) => link('x.db', join(elsewhere, 'notes.txt')),
      'usage/cannot-serve',
    ],
  ])('%s', async (_, config, prepare, code) => {
    const place = makePlace(config);
    prepare(place);
    commitAll(place.folder, 'A branch');
    for (const words of [['plan'], ['sync', '--yes']]) {
      const { exitCode, stdout } = await run(place.folder, [...words, '--format', 'json'], {});
      expect([exitCode, stdout]).toEqual([1, expect.stringContaining(code)]);
    }
    expectUntouched(place);
    expect(existsSync(join(place.folder, '.git/info/attributes'))).toBe(false);
  });

  test.each<[string, (path: string) => void]>([
    [
      'sync does not modify a text file at the configured database path',
      (path) => writeFiles(join(path, '..'), { 'x.db': 'Some text, longer than a header. '.repeat(10) }),
    ],
    ['sync does not modify a database that belongs to another program', makeForeignDatabase],
  ])('%s', async (_, make) => {
    const { folder } = makePlace(embedded('x.db'));
    const path = join(folder, 'x.db');
    make(path);
    commitAll(folder, 'A file');
    const before = readFileSync(path);
    expect(await run(folder, ['sync', '--yes'], {})).toMatchObject({ exitCode: 1 });
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(existsSync(`${path}-wal`)).toBe(false);
  });

  test('serve refuses to write its database through a symlink that leads outside the repository', async () => {
    const place = makePlace('');
    place.link('.promptsync');
    commitAll(place.folder, 'A branch');
    const ran = await run(place.folder, ['serve', '--port', '0'], {});
    expect(ran).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('usage/cannot-serve') });
    expectUntouched(place);
  });
});

function makeForeignDatabase(path: string): void {
  const database = new DatabaseSync(path);
  database.exec('CREATE TABLE prompts (id TEXT)');
  database.close();
}

/** Makes the tables of the embedded service with a trigger that never ends and that no signal can interrupt. */
function makeDatabaseWithEndlessTrigger(path: string): void {
  openStore(path, { now: Date.now }).close();
  const database = new DatabaseSync(path);
  database.exec(`
    CREATE TRIGGER endless AFTER INSERT ON projects BEGIN
      SELECT count(*) FROM (WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n) SELECT x FROM n);
    END`);
  database.close();
}

test.each([
  ['plan', ['plan']],
  ['serve', ['serve', '--db', 'x.db', '--port', '0']],
])('%s refuses a database with an endless trigger, and does not run the trigger', async (_, words) => {
  const { folder } = makePlace(embedded('x.db'));
  makeDatabaseWithEndlessTrigger(join(folder, 'x.db'));
  const { exitCode, stdout, stderr } = await runCli(folder, words);
  expect(exitCode).toBe(1);
  expect(stdout + stderr).toContain('are not those of the embedded service');
});

describe('the path of a configuration', () => {
  const configFile = { 'promptsync.yaml': 'prompts: ["**/*.md"]\n' };

  test.each<[string, (place: Place) => void, readonly string[]]>([
    [
      'validate refuses a configuration that is a symlink to a file outside the repository',
      ({ link, elsewhere }) => link('team.yaml', join(elsewhere, 'promptsync.yaml')),
      ['team.yaml'],
    ],
    [
      'validate refuses a configuration inside a symlinked folder',
      ({ link }) => link('team'),
      ['team/promptsync.yaml'],
    ],
    [
      'validate refuses a configuration in a folder that is a symlink to another repository',
      ({ link, elsewhere }) => {
        mkdirSync(join(elsewhere, '.git'));
        link('team');
      },
      ['team/promptsync.yaml'],
    ],
  ])('%s', async (_, prepare, [config = '']) => {
    const place = makePlace('');
    writeFiles(place.elsewhere, configFile);
    prepare(place);
    const { exitCode, stdout } = await run(place.folder, ['validate', '--config', config], {});
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: expect.stringContaining('config/unreadable') });
  });
});

describe('--output', () => {
  test.each<[string, (place: Place) => void, string]>([
    ['validate --output refuses to write through a symlinked folder', ({ link }) => link('out'), 'out/report.txt'],
    [
      'validate --output refuses to follow a symlink to an existing file outside the repository',
      ({ link, elsewhere }) => link('out.txt', join(elsewhere, 'notes.txt')),
      'out.txt',
    ],
    [
      'validate --output refuses to follow a symlink to a missing file outside the repository',
      ({ link, elsewhere }) => link('out.txt', join(elsewhere, 'new.txt')),
      'out.txt',
    ],
  ])('%s', async (_, prepare, output) => {
    const place = makePlace('');
    prepare(place);
    const { exitCode, stdout } = await run(place.folder, ['validate', '--output', output], {});
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: expect.stringContaining('usage/output-unwritable') });
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
