import { describe, expect, test } from 'vitest';
import { CONFIG } from '../../support/prompts.ts';
import { pushEvent, scheduleEvent } from './support.ts';
import { greets, makeTeam, type Team } from './team.ts';

/** Makes a team with two commits on main. Both were applied in order. */
async function twoCommits(): Promise<{ readonly team: Team; readonly older: string; readonly newer: string }> {
  const team = await makeTeam({ greeting: {} });
  const older = team.pushMain(greets('Old'));
  await team.runPush(older);
  const newer = team.pushMain(greets('New'));
  expect((await team.runPush(newer)).exitCode).toBe(0);
  team.service.takeWrites();
  return { team, older, newer };
}

describe('a run of an older commit', () => {
  test('An action run for an outdated commit writes nothing and names the newest commit', async () => {
    const { team, older, newer } = await twoCommits();
    const ran = await team.runPush(older);
    expect(ran).toMatchObject({ exitCode: 1, outputs: { 'failure-reason': 'superseded' } });
    expect(ran.stdout).toContain(`is not the newest one on main. The newest commit (${newer.slice(0, 12)})`);
    expect(team.service.takeWrites()).toEqual([]);
  });

  test('An action run for an outdated commit succeeds if it has nothing to write', async () => {
    const { team, newer } = await twoCommits();
    team.pushMain({ 'README.md': 'Words' });
    expect(await team.runPush(newer)).toMatchObject({ exitCode: 0, outputs: { 'failure-reason': '' } });
  });

  test('The action applies a merged prompt even if a newer commit on the branch changed only other files', async () => {
    const team = await makeTeam({ greeting: {} });
    const merged = team.pushMain({});
    team.pushMain({ 'CHANGELOG.md': 'Words' }, 'Release [skip ci]');
    const ran = await team.runPush(merged, { depth: 1 });
    expect(ran).toMatchObject({ exitCode: 0, outputs: { 'failure-reason': '' } });
    expect(team.service.takeWrites()).toHaveLength(3);
  });

  test('A manual run for an older or unmerged commit writes nothing unless any-commit is enabled', async () => {
    const { team, older } = await twoCommits();
    const at = { ref: 'refs/tags/hot-fix', commit: team.push('hot-fix', greets('Hot fix')) };
    const dispatch = (commit: string, inputs = {}) =>
      team.run('workflow_dispatch', scheduleEvent(), { ...at, commit }, { inputs: { mode: 'sync', ...inputs } });
    for (const commit of [older, at.commit]) expect((await dispatch(commit)).exitCode).toBe(1);
    expect(team.service.takeWrites()).toEqual([]);
    expect(await dispatch(at.commit, { 'any-commit': 'true' })).toMatchObject({ exitCode: 0 });
    expect(team.service.takeWrites()).toHaveLength(3);
  });
});

test('If a branch is configured, the action applies pushes to that branch but only plans pushes to the default branch', async () => {
  const team = await makeTeam({ greeting: {} }, `${CONFIG}branch: live\n`);
  const commit = team.push('live', greets('Live'));
  expect((await team.runPush(team.pushMain({}))).stdout).toContain('Plan: ');
  expect(team.service.takeWrites()).toEqual([]);
  await team.run('push', pushEvent(commit), { ref: 'refs/heads/live', commit });
  expect(team.service.takeWrites()).toHaveLength(3);
});

test('A merged revert reactivates the old version without creating a new version', async () => {
  const { team } = await twoCommits();
  const reverted = team.pushMain(greets('Old'), 'Revert');
  expect((await team.runPush(reverted)).exitCode).toBe(0);
  expect(team.service.takeWrites()).toEqual([
    'set-active prm_greeting promptsync-look',
    'set-active prm_greeting staging',
  ]);
});
