import { describe, expect, test } from 'vitest';
import { changeService } from '../support/change-service.ts';
import type { GitHubDouble } from '../support/github-api.ts';
import { promptText } from '../support/prompts.ts';
import { makeTeam, type Pull, type Team } from './team.ts';

const withText = (text: string) => ({ 'prompts/greeting.md': promptText('greeting', { text }) });

/** Two commits on main, the newer one applied. */
async function twoCommits(): Promise<{ readonly team: Team; readonly older: string; readonly newer: string }> {
  const team = await makeTeam({ greeting: {} });
  const older = team.pushMain(withText('Old'));
  await team.runPush(older);
  const newer = team.pushMain(withText('New'));
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

  test('before the newer one was applied writes nothing, and the newer one applies both', async () => {
    const { team } = await twoCommits();
    const skipped = team.pushMain(withText('Newer'));
    const newest = team.pushMain({ 'prompts/greeting.md': promptText('greeting', { text: 'Newer', name: 'Name' }) });
    expect((await team.runPush(skipped)).outputs['failure-reason']).toBe('superseded');
    expect(team.service.takeWrites()).toEqual([]);
    expect((await team.runPush(newest)).exitCode).toBe(0);
    expect(team.service.takeWrites()).toEqual([
      'POST prm_greeting versions',
      'set-active prm_greeting promptsync',
      'PATCH prm_greeting {"name":"Name"}',
      'set-active prm_greeting staging',
    ]);
  });

  test('is known to be one in a clone of depth 1 as well', async () => {
    const { team, older } = await twoCommits();
    const ran = await team.runPush(older, { depth: 1 });
    expect(ran.outputs['failure-reason']).toBe('superseded');
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
  const reverted = team.pushMain(withText('Old'), 'Revert');
  expect((await team.runPush(reverted)).exitCode).toBe(0);
  expect(team.service.takeWrites()).toEqual([
    'set-active prm_greeting promptsync-look',
    'set-active prm_greeting staging',
  ]);
});

const reviewed = { inputs: { 'require-reviewed-plan': 'true' } };

type Case = {
  /** What happens between the review and the merge. */
  readonly meanwhile?: (team: Team, pull: Pull) => Promise<unknown>;
  readonly review?: boolean;
  readonly direct?: boolean;
};

test.each<[string, Case, string]>([
  ['that was reviewed', {}, ''],
  ['that no pull request brought', { direct: true }, 'no merged pull request brought it'],
  ['whose pull request has no comment', { review: false }, 'has no comment of promptsync with a whole plan'],
  [
    'that is another one since, because the service was changed',
    { meanwhile: ({ service }) => changeService(service.baseUrl, 'greeting', 'staging', 'By hand') },
    '#1 has shown another plan',
  ],
])('With require-reviewed-plan a plan %s', async (_, { meanwhile, review = true, direct = false }, problem) => {
  const team = await makeTeam({ greeting: {} });
  await team.runPush(team.pushMain({}));
  const files = { 'prompts/greeting.md': promptText('greeting', { text: 'Other' }) };
  team.push('change', files);
  const pull = team.openPull('change');
  if (review) await team.runPull(pull);
  await meanwhile?.(team, pull);
  team.service.takeWrites();
  const ran = await team.runPush(direct ? team.pushMain(files) : team.mergePull(pull), reviewed);
  expect(ran.outputs['failure-reason']).toBe(problem === '' ? '' : 'refused');
  expect(ran.stdout).toContain(problem);
  expect(team.service.takeWrites().length > 0).toBe(problem === '');
});

test('A stranger who copies the comment approves nothing', async () => {
  const team = await makeTeam({ greeting: {} });
  await team.runPush(team.pushMain({}));
  team.push('change', { 'prompts/greeting.md': promptText('greeting', { text: 'Other' }) });
  await team.runPull(team.openPull('change'));
  const [seen] = team.github.comments(1);
  team.push('change', { 'prompts/greeting.md': promptText('greeting', { text: 'Unseen' }) });
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
  push('one', { 'prompts/greeting.md': promptText('greeting', { text: 'One' }) });
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
