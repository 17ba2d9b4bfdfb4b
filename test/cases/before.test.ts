import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { StoredVersion } from '../../src/embedded/store.ts';
import { commitEdits, makeRepository, writeFiles } from '../support/folder.ts';
import { CONFIG } from '../support/prompts.ts';
import { parseReport, run, runJson } from '../support/run.ts';
import { startTestService } from '../support/service.ts';

// What 0.1.0 wrote is kept as it was. A file's text had all but one of the line breaks at its end then, digests too.

const PATH = 'prompts/greeting.md';
const kept = (name: string) => readFileSync(join(import.meta.dirname, '../fixtures/0.1.0', name), 'utf8');

/** The repository and the service as the second sync of 0.1.0 left them: the newest version's ledger has the first. */
async function leftBehind() {
  const now = kept('greeting.md');
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
  const [first, second] = kept('versions.jsonl').split('\n') as [string, string];
  const { id } = JSON.parse(first) as StoredVersion;
  const versionId = make(JSON.parse(second.replaceAll(id, make(JSON.parse(first)))));
  for (const environment of ['staging', 'promptsync']) store.setActive('prm_greeting', { environment, versionId });
  store.updatePrompt('prm_greeting', { name: 'Hello' });
  return { folder, service, commit };
}

test.each([
  ['as it was', /$/, ''],
  ['without the line breaks at its end', /\n*$/, ''],
])('a file of 0.1.0 is in sync with its versions, %s', async (_, from, to) => {
  const { folder, service } = await leftBehind();
  writeFiles(folder, { [PATH]: kept('greeting.md').replace(from, to) });
  commitEdits(folder, 'Format');
  const { report } = await runJson(folder, ['sync', '--yes'], service);
  expect(report.summary).toMatchObject({ prompts: 1, unchanged: 1 });
  expect(service.takeWrites()).toEqual([]);
});

test('a number that only a ledger of 0.1.0 names goes live, and is the text that git has there', async () => {
  const { folder, service, commit } = await leftBehind();
  expect(kept('versions.jsonl')).toContain(`"commit":"${commit}"`);
  writeFiles(folder, { [PATH]: kept('greeting.md').replace('"latest"', '"latest","production":1') });
  commitEdits(folder, 'Pin it');
  expect(await run(folder, ['sync', '--yes'], service)).toMatchObject({ exitCode: 0 });
  expect(service.store.readPrompt('prm_greeting', 'production')?.active_version?.content).toBe('First.\n');
});

test('a report of 0.1.0 is a report', () => {
  expect(parseReport(kept('report.jsonl')).summary.prompts).toBe(1);
});
