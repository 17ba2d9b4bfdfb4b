import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { openStore } from '../../src/embedded/store.ts';
import { runCli } from '../support/cli.ts';
import { commitAll, makeFolder, makeRepository, writeFiles } from '../support/folder.ts';
import { workspaceFiles } from '../support/prompts.ts';
import { run } from '../support/run.ts';

/** A repository, and beside it a folder that nothing of a branch may touch. */
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

describe('the database of a configuration stays in the repository', () => {
  test.each<[string, string, (place: Place) => void, string]>([
    ['upwards', embedded('../elsewhere/new/x.db'), () => {}, 'config/invalid-field'],
    ['upwards and down again', embedded('a/../../elsewhere/new/x.db'), () => {}, 'config/invalid-field'],
    ['into what git keeps', embedded('.git/info/attributes'), () => {}, 'config/invalid-field'],
    ['by an absolute path', embedded('ELSEWHERE/new/x.db'), () => {}, 'config/invalid-field'],
    [
      'through a linked folder',
      embedded('.promptsync/new/x.db'),
      ({ link }) => link('.promptsync'),
      'usage/cannot-serve',
    ],
    [
      'by a link to a file that is not there',
      embedded('x.db'),
      ({ link, elsewhere }) => link('x.db', join(elsewhere, 'x.db')),
      'usage/cannot-serve',
    ],
    [
      'by a link to a file',
      embedded('x.db'),
      ({ link, elsewhere }) => link('x.db', join(elsewhere, 'notes.txt')),
      'usage/cannot-serve',
    ],
  ])('%s it is refused, and nothing is made', async (_, config, prepare, code) => {
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
    ['a text', (path) => writeFiles(join(path, '..'), { 'x.db': 'Some text, longer than a header. '.repeat(10) })],
    ['a database of something else', makeForeign],
  ])('%s that is there already is left as it is', async (_, make) => {
    const { folder } = makePlace(embedded('x.db'));
    const path = join(folder, 'x.db');
    make(path);
    commitAll(folder, 'A file');
    const before = readFileSync(path);
    expect(await run(folder, ['sync', '--yes'], {})).toMatchObject({ exitCode: 1 });
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(existsSync(`${path}-wal`)).toBe(false);
  });

  test('serve writes through no link of a branch either', async () => {
    const place = makePlace('');
    place.link('.promptsync');
    commitAll(place.folder, 'A branch');
    const ran = await run(place.folder, ['serve', '--port', '0'], {});
    expect(ran).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('usage/cannot-serve') });
    expectUntouched(place);
  });
});

function makeForeign(path: string): void {
  const database = new DatabaseSync(path);
  database.exec('CREATE TABLE prompts (id TEXT)');
  database.close();
}

/** The tables of the embedded service, with a trigger that never ends and that no signal interrupts. */
function makeEndless(path: string): void {
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
  makeEndless(join(folder, 'x.db'));
  const { exitCode, stdout, stderr } = await runCli(folder, words);
  expect(exitCode).toBe(1);
  expect(stdout + stderr).toContain('are not those of the embedded service');
});

describe('a configuration is read from inside the repository alone', () => {
  const given = { 'promptsync.yaml': 'prompts: ["**/*.md"]\n' };

  test.each<[string, (place: Place) => void, readonly string[]]>([
    ['a link', ({ link, elsewhere }) => link('team.yaml', join(elsewhere, 'promptsync.yaml')), ['team.yaml']],
    ['behind a link', ({ link }) => link('team'), ['team/promptsync.yaml']],
    [
      'behind a link to another repository',
      ({ link, elsewhere }) => {
        mkdirSync(join(elsewhere, '.git'));
        link('team');
      },
      ['team/promptsync.yaml'],
    ],
  ])('%s that leads out is refused', async (_, prepare, [config = '']) => {
    const place = makePlace('');
    writeFiles(place.elsewhere, given);
    prepare(place);
    const { exitCode, stdout } = await run(place.folder, ['validate', '--config', config], {});
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: expect.stringContaining('config/unreadable') });
  });
});

describe('a report', () => {
  test.each<[string, (place: Place) => void, string]>([
    ['through a linked folder', ({ link }) => link('out'), 'out/report.txt'],
    ['by a link to a file', ({ link, elsewhere }) => link('out.txt', join(elsewhere, 'notes.txt')), 'out.txt'],
    ['by a link to nothing', ({ link, elsewhere }) => link('out.txt', join(elsewhere, 'new.txt')), 'out.txt'],
  ])('is not written %s that a branch may have put there', async (_, prepare, output) => {
    const place = makePlace('');
    prepare(place);
    const { exitCode, stdout } = await run(place.folder, ['validate', '--output', output], {});
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: expect.stringContaining('usage/output-unwritable') });
    expectUntouched(place);
  });

  test('is written through a link outside of every repository', async () => {
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
