import { rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { git } from '../../support/folder.ts';
import { startFront } from '../../support/front.ts';
import { promptText } from '../../support/prompts.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { greets, makeTeam, type RunOptions } from './team.ts';

const changed = greets('Other');

const withInputs = (inputs: Required<RunOptions>['inputs'], more: RunOptions = {}): RunOptions => ({ inputs, ...more });
const withLink = (workspace: string) => symlinkSync(tmpdir(), join(workspace, 'a'));
const withoutCheckout = (workspace: string) => rmSync(join(workspace, '.git'), { recursive: true });

test('The action names each invalid input and each missing file, and sends no request', async () => {
  const { service, pushMain, runPush } = await makeTeam({ greeting: {} });
  const commit = pushMain(changed);
  const rows: readonly (readonly [RunOptions, says: RegExp])[] = [
    [withInputs({ comment: 'sometimes' }), /`comment` input is invalid: /],
    [withInputs({ 'working-directory': 'x' }), /no folder "x"/],
    [withInputs({ 'working-directory': '..' }), /no folder "\.\."/],
    [withInputs({ 'working-directory': tmpdir() }), /`working-directory` input is invalid: /],
    [withInputs({ 'working-directory': 'a' }, { prepare: withLink }), /no folder "a"/],
    [withInputs({ config: 'a/b.yaml' }), /The workspace does not contain `a\/b\.yaml`/],
    [withInputs({ 'base-url': 'x' }), /the `base-url` input .* does not begin with `https:\/\/`/],
    [withInputs({ 'api-key': 'hun ter2' }), /The `api-key` input contains characters/],
    [{ prepare: withoutCheckout }, /add a step that uses `actions\/checkout`/],
    [{ environment: { GITHUB_EVENT_PATH: '/dev/null' } }, /could not read the event/],
  ];
  for (const [options, says] of rows) {
    const ran = await runPush(commit, options);
    expect(ran).toMatchObject({ exitCode: 1, outputs: { 'failure-reason': 'invalid' } });
    expect(ran.stdout).toMatch(says);
  }
  expect(service.requests).toEqual([]);
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

test('A pull request cannot redirect an API key by deleting the configuration of a folder or by making the folder a link', async () => {
  const [forRoot, forTeam] = [await startTestService(['greeting']), await startTestService(['greeting'])];
  const configFor = ({ baseUrl }: TestService) => `service: { base_url: "${baseUrl}" }\nprompts: ["**/*.md"]\n`;
  const { github, push, pushMain, openPull, runPull } = await makeTeam({ greeting: {} }, configFor(forRoot));
  pushMain({ 'team-a/promptsync.yaml': configFor(forTeam), 'team-a/greeting.md': promptText('greeting') });
  pushMain({ 'team-b/promptsync.yaml': configFor(forRoot), 'team-b/greeting.md': promptText('greeting') });
  const options = { inputs: { 'working-directory': 'team-a', 'base-url': '' } };
  push('edit', { 'team-a/greeting.md': promptText('greeting', { text: 'Other' }) });
  expect(await runPull(openPull('edit'), options)).toMatchObject({ exitCode: 0, outputs: { changes: 'true' } });
  expect(forTeam.requests.splice(0)).not.toEqual([]);

  const invalid = { exitCode: 1, outputs: { 'failure-reason': 'invalid' } };
  push('delete', { 'team-a/promptsync.yaml': null, 'prompts/greeting.md': null });
  const pull = openPull('delete');
  const deleted = await runPull(pull, options);
  expect(deleted).toMatchObject(invalid);
  expect(deleted.stdout).toMatch(/::error title=action\/no-config::The workspace .*`working-directory`.*`config`/);
  const failed = { name: 'promptsync (team-a/promptsync.yaml)', conclusion: 'failure' };
  expect(github.checks(pull.head)).toMatchObject([failed]);

  const prepare = (workspace: string) => {
    rmSync(join(workspace, 'team-a'), { recursive: true });
    symlinkSync('team-b', join(workspace, 'team-a'));
  };
  for (const inputs of [options.inputs, { config: 'team-a/promptsync.yaml', 'base-url': '' }]) {
    const linked = await runPull(openPull('edit'), { inputs, prepare });
    expect(linked).toMatchObject(invalid);
    expect(linked.stdout).toContain('::error title=action/linked-config::');
  }
  expect([...forRoot.requests, ...forTeam.requests]).toEqual([]);
});

test('A canceled run stops writing and reports that it did not apply all changes', async () => {
  const names = [...Array(20).keys()].map(String);
  const { service, pushMain, runPush } = await makeTeam(Object.fromEntries(names.map((name) => [name, {}])));
  let interrupt = () => {};
  let creates = 0;
  const { baseUrl } = await startFront({
    target: service.baseUrl,
    answer: ({ method }) => {
      // A second signal would end the process at once.
      if (method === 'POST' && creates++ === 0) interrupt();
      return null;
    },
  });
  const onSignal = (handle: () => void) => void (interrupt = handle);
  const ran = await runPush(pushMain({}), { inputs: { 'base-url': baseUrl }, onSignal });
  expect(ran).toMatchObject({ exitCode: 1, outputs: { 'failure-reason': 'failed', changes: 'true' } });
  expect(ran.summary).toContain('[apply/interrupted]');
  expect(ran.summary).toContain('(not made)');
  const versions = service.takeWrites().filter((write) => write.endsWith(' versions'));
  expect(versions.length).toBeLessThan(names.length);
});

const fork = { repository: 'stranger/prompts', by: 'stranger' };

test('The action reviews a pull request from a fork without an API key, but fails for one of the same repository', async () => {
  const { github, service, review } = await makeTeam({ greeting: {} });
  const failed = await review(changed, { keyless: true });
  expect(failed).toMatchObject({ exitCode: 1, outputs: { 'failure-reason': 'invalid' } });
  expect(failed.stdout).toMatch(/::The `api-key` input must contain the API key, .* make sure that the secret exists/);
  const ran = await review({}, { keyless: true }, fork);
  expect(ran).toMatchObject({ exitCode: 0, outputs: { changes: 'true', 'plan-digest': '', 'failure-reason': '' } });
  expect(service.requests).toEqual([]);
  const [comment] = github.comments(1);
  expect(comment?.body).toContain('promptsync did not contact the service');
  expect(comment?.body).toContain('`staging`: `base` → new version');
  expect(comment?.body).toContain('\n-Text of greeting.\n+Other');
});

test('On the event pull_request_target, the action rejects an API key and a checkout of main, and reviews without a key', async () => {
  const { github, service, pushMain, push, openPull, run } = await makeTeam({ greeting: {} });
  const main = pushMain({});
  push('change', changed);
  const pull = openPull('change', fork);
  const runAt = (commit: string, options: RunOptions) =>
    run('pull_request_target', pull.event, { ref: 'refs/heads/main', commit }, options);
  const variable = { keyless: true, environment: { PROMPTSYNC_API_KEY: 'sk-other-0123456789' } };
  for (const options of [{}, variable]) {
    const ran = await runAt(pull.merge, options);
    expect(ran).toMatchObject({ exitCode: 1, outputs: { 'failure-reason': 'refused' } });
    expect(ran.stdout).toContain('promptsync does not accept an API key in runs triggered by `pull_request_target`');
  }
  const atMain = await runAt(main, { keyless: true, depth: 1 });
  expect(atMain).toMatchObject({ exitCode: 1, outputs: { 'failure-reason': 'invalid', changes: 'false' } });
  for (const text of [atMain.stdout, github.comments(1)[0]?.body]) {
    for (const named of [main.slice(0, 12), pull.head.slice(0, 12), 'refs/pull/1/merge']) expect(text).toContain(named);
    expect(text).not.toContain('in sync');
  }
  expect(await runAt(pull.merge, { keyless: true })).toMatchObject({ exitCode: 0, outputs: { changes: 'true' } });
  expect(service.requests).toEqual([]);
});

test('A pull request that changes the address of the service or the variable of the key cannot obtain a key', async () => {
  const configOf = (baseUrl: string) => `service:\n  base_url: ${baseUrl}\nprompts: ["prompts/**/*.md"]\n`;
  const thief = await startFront({});
  const { service, pushMain, review } = await makeTeam({ greeting: {} });
  pushMain({ 'promptsync.yaml': configOf(service.baseUrl) });
  const inputs = { 'base-url': '' };
  expect((await review(changed, { inputs })).outputs['plan-digest']).toMatch(/^sha256:/);
  expect(service.requests.splice(0)).not.toEqual([]);

  const moved = await review({ 'promptsync.yaml': configOf(thief.baseUrl) }, { inputs });
  expect(moved).toMatchObject({ exitCode: 0, outputs: { changes: 'true', 'plan-digest': '' } });
  expect(moved.summary).toContain('promptsync never sends a key to an address that appears only in the head commit');
  const stolen = configOf(service.baseUrl).replace('\nprompts', '\n  api_key_env: DEPLOY_TOKEN\nprompts');
  const options = { inputs: { ...inputs, 'api-key': '' }, environment: { DEPLOY_TOKEN: 'dt-0123456789' } };
  expect(await review({ 'promptsync.yaml': stolen }, options)).toMatchObject({ outputs: { 'plan-digest': '' } });
  expect([thief.requests, service.requests]).toEqual([[], []]);
});

test('In a clone of depth 1, the action records the commit that last changed a file, or recommends fetch-depth: 0', async () => {
  const { service, pushMain, review, runPush } = await makeTeam({ greeting: {} });
  const touched = pushMain(changed);
  const later = pushMain({ 'README.md': 'Words' });
  const prepare = (workspace: string) => git(workspace, 'remote', 'set-url', 'origin', '/nowhere/at/all');
  const cutOff = await review({ 'README.md': 'Other words' }, { depth: 1, prepare });
  expect(cutOff).toMatchObject({ exitCode: 1, outputs: { 'failure-reason': 'invalid' } });
  expect(cutOff.stdout).toContain('fetch-depth: 0');
  await runPush(later, { depth: 1 });
  const bodies = JSON.stringify(service.requests.map(({ body }) => body));
  expect(bodies).toContain(touched);
  expect(bodies).not.toContain(later);
});
