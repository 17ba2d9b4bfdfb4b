import { readFile } from 'node:fs/promises';
import {
  type DoctorPoint,
  type DoctorSection,
  makeErrorPoint,
  makeOkPoint,
  makeUncheckedPoint,
  makeWarningPoint,
} from '../../domain/doctor-point.ts';
import { isJsonObject } from '../../domain/json.ts';
import type { System } from '../../domain/system.ts';
import { getErrorMessage, makeProblem, ProblemError } from '../../problem.ts';
import { makeHttp } from '../../http/send-request.ts';
import { describeBrokenExchange, makeResponseExcerpt } from '../../http/interpret-exchange.ts';

/**
 * Checks the job that promptsync runs in. Returns no section outside GitHub Actions and GitLab CI. Sends only GET
 * requests. Throws if the run is interrupted. `head` is the checked-out commit, or null if it is unknown.
 */
export async function examineCiJob(head: string | null, system: System): Promise<readonly DoctorSection[]> {
  const { environment } = system;
  if (environment['GITHUB_ACTIONS'] === 'true') {
    return [{ title: 'GitHub Actions', points: await examineGitHubJob(head, system) }];
  }
  if (!environment['GITLAB_CI']) return [];
  return [{ title: 'GitLab CI', points: await examineGitLabJob(system) }];
}

async function examineGitHubJob(head: string | null, system: System): Promise<readonly DoctorPoint[]> {
  const { environment, keepSecret } = system;
  const event = await examineGitHubEvent(environment);
  const token = environment['GITHUB_TOKEN'] ?? '';
  if (token === '') {
    const hint =
      'Pass the token to this step with `env: { GITHUB_TOKEN: "${{ github.token }}" }` so that `promptsync doctor` can check the permissions of the token.';
    return [event, makeWarningPoint('token', 'the variable GITHUB_TOKEN is not set', hint)];
  }
  keepSecret(token);
  const api: ForgeApi = {
    baseUrl: environment['GITHUB_API_URL'] || 'https://api.github.com',
    header: { authorization: `Bearer ${token}` },
    token,
  };
  const repository = `/repos/${environment['GITHUB_REPOSITORY'] ?? ''}`;
  const fault = await findReadFault(api, repository, system);
  if (fault !== null) {
    const hint = "Set `GITHUB_TOKEN` to this job's token, `${{ github.token }}`, or to the token of a GitHub App.";
    return [event, makeErrorPoint('token', `cannot read the repository with this token: ${fault}`, hint)];
  }
  return [
    event,
    makeOkPoint('token', 'accepted: the variable GITHUB_TOKEN'),
    await examinePermission('checks', head === null ? null : `${repository}/commits/${head}/check-runs`, api, system),
    await examinePermission('pull-requests', `${repository}/pulls`, api, system),
  ];
}

/** The hint for the event whose jobs get the secrets of the repository, even for a pull request from a fork. */
const PULL_REQUEST_TARGET_HINT =
  'Do not give this job an API key. The job has access to your secrets, but its files can come from a stranger. For this event, the GitHub Action rejects a key and reviews without a key. To review pull requests from the same repository, use the `pull_request` event.';

/** Describes the event. Warns about the events whose jobs must not have an API key, or get none. */
async function examineGitHubEvent(environment: System['environment']): Promise<DoctorPoint> {
  const name = 'event';
  const { GITHUB_EVENT_NAME: event = 'unknown', GITHUB_EVENT_PATH: path = '' } = environment;
  try {
    const payload: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (event === 'pull_request_target') return makeWarningPoint(name, event, PULL_REQUEST_TARGET_HINT);
    if (!isFromFork(payload)) return makeOkPoint(name, event);
    const hint =
      'Review such pull requests without a key: run `promptsync plan --offline --base REF`. Their jobs have no secrets, and their tokens can only read.';
    return makeWarningPoint(name, `${event} from a fork`, hint);
  } catch (error) {
    const hint = 'Run `promptsync doctor` in a workflow, which sets `GITHUB_EVENT_NAME` and `GITHUB_EVENT_PATH`.';
    return makeWarningPoint(name, `${event}, but its payload cannot be read (${getErrorMessage(error)})`, hint);
  }
}

function isFromFork(payload: unknown): boolean {
  const pull = readMember(payload, 'pull_request');
  const [head, base] = ['head', 'base'].map((side) =>
    readMember(readMember(readMember(pull, side), 'repo'), 'full_name'),
  );
  return pull !== undefined && head !== base;
}

