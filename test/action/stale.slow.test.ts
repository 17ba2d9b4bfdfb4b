import { describe, expect, test } from 'vitest';
import { git } from '../support/folder.ts';
import { promptText } from '../support/prompts.ts';
import { makeTeam, type Team } from './team.ts';

const withText = (text: string) => ({ 'prompts/greeting.md': promptText('greeting', { text }) });
const unreachable = (workspace: string) => git(workspace, 'remote', 'set-url', 'origin', '/nowhere/at/all');

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

  test.each([1, 2])('is known to be one in a clone of depth %s as well', async (depth) => {
    const { team, older } = await twoCommits();
    const ran = await team.runPush(older, { depth });
    expect(ran.outputs['failure-reason']).toBe('superseded');
    expect(team.service.takeWrites()).toEqual([]);
  });

  test('is told by GitHub where the clone cannot ask its remote', async () => {
    const { team, older, newer } = await twoCommits();
    team.github.setBranch('main', newer);
    const stale = await team.runPush(older, { prepare: unreachable });
    expect(stale.outputs['failure-reason']).toBe('superseded');
    expect(team.service.takeWrites()).toEqual([]);
    expect((await team.runPush(newer, { prepare: unreachable })).exitCode).toBe(0);
  });

  test('is refused where neither can tell', async () => {
    const { team, older } = await twoCommits();
    const ran = await team.runPush(older, { prepare: unreachable, inputs: { 'github-token': '' } });
    expect(ran).toMatchObject({ exitCode: 1, outputs: { 'failure-reason': 'refused' } });
    expect(ran.stdout).toContain('guard/unknown-newest');
    expect(team.service.takeWrites()).toEqual([]);
  });

  test('is told by the commits of the versions where main was moved back', async () => {
    const { team, older, newer } = await twoCommits();
    git(team.origin, 'update-ref', 'refs/heads/kept', newer);
    git(team.origin, 'update-ref', 'refs/heads/main', older);
    const ran = await team.runPush(older);
    expect(ran.outputs['failure-reason']).toBe('superseded');
    expect(ran.stdout).toContain(`the service already has versions of ${newer}`);
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
