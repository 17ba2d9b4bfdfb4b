import { expect, test } from 'vitest';
import { promptText } from '../support/prompts.ts';
import { KEY, type TestService } from '../support/service.ts';
import { makeTeam } from './team.ts';

const both = { staging: 'latest', production: 1 };

test('A pull request is opened, pushed to again, and merged', async () => {
  const { github, service, push, pushMain, openPull, review, mergePull, runPull, runPush } = await makeTeam({
    greeting: { text: 'Hello {{name}}.' },
    farewell: {},
  });
  expect(await runPush(pushMain({}))).toMatchObject({ exitCode: 0, outputs: { 'failure-reason': '' } });
  service.takeWrites();

  const opened = await review({ 'prompts/greeting.md': promptText('greeting', { pins: both, text: 'Hi {{name}}.' }) });
  expect(opened).toMatchObject({ exitCode: 0, outputs: { changes: 'true', 'failure-reason': '' } });
  const [first] = github.comments(1);
  expect(first?.body).toContain('| `greeting` | `staging: v1 → new version` |');
  expect(first?.body).toContain('| `greeting` | `production: none → v1` |');
  expect(first?.body).toContain('-Hello {{name}}.\n+Hi {{name}}.');

  push('change', { 'prompts/greeting.md': promptText('greeting', { pins: both, text: 'Hi {{name}} and {{you}}.' }) });
  const pull = openPull('change');
  const planned = await runPull(pull);
  const [second, ...others] = github.comments(1);
  expect(others).toEqual([]);
  expect(second?.id).toBe(first?.id);
  expect(second?.body).toContain('- `greeting`: `staging`: the variable `{{you}}` is added.');
  expect(second?.body).toContain(`commit \`${pull.head.slice(0, 12)}\``);
  expect(second?.body).toContain(planned.outputs['plan-digest']);
  expect(service.takeWrites()).toEqual([]);

  const merged = mergePull(pull);
  const applied = await runPush(merged, { inputs: { 'require-reviewed-plan': 'true' } });
  expect(applied).toMatchObject({ exitCode: 0, outputs: { changes: 'true', 'failure-reason': '' } });
  expect(applied.outputs['plan-digest']).toBe(planned.outputs['plan-digest']);
  expect(service.takeWrites()).toEqual([
    'POST prm_greeting versions',
    'set-active prm_greeting promptsync',
    'set-active prm_greeting staging',
    'set-active prm_greeting production',
  ]);
  expect(await servedBy(service)).toEqual({ staging: 'Hi {{name}} and {{you}}.', production: 'Hello {{name}}.' });

  const again = await runPush(merged);
  expect(again).toMatchObject({ exitCode: 0, outputs: { changes: 'false' } });
  expect(again.summary).toContain('nothing to do: 2 prompts in sync.');
  expect(service.takeWrites()).toEqual([]);
});

/** By environment, what the greeting serves. */
async function servedBy({ baseUrl }: TestService): Promise<Record<string, string>> {
  const read = async (environment: string): Promise<[string, string]> => {
    const url = `${baseUrl}/v1/integration/prompts/prm_greeting?environment=${environment}`;
    const answer = await fetch(url, { headers: { 'x-api-key': KEY } });
    const { active_version: active } = (await answer.json()) as { active_version: { content: string } };
    return [environment, active.content];
  };
  return Object.fromEntries(await Promise.all(['staging', 'production'].map(read)));
}
