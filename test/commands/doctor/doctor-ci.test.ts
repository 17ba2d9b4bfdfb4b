import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startGitHub } from '../../support/github-api.ts';
import { startGitLab } from '../../support/gitlab-api.ts';
import { git, makeRepository, makeWorkspace } from '../../support/folder.ts';
import { startFront } from '../../support/front.ts';
import { workspaceFiles } from '../../support/prompts.ts';
import { examine } from './doctoring.ts';

const FILES = workspaceFiles({ greeting: {} }, 'service: { embedded: a.db }\nprompts: ["prompts/**/*.md"]\n');

/** Makes the variables of a job in GitHub Actions, and the double of the API. */
async function makeGitHubJob(event: object = {}) {
  const github = await startGitHub();
  const runner = makeWorkspace({ 'event.json': JSON.stringify(event) });
  const environment = {
    ...{ CI: 'true', GITHUB_ACTIONS: 'true', GITHUB_EVENT_NAME: 'pull_request', GITHUB_REPOSITORY: 'acme/prompts' },
    GITHUB_API_URL: github.apiUrl,
    GITHUB_EVENT_PATH: join(runner, 'event.json'),
  };
  return { github, environment, folder: makeRepository(FILES) };
}

function pullFrom(fork: string): object {
  return { pull_request: { head: { repo: { full_name: fork } }, base: { repo: { full_name: 'acme/prompts' } } } };
}

describe('the points about GitHub Actions', () => {
  test('doctor reports the event, whether there is a token, and what the token can read', async () => {
    const { github, environment, folder } = await makeGitHubJob(pullFrom('acme/prompts'));
    const variables = { ...environment, GITHUB_TOKEN: github.token };
    const { exitCode, points, stdout } = await examine(folder, [], { environment: variables });
    expect(exitCode).toBe(0);
    expect(points.slice(-4).map(({ name, level }) => `${name}: ${level}`)).toEqual([
      ...['event: ok', 'token: ok', 'permission checks: ok', 'permission pull-requests: ok'],
    ]);
    expect(new Set(github.requests.map(({ method }) => method))).toEqual(new Set(['GET']));
    expect(stdout).not.toContain(github.token);
  });

  test('doctor warns if the step has no token, and says how to pass it', async () => {
    const { github, environment, folder } = await makeGitHubJob();
    const { exitCode, point } = await examine(folder, [], { environment });
    expect(exitCode).toBe(0);
    expect(point('token')).toMatchObject({ level: 'warning', hint: expect.stringContaining('${{ github.token }}') });
    expect(github.requests).toEqual([]);
  });

  test('doctor reports a token that GitHub rejects, without printing the token', async () => {
    const { github, environment, folder } = await makeGitHubJob();
    const token = 'ghs_wrong_0123456789';
    github.fail({ path: /acme\/prompts$/ }, { status: 401, body: { message: `Bad credentials ${token}` } });
    const { exitCode, point, stdout } = await examine(folder, [], {
      environment: { ...environment, GITHUB_TOKEN: token },
    });
    expect(exitCode).toBe(1);
    expect(point('token')).toMatchObject({ level: 'error', found: expect.stringContaining('401') });
    expect(stdout).not.toContain(token);
  });

  test.each([
    ['checks', /check-runs/],
    ['pull-requests', /\/pulls\?/],
  ])('doctor reports a token that lacks the permission %s', async (permission, path) => {
    const { github, environment, folder } = await makeGitHubJob();
    github.fail({ path }, { status: 403, body: { message: 'Resource not accessible by integration' } });
    const variables = { ...environment, GITHUB_TOKEN: github.token };
    const { named, point } = await examine(folder, [], { environment: variables });
    expect(named('error')).toEqual([`permission ${permission}`]);
    expect(point(`permission ${permission}`).hint).toContain(`\`${permission}: write\``);
  });

  test('doctor warns about a pull request from a fork, whose job gets no secrets', async () => {
    const { environment, folder } = await makeGitHubJob(pullFrom('stranger/prompts'));
    const { point } = await examine(folder, [], { environment });
    expect(point('event')).toMatchObject({ level: 'warning', hint: expect.stringContaining('plan --offline') });
  });

  test.each(['stranger/prompts', 'acme/prompts'])(
    'doctor warns that a job for pull_request_target must not have an API key (pull request from %s)',
    async (head) => {
      const { environment, folder } = await makeGitHubJob(pullFrom(head));
      const variables = { ...environment, GITHUB_EVENT_NAME: 'pull_request_target' };
      const { point } = await examine(folder, [], { environment: variables });
      expect(point('event')).toMatchObject({
        level: 'warning',
        found: 'pull_request_target',
        hint: expect.stringMatching(/^Do not give this job an API key/),
      });
    },
  );

  test('doctor warns about an event that cannot be read', async () => {
    const { environment, folder } = await makeGitHubJob();
    const { point } = await examine(folder, [], { environment: { ...environment, GITHUB_EVENT_PATH: '/nowhere' } });
    expect(point('event')).toMatchObject({ level: 'warning', found: expect.stringContaining('ENOENT') });
  });

  test('doctor sends no further request to GitHub after an interruption', async () => {
    const { github, environment, folder } = await makeGitHubJob();
    let interrupt = (): void => {};
    const front = await startFront({
      target: github.apiUrl,
      answer: () => {
        interrupt();
        return { status: 200, body: '{}' };
      },
    });
    const variables = { ...environment, GITHUB_API_URL: front.baseUrl, GITHUB_TOKEN: github.token };
    const { exitCode, point } = await examine(folder, [], {
      environment: variables,
      onSignal: (signal) => void (interrupt = signal),
    });
    expect(exitCode).toBe(130);
    expect(front.requests).toHaveLength(1);
    expect(point('event').found).toContain('interrupted');
  });

  test('doctor reports a token error if the API address is not a URL', async () => {
    const { github, environment, folder } = await makeGitHubJob();
    const variables = { ...environment, GITHUB_API_URL: 'nowhere', GITHUB_TOKEN: github.token };
    const { point } = await examine(folder, [], { environment: variables });
    expect(point('token')).toMatchObject({ level: 'error', found: expect.stringContaining('not a URL') });
  });

  test('in GitHub Actions, doctor only warns if git cannot read the live branch, because the action reads it from the API', async () => {
    const { environment } = await makeGitHubJob();
    const folder = makeRepository({ ...FILES, 'promptsync.yaml': 'service: { base_url: "http://127.0.0.1:1" }\n' });
    git(folder, 'remote', 'add', 'origin', join(folder, 'gone'));
    const { point } = await examine(folder, [], { environment });
    expect(point('live branch')).toMatchObject({ level: 'warning', hint: expect.stringContaining('credentials') });
  });
});

