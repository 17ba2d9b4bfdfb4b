import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commitAll, git, makeFolder, makeRepository, makeWorkspace, writeFiles } from '../support/folder.ts';
import { promptText, workspaceFiles } from '../support/prompts.ts';
import { runJson } from '../support/run.ts';
import { startTestService } from '../support/service.ts';
import { begin, told } from './support.ts';

const BASE = ['--base', 'HEAD~1', '--on-drift', 'fail'];

async function twoPrompts() {
  const folder = makeRepository(workspaceFiles({ greeting: {}, refund: {} }));
  const service = await startTestService(['greeting', 'refund']);
  const sync = (...words: readonly string[]) => runJson(folder, ['sync', '--yes', ...words], service);
  expect(await sync()).toMatchObject({ exitCode: 0 });
  service.takeWrites();
  return { folder, service, sync };
}

test('a file that is gone since the base is reported, and the service is left alone', async () => {
  const { folder, service, sync } = await twoPrompts();
  git(folder, 'rm', '--quiet', 'prompts/refund.md');
  commitAll(folder, 'Remove it');
  const { exitCode, report } = await sync(...BASE);
  expect(exitCode).toBe(0);
  expect(report.problems).toMatchObject([{ code: 'prompt/gone', severity: 'warning', path: 'prompts/refund.md' }]);
  expect(report.prompts).toMatchObject([{ key: 'greeting', status: 'unchanged' }]);
  expect(service.takeWrites()).toEqual([]);
  expect(service.store.readPrompt('prm_refund', 'staging')?.active_version?.version_number).toBe(1);
});

test('of the prompts that --only leaves out nothing is said', async () => {
  const { folder, sync } = await twoPrompts();
  git(folder, 'rm', '--quiet', 'prompts/refund.md');
  commitAll(folder, 'Remove it');
  const { exitCode, report } = await sync(...BASE, '--only', 'greeting');
  expect([exitCode, report.problems]).toEqual([0, []]);
});

test('a renamed file is the same prompt: not gone, and no drift', async () => {
  const { folder, sync } = await twoPrompts();
  git(folder, 'mv', 'prompts/refund.md', 'prompts/renamed.md');
  commitAll(folder, 'Rename it');
  const { exitCode, report } = await sync(...BASE);
  expect([exitCode, report.problems]).toEqual([0, []]);
  expect(report.prompts).toMatchObject([
    { key: 'greeting', status: 'unchanged', drift: [] },
    { path: 'prompts/renamed.md', status: 'unchanged', drift: [] },
  ]);
});

test('a renamed and edited file: the edit is the head’s own, and drift is told by the prompt’s id', async () => {
  const { folder, service, sync } = await twoPrompts();
  const theirs = service.store.createVersion('prm_refund', { content: 'Theirs.' })!;
  service.store.setActive('prm_refund', { environment: 'staging', versionId: theirs.id });
  git(folder, 'rm', '--quiet', 'prompts/refund.md');
  writeFiles(folder, { 'prompts/elsewhere.md': promptText('refund', { text: 'B' }) });
  commitAll(folder, 'Rename and edit it');
  const { exitCode, report } = await sync(...BASE);
  expect([exitCode, report.problems]).toEqual([3, []]);
  expect(report.prompts).toMatchObject([
    { path: 'prompts/elsewhere.md', status: 'blocked', drift: [{ environment: 'staging', kind: 'outside' }] },
    { key: 'greeting', status: 'unchanged' },
  ]);
});

test('a prompt that is new since the base has no drift', async () => {
  const { folder, sync } = await twoPrompts();
  writeFiles(folder, { 'prompts/third.md': promptText('third') });
  commitAll(folder, 'A third');
  const { report } = await sync(...BASE);
  expect(report.prompts.map(({ drift }) => drift)).toEqual([[], [], []]);
});

test.each(['nowhere', 'f'.repeat(40), '--all'])('a base that does not exist (%s) ends the run', async (ref) => {
  const { service, sync } = await twoPrompts();
  const { exitCode, report } = await sync(`--base=${ref}`);
  expect(exitCode).toBe(1);
  expect(report.problems).toMatchObject([{ code: 'git/unknown-base' }]);
  expect(report.problems[0]!.hint).toContain('fetch-depth: 0');
  expect(service.takeWrites()).toEqual([]);
});

test('a base that a shallow clone does not have ends the run with the same hint', async () => {
  const { folder, service } = await twoPrompts();
  writeFiles(folder, { 'prompts/refund.md': promptText('refund', { text: 'B' }) });
  commitAll(folder, 'Edit');
  const clone = join(makeFolder(), 'clone');
  git(folder, 'clone', '--quiet', '--depth', '1', `file://${folder}`, clone);
  const { exitCode, report } = await runJson(clone, ['sync', '--yes', ...BASE], service);
  expect(exitCode).toBe(1);
  expect(report.problems).toMatchObject([{ code: 'git/unknown-base' }]);
  expect(report.problems[0]!.hint).toContain('fetch-depth: 0');
  expect(service.takeWrites()).toEqual([]);
});

test('a shallow clone that has the base: a warning says what cannot be told there', async () => {
  const story = await begin({ text: 'A' });
  await story.sync();
  story.edit({ text: 'B' });
  story.edit({ text: 'C' });
  const clone = join(makeFolder(), 'clone');
  git(story.folder, 'clone', '--quiet', '--depth', '2', `file://${story.folder}`, clone);
  const ran = await runJson(clone, ['sync', '--yes', '--base', 'HEAD~1'], story.service);
  expect(told(ran)).toBe('exit 0, applied, create made, staging made, git/shallow');
  expect(ran.report.prompts[0]!.drift).toMatchObject([{ kind: 'outside', observed: { made_by: 'git' } }]);
  expect(story.serves('staging')).toBe('v2 C');
});

test('the head as its own base: what differs from it is drift', async () => {
  const story = await begin({ text: 'A' });
  await story.sync();
  story.activate('staging', story.draft('Theirs.'));
  const words = ['--base', 'HEAD', '--on-drift'];
  expect(told(await story.sync(...words, 'fail'))).toBe('exit 3, blocked, staging not_made, guard/drift');
  expect(told(await story.sync(...words, 'overwrite'))).toBe('exit 0, applied, staging made');
  expect(told(await story.sync(...words, 'fail'))).toBe('exit 0, unchanged');
});

test('a base without git', async () => {
  const folder = makeWorkspace(workspaceFiles({ greeting: {} }));
  const service = await startTestService(['greeting']);
  const ran = await runJson(folder, ['sync', '--yes', ...BASE], service);
  expect(ran.exitCode).toBe(1);
  expect(ran.report.problems).toMatchObject([{ code: 'git/needs-repository' }]);
  expect(service.takeWrites()).toEqual([]);
});

test('a base at which the file is not valid: its repair goes live', async () => {
  const story = await begin({ text: 'A' });
  await story.sync();
  writeFiles(story.folder, { 'prompts/greeting.md': '---\nnot: [valid\n---\n\nA\n' });
  commitAll(story.folder, 'Break it');
  expect(await story.sync()).toMatchObject({ exitCode: 1 });
  story.edit({ text: 'B' });
  const ran = await story.sync(...BASE);
  expect(ran.exitCode).toBe(0);
  expect(told(ran)).toContain('git/base-invalid');
  expect(ran.report.prompts).toMatchObject([{ status: 'applied', drift: [] }]);
  expect([story.serves('staging'), story.versions()]).toEqual(['v2 B', 2]);
});
