import { expect, test } from 'vitest';
import { changeService } from '../../support/service.ts';
import { promptText } from '../../support/prompts.ts';
import { scheduleEvent } from './support.ts';
import { greets, makeTeam, type RunOptions, type Team } from './team.ts';

const rolling = { inputs: { 'drift-issue': 'true' } };
const byHand = ({ service }: Team) => changeService(service.baseUrl, 'greeting', 'staging', 'By hand');

/** Makes a team in sync. `check` starts its scheduled run. */
async function inSync() {
  const team = await makeTeam({ greeting: {}, farewell: {} });
  const commit = team.pushMain({});
  await team.runPush(commit);
  team.service.takeWrites();
  team.github.requests.length = 0;
  const check = (options?: RunOptions, at = commit) =>
    team.run('schedule', scheduleEvent(), { ref: 'refs/heads/main', commit: at }, options);
  return { team, check };
}

test('A scheduled run reports changes made in the service and merges that were never applied, and writes nothing', async () => {
  const { team, check } = await inSync();
  expect(await check()).toMatchObject({ exitCode: 0, outputs: { changes: 'false', 'failure-reason': '' } });
  await byHand(team);
  team.service.takeWrites();
  // A limit that would block a sync does not hide the drift.
  const ran = await check({ inputs: { 'on-drift': 'fail', 'max-changes': '0' } });
  expect(ran).toMatchObject({ exitCode: 1, outputs: { 'failure-reason': 'drift' } });
  expect(ran.stdout).toMatch(
    /^::error title=action\/drift-found::promptsync found differences between the service and the files for 1 prompt\./m,
  );
  expect(ran.summary).toMatch(/^- `greeting`: .*`staging`.*`v2`.*`v1`/m);
  expect(ran.summary).not.toContain('What would change');

  team.service.store.registerPrompt({ id: 'prm_new', projectId: 'project', key: 'new', name: 'new' });
  const merged = team.pushMain({ ...greets('Merged'), 'prompts/new.md': promptText('new') });
  const { summary, outputs } = await check({}, merged);
  expect(outputs['failure-reason']).toBe('drift');
  for (const key of ['greeting', 'new']) expect(summary).toMatch(new RegExp(`^- \`${key}\`: `, 'm'));
  expect([team.service.takeWrites(), team.github.requests]).toEqual([[], []]);
});

test('The action opens a drift issue, closes it after a sync, and opens none for other failures', async () => {
  const { team, check } = await inSync();
  const { github } = team;
  const unreachable = await check({ inputs: { ...rolling.inputs, 'base-url': 'http://127.0.0.1:9' } });
  expect(unreachable).toMatchObject({ exitCode: 1, outputs: { 'failure-reason': 'failed' } });
  await byHand(team);
  github.fail({ method: 'POST', path: /issues/ }, { status: 403 });
  const forbidden = await check(rolling);
  expect(forbidden.outputs['failure-reason']).toBe('drift');
  expect(forbidden.stdout).toMatch(/^::notice .*could not write the issue: .*`issues: write` permission/m);
  expect(github.issues()).toEqual([]);

  await check(rolling);
  const [opened] = github.issues();
  expect(opened).toMatchObject({ title: 'promptsync: the service differs from the files', state: 'open' });
  expect(opened?.body).toContain('`v2`');
  await team.runPush(team.pushMain({ 'README.md': 'Words' }));
  expect((await check(rolling)).exitCode).toBe(0);
  expect(github.issues()).toMatchObject([{ state: 'closed', state_reason: 'completed' }]);
});

test('If on-drift is set to fail, drift makes the review of a pull request and the run after its merge fail', async () => {
  const { team } = await inSync();
  await byHand(team);
  team.service.takeWrites();
  const options = { inputs: { 'on-drift': 'fail' } };
  const failed = { exitCode: 1, outputs: { 'failure-reason': 'drift' } };
  expect(await team.review(greets('Mine'), options)).toMatchObject(failed);
  expect(await team.runPush(team.mergePull(team.openPull('change')), options)).toMatchObject(failed);
  expect(team.service.takeWrites()).toEqual([]);
});
