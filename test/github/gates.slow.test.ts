import { describe, expect, test } from 'vitest';
import { changeService } from '../support/service.ts';
import type { GitHubDouble } from '../support/github-api.ts';
import { promptText } from '../support/prompts.ts';
import { greets, makeTeam, type Team } from './team.ts';

/** Two commits on main, the newer one applied. */
async function twoCommits(): Promise<{ readonly team: Team; readonly older: string; readonly newer: string }> {
  const team = await makeTeam({ greeting: {} });
  const older = team.pushMain(greets('Old'));
  await team.runPush(older);
  const newer = team.pushMain(greets('New'));
  expect((await team.runPush(newer)).exitCode).toBe(0);
  team.service.takeWrites();
  return { team, older, newer };
}

describe('A run of an older commit', () => {
  test('after a newer one was applied writes nothing, and says which commit is the newest', async () => {
    const { team, older, newer } = await twoCommits();
    const ran = await team.runPush(older);
    expect(ran).toMatchObject({ exitCode: 1, outputs: { 'failure-reason': 'superseded' } });
    expect(ran.stdout).toContain(`refs/heads/main is at ${newer}`);
    expect(team.service.takeWrites()).toEqual([]);
  });

  test('that has nothing to write is in order', async () => {
    const { team, newer } = await twoCommits();
    team.pushMain({ 'README.md': 'Words' });
    expect(await team.runPush(newer)).toMatchObject({ exitCode: 0, outputs: { 'failure-reason': '' } });
  });
});

test('A revert that is merged goes back, and makes no version', async () => {
  const { team } = await twoCommits();
  const reverted = team.pushMain(greets('Old'), 'Revert');
  expect((await team.runPush(reverted)).exitCode).toBe(0);
  expect(team.service.takeWrites()).toEqual([
    'set-active prm_greeting promptsync-look',
    'set-active prm_greeting staging',
  ]);
});

const reviewed = { inputs: { 'require-reviewed-plan': 'true' } };

test.each<[string, (team: Team) => Promise<unknown>, string]>([
  ['that was reviewed', () => Promise.resolve(), ''],
  [
    'that is another one since, because the service was changed',
    ({ service }) => changeService(service.baseUrl, 'greeting', 'staging', 'By hand'),
    '#1 has shown another plan',
  ],
])('With require-reviewed-plan a plan %s', async (_, meanwhile, problem) => {
  const team = await makeTeam({ greeting: {} });
  await team.runPush(team.pushMain({}));
  team.push('change', greets('Other'));
  const pull = team.openPull('change');
  await team.runPull(pull);
  await meanwhile(team);
  team.service.takeWrites();
  const ran = await team.runPush(team.mergePull(pull), reviewed);
  expect(ran.outputs['failure-reason']).toBe(problem === '' ? '' : 'refused');
  expect(ran.stdout).toContain(problem);
  expect(team.service.takeWrites().length > 0).toBe(problem === '');
});

test('A stranger who copies the comment approves nothing', async () => {
  const team = await makeTeam({ greeting: {} });
  await team.runPush(team.pushMain({}));
  await team.review(greets('Other'));
  const [seen] = team.github.comments(1);
  team.push('change', greets('Unseen'));
  const unseen = team.openPull('change');
  await team.runPull(unseen);
  const [own] = team.github.comments(1);
  team.github.addComment(1, { body: own?.body ?? '', user: { login: 'stranger', type: 'User' } });
  await editComment(team.github, own?.id ?? 0, seen?.body ?? '');
  const ran = await team.runPush(team.mergePull(unseen), reviewed);
  expect(ran.outputs['failure-reason']).toBe('refused');
  expect(ran.stdout).toContain('#1 has shown another plan');
});

test('Two pull requests that are merged one right after the other are applied by the run of the second', async () => {
  const { service, push, pushMain, openPull, mergePull, runPull, runPush } = await makeTeam({
    greeting: {},
    farewell: {},
  });
  await runPush(pushMain({}));
  push('one', greets('One'));
  push('two', { 'prompts/farewell.md': promptText('farewell', { text: 'Two' }) });
  for (const branch of ['one', 'two']) await runPull(openPull(branch));
  service.takeWrites();
  const first = mergePull(openPull('one'));
  const second = mergePull(openPull('two'));
  expect((await runPush(first, reviewed)).outputs['failure-reason']).toBe('superseded');
  expect(service.takeWrites()).toEqual([]);
  expect((await runPush(second, reviewed)).outputs['failure-reason']).toBe('');
  expect(service.takeWrites().filter((write) => write.endsWith('versions'))).toHaveLength(2);
});

/** Puts a comment of promptsync's back to what it was. */
async function editComment({ apiUrl, token }: GitHubDouble, id: number, body: string): Promise<void> {
  const headers = { authorization: `bearer ${token}`, 'content-type': 'application/json' };
  const url = `${apiUrl}/repos/acme/prompts/issues/comments/${id}`;
  const { status } = await fetch(url, { method: 'PATCH', headers, body: JSON.stringify({ body }) });
  expect(status).toBe(200);
}
