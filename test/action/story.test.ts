import { describe, expect, test } from 'vitest';
import { promptText } from '../support/prompts.ts';
import { KEY, type TestService } from '../support/service.ts';
import { makeTeam } from './team.ts';

const both = { staging: 'latest', production: 1 };

test('A pull request is opened, pushed to again, and merged', async () => {
  const { github, service, push, pushMain, openPull, mergePull, runPull, runPush } = await makeTeam({
    greeting: { text: 'Hello {{name}}.' },
    farewell: {},
  });
  expect(await runPush(pushMain({}))).toMatchObject({ exitCode: 0, outputs: { 'failure-reason': '' } });
  service.takeWrites();

  push('change', { 'prompts/greeting.md': promptText('greeting', { pins: both, text: 'Hi {{name}}.' }) });
  const opened = await runPull(openPull('change'));
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

test('A re-run of an older commit, after a newer one was applied, writes nothing', async () => {
  const { service, pushMain, runPush } = await makeTeam({ greeting: {} });
  const older = pushMain({});
  const newer = pushMain({ 'prompts/greeting.md': promptText('greeting', { text: 'New' }) });
  for (const commit of [older, newer]) await runPush(commit);
  service.takeWrites();
  const ran = await runPush(older);
  expect(ran).toMatchObject({ exitCode: 1, outputs: { 'failure-reason': 'superseded' } });
  expect(ran.stdout).toContain(newer);
  expect(service.takeWrites()).toEqual([]);
});

describe('The comment', () => {
  test('says so when there is nothing to do, and stays the one', async () => {
    const { github, push, pushMain, openPull, runPull, runPush } = await makeTeam({ greeting: {} });
    await runPush(pushMain({}));
    push('change', { 'prompts/greeting.md': promptText('greeting', { text: 'Other' }) });
    await runPull(openPull('change'));
    push('change', { 'prompts/greeting.md': promptText('greeting'), 'README.md': 'Words' });
    const ran = await runPull(openPull('change'));
    expect(ran.outputs['changes']).toBe('false');
    expect(github.comments(1).map(({ body }) => body)).toEqual([
      expect.stringContaining('nothing to do: 1 prompt in sync.'),
    ]);
  });

  test.each<[string, Record<string, string>, boolean, number]>([
    ['is not written when there is nothing to do and only changes are wanted', { comment: 'changes' }, false, 0],
    ['is written for changes when only changes are wanted', { comment: 'changes' }, true, 1],
    ['is not written when none is wanted', { comment: 'never' }, true, 0],
    ['is not written without a token', { 'github-token': '' }, true, 0],
  ])('%s', async (_, inputs, changes, count) => {
    const { github, push, pushMain, openPull, runPull, runPush } = await makeTeam({ greeting: {} });
    await runPush(pushMain({}));
    push('change', changes ? { 'prompts/greeting.md': promptText('greeting', { text: 'Other' }) } : { x: 'y' });
    const ran = await runPull(openPull('change'), { inputs });
    expect(ran.exitCode).toBe(0);
    expect(ran.outputs['changes']).toBe(String(changes));
    expect(github.comments(1)).toHaveLength(count);
  });

  test('shows the problems of invalid files, each annotated at its line, and no plan', async () => {
    const { github, push, openPull, runPull } = await makeTeam({ greeting: {} });
    push('change', { 'prompts/greeting.md': '---\nid: prm_greeting\nkey: greeting\nnmae: x\n---\nText\n' });
    const ran = await runPull(openPull('change'));
    expect(ran).toMatchObject({ exitCode: 1, outputs: { 'failure-reason': 'invalid', 'plan-digest': '' } });
    expect(ran.stdout).toMatch(
      /^::error title=prompt\/unknown-field,file=prompts\/greeting\.md,line=4,col=1::The field "nmae" is not known\./m,
    );
    expect(github.comments(1)[0]?.body).toContain('The field "nmae" is not known.');
    expect(github.comments(1)[0]?.body).not.toContain('<!-- plan');
  });

  test('is one for each working directory', async () => {
    const team = await makeTeam({ greeting: {} });
    const files = { 'b/promptsync.yaml': 'prompts: ["*.md"]\n', 'b/other.md': promptText('greeting', { text: 'B' }) };
    team.push('change', files);
    const pull = team.openPull('change');
    await team.runPull(pull);
    const ran = await team.runPull(pull, { inputs: { 'working-directory': 'b' } });
    await team.runPull(pull, { inputs: { 'working-directory': './b/' } });
    expect(team.github.comments(1)).toHaveLength(2);
    expect(team.github.comments(1)[1]?.body).toContain('### promptsync plan in `b`');
    expect(ran.stdout).toContain('other.md');
  });

  test('of an older run does not replace that of a newer commit', async () => {
    const { github, push, openPull, runPull } = await makeTeam({ greeting: {} });
    push('change', { 'prompts/greeting.md': promptText('greeting', { text: 'One' }) });
    const older = openPull('change');
    push('change', { 'prompts/greeting.md': promptText('greeting', { text: 'Two' }) });
    await runPull(openPull('change'));
    const [before] = github.comments(1);
    expect((await runPull(older)).exitCode).toBe(0);
    expect(github.comments(1)).toEqual([before]);
  });
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
