import { describe, expect, test } from 'vitest';
import { changeService } from '../../support/service.ts';
import { promptText } from '../../support/prompts.ts';
import { scheduleEvent } from './support.ts';
import { greets, makeTeam, type RunOptions, type Team } from './team.ts';

const rolling = { inputs: { 'drift-issue': 'true' } };
const byHand = ({ service }: Team, text = 'By hand') => changeService(service.baseUrl, 'greeting', 'staging', text);

/** Makes a team in sync. `check` starts its scheduled run. */
async function inSync() {
  const team = await makeTeam({ greeting: {}, farewell: {} });
  const commit = team.pushMain({});
  await team.runPush(commit);
  team.service.takeWrites();
  team.github.requests.length = 0;
  const check = (options?: RunOptions) =>
    team.run('schedule', scheduleEvent(), { ref: 'refs/heads/main', commit }, options);
  return { team, check };
}

describe('a scheduled run', () => {
  test('A scheduled run without drift succeeds, writes nothing and sends no request to GitHub', async () => {
    const { team, check } = await inSync();
    expect(await check()).toMatchObject({ exitCode: 0, outputs: { changes: 'false', 'failure-reason': '' } });
    expect(team.service.takeWrites()).toEqual([]);
    expect(team.github.requests).toEqual([]);
  });

  test('A scheduled run reports changes made outside git and fails without writing to the service', async () => {
    const { team, check } = await inSync();
    await byHand(team);
    team.service.takeWrites();
    const ran = await check();
    expect(ran).toMatchObject({ exitCode: 1, outputs: { 'failure-reason': 'drift' } });
    expect(ran.stdout).toMatch(
      /^::error title=action\/drift-found::promptsync found differences between the service and the files for 1 prompt\./m,
    );
    expect(ran.summary).toMatch(/^- `greeting`: .*`staging`.*`v2`.*`v1`/m);
    expect(ran.summary).not.toContain('What would change');
    expect(team.service.takeWrites()).toEqual([]);
    expect(team.github.requests).toEqual([]);
  });

  test('A scheduled run reports merged changes that were never applied', async () => {
    const { team } = await inSync();
    const commit = team.pushMain({ ...greets('Merged'), 'prompts/new.md': promptText('new') });
    team.service.store.registerPrompt({ id: 'prm_new', projectId: 'project', key: 'new', name: 'new' });
    const ran = await team.run('schedule', scheduleEvent(), { ref: 'refs/heads/main', commit });
    expect(ran).toMatchObject({ exitCode: 1, outputs: { 'failure-reason': 'drift' } });
    for (const key of ['greeting', 'new']) {
      expect(ran.summary).toMatch(new RegExp(`^- \`${key}\`: `, 'm'));
    }
  });

  test('A scheduled run detects drift even if a guard would block the sync', async () => {
    const { team, check } = await inSync();
    await byHand(team);
    const ran = await check({ inputs: { 'on-drift': 'fail', 'max-changes': '0' } });
    expect(ran.outputs['failure-reason']).toBe('drift');
  });

  test('A scheduled run fails without opening a drift issue if the service is unreachable', async () => {
    const { team, check } = await inSync();
    const ran = await check({ inputs: { ...rolling.inputs, 'base-url': 'http://127.0.0.1:9' } });
    expect(ran).toMatchObject({ exitCode: 1, outputs: { 'failure-reason': 'failed' } });
    expect(team.github.issues()).toEqual([]);
  });
});

describe('drift-issue', () => {
  test('The action opens, updates and closes a drift issue, and opens a new issue for new drift', async () => {
    const { team, check } = await inSync();
    const { github } = team;
    await byHand(team);
    await check(rolling);
    const [opened] = github.issues();
    expect(opened).toMatchObject({ title: 'promptsync: the service differs from the files', state: 'open' });
    expect(opened?.body).toContain('`v2`');
    await byHand(team, 'By another hand');
    await check(rolling);
    expect(github.issues()).toMatchObject([{ number: opened?.number, body: expect.stringContaining('`v3`') }]);
    await team.runPush(team.pushMain({ 'README.md': 'Words' }));
    expect((await check(rolling)).exitCode).toBe(0);
    expect(github.issues()).toMatchObject([{ state: 'closed', state_reason: 'completed' }]);
    await byHand(team, 'Again');
    await check(rolling);
    expect(github.issues()).toMatchObject([{ state: 'closed' }, { state: 'open' }]);
  });
});

test('If a drift check lacks the permission to open its issue, a notice names the missing permission', async () => {
  const { team, check } = await inSync();
  await byHand(team);
  team.github.fail({ method: 'POST', path: /issues/ }, { status: 403 });
  const ran = await check(rolling);
  expect(ran.outputs['failure-reason']).toBe('drift');
  expect(ran.stdout).toMatch(/^::notice .*could not write the issue: .*`issues: write` permission/m);
});

describe('drift on a pull request', () => {
  const change = { 'prompts/farewell.md': promptText('farewell', { text: 'Bye' }) };

  test('The review lists drift separately from the changes of the pull request', async () => {
    const { team } = await inSync();
    await byHand(team);
    const { summary } = await team.review(change);
    const [changes = '', drift = ''] = summary.split('#### Overwrites changes made in the service');
    expect(changes).toContain('| `farewell` | `staging`: `v1` → new version |');
    expect(changes).not.toContain('greeting');
    expect(drift).toMatch(/^- `greeting`: .*`staging`.*`v2`.*`v1`/m);
  });

  test('If on-drift is set to fail, drift makes both the pull request review and the action run after the merge fail', async () => {
    const { team } = await inSync();
    await byHand(team);
    team.service.takeWrites();
    team.push('change', { ...change, 'prompts/greeting.md': promptText('greeting', { text: 'Mine' }) });
    const options = { inputs: { 'on-drift': 'fail' } };
    const pull = team.openPull('change');
    const planned = await team.runPull(pull, options);
    expect(planned).toMatchObject({ exitCode: 1, outputs: { 'failure-reason': 'drift' } });
    const applied = await team.runPush(team.mergePull(pull), options);
    expect(applied).toMatchObject({ exitCode: 1, outputs: { 'failure-reason': 'drift' } });
    expect(team.service.takeWrites().filter((write) => write.includes('greeting'))).toEqual([]);
  });
});
