import { createServer } from 'node:http';
import { describe, expect, test, vi } from 'vitest';
import { commitAll, type Files, git, makeFolder, writeFiles } from '../../support/folder.ts';
import { listen } from '../../support/front.ts';
import type { Failure, GitHubOptions } from '../../support/github-api.ts';
import { promptText, type PromptParts } from '../../support/prompts.ts';
import { changeService } from '../../support/service.ts';
import { scheduleEvent } from './support.ts';
import { checkOut, greets, makeTeam, readTip, type RunOptions } from './team.ts';

type Inputs = Readonly<Record<string, string>>;

const CONFIG = 'prompts: ["prompts/**/*.md"]\n';
const PULL = 'promptsync/pull';
const REVIEWED = { 'require-reviewed-plan': 'true' };

/** Makes a team in sync, with functions that start runs on main and inspect their results. */
async function inSync(prompts: Readonly<Record<string, PromptParts>> = two, options: GitHubOptions = {}) {
  const team = await makeTeam(prompts, CONFIG, options);
  await team.runPush(team.pushMain({}));
  const { service, github, origin } = team;
  const tipOf = (branch: string) => readTip(origin, branch);
  let runs = 100;
  const run = async (inputs: Inputs, more: RunOptions = {}, commit = tipOf('main')) => {
    runs += 1;
    service.takeWrites();
    github.requests.length = 0;
    const at = { ref: 'refs/heads/main', commit };
    const options = { ...more, inputs, environment: { GITHUB_RUN_ID: String(runs) } };
    // As on a runner, git has no configuration that names a committer.
    vi.stubEnv('HOME', makeFolder());
    return team.run('workflow_dispatch', scheduleEvent(), at, options).finally(() => vi.unstubAllEnvs());
  };
  return {
    ...{ ...team, tipOf, run },
    pull: (more?: RunOptions) => run({ mode: 'pull' }, more),
    byHand: (text: string, prompt = 'greeting') => changeService(service.baseUrl, prompt, 'staging', text),
    fileAt: (branch: string, path = 'prompts/greeting.md') => git(origin, 'show', `${branch}:${path}`),
    /** Returns the GitHub calls that changed something since the start of the last run. */
    written: () =>
      github.requests.flatMap(({ method, path }) =>
        method === 'GET' || path === '/graphql' ? [] : [`${method} ${path.replace('/repos/acme/prompts/', '')}`],
      ),
    /** Commits to a branch of the remote as another person. */
    commitAsOther: (branch: string, files: Files) => {
      const desk = checkOut(origin, tipOf(branch), 0);
      writeFiles(desk, files);
      const commit = commitAll(desk, 'Mine');
      git(desk, 'push', '--quiet', 'origin', `HEAD:${branch}`);
      return commit;
    },
  };
}

const two = { greeting: {}, farewell: {} };

test('Pull mode opens a single pull request, reviews and updates it, and closes it if nothing is left to propose', async () => {
  const { github, service, pull, byHand, written, tipOf, fileAt, ...team } = await inSync();
  expect(await pull()).toMatchObject({ exitCode: 0, outputs: { changes: 'false', 'failure-reason': '' } });
  expect([github.pulls(), written()]).toEqual([[], []]);

  await byHand('By hand');
  const main = tipOf('main');
  const opened = await pull();
  expect(opened).toMatchObject({ exitCode: 0, outputs: { changes: 'true', 'failure-reason': '' } });
  expect(opened.stdout).toContain('in pull request #1. Next: review and merge it.');
  expect(service.takeWrites()).toEqual([]);
  const one = github.pulls()[0]!;
  const { head } = one;
  expect(one).toMatchObject({ number: 1, branch: PULL, base: 'main', title: 'Pull greeting from the service' });
  expect(one.body).toContain('\n-Text of greeting.\n+By hand\n');
  expect(fileAt(PULL)).toContain('By hand');
  expect([tipOf('main'), git(team.origin, 'show', '-s', '--format=%P %ce', PULL)]).toEqual([
    main,
    `${main} 41898282+github-actions[bot]@users.noreply.github.com`,
  ]);
  const [comment, ...others] = github.comments(1);
  expect(others).toEqual([]);
  expect(comment?.body).toContain(`commit \`${head.slice(0, 12)}\``);

  expect(await pull({ depth: 1 })).toMatchObject({ exitCode: 0, outputs: { changes: 'true' } });
  expect([written(), tipOf(PULL)]).toEqual([[], head]);

  await byHand('By another hand');
  expect(await pull()).toMatchObject({ exitCode: 0 });
  expect(written().toSorted()).toEqual(['PATCH issues/comments/2000000001', 'PATCH pulls/1', 'POST check-runs']);
  expect(github.pulls()).toMatchObject([{ body: expect.stringContaining('\n+By another hand\n'), head: tipOf(PULL) }]);
  expect(fileAt(PULL)).toContain('By another hand');

  const applied = await team.runPush(team.mergeProposed(PULL), { inputs: REVIEWED });
  expect(applied).toMatchObject({ exitCode: 0, outputs: { 'failure-reason': '' } });
  expect(await pull()).toMatchObject({ exitCode: 0, outputs: { changes: 'false' } });
  expect(written()).toEqual([]);

  await byHand('Once more', 'farewell');
  expect(await pull()).toMatchObject({ exitCode: 0 });
  expect(github.pulls()).toMatchObject([
    { state: 'closed' },
    { state: 'open', title: expect.stringContaining('farewell') },
  ]);
  await team.runPush(team.pushMain({ 'README.md': 'Words' }));
  expect(await pull()).toMatchObject({ exitCode: 0, outputs: { changes: 'false' } });
  expect(written()).toEqual(['PATCH pulls/2']);
  expect(github.pulls()[1]).toMatchObject({
    state: 'closed',
    body: expect.stringMatching(/^No prompt file needs an edit/),
  });
});

