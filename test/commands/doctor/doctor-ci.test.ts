import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { examineCiJob } from '../../../src/commands/doctor/examine-ci-job.ts';
import { startGitHub } from '../../support/github-api.ts';
import { startGitLab } from '../../support/gitlab-api.ts';
import { makeWorkspace } from '../../support/folder.ts';
import { startFront } from '../../support/front.ts';
import { makeSystem } from '../../support/system.ts';
import { readSections } from './doctoring.ts';

const HEAD = 'a'.repeat(40);
const WRONG_TOKEN = 'ghs_wrong_0123456789';

type Variables = Readonly<Record<string, string>>;

async function examineJob(environment: Variables) {
  return readSections(await examineCiJob(HEAD, makeSystem('/', environment)));
}

function pullFrom(fork: string): object {
  return { pull_request: { head: { repo: { full_name: fork } }, base: { repo: { full_name: 'acme/prompts' } } } };
}

/** Makes the variables of a job in GitHub Actions, and the double of the API. */
async function makeGitHubJob(event: object = {}) {
  const github = await startGitHub();
  const runner = makeWorkspace({ 'event.json': JSON.stringify(event) });
  const environment = {
    ...{ CI: 'true', GITHUB_ACTIONS: 'true', GITHUB_EVENT_NAME: 'pull_request', GITHUB_REPOSITORY: 'acme/prompts' },
    ...{ GITHUB_API_URL: github.apiUrl, GITHUB_EVENT_PATH: join(runner, 'event.json'), GITHUB_TOKEN: github.token },
  };
  return { github, environment };
}

describe('the points about GitHub Actions', () => {
  test('doctor reports the event, the token, and what the token can read, and sends only GET requests', async () => {
    const { github, environment } = await makeGitHubJob(pullFrom('acme/prompts'));
    const { points } = await examineJob(environment);
    expect(points.map(({ name, level }) => `${name}: ${level}`)).toEqual([
      ...['event: ok', 'token: ok', 'permission checks: ok', 'permission pull-requests: ok'],
    ]);
    expect(new Set(github.requests.map(({ method }) => method))).toEqual(new Set(['GET']));
    expect(JSON.stringify(points)).not.toContain(github.token);
  });

  const warn = (hint: string) => ({ level: 'warning', hint: expect.stringContaining(hint) });
  const find = (found: string) => ({ found: expect.stringContaining(found) });
  const target = { GITHUB_EVENT_NAME: 'pull_request_target' };

  test.each<[string, object, Variables, string, object]>([
    ['doctor warns about a missing GitHub token', {}, { GITHUB_TOKEN: '' }, 'token', warn('${{ github.token }}')],
    ['doctor reports a wrong address of the API', {}, { GITHUB_API_URL: 'nowhere' }, 'token', find('not a URL')],
    ['doctor warns about a pull request of a fork', pullFrom('stranger/prompts'), {}, 'event', warn('plan --offline')],
    ['doctor warns about the event pull_request_target', pullFrom('acme/prompts'), target, 'event', warn('API key')],
    ['doctor warns about an unreadable event file', {}, { GITHUB_EVENT_PATH: '/x' }, 'event', find('ENOENT')],
  ])('%s', async (_, event, variables, name, expected) => {
    const { environment } = await makeGitHubJob(event);
    expect((await examineJob({ ...environment, ...variables })).point(name)).toMatchObject(expected);
  });

  test('doctor reports a token that GitHub rejects, without printing the token', async () => {
    const { github, environment } = await makeGitHubJob();
    github.fail({ path: /acme\/prompts$/ }, { status: 401, body: { message: `Bad credentials ${WRONG_TOKEN}` } });
    const { points, named, point } = await examineJob({ ...environment, GITHUB_TOKEN: WRONG_TOKEN });
    expect(named('error')).toEqual(['token']);
    expect(point('token').found).toContain('401');
    expect(JSON.stringify(points)).not.toContain(WRONG_TOKEN);
  });

  test.each([
    ['checks', /check-runs/],
    ['pull-requests', /\/pulls\?/],
  ])('doctor reports a token that lacks the permission %s', async (permission, path) => {
    const { github, environment } = await makeGitHubJob();
    github.fail({ path }, { status: 403, body: { message: 'Resource not accessible by integration' } });
    const { named, point } = await examineJob(environment);
    expect(named('error')).toEqual([`permission ${permission}`]);
    expect(point(`permission ${permission}`).hint).toContain(`\`${permission}: write\``);
  });

  test('doctor sends no further request to GitHub after an interruption', async () => {
    const { github, environment } = await makeGitHubJob();
    const stop = new AbortController();
    const front = await startFront({
      target: github.apiUrl,
      answer: () => {
        stop.abort();
        return { status: 200, body: '{}' };
      },
    });
    const system = makeSystem('/', { ...environment, GITHUB_API_URL: front.baseUrl });
    await expect(examineCiJob(HEAD, { ...system, stopSignal: stop.signal })).rejects.toThrow('interrupted');
    expect(front.requests).toHaveLength(1);
  });
});

describe('the points about GitLab CI', () => {
  async function makeGitLabJob(variables: Variables = {}) {
    const gitlab = await startGitLab();
    gitlab.addMergeRequest({ iid: 12, state: 'opened' });
    return { gitlab, environment: { ...gitlab.mergeRequestVariables(12), ...variables } };
  }

  test('doctor reports ok if the token can read the notes of the merge request', async () => {
    const { gitlab, environment } = await makeGitLabJob();
    const { points } = await examineJob(environment);
    expect(points.map(({ name, level }) => `${name}: ${level}`)).toEqual([
      ...['event: ok', 'token: ok', 'merge request: ok'],
    ]);
    expect(gitlab.writes()).toEqual([]);
    expect(JSON.stringify(points)).not.toContain(gitlab.token);
  });

  test('doctor reports a merge request that the token cannot read', async () => {
    const { gitlab, environment } = await makeGitLabJob();
    gitlab.fail({ path: /notes/ }, { status: 403, body: { message: '403 Forbidden' } });
    const { named, point } = await examineJob(environment);
    expect(named('error')).toEqual(['merge request']);
    expect(point('merge request').hint).toContain('Reporter');
  });

  test('doctor finds no merge request in a branch pipeline', async () => {
    const { gitlab } = await makeGitLabJob();
    const { point } = await examineJob(gitlab.branchVariables('0'.repeat(40), 'main'));
    expect(point('event').found).toBe('push on "main"');
    expect(point('merge request')).toMatchObject({ level: 'ok', found: expect.stringContaining('none') });
  });

  test('doctor warns if GITLAB_TOKEN is not set, and reports a token that GitLab rejects', async () => {
    const { gitlab, environment } = await makeGitLabJob();
    const missing = await examineJob({ ...environment, GITLAB_TOKEN: '' });
    expect(missing.point('token')).toMatchObject({ level: 'warning', hint: expect.stringContaining('`api` scope') });
    expect(gitlab.requests).toEqual([]);
    const { named, point } = await examineJob({ ...environment, GITLAB_TOKEN: 'glpat-wrong-0123456789' });
    expect(named('error')).toEqual(['token']);
    expect(point('token').found).toContain('401');
  });
});
