import { expect, test } from 'vitest';
import { changeService } from '../support/service.ts';
import type { GitHubDouble } from '../support/github-api.ts';
import { promptText } from '../support/prompts.ts';
import { makeTeam, type Pull, type Team } from './team.ts';

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

test('Where GitHub cannot be asked nothing counts as reviewed', async () => {
  const team = await makeTeam({ greeting: {} });
  team.github.fail({ path: /pulls/ }, { status: 403, body: { message: 'Forbidden' } }, Infinity);
  const ran = await team.runPush(team.pushMain({}), reviewed);
  expect(ran).toMatchObject({ exitCode: 1, outputs: { 'failure-reason': 'refused' } });
  expect(ran.stdout).toContain('GitHub could not be asked');
  expect(team.service.takeWrites()).toEqual([]);
});

/** Puts a comment of promptsync's back to what it was. */
async function editComment({ apiUrl, token }: GitHubDouble, id: number, body: string): Promise<void> {
  const headers = { authorization: `bearer ${token}`, 'content-type': 'application/json' };
  const url = `${apiUrl}/repos/acme/prompts/issues/comments/${id}`;
  const { status } = await fetch(url, { method: 'PATCH', headers, body: JSON.stringify({ body }) });
  expect(status).toBe(200);
}
