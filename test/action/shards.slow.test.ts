import { expect, test } from 'vitest';
import { changeService } from '../support/change-service.ts';
import { promptText } from '../support/prompts.ts';
import { scheduleEvent } from './events.ts';
import { makeTeam, type RunOptions, type Team } from './team.ts';

/** Of two shards prm_greeting is in the first one and prm_refund in the second one. */
const PROMPTS = { greeting: {}, refund: {} };

function inShard(shard: string, inputs = {}): RunOptions {
  return { inputs: { shard, ...inputs } };
}

const edits = (text: string) => ({
  'prompts/greeting.md': promptText('greeting', { text }),
  'prompts/refund.md': promptText('refund', { text }),
});

async function synced(): Promise<Team> {
  const team = await makeTeam(PROMPTS);
  await team.runPush(team.pushMain({}));
  team.service.takeWrites();
  return team;
}

/** The first lines of the comments that readers see. */
function titlesIn(team: Team): readonly (string | undefined)[] {
  return team.github.comments(1).map(({ body }) => /^### .*$/m.exec(body)?.[0]);
}

test('Each job of a matrix keeps a comment of its own up to date', async () => {
  const team = await synced();
  team.push('change', edits('Other'));
  const pull = team.openPull('change');
  for (const shard of ['1/2', '2/2', '1/2']) {
    expect(await team.runPull(pull, inShard(shard))).toMatchObject({ exitCode: 0, outputs: { changes: 'true' } });
  }
  expect(titlesIn(team)).toEqual(['### promptsync plan, shard 1 of 2', '### promptsync plan, shard 2 of 2']);
  const [first, second] = team.github.comments(1).map(({ body }) => body);
  expect(first).toContain('`greeting`');
  expect(first).not.toContain('`refund`');
  expect(second).toContain('`refund`');
  await team.runPull(pull);
  expect(titlesIn(team).toSorted()).toEqual(
    ['### promptsync plan', '### promptsync plan, shard 1 of 2', '### promptsync plan, shard 2 of 2'].toSorted(),
  );
});

test('What a shard applies must have been shown in its own comment', async () => {
  const team = await synced();
  team.push('change', edits('Other'));
  const pull = team.openPull('change');
  await team.runPull(pull, inShard('1/2'));
  const merge = team.mergePull(pull);
  const reviewed = { 'require-reviewed-plan': 'true' };
  const first = await team.runPush(merge, inShard('1/2', reviewed));
  expect(first).toMatchObject({ exitCode: 0, outputs: { 'failure-reason': '' } });
  expect(JSON.parse(first.outputs['summary'] ?? '')).toMatchObject({ prompts: 1, applied: 1 });
  const second = await team.runPush(merge, inShard('2/2', reviewed));
  expect(second.outputs['failure-reason']).toBe('refused');
  expect(second.stdout).toContain('#1 has no comment of promptsync with a whole plan');
});

test('A run that is not the newest is superseded in every shard', async () => {
  const team = await synced();
  const old = team.pushMain(edits('Old'));
  team.pushMain(edits('New'));
  for (const shard of ['1/2', '2/2']) {
    expect((await team.runPush(old, inShard(shard))).outputs['failure-reason']).toBe('superseded');
  }
  expect(team.service.takeWrites()).toEqual([]);
});

test('Each shard keeps an issue about its own drift', async () => {
  const team = await synced();
  const commit = team.pushMain({});
  await changeService(team.service.baseUrl, 'greeting', 'staging', 'By hand');
  const check = (shard: string) =>
    team.run(
      'schedule',
      scheduleEvent(),
      { ref: 'refs/heads/main', commit },
      inShard(shard, { 'drift-issue': 'true' }),
    );
  expect((await check('1/2')).outputs['failure-reason']).toBe('drift');
  expect((await check('2/2')).outputs['failure-reason']).toBe('');
  const open = () => team.github.issues().filter(({ state }) => state === 'open');
  expect(open().map(({ title }) => title)).toEqual(['promptsync: the service differs from the files (shard 1 of 2)']);
});

test('A shard that cannot be is told by name', async () => {
  const team = await makeTeam(PROMPTS);
  const ran = await team.runPush(team.pushMain({}), inShard('3/2'));
  expect(ran).toMatchObject({ exitCode: 1, outputs: { 'failure-reason': 'invalid' } });
  expect(ran.stdout).toContain('The input `shard` is not valid: expected I/N such as 2/5');
});
