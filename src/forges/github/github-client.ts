import { Octokit } from '@octokit/core';
import { paginateRest } from '@octokit/plugin-paginate-rest';
import { retry } from '@octokit/plugin-retry';
import { throttling } from '@octokit/plugin-throttling';
import { Agent, EnvHttpProxyAgent, fetch, type RequestInfo, type RequestInit, type Response } from 'undici';
import { z } from 'zod';
import { findProxy, readProxySettings } from '../../domain/network.ts';
import type { System } from '../../domain/system.ts';

/** A client for the GitHub API. It retries transient failures, and waits for short rate limits to expire. */
export type GitHub = {
  readonly octokit: InstanceType<typeof Client>;
  /** The owner and the name of the repository, which API calls take as parameters. */
  readonly names: { readonly owner: string; readonly repo: string };
  /** Sends a request only once for each name. Later calls with the same name return the first result. */
  readonly once: <Answer>(name: string, request: () => Promise<Answer>) => Promise<Answer>;
};

const Client = Octokit.plugin(paginateRest, retry, throttling);

const MAX_RETRIES = 2;

/** Creates the client for the repository that the runner's environment variables specify. Sends no request. */
export function connectGitHub(token: string, { environment, now }: Pick<System, 'environment' | 'now'>): GitHub {
  const [owner = '', repo = ''] = (environment['GITHUB_REPOSITORY'] ?? '').split('/');
  const apiUrl = environment['GITHUB_API_URL'] || 'https://api.github.com';
  const budget = { remainingMs: MAX_TOTAL_MS };
  const shouldWait = (seconds: number, _: object, _client: unknown, retryCount: number): boolean => {
    const isAffordable = retryCount < MAX_RETRIES && seconds * 1000 <= budget.remainingMs;
    if (isAffordable) budget.remainingMs -= seconds * 1000;
    return isAffordable;
  };
  const octokit = new Client({
    auth: token,
    baseUrl: apiUrl,
    userAgent: 'promptsync',
    request: { fetch: makeFetch(environment, budget, now) },
    // Set the retries here, because `request.retries` would also retry requests that GitHub rejected, such as a 404.
    retry: { retries: MAX_RETRIES },
    // Each server has its own rate limits, so use the address of the server as the id of its limits.
    throttle: { id: apiUrl, onRateLimit: shouldWait, onSecondaryRateLimit: shouldWait },
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
  });
  // Copy the options of each request, because Octokit shares one object among all requests, and the retry plugin counts
  // retries in it. Without the copy, the retries of one request would lengthen the waits of later requests.
  octokit.hook.before('request', (options) => void (options.request = { ...options.request }));
  const answers = new Map<string, Promise<unknown>>();
  const once = <Answer>(name: string, request: () => Promise<Answer>): Promise<Answer> => {
    const answer = (answers.get(name) as Promise<Answer> | undefined) ?? request();
    answers.set(name, answer);
    return answer;
  };
  return { octokit, names: { owner, repo }, once };
}

const MAX_REQUEST_MS = 9_000;
/**
 * The total time that a run may spend on slow requests, failed requests and waits, in milliseconds. Publishing a
 * comment does not justify a longer wait.
 */
const MAX_TOTAL_MS = 25_000;
/**
 * The usual duration of a request, in milliseconds. If a request gets a response with a status below 500, only the time
 * beyond this counts toward `MAX_TOTAL_MS`.
 */
const USUAL_RESPONSE_MS = 1_000;
/** The longest wait before the retry of a failed request, in milliseconds. */
const MAX_RETRY_WAIT_MS = 4_000;

type TimeBudget = { remainingMs: number };

/**
 * Sends a request and deducts its time from the budget. After the time limit, throws an `AbortError`, because this is
 * the only error that no Octokit plugin retries. Octokit then sets the status of the error to 500.
 */
async function sendInTime(
  send: (signal: AbortSignal) => Promise<Response>,
  budget: TimeBudget,
  now: System['now'],
): Promise<Response> {
  const limit = Math.min(MAX_REQUEST_MS, budget.remainingMs);
  const signal = budget.remainingMs > 0 ? AbortSignal.timeout(limit) : AbortSignal.abort();
  const startedAt = now();
  // After a failure or a status of 500 or higher, also deduct the wait before the retry.
  let surcharge = MAX_RETRY_WAIT_MS;
  try {
    const response = await send(signal);
    // Read the whole body within the time limit. Otherwise, Octokit would accept an incomplete body if the rest arrived
    // too slowly.
    await response.clone().arrayBuffer();
    if (response.status < 500) surcharge = -USUAL_RESPONSE_MS;
    return response;
  } catch (error) {
    if (!signal.aborted) throw error;
    throw Object.assign(new Error('GitHub did not respond in time'), { name: 'AbortError' });
  } finally {
    budget.remainingMs -= Math.max(0, now() - startedAt + surcharge);
  }
}

type FetchFunction = (url: RequestInfo, options: RequestInit) => Promise<Response>;

