import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { StoredVersion } from '../../src/embedded/store.ts';
import { commitEdits, makeRepository, writeFiles } from '../support/folder.ts';
import { CONFIG } from '../support/prompts.ts';
import { parseReport, run, runJson } from '../support/run.ts';
import { startTestService } from '../support/service.ts';

// The fixtures are unchanged output of 0.1.0. That release kept all but the last line break at the end of a text, also
// in digests.

const PATH = 'prompts/greeting.md';
const readFixture = (name: string) => readFileSync(join(import.meta.dirname, '../fixtures/0.1.0', name), 'utf8');

/** Restores the repository and the service after two syncs of 0.1.0. The ledger of version 2 contains version 1. */
async function restoreSync() {
  const now = readFixture('greeting.md');
  const folder = makeRepository({
    'promptsync.yaml': CONFIG,
    [PATH]: now.replace('"Hello"', '"greeting"').replace('Hello.', 'First.'),
  });
  writeFiles(folder, { [PATH]: now });
  const commit = commitEdits(folder, 'Edit');
  const service = await startTestService(['greeting']);
  const { store } = service;
  const make = ({ content, metadata_: metadata }: StoredVersion) =>
    store.createVersion('prm_greeting', { content, metadata: metadata ?? {} })!.id;
  const [first, second] = readFixture('versions.jsonl').split('\n') as [string, string];
  const { id } = JSON.parse(first) as StoredVersion;
  const versionId = make(JSON.parse(second.replaceAll(id, make(JSON.parse(first)))));
  for (const environment of ['staging', 'promptsync']) store.setActive('prm_greeting', { environment, versionId });
  store.updatePrompt('prm_greeting', { name: 'Hello' });
  return { folder, service, commit };
}

test.each([
  ['sync changes nothing for a prompt file that promptsync 0.1.0 synced', /$/, ''],
  ['sync changes nothing if a file synced by promptsync 0.1.0 only lost its trailing line breaks', /\n*$/, ''],
])('%s', async (_, from, to) => {
  const { folder, service } = await restoreSync();
  writeFiles(folder, { [PATH]: readFixture('greeting.md').replace(from, to) });
  commitEdits(folder, 'Format');
  const { report } = await runJson(folder, ['sync', '--yes'], service);
  expect(report.summary).toMatchObject({ prompts: 1, unchanged: 1 });
  expect(service.takeWrites()).toEqual([]);
});

test('promptsync activates a pinned version that is listed only in a ledger from promptsync 0.1.0', async () => {
  const { folder, service, commit } = await restoreSync();
  expect(readFixture('versions.jsonl')).toContain(`"commit":"${commit}"`);
  writeFiles(folder, { [PATH]: readFixture('greeting.md').replace('"latest"', '"latest","production":1') });
  commitEdits(folder, 'Pin it');
  expect(await run(folder, ['sync', '--yes'], service)).toMatchObject({ exitCode: 0 });
  expect(service.store.readPrompt('prm_greeting', 'production')?.active_version?.content).toBe('First.\n');
});

test('The report parser accepts a report written by promptsync 0.1.0', () => {
  expect(parseReport(readFixture('report.jsonl')).summary.prompts).toBe(1);
});
