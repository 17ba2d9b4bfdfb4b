import { createServer } from 'node:http';
import { describe, expect, test } from 'vitest';
import { commitAll, type Files, git, GIT_VARIABLES, makeFolder, writeFiles } from '../../support/folder.ts';
import { listen } from '../../support/front.ts';
import type { Failure, FailureMatch, GitHubOptions } from '../../support/github-api.ts';
import { promptText, type PromptParts } from '../../support/prompts.ts';
import { changeService } from '../../support/service.ts';
import { scheduleEvent } from './support.ts';
import { checkOut, greets, makeTeam, type RunOptions } from './team.ts';

type Inputs = Readonly<Record<string, string>>;

const CONFIG = 'prompts: ["prompts/**/*.md"]\n';
const PULL = 'promptsync/pull';
const REVIEWED = { 'require-reviewed-plan': 'true' };

/** Removes the identity of the committer from the environment, as on a runner. */
const withoutCommitter = () => {
  const unset = Object.fromEntries(Object.keys(GIT_VARIABLES).map((name) => [name, undefined]));
  return { ...unset, HOME: makeFolder() };
};

/** Makes a team in sync, with functions that start runs on main and inspect their results. */
async function inSync(prompts: Readonly<Record<string, PromptParts>> = two, options: GitHubOptions = {}) {
  const team = await makeTeam(prompts, CONFIG, options);
  await team.runPush(team.pushMain({}));
  const { service, github, origin } = team;
  const tipOf = (branch: string) => git(origin, 'for-each-ref', '--format=%(objectname)', `refs/heads/${branch}`);
  let runs = 100;
  const run = (inputs: Inputs, { environment, ...more }: RunOptions = {}, commit = tipOf('main')) => {
    runs += 1;
    service.takeWrites();
    github.requests.length = 0;
    const at = { ref: 'refs/heads/main', commit };
    const variables = { ...withoutCommitter(), GITHUB_RUN_ID: String(runs), ...environment };
    return team.run('workflow_dispatch', scheduleEvent(), at, { ...more, inputs, environment: variables });
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

describe('the mode pull', () => {
  test('Pull mode opens a single pull request, reviews it and updates it until it is merged', async () => {
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
    expect(github.pulls()).toMatchObject([
      { body: expect.stringContaining('\n+By another hand\n'), head: tipOf(PULL) },
    ]);
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
  });

  test('Pull mode closes its pull request after a sync has overwritten the proposed change', async () => {
    const { github, pull, byHand, written, ...team } = await inSync();
    await byHand('By hand');
    await pull();
    await team.runPush(team.pushMain({ 'README.md': 'Words' }));
    expect(await pull()).toMatchObject({ exitCode: 0, outputs: { changes: 'false' } });
    expect(written()).toEqual(['PATCH pulls/1']);
    expect(github.pulls()).toMatchObject([
      { state: 'closed', body: expect.stringMatching(/^No prompt file needs an edit/) },
    ]);
    await byHand('Again');
    await pull();
    expect(github.pulls()).toMatchObject([{ state: 'closed' }, { state: 'open' }]);
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
    let workspace = '';
    const ran = await pull({ prepare: (folder) => void (workspace = folder) });
    expect(git(workspace, 'status', '--porcelain')).toBe('');
    expect(ran).toMatchObject({ exitCode: 1, outputs: { changes: 'true', 'failure-reason': 'failed' } });
    expect(ran.stdout).toMatch(/^::error title=pull\/would-conflict,file=prompts\/greeting\.md::/m);
    expect(github.pulls()).toMatchObject([{ title: 'Pull farewell from the service' }]);
    expect(fileAt(PULL)).toContain('Mine');
    const [comment] = github.comments(1);
    expect(comment?.body).not.toContain('<<<<<<<');
    expect(comment?.body).toContain('`greeting`');
  });

  test('Pull mode posts no review comment on a pull request that it opens as a GitHub App', async () => {
    const { github, pull, byHand } = await inSync(two, { as: { login: 'our-app[bot]', type: 'Bot' } });
    await byHand('By hand');
    expect(await pull()).toMatchObject({ exitCode: 0 });
    expect([github.pulls().length, github.comments(1)]).toEqual([1, []]);
  });

  test('Pull mode opens only one pull request if the response to its create request is lost', async () => {
    const { github, pull, byHand } = await inSync();
    await byHand('By hand');
    github.fail({ method: 'POST', path: /\/pulls$/ }, 'lost-answer');
    expect(await pull()).toMatchObject({ exitCode: 0 });
    expect(github.pulls()).toHaveLength(1);
  });

  test('Pull mode does not propose an outside change if it runs on an outdated commit', async () => {
    const { github, byHand, tipOf, ...team } = await inSync();
    await byHand('By hand');
    const commit = tipOf('main');
    team.pushMain(greets('Newer'));
    const ran = await team.run({ mode: 'pull' }, {}, commit);
    expect(ran).toMatchObject({ exitCode: 1, outputs: { changes: 'false', 'failure-reason': 'refused' } });
    expect([github.pulls(), tipOf(PULL)]).toEqual([[], '']);
  });
});

describe('missing permissions', () => {
  const refusal = (message: string): Failure => ({ status: 403, body: { message } });
  const post: FailureMatch = { method: 'POST', path: /\/pulls$/ };

  test.each<[string, FailureMatch, Failure, string]>([
    [
      'The action names the repository setting that prevents it from opening pull requests',
      post,
      refusal('GitHub Actions is not permitted to create or approve pull requests.'),
      'Allow GitHub Actions to create and approve pull requests',
    ],
    [
      'The action names the permission that it needs to open a pull request',
      post,
      refusal('Resource not accessible by integration'),
      '`pull-requests: write`',
    ],
    [
      'The action names the permission that it needs to list pull requests',
      { path: /\/pulls\?/ },
      { status: 404 },
      '`pull-requests: write`',
    ],
    [
      'The action suggests running the workflow again if GitHub limits the request rate',
      post,
      refusal('You have exceeded a secondary rate limit'),
      'Run the workflow again',
    ],
  ])('%s', async (_, match, failure, named) => {
    const { github, pull, byHand } = await inSync();
    await byHand('By hand');
    github.fail(match, failure, 9);
    const ran = await pull();
    expect(ran).toMatchObject({ exitCode: 1, outputs: { changes: 'false', 'failure-reason': 'failed' } });
    expect(ran.stdout).toMatch(/^::error title=action\/not-proposed::/m);
    expect(ran.stdout).toContain(named);
    expect(github.pulls()).toEqual([]);
  });

  test('The action names the permission that it needs to push a branch', async () => {
    const { github, pull, byHand, tipOf } = await inSync();
    await byHand('By hand');
    const refusing = await listen(createServer((_, response) => response.writeHead(403).end()));
    const ran = await pull({
      prepare: (workspace) => void git(workspace, 'config', 'remote.origin.pushUrl', `${refusing}/acme/prompts.git`),
    });
    expect(ran).toMatchObject({ exitCode: 1, outputs: { changes: 'false', 'failure-reason': 'failed' } });
    expect(ran.stdout).toContain('`contents: write`');
    expect([github.pulls(), tipOf(PULL)]).toEqual([[], '']);
  });
});

describe('the modes promote and rollback', () => {
  /** Makes a team whose staging environment serves a newer version than production. */
  const ahead = async (key = 'greeting') => {
    const team = await inSync({ greeting: { key }, farewell: {} });
    const file = promptText('greeting', { key, text: 'Hi', pins: { staging: 'latest', production: 1 } });
    expect(await team.runPush(team.pushMain({ 'prompts/greeting.md': file }))).toMatchObject({ exitCode: 0 });
    return team;
  };
  const promotion = { mode: 'promote', prompts: 'greeting', from: 'staging', to: 'production' };

  test('The action opens separate pull requests for promotions to different environments and for a rollback', async () => {
    const { github, service, run, written, fileAt, ...team } = await ahead();
    expect(await run(promotion)).toMatchObject({ exitCode: 0, outputs: { changes: 'true', 'failure-reason': '' } });
    expect(await run({ ...promotion, to: 'other' })).toMatchObject({ exitCode: 0 });
    expect(github.pulls()).toMatchObject([
      { branch: 'promptsync/promote-production', title: 'Promote greeting to production (v1 → v2)' },
      { branch: 'promptsync/promote-other', title: 'Promote greeting to other (v2)' },
    ]);
    expect(github.comments(1)[0]?.body).toContain('`production`: `v1` → `v2`');
    expect(fileAt('promptsync/promote-production')).toContain('"production":2');

    const merged = team.mergeProposed('promptsync/promote-production');
    expect(await team.runPush(merged, { inputs: REVIEWED })).toMatchObject({ exitCode: 0 });
    expect(await run(promotion)).toMatchObject({ exitCode: 0, outputs: { changes: 'false' } });
    expect(written()).toEqual([]);
    expect(await run({ mode: 'rollback', prompts: 'greeting', environment: 'production' })).toMatchObject({
      exitCode: 0,
    });
    expect(github.pulls().at(-1)).toMatchObject({ branch: 'promptsync/rollback-production' });
    expect(fileAt('promptsync/rollback-production')).toContain('"production":1');
    expect(service.takeWrites()).toEqual([]);
  });

  test('A second promotion adds its prompt to the open pull request for the same environment', async () => {
    const { github, run, fileAt, tipOf, pushMain } = await ahead();
    await run(promotion);
    pushMain({ 'README.md': 'Words' });
    expect(await run({ ...promotion, prompts: 'farewell' })).toMatchObject({ exitCode: 0 });
    const branch = 'promptsync/promote-production';
    expect(github.pulls()).toMatchObject([{ branch, head: tipOf(branch) }]);
    expect(fileAt(branch)).toContain('"production":2');
    expect(fileAt(branch, 'prompts/farewell.md')).toContain('"production": 1');
    const body = github.comments(1)[0]?.body;
    for (const change of ['| `greeting` | `production`: `v1` → `v2` |', '| `farewell` | `production`: none → `v1` |']) {
      expect(body).toContain(change);
    }
  });

  test('Prompt keys and environment names cannot inject git options, mentions or CI skip markers', async () => {
    const key = '@everyone/[skip ci]';
    const to = '../$(id) --force @{-1} é.lock';
    const { github, run, origin } = await ahead(key);
    expect(await run({ ...promotion, prompts: '@everyone/*', to })).toMatchObject({ exitCode: 0 });
    const [pull] = github.pulls();
    expect(pull?.branch).toMatch(/^promptsync\/promote-[-\w]+\.[0-9a-f]{16}$/);
    const message = git(origin, 'show', '-s', '--format=%B', pull?.head ?? '');
    for (const text of [pull?.title, message]) expect(text).not.toMatch(/@everyone|\[skip ci/);
  });

  test.each<[string, Inputs, string]>([
    ['The promote mode requires at least one prompt name', { ...promotion, prompts: '' }, 'usage/nothing-named'],
    [
      'The rollback mode requires at least one prompt name',
      { mode: 'rollback', environment: 'staging' },
      'usage/nothing-named',
    ],
    ['The promote mode requires a target environment', { ...promotion, to: '' }, 'usage/unknown-environment'],
    [
      'The promote mode fails without a GitHub token and opens no pull request',
      { ...promotion, 'github-token': '' },
      'action/invalid-input',
    ],
  ])('%s', async (_, inputs, code) => {
    const { github, run } = await ahead();
    const ran = await run(inputs);
    expect(ran).toMatchObject({ exitCode: 1, outputs: { 'failure-reason': 'invalid' } });
    expect(ran.stdout).toContain(`[${code}]`);
    expect(github.pulls()).toEqual([]);
  });
});