describe('the points about GitLab CI', () => {
  test('doctor reports ok if the token can read the notes of the merge request', async () => {
    const gitlab = await startGitLab();
    gitlab.addMergeRequest({ iid: 12, state: 'opened' });
    const environment = gitlab.mergeRequestVariables(12);
    const { exitCode, points, stdout } = await examine(makeRepository(FILES), [], { environment });
    expect(exitCode).toBe(0);
    expect(points.slice(-3).map(({ name, level }) => `${name}: ${level}`)).toEqual([
      ...['event: ok', 'token: ok', 'merge request: ok'],
    ]);
    expect(gitlab.writes()).toEqual([]);
    expect(stdout).not.toContain(gitlab.token);
  });

  test('doctor reports a merge request that the token cannot read', async () => {
    const gitlab = await startGitLab();
    gitlab.addMergeRequest({ iid: 12, state: 'opened' });
    gitlab.fail({ path: /notes/ }, { status: 403, body: { message: '403 Forbidden' } });
    const { named, point } = await examine(makeRepository(FILES), [], {
      environment: gitlab.mergeRequestVariables(12),
    });
    expect(named('error')).toEqual(['merge request']);
    expect(point('merge request').hint).toContain('Reporter');
  });

  test('doctor finds no merge request in a branch pipeline', async () => {
    const gitlab = await startGitLab();
    const { point } = await examine(makeRepository(FILES), [], {
      environment: gitlab.branchVariables('0'.repeat(40), 'main'),
    });
    expect(point('event').found).toBe('push on "main"');
    expect(point('merge request')).toMatchObject({ level: 'ok', found: expect.stringContaining('none') });
  });

  test('doctor warns if GITLAB_TOKEN is not set', async () => {
    const gitlab = await startGitLab();
    const environment = { ...gitlab.mergeRequestVariables(12), GITLAB_TOKEN: '' };
    const { exitCode, point } = await examine(makeRepository(FILES), [], { environment });
    expect(exitCode).toBe(0);
    expect(point('token')).toMatchObject({ level: 'warning', hint: expect.stringContaining('`api` scope') });
    expect(gitlab.requests).toEqual([]);
  });

  test('doctor reports a token that GitLab rejects', async () => {
    const gitlab = await startGitLab();
    const environment = { ...gitlab.mergeRequestVariables(12), GITLAB_TOKEN: 'glpat-wrong-0123456789' };
    const { named, point } = await examine(makeRepository(FILES), [], { environment });
    expect(named('error')).toEqual(['token']);
    expect(point('token').found).toContain('401');
  });
});