/** Reads the proxy settings on the first request, so that an invalid one makes only requests to GitHub fail. */
function makeFetch(environment: System['environment'], budget: TimeBudget, now: System['now']): FetchFunction {
  let agents: { readonly direct: Agent; readonly proxied: EnvHttpProxyAgent } | null = null;
  return async (url, options) => {
    agents ??= { direct: new Agent(), proxied: new EnvHttpProxyAgent(readProxySettings(environment)) };
    const dispatcher = findProxy(new URL(String(url)), environment) === null ? agents.direct : agents.proxied;
    return sendInTime((signal) => fetch(url, { ...options, dispatcher, signal }), budget, now);
  };
}

/**
 * Matches errors due to a missing permission, but not due to a rate limit. This includes 404, because GitHub also
 * responds with it if the token may not see an object.
 */
export const Forbidden = z.object({
  status: z.literal([403, 404]),
  message: z.string().regex(/^(?!.*rate limit)/is),
  response: z.object({ headers: z.object({ 'x-ratelimit-remaining': z.string().regex(/[1-9]/).optional() }) }),
});

export type MergedPull = {
  readonly number: number;
  /** The id of the last head commit before the merge. */
  readonly head: string;
  /** The id of the newest commit that the merge created. Null if GitHub does not report it. */
  readonly mergeCommit: string | null;
};

/**
 * Lists the merged pull requests that GitHub associates with a commit and a branch. If the commit is the merge commit
 * of some of them, returns only those. There can be several: if multiple open pull requests have the same head commit,
 * GitHub marks all of them as merged when one is merged. This happens, for example, if a pull request from a fork was
 * copied to the repository.
 */
export async function listMergedPulls(
  { octokit, names, once }: GitHub,
  commit: string,
  branch: string | null,
): Promise<readonly MergedPull[]> {
  const call = 'GET /repos/{owner}/{repo}/commits/{commit_sha}/pulls';
  const listPulls = () => octokit.paginate(call, { ...names, commit_sha: commit, per_page: 100 });
  const pulls = await once(`pull requests of ${commit}`, listPulls);
  const merged = pulls.filter(({ merged_at: at, base }) => Boolean(at) && base.ref === branch);
  const exact = merged.filter(({ merge_commit_sha: sha }) => sha === commit);
  const chosen = exact.length > 0 ? exact : merged;
  return chosen.map(({ number, head, merge_commit_sha: mergeCommit }) => ({ number, head: head.sha, mergeCommit }));
}

/** Returns the id of the current head commit of a pull request, or null if the pull request is closed. */
export async function readOpenHead({ octokit, names }: GitHub, number: number): Promise<string | null> {
  const call = 'GET /repos/{owner}/{repo}/pulls/{pull_number}';
  const { state, head } = (await octokit.request(call, { ...names, pull_number: number })).data;
  return state === 'closed' ? null : head.sha;
}

/** Uses the API, because the clone in a workflow may be unable to contact its remote. */
export async function readBranchTip({ octokit, names }: GitHub, branch: string): Promise<string> {
  const call = 'GET /repos/{owner}/{repo}/git/ref/{ref}';
  return (await octokit.request(call, { ...names, ref: `heads/${branch}` })).data.object.sha;
}

/** The login of the account that owns a workflow's default token. */
export const ACTIONS_LOGIN = 'github-actions[bot]';

/** Matches errors due to a missing permission, and the 404 of a server without GraphQL. */
const GraphqlUnavailable = z.union([
  z.object({ status: z.literal([401, 403, 404]), message: Forbidden.shape.message }),
  z.object({ errors: z.array(z.object({ type: z.literal('FORBIDDEN') })).min(1) }),
]);

/**
 * Uses GraphQL, because REST does not return the account of an app's token. If the token may not use GraphQL, returns
 * the account of the workflow's default token. Throws any other error. Otherwise promptsync could use the wrong
 * account, miss its own comment and post a second one.
 */
export async function readOwnLogin({ octokit, once }: GitHub): Promise<string> {
  return once('viewer', async () => {
    try {
      const { viewer } = await octokit.graphql<{ readonly viewer: { readonly login: string } }>('{ viewer { login } }');
      return viewer.login;
    } catch (error) {
      if (GraphqlUnavailable.safeParse(error).success) return ACTIONS_LOGIN;
      throw error;
    }
  });
}

/** Reads the files of a commit. Maps each path to the file's mode, type and id, as `git ls-tree` prints them. */
export async function readTreeBlobs({ octokit, names }: GitHub, commit: string): Promise<ReadonlyMap<string, string>> {
  const call = 'GET /repos/{owner}/{repo}/git/trees/{tree_sha}';
  const { tree, truncated } = (await octokit.request(call, { ...names, tree_sha: commit, recursive: '1' })).data;
  if (truncated) throw new Error('the repository has too many files: GitHub does not list all of them.');
  const files = tree.filter(({ type }) => type !== 'tree');
  return new Map(files.map(({ path, mode, type, sha }) => [path, `${mode} ${type} ${sha}`]));
}
