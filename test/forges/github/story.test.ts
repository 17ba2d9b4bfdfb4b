import { expect, test } from 'vitest';
import { promptText } from '../../support/prompts.ts';
import { makeTeam } from './team.ts';

const both = { staging: 'latest', production: 1 };

const reviewed = { inputs: { 'require-reviewed-plan': 'true' } };

test('The action reviews a pull request, applies its merge once, and keeps one comment about both', async () => {
  const team = await makeTeam({ greeting: { text: 'Hello {{name}}.' }, farewell: {} });
  const { github, service, push, pushMain, openPull, review, mergePull, runPull, runPush } = team;
  expect(await runPush(pushMain({}))).toMatchObject({ exitCode: 0, outputs: { 'failure-reason': '' } });
  service.takeWrites();
  /** Returns the text of the greeting that an environment serves. */
  const readServed = (environment: string) =>
    service.store.readPrompt('prm_greeting', environment)?.active_version?.content;

  const opened = await review({ 'prompts/greeting.md': promptText('greeting', { pins: both, text: 'Hi {{name}}.' }) });
  expect(opened).toMatchObject({ exitCode: 0, outputs: { changes: 'true', 'failure-reason': '' } });
  const [first] = github.comments(1);
  expect(first?.body).toContain('| `greeting` | `staging`: `v1` → new version |');
  expect(first?.body).toContain('| `greeting` | `production`: none → `v1` |');
  expect(first?.body).toContain('\n-Hello {{name}}.\n+Hi {{name}}.\n');

  push('change', { 'prompts/greeting.md': promptText('greeting', { pins: both, text: 'Hi {{name}} and {{you}}.' }) });
  const pull = openPull('change');
  // One run uses the committed bundle, as on a runner.
  const planned = await runPull(pull, { bundled: true });
  const [second, ...others] = github.comments(1);
  expect(others).toEqual([]);
  expect(second?.id).toBe(first?.id);
  expect(second?.body).toContain('- `greeting`: `staging`: the variable `{{you}}` is added.');
  expect(second?.body).toContain(`commit \`${pull.head.slice(0, 12)}\``);
  expect(second?.body).toContain(planned.outputs['plan-digest']?.slice(0, 'sha256:'.length + 12));
  expect(service.takeWrites()).toEqual([]);

  const merged = mergePull(pull);
  const applied = await runPush(merged, reviewed);
  expect(applied).toMatchObject({ exitCode: 0, outputs: { changes: 'true', 'failure-reason': '' } });
  expect(applied.outputs['plan-digest']).toBe(planned.outputs['plan-digest']);
  expect(service.takeWrites()).toEqual([
    'POST prm_greeting versions',
    'set-active prm_greeting promptsync',
    'set-active prm_greeting staging',
    'set-active prm_greeting production',
  ]);
  expect(['staging', 'production'].map(readServed)).toEqual(['Hi {{name}} and {{you}}.', 'Hello {{name}}.']);

  const again = await runPush(merged);
  expect(again).toMatchObject({ exitCode: 0, outputs: { changes: 'false' } });
  expect(again.summary).toContain('nothing to do: 2 prompts in sync.');
  expect(service.takeWrites()).toEqual([]);
  expect(github.comments(1)).toMatchObject([{ id: first?.id, body: expect.stringContaining('promptsync applied, ') }]);
  expect(github.comments(1)[0]?.body).toContain('| `greeting` | `staging`: `v1` → `v2` |');
});
