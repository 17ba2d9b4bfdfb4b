import { Octokit } from '@octokit/core';
import { paginateRest } from '@octokit/plugin-paginate-rest';
import { retry } from '@octokit/plugin-retry';
import { throttling } from '@octokit/plugin-throttling';
import { Agent, EnvHttpProxyAgent, fetch, type RequestInfo, type RequestInit, type Response } from 'undici';
import { z } from 'zod';
import { isLoopback, readProxySettings } from '../domain/network.ts';
import type { World } from '../domain/world.ts';

/** A client that repeats what failed for a moment, pages through lists, and waits for rate limits that end soon. */
export type GitHub = {
  readonly octokit: InstanceType<typeof Client>;
  /** `{ owner, repo }`, as each call wants it. */
  readonly names: { readonly owner: string; readonly repo: string };
  /** What is asked for under a name is asked once in a run. */
  readonly once: <Answer>(name: string, ask: () => Promise<Answer>) => Promise<Answer>;
};

const Client = Octokit.plugin(paginateRest, retry, throttling);

const MAX_RETRIES = 2;

/** The variables are those of a runner. Nothing is sent before the first call. */
export function connectGitHub(token: string, { environment, now }: Pick<World, 'environment' | 'now'>): GitHub {
  const [owner = '', repo = ''] = (environment['GITHUB_REPOSITORY'] ?? '').split('/');
  const apiUrl = environment['GITHUB_API_URL'] || 'https://api.github.com';
  const patience = { left: MAX_REQUEST_MS.all };
  const waits = (seconds: number, _: object, _client: unknown, retried: number): boolean => {
    const isWorthIt = retried < MAX_RETRIES && seconds * 1000 <= patience.left;
    if (isWorthIt) patience.left -= seconds * 1000;
    return isWorthIt;
  };
  const octokit = new Client({
    auth: token,
    baseUrl: apiUrl,
    userAgent: 'promptsync',
    request: { fetch: makeFetch(environment, patience, now) },
    // Not with `request`: what stands there is also repeated where it was refused.
    retry: { retries: MAX_RETRIES },
    // Limits are a server's own.
    throttle: { id: apiUrl, onRateLimit: waits, onSecondaryRateLimit: waits },
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
  });
  // One object for all requests otherwise: how often one was repeated would make the next ones wait for longer.
  octokit.hook.before('request', (options) => void (options.request = { ...options.request }));
  const asked = new Map<string, Promise<unknown>>();
  const once = <Answer>(name: string, ask: () => Promise<Answer>): Promise<Answer> => {
    const answer = (asked.get(name) as Promise<Answer> | undefined) ?? ask();
    asked.set(name, answer);
    return answer;
  };
  return { octokit, names: { owner, repo }, once };
}

/** Milliseconds that a request may take, and all of a run that take long, fail or are to wait: a comment is not worth more. */
const MAX_REQUEST_MS = { one: 9_000, all: 25_000 };
/** What an answer usually takes, and the longest wait before what failed is repeated. */
const [USUAL_RESPONSE_MS, MAX_REPEAT_WAIT_MS] = [1_000, 4_000];

/** What is left, in milliseconds, of the time that all slow and failed requests of a run may take together. */
type Patience = { left: number };

/** What is not answered in time fails with the one error that no plugin repeats; Octokit gives it the status 500. */
async function sendInTime(
  send: (signal: AbortSignal) => Promise<Response>,
  patience: Patience,
  now: World['now'],
): Promise<Response> {
  const signal =
    patience.left > 0 ? AbortSignal.timeout(Math.min(MAX_REQUEST_MS.one, patience.left)) : AbortSignal.abort();
  const began = now();
  let more = MAX_REPEAT_WAIT_MS;
  try {
    const response = await send(signal);
    // A body may come in drops: Octokit would take what there is for all of it.
    await response.clone().arrayBuffer();
    if (response.status < 500) more = -USUAL_RESPONSE_MS;
    return response;
  } catch (error) {
    throw signal.aborted ? Object.assign(new Error('GitHub takes too long'), { name: 'AbortError' }) : error;
  } finally {
    patience.left -= Math.max(0, now() - began + more);
  }
}

type FetchFunction = (url: RequestInfo, options: RequestInit) => Promise<Response>;

