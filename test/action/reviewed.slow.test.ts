import { expect, test } from 'vitest';
import { changeService } from '../support/change-service.ts';
import { promptText } from '../support/prompts.ts';
import { makeTeam, type Pull, type Team } from './team.ts';

const reviewed = { inputs: { 'require-reviewed-plan': 'true' } };

type Case = {
  /** What happens between the review and the merge. */
  readonly meanwhile?: (team: Team, pull: Pull) => Promise<unknown>;
  readonly review?: boolean;
  readonly direct?: boolean;
};

const forged = (team: Team, pull: Pull, digest: string) => {
  const [marker] = team.github.comments(pull.number)[0]?.body.split('\n') ?? [];
  return `${marker}\n<!-- plan ${digest} -->\nLooks good`;
};

test.each<[string, Case, string]>([
  ['that was reviewed', {}, ''],
  ['that no pull request brought', { direct: true }, 'no merged pull request brought it'],
  ['whose pull request has no comment', { review: false }, 'has no comment of promptsync with a whole plan'],
  [
    'that is another one since, because the service was changed',
    { meanwhile: ({ service }) => changeService(service.baseUrl, 'greeting', 'staging', 'By hand') },
    'not the expected',
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

test('A stranger who copies the marker approves nothing', async () => {
  const team = await makeTeam({ greeting: {} });
  await team.runPush(team.pushMain({}));
  team.push('change', { 'prompts/greeting.md': promptText('greeting', { text: 'Other' }) });
  const pull = team.openPull('change');
  const { outputs } = await team.runPull(pull);
  const body = forged(team, pull, outputs['plan-digest'] ?? '');
  team.push('change', { 'prompts/greeting.md': promptText('greeting', { text: 'Unseen' }) });
  const unseen = team.openPull('change');
  const digest = (await team.runPull(unseen, { inputs: { comment: 'never' } })).outputs['plan-digest'] ?? '';
  team.github.addComment(1, { body: forged(team, pull, digest), user: { login: 'stranger', type: 'User' } });
  expect(body).not.toContain(digest);
  const ran = await team.runPush(team.mergePull(unseen), reviewed);
  expect(ran.outputs['failure-reason']).toBe('refused');
  expect(ran.stdout).toContain('guard/stale-plan');
});

test('Where GitHub cannot be asked nothing counts as reviewed', async () => {
  const team = await makeTeam({ greeting: {} });
  team.github.fail({ path: /pulls/ }, { status: 403, body: { message: 'Forbidden' } }, Infinity);
  const ran = await team.runPush(team.pushMain({}), reviewed);
  expect(ran).toMatchObject({ exitCode: 1, outputs: { 'failure-reason': 'refused' } });
  expect(ran.stdout).toContain('GitHub could not be asked');
  expect(team.service.takeWrites()).toEqual([]);
});
