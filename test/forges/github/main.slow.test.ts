import type { ChildProcess } from 'node:child_process';
import { rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { changeService, startTestService, type TestService } from '../../support/service.ts';
import { git } from '../../support/folder.ts';
import { startFront } from '../../support/front.ts';
import type { Failure } from '../../support/github-api.ts';
import { promptText } from '../../support/prompts.ts';
import { greets, makeTeam, type RunOptions } from './team.ts';

const HOME = { full_name: 'acme/prompts', default_branch: 'main' };
const changed = greets('Other');
const APPLIED = ['POST prm_greeting versions', 'set-active prm_greeting promptsync', 'set-active prm_greeting staging'];

const PLANNED = /^Plan: 1 of \d+ prompts? changes/m;
const DONE = /^Applied: 1 prompt/m;
type Trigger = { readonly name: string; readonly ref?: string; readonly event?: object };

/** Runs the action at a commit that changes a prompt. Returns its output, its failure reason and its writes. */
async function runOf({ name, ref = 'refs/heads/main', event = {} }: Trigger, options: RunOptions = {}) {
  const { github, service, pushMain, run } = await makeTeam({ greeting: {} });
  const base = pushMain({});
  const commit = pushMain(changed);
  const payload = JSON.parse(JSON.stringify({ repository: HOME, before: base, ...event }).replaceAll('BASE', base));
  const ran = await run(name, payload, { ref, commit }, options);
  expect(github.comments(1)).toEqual([]);
  const reason = ran.outputs['failure-reason'];
  expect(ran.exitCode).toBe(reason === '' ? 0 : 1);
  return { says: ran.stdout, reason, writes: service.takeWrites() };
}

const QUEUE = { ref: 'refs/heads/queue', event: { merge_group: { base_sha: 'BASE', head_sha: 'BASE' } } };

test.each<[string, Trigger, string, RegExp, string, readonly string[]]>([
  [
    'The action applies changed prompts after a push to the default branch',
    { name: 'push' },
    'auto',
    DONE,
    '',
    APPLIED,
  ],
  [
    'The action creates a plan but applies nothing after a push to a non-default branch',
    { name: 'push', ref: 'refs/heads/other' },
    'auto',
    PLANNED,
    '',
    [],
  ],
  [
    'The action checks for drift by default if somebody starts it manually',
    { name: 'workflow_dispatch' },
    'auto',
    /found differences between the service/,
    'drift',
    [],
  ],
  [
    'The action applies changed prompts if somebody starts it manually in sync mode',
    { name: 'workflow_dispatch' },
    'sync',
    DONE,
    '',
    APPLIED,
  ],
  [
    'The action creates a plan but applies nothing for a merge queue event',
    { name: 'merge_group', ...QUEUE },
    'auto',
    PLANNED,
    '',
    [],
  ],
])('%s', async (_, trigger, mode, says, reason, writes) => {
  const ran = await runOf(trigger, { inputs: { mode } });
  expect(ran).toEqual({ says: expect.stringMatching(says), reason, writes });
});

const withLink = (workspace: string) => symlinkSync(tmpdir(), join(workspace, 'a'));
const withoutCheckout = (workspace: string) => rmSync(join(workspace, '.git'), { recursive: true });

test.each<[string, string, RunOptions, RegExp]>([
  [
    'The action reports an unsupported event and writes nothing',
    'issues',
    {},
    /In `auto` mode, the action does nothing for the/,
  ],
  [
    'The action reports an invalid input and writes nothing',
    'push',
    { inputs: { comment: 'sometimes' } },
    /`comment` input is invalid: /,
  ],
  [
    'The action reports a missing working directory and writes nothing',
    'push',
    { inputs: { 'working-directory': 'x' } },
    /no folder "x"/,
  ],
  [
    'The action rejects a working directory above the workspace and writes nothing',
    'push',
    { inputs: { 'working-directory': '..' } },
    /no folder "\.\."/,
  ],
  [
    'The action rejects an absolute path as the working directory and writes nothing',
    'push',
    { inputs: { 'working-directory': tmpdir() } },
    /`working-directory` input is invalid: /,
  ],
  [
    'The action rejects a working directory that is a symbolic link to a folder outside the workspace and writes nothing',
    'push',
    { inputs: { 'working-directory': 'a' }, prepare: withLink },
    /no folder "a"/,
  ],
  [
    'The action reports a missing configuration file and writes nothing',
    'push',
    { inputs: { config: 'a/b.yaml' } },
    /The workspace does not contain `a\/b\.yaml`/,
  ],
  [
    'The action rejects a base-url without a scheme and writes nothing',
    'push',
    { inputs: { 'base-url': 'x' } },
    /the `base-url` input .* does not begin with `https:\/\/`/,
  ],
  [
    'The action rejects a base-url that uses plain http and writes nothing',
    'push',
    { inputs: { 'base-url': 'http://a.example' } },
    /the `base-url` input .* plain http/,
  ],
  [
    'The action rejects a base-url with credentials and writes nothing',
    'push',
    { inputs: { 'base-url': 'https://a@b.c' } },
    /the `base-url` input .* a user name or a password/,
  ],
  [
    'The action reports a missing API key and writes nothing',
    'push',
    { keyless: true },
    /The `api-key` input must contain the API key, but it is empty or not set/,
  ],
  [
    'The action reports an empty API key, suggests checking its secret and writes nothing',
    'push',
    { inputs: { 'api-key': '' } },
    /make sure that the secret exists/,
  ],
  [
    'The action rejects an API key with invalid characters and writes nothing',
    'push',
    { inputs: { 'api-key': 'hun ter2' } },
    /The `api-key` input contains characters/,
  ],
  [
    'The action reports a missing repository checkout and writes nothing',
    'push',
    { prepare: withoutCheckout },
    /add a step that uses `actions\/checkout`/,
  ],
  [
    'The action rejects an event file that is not JSON and writes nothing',
    'push',
    { environment: { GITHUB_EVENT_PATH: '/dev/null' } },
    /could not read the event/,
  ],
])('%s', async (_, name, options, says) => {
  const ran = await runOf({ name }, options);
  expect(ran).toEqual({ says: expect.stringMatching(says), reason: 'invalid', writes: [] });
});

test('The action needs no API key to plan changes in a subfolder whose configuration uses an embedded service', async () => {
  const { push, review } = await makeTeam({ greeting: {} });
  const config = 'service:\n  embedded: .promptsync/service.db\nprompts: ["*.md"]\n';
  push('main', { 'sub/promptsync.yaml': config, 'sub/a.md': promptText('a') });
  const options = { keyless: true, inputs: { 'working-directory': 'sub', 'base-url': '' } };
  const wrong = '---\nid: prm_a\nkey: a\nname: A\npins: { staging: newest }\n---\nText\n';
  const invalid = await review({ 'sub/a.md': wrong }, options);
  expect(invalid.stdout).toMatch(/^::error title=prompt\/invalid-pin,file=sub\/a\.md,line=5,col=\d+::/m);
  const planned = await review({ 'sub/a.md': promptText('a', { text: 'Other' }) }, options);
  expect(planned).toMatchObject({ exitCode: 0, outputs: { changes: 'true' } });
  expect(planned.summary).toContain('service `embedded:.promptsync/service.db`');
});

test('A pull request cannot redirect an API key to a different service by deleting the configuration file of a subfolder', async () => {
  const [forRoot, forTeam] = [await startTestService(['greeting']), await startTestService(['greeting'])];
  const configFor = ({ baseUrl }: TestService) => `service: { base_url: "${baseUrl}" }\nprompts: ["**/*.md"]\n`;
  const { github, push, pushMain, openPull, runPull } = await makeTeam({ greeting: {} }, configFor(forRoot));
  pushMain({ 'team-a/promptsync.yaml': configFor(forTeam), 'team-a/greeting.md': promptText('greeting') });
  const options = { inputs: { 'working-directory': 'team-a', 'base-url': '' } };
  push('edit', { 'team-a/greeting.md': promptText('greeting', { text: 'Other' }) });
  expect(await runPull(openPull('edit'), options)).toMatchObject({ exitCode: 0, outputs: { changes: 'true' } });
  expect(forTeam.requests).not.toEqual([]);
  forTeam.requests.splice(0);

  push('delete', { 'team-a/promptsync.yaml': null, 'prompts/greeting.md': null });
  const pull = openPull('delete');
  const ran = await runPull(pull, options);
  expect([...forRoot.requests, ...forTeam.requests]).toEqual([]);
  expect(ran).toMatchObject({ exitCode: 1, outputs: { 'failure-reason': 'invalid' } });
  expect(ran.stdout).toContain(
    '::error title=action/no-config::The workspace does not contain `team-a/promptsync.yaml`',
  );
  expect(ran.stdout).toMatch(/`working-directory`.*`config`/);
  expect(github.checks(pull.head)).toMatchObject([
    { name: 'promptsync (team-a/promptsync.yaml)', conclusion: 'failure' },
  ]);
});

test("A pull request cannot redirect an API key to a different service by replacing a team's folder with a symbolic link", async () => {
  const [ours, theirs] = [await startTestService(['greeting']), await startTestService(['greeting'])];
  const filesOf = (folder: string, { baseUrl }: TestService) => ({
    [`${folder}/promptsync.yaml`]: `service: { base_url: "${baseUrl}" }\nprompts: ["../${folder}/*.md"]\n`,
    [`${folder}/greeting.md`]: promptText('greeting'),
  });
  const { push, pushMain, openPull, runPull } = await makeTeam({ greeting: {} });
  pushMain({ ...filesOf('team-a', ours), ...filesOf('team-b', theirs), 'prompts/greeting.md': null });
  push('link', { 'team-b/greeting.md': promptText('greeting', { text: 'Other' }) });
  const prepare = (workspace: string) => {
    rmSync(join(workspace, 'team-a'), { recursive: true });
    symlinkSync('team-b', join(workspace, 'team-a'));
  };
  for (const inputs of [{ 'working-directory': 'team-a' }, { config: 'team-a/promptsync.yaml' }]) {
    const ran = await runPull(openPull('link'), { inputs: { ...inputs, 'base-url': '' }, prepare });
    expect(ran.stdout).toContain('::error title=action/linked-config::');
    expect(ran).toMatchObject({ exitCode: 1, outputs: { 'failure-reason': 'invalid' } });
  }
  expect([...ours.requests, ...theirs.requests]).toEqual([]);
});

test('The action applies the prompts and prints notices even if it cannot write its outputs and summary', async () => {
  const { service, pushMain, runPush } = await makeTeam({ greeting: {} });
  const environment = { GITHUB_STEP_SUMMARY: '/nowhere/summary', RUNNER_TEMP: '/dev/null/temp' };
  const ran = await runPush(pushMain(changed), { environment });
  expect(ran).toMatchObject({ exitCode: 0, outputs: { 'failure-reason': '', changes: 'true' } });
  expect(ran.stdout).toMatch(/^::notice title=action\/not-told::promptsync could not write the outputs/m);
  expect(ran.stdout).toMatch(/^::notice title=action\/not-told::promptsync could not write the summary/m);
  expect(service.takeWrites()).toEqual(APPLIED);
});

test('A canceled run stops writing and reports that it did not apply all changes', async () => {
  const names = [...Array(20).keys()].map(String);
  const { service, pushMain, runPush } = await makeTeam(Object.fromEntries(names.map((name) => [name, {}])));
  let child: ChildProcess | null = null;
  let creates = 0;
  const { baseUrl } = await startFront({
    target: service.baseUrl,
    answer: ({ method }) => {
      // A second signal would end the process at once.
      if (method === 'POST' && creates++ === 0) child?.kill('SIGINT');
      return null;
    },
  });
  const onOutput = (started: ChildProcess) => void (child = started);
  const ran = await runPush(pushMain({}), { inputs: { 'base-url': baseUrl }, onOutput });
  expect(ran).toMatchObject({ exitCode: 1, outputs: { 'failure-reason': 'failed', changes: 'true' } });
  expect(ran.summary).toContain('[apply/interrupted]');
  expect(ran.summary).toContain('(not made)');
  const versions = service.takeWrites().filter((write) => write.endsWith(' versions'));
  expect(versions.length).toBeLessThan(names.length);
});

const fork = { repository: 'stranger/prompts', by: 'stranger' };
const REFUSED = { status: 403, body: { message: 'Resource not accessible by integration' } };

describe('a review without an API key', () => {
  test('The action reviews a pull request from a fork without an API key and without calling the service', async () => {
    const { github, service, review } = await makeTeam({ greeting: {} });
    const ran = await review(changed, { keyless: true }, fork);
    expect(ran).toMatchObject({ exitCode: 0, outputs: { changes: 'true', 'plan-digest': '', 'failure-reason': '' } });
    expect(service.requests).toEqual([]);
    const [comment] = github.comments(1);
    expect(comment?.body).toContain('promptsync did not contact the service');
    expect(comment?.body).toContain('`staging`: `base` → new version');
    expect(comment?.body).toContain('\n-Text of greeting.\n+Other');
    expect(comment?.body).not.toContain('<!-- plan');
  });

  test('A review without permission to comment writes the job summary and succeeds with a notice', async () => {
    const { github, service, review } = await makeTeam({ greeting: {} });
    github.fail({ method: 'POST', path: /comments/ }, REFUSED, Infinity);
    const ran = await review(changed, { keyless: true }, fork);
    expect(ran).toMatchObject({ exitCode: 0, outputs: { 'failure-reason': '' } });
    expect(ran.stdout).toMatch(
      /^::notice title=action\/not-told::promptsync could not write the comment.* `pull-requests: write` permission/m,
    );
    expect(ran.summary).toContain('`staging`: `base` → new version');
    expect(service.requests).toEqual([]);
    expect(github.comments(1)).toEqual([]);
  });

  test('A review of a pull request from the same repository fails without an API key', async () => {
    const { review } = await makeTeam({ greeting: {} });
    const ran = await review(changed, { keyless: true });
    expect(ran).toMatchObject({ exitCode: 1, outputs: { 'failure-reason': 'invalid' } });
    expect(ran.summary).toContain('config/missing-key');
  });
});

describe('pull_request_target', () => {
  const runTarget = async (options: RunOptions, name = 'pull_request_target', atMain = false) => {
    const { github, service, pushMain, push, openPull, run } = await makeTeam({ greeting: {} });
    const main = pushMain({});
    push('change', changed);
    const pull = openPull('change', fork);
    const commit = atMain ? main : pull.merge;
    const ran = await run(name, pull.event, { ref: 'refs/heads/main', commit }, options);
    expect(service.requests).toEqual([]);
    return { ran, shown: [commit.slice(0, 12), pull.head.slice(0, 12)], comments: github.comments(1) };
  };

  test.each<[string, RunOptions]>([
    ['On the event pull_request_target, the action rejects an API key that is passed as an input', {}],
    [
      'On the event pull_request_target, the action rejects an API key that is set in the environment',
      { keyless: true, environment: { PROMPTSYNC_API_KEY: 'sk-other-0123456789' } },
    ],
  ])('%s', async (_, options) => {
    const { ran } = await runTarget(options);
    expect(ran).toMatchObject({ exitCode: 1, outputs: { 'failure-reason': 'refused' } });
    expect(ran.stdout).toContain('promptsync does not accept an API key in runs triggered by `pull_request_target`');
  });

  test('On the event pull_request_target, the action reviews a pull request if there is no API key', async () => {
    const { ran, comments } = await runTarget({ keyless: true });
    expect(ran.exitCode).toBe(0);
    expect(comments).toHaveLength(1);
  });

  test.each<[string, number]>([
    ['pull_request_target', 0],
    ['pull_request_target', 1],
    ['pull_request', 0],
  ])(
    'On the event %s, the action fails if the checkout with depth %i contains main instead of the pull request',
    async (name, depth) => {
      const { ran, shown, comments } = await runTarget({ keyless: true, depth }, name, true);
      expect(ran).toMatchObject({ exitCode: 1, outputs: { 'failure-reason': 'invalid', changes: 'false' } });
      for (const text of [ran.stdout, ...comments.map(({ body }) => body)]) {
        expect(text).not.toContain('in sync');
        for (const named of [...shown, 'refs/pull/1/merge']) expect(text).toContain(named);
      }
    },
  );
});

describe('a review with an API key', () => {
  const configOf = (baseUrl: string) => `service:\n  base_url: ${baseUrl}\nprompts: ["prompts/**/*.md"]\n`;
  const inputs = { 'base-url': '' };

  test('A pull request that changes the service address cannot obtain the API key', async () => {
    const thief = await startFront({});
    const { service, pushMain, review } = await makeTeam({ greeting: {} });
    pushMain({ 'promptsync.yaml': configOf(service.baseUrl) });
    const ran = await review({ ...changed, 'promptsync.yaml': configOf(thief.baseUrl) }, { inputs });
    expect(ran).toMatchObject({ exitCode: 0, outputs: { changes: 'true', 'plan-digest': '' } });
    expect(ran.summary).toContain('promptsync never sends a key to an address that appears only in the head commit');
    expect([thief.requests, service.requests]).toEqual([[], []]);
  });

  test('The review calls the service if the base and head commits configure the same address', async () => {
    const { service, pushMain, review } = await makeTeam({ greeting: {} });
    pushMain({ 'promptsync.yaml': configOf(service.baseUrl) });
    const ran = await review(changed, { inputs });
    expect(ran.outputs['plan-digest']).toMatch(/^sha256:/);
    expect(service.requests).not.toEqual([]);
  });

  test('A pull request that configures a different API key variable cannot expose the secret in that variable', async () => {
    const { service, pushMain, review } = await makeTeam({ greeting: {} });
    pushMain({ 'promptsync.yaml': configOf(service.baseUrl) });
    const stolen = configOf(service.baseUrl).replace('\nprompts', '\n  api_key_env: DEPLOY_TOKEN\nprompts');
    const options = { inputs: { ...inputs, 'api-key': '' }, environment: { DEPLOY_TOKEN: 'dt-0123456789' } };
    const ran = await review({ ...changed, 'promptsync.yaml': stolen }, options);
    expect(ran).toMatchObject({ exitCode: 0, outputs: { 'plan-digest': '' } });
    expect(service.requests).toEqual([]);
  });
});

const cutOff = (workspace: string) => git(workspace, 'remote', 'set-url', 'origin', '/nowhere/at/all');

test('With a clone of depth 1, the action reports the same plan and drift as with a full clone', async () => {
  const { service, push, pushMain, openPull, runPull, runPush } = await makeTeam({ greeting: {} });
  await runPush(pushMain({}), { depth: 1 });
  await changeService(service.baseUrl, 'greeting', 'staging', 'By hand');
  push('change', changed);
  const pull = openPull('change');
  const [whole, shallow] = [await runPull(pull), await runPull(pull, { depth: 1 })];
  expect(shallow.outputs['plan-digest']).toBe(whole.outputs['plan-digest']);
  expect(shallow.summary).toBe(whole.summary);
  expect(whole.summary).toContain('`staging` serves `v2`, but');
});

test('The action records the commit that last changed a file even in a clone of depth 1', async () => {
  const { service, pushMain, runPush } = await makeTeam({ greeting: {} });
  const touched = pushMain(changed);
  const later = pushMain({ 'README.md': 'Words' });
  await runPush(later, { depth: 1 });
  const bodies = JSON.stringify(service.requests.map(({ body }) => body));
  expect(bodies).toContain(touched);
  expect(bodies).not.toContain(later);
});

test('The action recommends fetch-depth: 0 if it cannot fetch the missing history of a clone of depth 1', async () => {
  const { review } = await makeTeam({ greeting: {} });
  const ran = await review(changed, { depth: 1, prepare: cutOff });
  expect(ran).toMatchObject({ exitCode: 1, outputs: { 'failure-reason': 'invalid' } });
  expect(ran.stdout).toContain('fetch-depth: 0');
});

describe('a review without a working GitHub API', () => {
  const LIMITED = { status: 403, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '9999999999' } };

  test.each<[string, Failure, Readonly<Record<string, string>>]>([
    [
      'A review finishes within a minute even if GitHub limits the request rate',
      { ...LIMITED, body: { message: 'API rate limit exceeded for installation.' } },
      {},
    ],
    ['A review finishes within a minute even if GitHub sends a rate limit response without a message', LIMITED, {}],
    ['A review finishes within a minute even if every GitHub request fails', { status: 500 }, {}],
    ['A review finishes within a minute even without a GitHub token', 'reset', { 'github-token': '' }],
    ['A review finishes within a minute even if GitHub rejects its token', { status: 401 }, {}],
    ['A review finishes within a minute even if GitHub never responds', 'hang', {}],
    ['A review finishes within a minute even if GitHub never completes its responses', 'half-answer', {}],
  ])('%s', async (_, failure, inputs) => {
    const { github, review } = await makeTeam({ greeting: {} });
    github.fail({ path: /./ }, failure, Infinity);
    const began = performance.now();
    const ran = await review(changed, { inputs });
    expect(performance.now() - began).toBeLessThan(60_000);
    expect(ran).toMatchObject({ exitCode: 0, outputs: { changes: 'true', 'failure-reason': '' } });
    expect(ran.stdout).toMatch(/^::notice title=action\/not-told::promptsync could not write the comment/m);
    expect(ran.stdout).not.toContain('permission');
    expect(ran.summary).toContain('\n+Other');
    expect(github.comments(1)).toEqual([]);
  });
});
