import { describe, expect, test } from 'vitest';
import { promptText } from '../support/prompts.ts';
import { startFront } from '../support/front.ts';
import type { PullOrigin } from './events.ts';
import { makeTeam, type RunOptions } from './team.ts';

const changed = { 'prompts/greeting.md': promptText('greeting', { text: 'Other' }) };
const fork = { repository: 'stranger/prompts', by: 'stranger' };
const REFUSED = { status: 403, body: { message: 'Resource not accessible by integration' } };

describe('A pull request without a key', () => {
  test.each<[string, PullOrigin]>([
    ['from a fork', fork],
    ['from a fork that is gone', { repository: null, by: 'stranger' }],
    ['by Dependabot', { by: 'dependabot[bot]' }],
  ])('%s is reviewed, and no service is asked', async (_, from) => {
    const { github, service, push, openPull, runPull } = await makeTeam({ greeting: {} });
    push('change', changed);
    const ran = await runPull(openPull('change', from), { keyless: true });
    expect(ran).toMatchObject({ exitCode: 0, outputs: { changes: 'true', 'plan-digest': '', 'failure-reason': '' } });
    expect(service.requests).toEqual([]);
    const [comment] = github.comments(1);
    expect(comment?.body).toContain('The service was not asked');
    expect(comment?.body).toContain('`staging: base → new version`');
    expect(comment?.body).toContain('-Text of greeting.\n+Other');
    expect(comment?.body).not.toContain('<!-- plan');
  });

  test('whose token may not comment has its review in the summary, with a notice and no failure', async () => {
    const { github, service, push, openPull, runPull } = await makeTeam({ greeting: {} });
    push('change', changed);
    github.fail({ method: 'POST', path: /comments/ }, REFUSED, Infinity);
    const ran = await runPull(openPull('change', fork), { keyless: true });
    expect(ran).toMatchObject({ exitCode: 0, outputs: { 'failure-reason': '' } });
    expect(ran.stdout).toMatch(/^::notice title=action\/not-told::Writing the comment failed/m);
    expect(ran.summary).toContain('`staging: base → new version`');
    expect(service.requests).toEqual([]);
    expect(github.comments(1)).toEqual([]);
  });

  test('of the repository itself misses its key', async () => {
    const { push, openPull, runPull } = await makeTeam({ greeting: {} });
    push('change', changed);
    const ran = await runPull(openPull('change'), { keyless: true });
    expect(ran).toMatchObject({ exitCode: 1, outputs: { 'failure-reason': 'invalid' } });
    expect(ran.summary).toContain('config/missing-key');
  });
});

describe('pull_request_target', () => {
  const runTarget = async (options: RunOptions) => {
    const { github, service, push, openPull, run } = await makeTeam({ greeting: {} });
    push('change', changed);
    const pull = openPull('change', fork);
    const ran = await run('pull_request_target', pull.event, { ref: 'refs/heads/main', commit: pull.merge }, options);
    expect(service.requests).toEqual([]);
    return { ran, comments: github.comments(1) };
  };

  test.each<[string, RunOptions]>([
    ['as an input', {}],
    ['in the usual variable', { keyless: true, environment: { PROMPTSYNC_API_KEY: 'sk-other-0123456789' } }],
  ])('is refused with a key %s', async (_, options) => {
    const { ran } = await runTarget(options);
    expect(ran).toMatchObject({ exitCode: 1, outputs: { 'failure-reason': 'refused' } });
    expect(ran.stdout).toContain('On pull_request_target an API key is refused');
  });

  test('is reviewed without one', async () => {
    const { ran, comments } = await runTarget({ keyless: true });
    expect(ran.exitCode).toBe(0);
    expect(comments).toHaveLength(1);
  });
});

describe('A pull request with a key', () => {
  const configOf = (baseUrl: string) => `service:\n  base_url: ${baseUrl}\nprompts: ["prompts/**/*.md"]\n`;
  const inputs = { 'base-url': '' };

  test('that moves the configuration to another service sends the key nowhere', async () => {
    const thief = await startFront({});
    const { service, push, pushMain, openPull, runPull } = await makeTeam({ greeting: {} });
    pushMain({ 'promptsync.yaml': configOf(service.baseUrl) });
    push('change', { ...changed, 'promptsync.yaml': configOf(thief.baseUrl) });
    const ran = await runPull(openPull('change'), { inputs });
    expect(ran).toMatchObject({ exitCode: 0, outputs: { changes: 'true', 'plan-digest': '' } });
    expect(ran.summary).toContain('a key is sent to no address that only the head names');
    expect([thief.requests, service.requests]).toEqual([[], []]);
  });

  test('asks the service that base and head name', async () => {
    const { service, push, pushMain, openPull, runPull } = await makeTeam({ greeting: {} });
    pushMain({ 'promptsync.yaml': configOf(service.baseUrl) });
    push('change', changed);
    const ran = await runPull(openPull('change'), { inputs });
    expect(ran.outputs['plan-digest']).toMatch(/^sha256:/);
    expect(service.requests).not.toEqual([]);
  });

  test('that names another variable for it sends none of the other secrets', async () => {
    const { service, push, pushMain, openPull, runPull } = await makeTeam({ greeting: {} });
    pushMain({ 'promptsync.yaml': configOf(service.baseUrl) });
    const stolen = configOf(service.baseUrl).replace('\nprompts', '\n  api_key_env: DEPLOY_TOKEN\nprompts');
    push('change', { ...changed, 'promptsync.yaml': stolen });
    const environment = { DEPLOY_TOKEN: 'dt-0123456789' };
    const ran = await runPull(openPull('change'), { inputs: { ...inputs, 'api-key': '' }, environment });
    expect(ran).toMatchObject({ exitCode: 0, outputs: { 'plan-digest': '' } });
    expect(service.requests).toEqual([]);
  });
});
