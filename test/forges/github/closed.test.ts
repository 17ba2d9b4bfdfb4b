import { expect, test } from 'vitest';
import { git } from '../../support/folder.ts';
import { pullEvent } from './support.ts';
import { greets, makeTeam, type Pull, type Team } from './team.ts';

type ClosedEvent = {
  readonly name?: string;
  /** The activity type of the event, such as `closed`. */
  readonly action: string;
  readonly merged: boolean;
};

/** Runs the action at the tip of main for an event of a closed pull request. */
async function runClosed({ run, origin }: Team, pull: Pull, { name = 'pull_request', action, merged }: ClosedEvent) {
  const commit = git(origin, 'rev-parse', 'main');
  const event = pullEvent(pull.number, pull.head, commit) as { readonly pull_request: object };
  const payload = { ...event, action, pull_request: { ...event.pull_request, state: 'closed', merged } };
  return run(name, payload, { ref: 'refs/heads/main', commit });
}

test.each<[string, ClosedEvent, RegExp]>([
  [
    'On the closed event of a squash-merged pull request, the action succeeds and says that a push applies the changes',
    { action: 'closed', merged: true },
    /did not review #1 because the pull request is already merged\. .* on pushes to the live branch/,
  ],
  [
    'On the closed event of an unmerged pull request, the action succeeds and says how to review the pull request again',
    { action: 'closed', merged: false },
    /did not review #1 because the pull request is already closed\. .* reopen it/,
  ],
  [
    'If somebody labels a merged pull request, the action succeeds with a notice',
    { action: 'labeled', merged: true },
    /did not review #1 because the pull request is already merged\./,
  ],
  [
    'On the closed event of pull_request_target, the action succeeds with a notice',
    { name: 'pull_request_target', action: 'closed', merged: true },
    /did not review #1 because the pull request is already merged\./,
  ],
])('%s', async (_, event, says) => {
  const team = await makeTeam({ greeting: {} });
  const { github, service, push, openPull, runPull, mergePull } = team;
  push('change', greets('Other'));
  const pull = openPull('change');
  await runPull(pull);
  if (event.merged) mergePull(pull, 'squash');
  const [comments, checks] = [github.comments(1), github.checks(pull.head)];
  github.requests.length = 0;
  service.requests.length = 0;

  const ran = await runClosed(team, pull, event);
  expect(ran).toMatchObject({ exitCode: 0, outputs: { changes: 'false', 'failure-reason': '', 'plan-digest': '' } });
  const notices = ran.stdout.split('\n').filter((line) => /^::(error|warning|notice) /.test(line));
  expect(notices).toEqual([expect.stringMatching(says)]);
  expect(notices[0]).toMatch(/^::notice title=action\/closed::/);
  expect(ran.summary).toContain('[action/closed]');
  expect([github.requests, service.requests]).toEqual([[], []]);
  expect([github.comments(1), github.checks(pull.head)]).toEqual([comments, checks]);
});

test('The action refuses to sync on the closed event of a merged pull request', async () => {
  const team = await makeTeam({ greeting: {} });
  team.push('change', greets('Other'));
  const pull = team.openPull('change');
  team.mergePull(pull);
  const event = { ...pull.event, action: 'closed' };
  const at = { ref: 'refs/heads/main', commit: git(team.origin, 'rev-parse', 'main') };
  const ran = await team.run('pull_request', event, at, { inputs: { mode: 'sync' } });
  expect(ran).toMatchObject({ exitCode: 1, outputs: { 'failure-reason': 'refused' } });
  expect(team.service.takeWrites()).toEqual([]);
});
