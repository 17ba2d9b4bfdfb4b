import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { openStore, type Store } from '../../src/embedded/prompt-store.ts';
import { makeFolder } from '../support/folder.ts';
import { fillStore, KEY, NOW, startService } from './support.ts';

test('the database preserves prompts, versions and active versions across a restart', async () => {
  const path = join(makeFolder(), 'service.db');
  const before = await startService({ path });
  const first = await before.create('p1', { content: 'one\r\n', metadata_: { a: [1] } });
  const second = await before.create('p1', { content: 'two' });
  await before.activate('p1', 'staging', first.body.id);
  await before.update('p1', { name: 'Renamed' });
  await before.server.close();
  before.store.close();

  const after = await startService({ path });
  expect((await after.read('p1', 'staging')).body).toMatchObject({
    name: 'Renamed',
    latest_version_id: second.body.id,
    active_version: first.body,
  });
  expect((await after.create('p1', { content: 'three' })).body.version_number).toBe(3);
});

test('opening a database creates its missing parent folders, and closing it leaves no temporary files behind', () => {
  const folder = join(makeFolder(), 'a', 'b');
  openStore(join(folder, 'service.db'), { now: () => NOW }).close();
  expect(readdirSync(folder)).toEqual(['service.db']);
});

test('opening a file that is not a database fails and leaves the file unchanged', () => {
  const path = join(makeFolder(), 'notes.txt');
  writeFileSync(path, 'These are notes, and they are longer than a header would be. '.repeat(20));
  expect(() => openStore(path, { now: () => NOW })).toThrow('not a database');
  expect(readFileSync(path, 'utf8')).toMatch(/^These are notes/);
  expect(existsSync(`${path}-wal`)).toBe(false);
});

test('registering an existing prompt again does not overwrite it', () => {
  const store = openTestStore();
  const prompt = { id: 'new', key: 'k', name: 'New' };
  expect(store.registerPrompt({ ...prompt, projectId: 'one' })).toBe(true);
  expect(store.registerPrompt({ ...prompt, projectId: 'two', key: 'other', name: 'Other' })).toBe(false);
  expect(store.readPrompt('new')).toEqual({
    ...{ ...prompt, project_id: 'one', description: null, created_at: '2026-01-02T03:04:05.678Z' },
    ...{ latest_version_id: null, active_version: null },
  });
});

test('authorizing an API key for another project does not revoke its access to the first project', () => {
  const store = openTestStore();
  store.authorizeKey({ apiKey: KEY, projectId: 'one' });
  store.authorizeKey({ apiKey: KEY, projectId: 'three' });
  expect(store.readProjects(KEY)).toEqual(['one', 'three']);
  expect(store.readProjects('nobody')).toEqual([]);
});

test('creating a version with an id that already exists fails and changes nothing', () => {
  const store = openStore(':memory:', { now: () => NOW, newId: () => 'always' });
  fillStore(store);
  store.createVersion('p1', { content: 'one' });
  expect(() => store.createVersion('p2', { content: 'two' })).toThrow('UNIQUE');
  expect(store.readPrompt('p2')?.latest_version_id).toBeNull();
  expect(store.updatePrompt('p2', { name: 'still works' })?.name).toBe('still works');
});

test.each([
  ['the database rejects changes to an existing version', "UPDATE versions SET content = 'other'", 'immutable'],
  ['the database rejects the deletion of an existing version', 'DELETE FROM versions', 'immutable'],
  [
    'the database rejects an active version of another prompt',
    "UPDATE active_versions SET prompt_id = 'p2'",
    'FOREIGN',
  ],
])('%s', (_, statement, message) => {
  const path = join(makeFolder(), 'service.db');
  const store = openTestStore(path);
  const version = store.createVersion('p1', { content: 'one' });
  store.setActive('p1', { environment: 'staging', versionId: version?.id ?? '' });
  const database = new DatabaseSync(path);
  onTestFinished(() => database.close());
  expect(() => database.exec(statement)).toThrow(message);
});

test('the database file does not contain API keys in plain text', () => {
  const path = join(makeFolder(), 'service.db');
  openTestStore(path).close();
  expect(readFileSync(path).includes(KEY)).toBe(false);
});

function openTestStore(path = ':memory:'): Store {
  const store = openStore(path, { now: () => NOW });
  onTestFinished(() => store.close());
  fillStore(store);
  return store;
}

test('opening a database that has an extra trigger fails and leaves the file unchanged, as for any other difference of its schema', () => {
  for (const change of [
    'CREATE TRIGGER more AFTER INSERT ON prompts BEGIN SELECT 1; END',
    'ALTER TABLE prompts ADD COLUMN more TEXT',
    'DROP TABLE active_versions; CREATE VIEW active_versions AS SELECT 1',
    'DROP TRIGGER versions_never_go; CREATE TRIGGER versions_never_go BEFORE DELETE ON versions BEGIN SELECT 1; END',
    'DROP TABLE active_versions',
  ]) {
    const path = join(makeFolder(), 'service.db');
    openTestStore(path).close();
    executeIn(path, change);
    const before = readFileSync(path);
    expect(() => openStore(path, { now: () => NOW })).toThrow('are not those of the embedded service');
    expect(readFileSync(path).equals(before)).toBe(true);
  }
});

/** Changes a database file without promptsync. */
function executeIn(path: string, statements: string): void {
  const database = new DatabaseSync(path);
  database.exec(statements);
  database.close();
}
