import { expect, test } from 'vitest';
import { CONFIG } from '../../support/prompts.ts';
import { pushEvent, scheduleEvent } from './support.ts';
import { greets, makeTeam } from './team.ts';

test('An action run for an outdated or unmerged commit writes nothing and names the newest commit', async () => {
  const team = await makeTeam({ greeting: {} });
  const older = team.pushMain(greets('Old'));
  await team.runPush(older);
  const newer = team.pushMain(greets('New'));
  expect((await team.runPush(newer)).exitCode).toBe(0);
  team.service.takeWrites();
  const refused = await team.runPush(older);
  expect(refused).toMatchObject({ exitCode: 1, outputs: { 'failure-reason': 'superseded' } });
  expect(refused.stdout).toContain(`is not the newest one on main. The newest commit (${newer.slice(0, 12)})`);
  const hotFix = team.push('hot-fix', greets('Hot fix'));
  const dispatch = (commit: string, inputs = {}) => {
    const at = { ref: 'refs/tags/hot-fix', commit };
    return team.run('workflow_dispatch', scheduleEvent(), at, { inputs: { mode: 'sync', ...inputs } });
  };
  for (const commit of [older, hotFix]) expect((await dispatch(commit)).exitCode).toBe(1);
  expect(team.service.takeWrites()).toEqual([]);
  expect(await dispatch(hotFix, { 'any-commit': 'true' })).toMatchObject({ exitCode: 0 });
  expect(team.service.takeWrites()).toHaveLength(3);
});

test('If a branch is configured, the action applies pushes to that branch but only plans pushes to the default branch', async () => {
  const team = await makeTeam({ greeting: {} }, `${CONFIG}branch: live\n`);
  const commit = team.push('live', greets('Live'));
  expect((await team.runPush(team.pushMain({}))).stdout).toContain('Plan: ');
  expect(team.service.takeWrites()).toEqual([]);
  await team.run('push', pushEvent(commit), { ref: 'refs/heads/live', commit });
  expect(team.service.takeWrites()).toHaveLength(3);
});