/** Proxies are read at the first request: one that is not valid then costs no more than what was to be sent. */
function makeFetch(environment: World['environment'], patience: Patience, now: World['now']): FetchFunction {
  let agents: { readonly direct: Agent; readonly proxied: EnvHttpProxyAgent } | null = null;
  return async (url, options) => {
    agents ??= { direct: new Agent(), proxied: new EnvHttpProxyAgent(readProxySettings(environment)) };
    const dispatcher = isLoopback(new URL(String(url))) ? agents.direct : agents.proxied;
    return sendInTime((signal) => fetch(url, { ...options, dispatcher, signal }), patience, now);
  };
}

/** The error of a call that a permission is missing for; GitHub answers 404 as well for what a token may not see. */
export const Forbidden = z.object({
  status: z.literal([403, 404]),
  message: z.string().regex(/^(?!.*rate limit)/is),
  response: z.object({ headers: z.object({ 'x-ratelimit-remaining': z.string().regex(/[1-9]/).optional() }) }),
});

/** A merged pull request, the last head commit before its merge, and the newest commit that the merge has made. */
export type MergedPull = { readonly number: number; readonly head: string; readonly mergeCommit: string | null };

/**
 * Returns the pull requests that merged a commit into a branch. If several open pull requests have the same head commit,
 * for example one of a fork and a copy of it, GitHub marks all of them as merged when one of them is merged.
 */
export async function listMergedPulls(
  { octokit, names, once }: GitHub,
  commit: string,
  branch: string | null,
): Promise<readonly MergedPull[]> {
  const call = 'GET /repos/{owner}/{repo}/commits/{commit_sha}/pulls';
  const ask = () => octokit.paginate(call, { ...names, commit_sha: commit, per_page: 100 });
  const pulls = await once(`pull requests of ${commit}`, ask);
  const merged = pulls.filter(({ merged_at: at, base }) => Boolean(at) && base.ref === branch);
  const exact = merged.filter(({ merge_commit_sha: sha }) => sha === commit);
  const found = exact.length > 0 ? exact : merged;
  return found.map(({ number, head, merge_commit_sha: mergeCommit }) => ({ number, head: head.sha, mergeCommit }));
}

/** Returns the first of the pull requests that merged a commit into a branch; null if there is none. */
export async function findMergedPull(
  github: GitHub,
  commit: string,
  branch: string | null,
): Promise<MergedPull | null> {
  const [first] = await listMergedPulls(github, commit, branch);
  return first ?? null;
}

/** The commit that a pull request is at now; null once it is closed. */
export async function readOpenHead({ octokit, names }: GitHub, number: number): Promise<string | null> {
  const call = 'GET /repos/{owner}/{repo}/pulls/{pull_number}';
  const { state, head } = (await octokit.request(call, { ...names, pull_number: number })).data;
  return state === 'closed' ? null : head.sha;
}

/** The commit that a branch is at now; for clones that cannot ask their remote. */
export async function readBranchTip({ octokit, names }: GitHub, branch: string): Promise<string> {
  const call = 'GET /repos/{owner}/{repo}/git/ref/{ref}';
  return (await octokit.request(call, { ...names, ref: `heads/${branch}` })).data.object.sha;
}

/** The account that a workflow's own token writes as. */
export const ACTIONS_LOGIN = 'github-actions[bot]';

/** The error of a GraphQL query that this token may not make. A server without GraphQL responds with 404. */
const GraphqlUnavailable = z.union([
  z.object({ status: z.literal([401, 403, 404]), message: Forbidden.shape.message }),
  z.object({ errors: z.array(z.object({ type: z.literal('FORBIDDEN') })).min(1) }),
]);

/**
 * Returns the account that the token writes as. GraphQL tells every kind of token its account; REST does not tell apps.
 * If GraphQL is not available to the token, it is the workflow's own. Throws every other error after Octokit's retries:
 * with the wrong account, promptsync would not find its own comment and write a second one.
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

/** All files of a commit by their paths: mode, kind and id, as `git ls-tree` prints them. */
export async function readTreeBlobs({ octokit, names }: GitHub, commit: string): Promise<ReadonlyMap<string, string>> {
  const call = 'GET /repos/{owner}/{repo}/git/trees/{tree_sha}';
  const { tree, truncated } = (await octokit.request(call, { ...names, tree_sha: commit, recursive: '1' })).data;
  if (truncated) throw new Error('GitHub does not list all files of a repository of this size.');
  const files = tree.filter(({ type }) => type !== 'tree');
  return new Map(files.map(({ path, mode, type, sha }) => [path, `${mode} ${type} ${sha}`]));
}
