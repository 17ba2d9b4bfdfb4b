import { Octokit } from '@octokit/core';
import { paginateRest } from '@octokit/plugin-paginate-rest';
import { retry } from '@octokit/plugin-retry';
import { throttling } from '@octokit/plugin-throttling';
import { Agent, EnvHttpProxyAgent, fetch, type RequestInfo, type RequestInit } from 'undici';
import { isLoopback, type Proxies, proxiesOf } from '../domain/network.ts';

export type GitHubAccess = {
  readonly token: string;
  /** Such as https://api.github.com. */
  readonly apiUrl: string;
  /** `owner/name`. */
  readonly repository: string;
  /** Where proxies are set. */
  readonly environment: Readonly<Record<string, string | undefined>>;
};

/** A client that repeats what failed for a moment, pages through lists, and waits for rate limits that end soon. */
export type GitHub = {
  readonly octokit: InstanceType<typeof Client>;
  /** `{ owner, repo }`, as each call wants it. */
  readonly names: { readonly owner: string; readonly repo: string };
};

const Client = Octokit.plugin(paginateRest, retry, throttling);

/** Seconds. A comment is not worth a longer wait. */
const LONGEST_WAIT = 30;
const RETRIES = 2;

/** Nothing is sent before the first call. */
export function connectGitHub({ token, apiUrl, repository, environment }: GitHubAccess): GitHub {
  const [owner = '', repo = ''] = repository.split('/');
  const waits = (seconds: number, _: object, _client: unknown, retried: number) =>
    seconds <= LONGEST_WAIT && retried < RETRIES;
  const octokit = new Client({
    auth: token,
    baseUrl: apiUrl,
    userAgent: 'promptsync',
    request: { fetch: fetchThrough(proxiesOf(environment)) },
    // Not with `request`: what stands there is also repeated where it was refused.
    retry: { retries: RETRIES },
    // Limits are a server's own.
    throttle: { id: apiUrl, onRateLimit: waits, onSecondaryRateLimit: waits },
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
  });
  return { octokit, names: { owner, repo } };
}

/** Milliseconds for one request. */
const PATIENCE = 20_000;

function fetchThrough(proxies: Proxies) {
  const [direct, proxied] = [new Agent(), new EnvHttpProxyAgent(proxies)];
  return (url: RequestInfo, options: RequestInit) => {
    const dispatcher = isLoopback(new URL(String(url))) ? direct : proxied;
    return fetch(url, { ...options, dispatcher, signal: AbortSignal.timeout(PATIENCE) });
  };
}