test('Pull mode does not overwrite commits that somebody else pushed to its branch', async () => {
  const { github, pull, byHand, written, tipOf, commitAsOther, ...team } = await inSync();
  await byHand('By hand');
  await pull();
  const mine = commitAsOther(PULL, { 'prompts/greeting.md': promptText('greeting', { text: 'By hand, and mine' }) });
  await byHand('By another hand');
  const refused = await pull();
  expect(refused).toMatchObject({ exitCode: 1, outputs: { changes: 'false', 'failure-reason': 'failed' } });
  expect(refused.stdout).toContain(`[action/foreign-commit]`);
  expect(refused.stdout).toContain(mine.slice(0, 12));
  expect([written(), tipOf(PULL)]).toEqual([[], mine]);

  await team.runPush(team.pushMain({ 'README.md': 'Words' }));
  await pull();
  expect(github.pulls()).toMatchObject([{ state: 'open' }]);

  await team.runPush(team.mergeProposed(PULL, 'squash'));
  git(team.origin, 'update-ref', '-d', `refs/heads/${PULL}`);
  await byHand('After it');
  expect(await pull()).toMatchObject({ exitCode: 0 });
  expect(github.pulls()).toMatchObject([{ state: 'closed' }, { state: 'open', head: tipOf(PULL) }]);
});

test('Pull mode proposes only changes without conflicts and reports each conflict', async () => {
  const { github, pull, byHand, fileAt, ...team } = await inSync();
  await byHand('By hand');
  await byHand('By hand', 'farewell');
  team.pushMain(greets('Mine'));
  const ran = await pull();
  expect(ran).toMatchObject({ exitCode: 1, outputs: { changes: 'true', 'failure-reason': 'failed' } });
  expect(ran.stdout).toMatch(/^::error title=pull\/would-conflict,file=prompts\/greeting\.md::/m);
  expect(github.pulls()).toMatchObject([{ title: 'Pull farewell from the service' }]);
  expect(fileAt(PULL)).toContain('Mine');
  const [comment] = github.comments(1);
  expect(comment?.body).not.toContain('<<<<<<<');
  expect(comment?.body).toContain('`greeting`');
});

test('Pull mode as a GitHub App opens one pull request without a review, even if the response to its request is lost', async () => {
  const { github, pull, byHand } = await inSync(two, { as: { login: 'our-app[bot]', type: 'Bot' } });
  await byHand('By hand');
  github.fail({ method: 'POST', path: /\/pulls$/ }, 'lost-answer');
  expect(await pull()).toMatchObject({ exitCode: 0 });
  expect([github.pulls().length, github.comments(1)]).toEqual([1, []]);
});