function readMember(value: unknown, name: string): unknown {
  return isJsonObject(value) ? value[name] : undefined;
}

/** GitHub has no request for the permissions of a token, so read a list that the permission protects. */
async function examinePermission(
  permission: 'checks' | 'pull-requests',
  path: string | null,
  api: ForgeApi,
  system: System,
): Promise<DoctorPoint> {
  const name = `permission ${permission}`;
  if (path === null) return makeUncheckedPoint(name, 'no commit is checked out');
  const fault = await findReadFault(api, `${path}?per_page=1`, system);
  if (fault === null) return makeOkPoint(name, 'can read; only a write shows whether the token can write');
  const hint = `Grant the job the \`${permission}: write\` permission, which the GitHub Action needs.`;
  return makeErrorPoint(name, fault, hint);
}

const GITLAB_TOKEN_HINT =
  "Set `GITLAB_TOKEN` to a project access token for the merge request's project, with the `api` scope and the Reporter role. GitLab passes a protected variable only to jobs on protected branches.";

async function examineGitLabJob(system: System): Promise<readonly DoctorPoint[]> {
  const { environment, keepSecret } = system;
  const { CI_PIPELINE_SOURCE: source = 'unknown', CI_COMMIT_BRANCH: branch } = environment;
  const event = makeOkPoint('event', branch === undefined ? source : `${source} on "${branch}"`);
  const token = environment['GITLAB_TOKEN']?.trim() ?? '';
  if (token === '') {
    const found = 'the variable GITLAB_TOKEN is not set, so `promptsync comment` does not publish a note';
    return [event, makeWarningPoint('token', found, GITLAB_TOKEN_HINT)];
  }
  keepSecret(token);
  const api: ForgeApi = { baseUrl: environment['CI_API_V4_URL'] ?? '', header: { 'private-token': token }, token };
  const fault = await findReadFault(api, '/user', system);
  if (fault !== null) {
    const found = `cannot read the user that owns this token: ${fault}`;
    return [event, makeErrorPoint('token', found, GITLAB_TOKEN_HINT)];
  }
  return [event, makeOkPoint('token', 'accepted: the variable GITLAB_TOKEN'), await examineMergeRequest(api, system)];
}

async function examineMergeRequest(api: ForgeApi, system: System): Promise<DoctorPoint> {
  const name = 'merge request';
  const { CI_MERGE_REQUEST_PROJECT_ID: project = '', CI_MERGE_REQUEST_IID: number = '' } = system.environment;
  // A value that is not a number could change the path of the request.
  if (!/^\d+$/.test(project) || !/^\d+$/.test(number)) return makeOkPoint(name, 'none: this is a branch pipeline');
  const fault = await findReadFault(api, `/projects/${project}/merge_requests/${number}/notes?per_page=1`, system);
  if (fault === null) return makeOkPoint(name, `can read the notes on !${number}`);
  return makeErrorPoint(name, `cannot read the notes on !${number}: ${fault}`, GITLAB_TOKEN_HINT);
}

/** The GitHub or GitLab API and its access token. */
type ForgeApi = {
  readonly baseUrl: string;
  readonly header: Readonly<Record<string, string>>;
  readonly token: string;
};

const FORGE_TIMEOUT_SECONDS = 10;

/**
 * Sends one GET request. Returns the reason why the resource is not readable, without a period at the end, or null if it
 * is readable. Throws only if the run was interrupted before.
 */
async function findReadFault(
  { baseUrl, header, token }: ForgeApi,
  path: string,
  { environment, stopSignal }: System,
): Promise<string | null> {
  if (stopSignal.aborted) throw new ProblemError(makeProblem('apply/interrupted'));
  if (!URL.canParse(baseUrl)) return 'the address of the API is not a URL';
  const http = makeHttp({ baseUrl, concurrency: 1, timeoutSeconds: FORGE_TIMEOUT_SECONDS, environment }, header);
  try {
    const exchange = await http.send({ method: 'GET', path, body: null, usesFreshConnection: false });
    if (exchange.kind === 'broken') return describeBrokenExchange(exchange, baseUrl);
    if (exchange.status < 300) return null;
    const excerpt = makeResponseExcerpt(exchange, [token]);
    const status = `status ${exchange.status}`;
    return excerpt === '' ? status : `${status}: ${excerpt}`;
  } finally {
    await http.close();
  }
}
