import { expect, test } from 'vitest';
import { pullEvent } from './support.ts';
import { greets, makeTeam } from './team.ts';

test('On an event of a closed pull request, the action says why there is nothing to review, and changes nothing', async () => {
  const { github, service, push, openPull, mergePull, run } = await makeTeam({ greeting: {} });
  push('change', greets('Other'));
  const pull = openPull('change');
  const runAt = (name: string, state: { readonly action: string; readonly merged: boolean }, inputs = {}) => {
    const event = pullEvent(pull.number, pull.head, pull.head) as { readonly pull_request: object };
    const payload = { ...event, ...state, pull_request: { ...event.pull_request, state: 'closed', ...state } };
    return run(name, payload, { ref: 'refs/heads/main', commit: pull.merge }, { inputs });
  };
  const unmerged = await runAt('pull_request', { action: 'closed', merged: false });
  expect(unmerged.stdout).toMatch(/did not review #1 because the pull request is already closed\. .* reopen it/);

  mergePull(pull, 'squash');
  const ran = await runAt('pull_request_target', { action: 'labeled', merged: true });
  expect(ran).toMatchObject({ exitCode: 0, outputs: { changes: 'false', 'failure-reason': '', 'plan-digest': '' } });
  const notices = ran.stdout.split('\n').filter((line) => /^::(error|warning|notice) /.test(line));
  expect(notices).toEqual([expect.stringMatching(/^::notice title=action\/closed::/)]);
  expect(notices[0]).toMatch(/did not review #1 because .* already merged\. .* on pushes to the live branch/);
  expect(ran.summary).toContain('[action/closed]');

  const refused = await runAt('pull_request', { action: 'closed', merged: true }, { mode: 'sync' });
  expect(refused).toMatchObject({ exitCode: 1, outputs: { 'failure-reason': 'refused' } });
  expect([github.requests, service.requests]).toEqual([[], []]);
});
