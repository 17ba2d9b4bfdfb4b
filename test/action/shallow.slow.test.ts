import { expect, test } from 'vitest';
import { changeService } from '../support/service.ts';
import { git } from '../support/folder.ts';
import { promptText } from '../support/prompts.ts';
import { makeTeam } from './team.ts';

const changed = { 'prompts/greeting.md': promptText('greeting', { text: 'Other' }) };
const cutOff = (workspace: string) => git(workspace, 'remote', 'set-url', 'origin', '/nowhere/at/all');

test('A clone of depth 1 is completed: the plan is the same, drift and all', async () => {
  const { service, push, pushMain, openPull, runPull, runPush } = await makeTeam({ greeting: {} });
  await runPush(pushMain({}), { depth: 1 });
  await changeService(service.baseUrl, 'greeting', 'staging', 'By hand');
  push('change', changed);
  const pull = openPull('change');
  const [whole, shallow] = [await runPull(pull), await runPull(pull, { depth: 1 })];
  expect(shallow.outputs['plan-digest']).toBe(whole.outputs['plan-digest']);
  expect(shallow.summary).toBe(whole.summary);
  expect(whole.summary).toContain('changed outside of git');
});

test('A clone of depth 1 notes the commit that last touched a file', async () => {
  const { service, pushMain, runPush } = await makeTeam({ greeting: {} });
  const touched = pushMain(changed);
  const later = pushMain({ 'README.md': 'Words' });
  await runPush(later, { depth: 1 });
  const bodies = JSON.stringify(service.requests.map(({ body }) => body));
  expect(bodies).toContain(touched);
  expect(bodies).not.toContain(later);
});

test('A clone of depth 1 that cannot be completed says fetch-depth: 0', async () => {
  const { push, openPull, runPull } = await makeTeam({ greeting: {} });
  push('change', changed);
  const ran = await runPull(openPull('change'), { depth: 1, prepare: cutOff });
  expect(ran).toMatchObject({ exitCode: 1, outputs: { 'failure-reason': 'invalid' } });
  expect(ran.stdout).toContain('fetch-depth: 0');
});

test('The branch itself, instead of its merge, is compared with where it began', async () => {
  const { push, pushMain, openPull, run } = await makeTeam({ greeting: {}, farewell: {} });
  push('change', changed);
  const pull = openPull('change');
  pushMain({ 'prompts/farewell.md': promptText('farewell', { text: 'Bye' }) });
  const { summary } = await run('pull_request', pull.event, { ref: 'refs/pull/1/merge', commit: pull.head });
  expect(summary).toContain('`staging: none → new version`');
});