test('Pull mode opens no pull request on an outdated commit or without a permission, and names what is missing', async () => {
  const { github, pull, byHand, tipOf, ...team } = await inSync();
  await byHand('By hand');
  const outdated = tipOf('main');
  team.pushMain(greets('Newer'));
  const superseded = await team.run({ mode: 'pull' }, {}, outdated);
  expect(superseded).toMatchObject({ exitCode: 1, outputs: { changes: 'false', 'failure-reason': 'refused' } });
  await byHand('By hand', 'farewell');
  const expectRefusal = async (named: string, options?: RunOptions) => {
    const ran = await pull(options);
    expect(ran).toMatchObject({ exitCode: 1, outputs: { 'failure-reason': 'failed' } });
    expect(ran.stdout).toMatch(/^::error title=action\/not-proposed::/m);
    expect(ran.stdout).toContain(named);
    expect(github.pulls()).toEqual([]);
  };
  const refusing = await listen(createServer((_, response) => response.writeHead(403).end()));
  const refusingRemote = (workspace: string) =>
    void git(workspace, 'config', 'remote.origin.pushUrl', `${refusing}/acme/prompts.git`);
  await expectRefusal('`contents: write`', { prepare: refusingRemote });
  expect(tipOf(PULL)).toBe('');

  github.fail({ path: /\/pulls\?/ }, { status: 404 });
  await expectRefusal('`pull-requests: write`');
  const message = 'GitHub Actions is not permitted to create or approve pull requests.';
  github.fail({ method: 'POST', path: /\/pulls$/ }, { status: 403, body: { message } });
  await expectRefusal('Allow GitHub Actions to create and approve pull requests');
  const limited: Failure = { status: 403, body: { message: 'You have exceeded a secondary rate limit' } };
  github.fail({ method: 'POST', path: /\/pulls$/ }, limited, Infinity);
  await expectRefusal('Run the workflow again');
});

describe('the modes promote and rollback', () => {
  const promotion = { mode: 'promote', prompts: 'greeting', from: 'staging', to: 'production' };

  test('The action opens a pull request for each environment of promotions and for a rollback, and adds later promotions to it', async () => {
    const { github, service, run, written, fileAt, ...team } = await inSync();
    const newer = promptText('greeting', { text: 'Hi', pins: { staging: 'latest', production: 1 } });
    expect((await team.runPush(team.pushMain({ 'prompts/greeting.md': newer }))).exitCode).toBe(0);
    const branch = 'promptsync/promote-production';
    expect(await run(promotion)).toMatchObject({ exitCode: 0, outputs: { changes: 'true', 'failure-reason': '' } });
    expect(await run({ ...promotion, to: 'other' })).toMatchObject({ exitCode: 0 });
    expect(github.pulls()).toMatchObject([
      { branch, title: 'Promote greeting to production (v1 → v2)' },
      { branch: 'promptsync/promote-other', title: 'Promote greeting to other (v2)' },
    ]);
    team.pushMain({ 'README.md': 'Words' });
    expect(await run({ ...promotion, prompts: 'farewell' })).toMatchObject({ exitCode: 0 });
    expect(github.pulls()).toMatchObject([{ branch, head: team.tipOf(branch) }, {}]);
    expect(fileAt(branch)).toContain('"production":2');
    expect(fileAt(branch, 'prompts/farewell.md')).toContain('"production": 1');
    const body = github.comments(1)[0]?.body;
    for (const change of ['| `greeting` | `production`: `v1` → `v2` |', '| `farewell` | `production`: none → `v1` |']) {
      expect(body).toContain(change);
    }

    const merged = team.mergeProposed(branch);
    expect(await team.runPush(merged, { inputs: REVIEWED })).toMatchObject({ exitCode: 0 });
    expect(await run(promotion)).toMatchObject({ exitCode: 0, outputs: { changes: 'false' } });
    expect(written()).toEqual([]);
    const rollback = { mode: 'rollback', prompts: 'greeting', environment: 'production' };
    expect(await run(rollback)).toMatchObject({ exitCode: 0 });
    expect(github.pulls().at(-1)).toMatchObject({ branch: 'promptsync/rollback-production' });
    expect(fileAt('promptsync/rollback-production')).toContain('"production":1');
    expect(service.takeWrites()).toEqual([]);
  });

  test('The modes promote and rollback require a prompt, an environment and a GitHub token', async () => {
    const { github, run } = await inSync();
    const rows: readonly (readonly [Inputs, code: string])[] = [
      [{ ...promotion, prompts: '' }, 'usage/nothing-named'],
      [{ mode: 'rollback', prompts: 'greeting' }, 'usage/unknown-environment'],
      [{ ...promotion, 'github-token': '' }, 'action/invalid-input'],
    ];
    for (const [inputs, code] of rows) {
      const ran = await run(inputs);
      expect(ran).toMatchObject({ exitCode: 1, outputs: { 'failure-reason': 'invalid' } });
      expect(ran.stdout).toContain(`[${code}]`);
    }
    expect(github.pulls()).toEqual([]);
  });
});
