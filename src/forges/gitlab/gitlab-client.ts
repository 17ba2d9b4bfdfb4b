import { z } from 'zod';
import type { RequestedWait, System } from '../../domain/system.ts';
import { makeProblem, type Problem, ProblemError } from '../../problem.ts';
import {
  mayRepeat,
  describeBrokenExchange,
  getFailureEffect,
  makeResponseExcerpt,
} from '../../http/interpret-exchange.ts';
import { makeHttp, type Exchange, type Http, isSuccessStatus } from '../../http/send-request.ts';
import { ServiceError, type Effect } from '../../http/service-error.ts';
import { parseRetryAfter, withRetries, type AttemptResult } from '../../http/retry.ts';

/** A client for the GitLab REST API. It retries transient failures, and gives up within a minute. */
export type GitLab = {
  /** Throws a `ServiceError` if the request fails. With the effect `unknown`, GitLab may have processed the request. */
  readonly send: <Answer>(call: GitLabCall<Answer>) => Promise<Answer>;
  /**
   * Yields the items of a list, page by page. A short page is not necessarily the last one, because GitLab removes
   * items that the token may not see.
   */
  readonly list: <Item>(path: string, item: z.ZodType<Item>) => AsyncGenerator<Item>;
  readonly close: () => Promise<void>;
};

type GitLabCall<Answer> = {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** The path below the base URL of the API, including the query. */
  readonly path: string;
  readonly body?: object;
  readonly shape: z.ZodType<Answer>;
};

/** A parsed response. For a list, `next` is the number of the next page, or null if there is no next page. */
type GitLabPage<Answer> = { readonly value: Answer; readonly next: string | null };

const MAX_REQUEST_MS = 10_000;
/**
 * The time limit for all requests of a command, in milliseconds. The command must finish within a minute, so this
 * leaves ten seconds for its start and end.
 */
const MAX_TOTAL_MS = 50_000;
/** The longest wait before a retry if the response has no `Retry-After`, in milliseconds. */
const MAX_BACKOFF_MS = 1_000;

type GitLabConnection = {
  readonly apiUrl: URL;
  readonly token: string;
  readonly http: Http;
  /** The time by which the last request must end, in milliseconds since 1970. */
  readonly deadline: number;
};

/** Creates the client, which sends the token only to the origin of the URL in CI_API_V4_URL. Sends no request. */
export function connectGitLab(token: string, system: System): GitLab {
  const { environment, now, onWait } = system;
  const policy = { ...system, onWait: (wait: RequestedWait) => onWait({ ...wait, service: 'GitLab' }) };
  const apiUrl = readApiUrl(environment);
  const settings = { baseUrl: apiUrl.href, concurrency: 1, timeoutSeconds: MAX_REQUEST_MS / 1_000, environment };
  const http = makeHttp(settings, { 'private-token': token });
  const connection = { apiUrl, token, http, deadline: now() + MAX_TOTAL_MS };
  const perform = <Answer>(call: GitLabCall<Answer>) => withRetries(() => sendOnce(call, connection, system), policy);
  return {
    send: async (call) => (await perform(call)).value,
    list: async function* (path, item) {
      const shape = z.array(item);
      for (let page: string | null = '1'; page !== null;) {
        const query: string = `${path.includes('?') ? '&' : '?'}per_page=100&page=${page}`;
        const call = { method: 'GET', path: path + query, shape } as const;
        const { value, next }: GitLabPage<z.infer<typeof shape>> = await perform(call);
        yield* value;
        page = next;
      }
    },
    close: connection.http.close,
  };
}

/**
 * Reads CI_API_V4_URL. Allows plain HTTP, because the GitLab runner sets this variable and therefore knows how to reach
 * its server. Throws a `ProblemError` if the URL is not valid.
 */
function readApiUrl(environment: System['environment']): URL {
  const url = URL.parse(environment['CI_API_V4_URL'] ?? '');
  if (url !== null && /^https?:$/.test(url.protocol) && url.username + url.password === '') return url;
  throw new ProblemError(makeNotPublishedProblem('the variable `CI_API_V4_URL` does not contain a valid address'));
}

/** @param status the HTTP status of GitLab's response; 0 if there was no response */
function makeNotPublishedProblem(reason: string, status = 0): Problem {
  return makeProblem('gitlab/not-published', { reason, status });
}

type GitLabAttempt<Answer> = AttemptResult<GitLabPage<Answer>>;

/** Sends nothing if the run was interrupted, or if the remaining time is too short for another request. */
async function sendOnce<Answer>(
  call: GitLabCall<Answer>,
  connection: GitLabConnection,
  system: System,
): Promise<GitLabAttempt<Answer>> {
  const { http, deadline } = connection;
  const { now, stopSignal } = system;
  if (stopSignal.aborted) return makeFailedAttempt('the run was interrupted', 'not-sent');
  if (now() + MAX_REQUEST_MS > deadline) return makeFailedAttempt('GitLab did not respond in time', 'not-sent');
  const { method, path, body = null } = call;
  const isCreate = method === 'POST';
  const exchange = await http.send({ method, path, body, usesFreshConnection: isCreate });
  const attempt = interpretResponse(call, exchange, connection);
  if (attempt.isSuccess) return attempt;
  const retryAfter = exchange.kind === 'answered' ? exchange.retryAfter : null;
  const wait = Math.max(MAX_BACKOFF_MS, parseRetryAfter(retryAfter ?? '', now()));
  const hasTimeForRetry = now() + wait + MAX_REQUEST_MS <= deadline;
  return { ...attempt, retryAfter, mayRepeat: mayRepeat(exchange, isCreate) && hasTimeForRetry };
}

function makeFailedAttempt(reason: string, effect: Effect, status?: number): AttemptResult<never> {
  const error = new ServiceError(makeNotPublishedProblem(reason, status), effect);
  return { isSuccess: false, error, retryAfter: null, mayRepeat: false };
}

function interpretResponse<Answer>(
  { shape }: GitLabCall<Answer>,
  exchange: Exchange,
  { apiUrl, token }: GitLabConnection,
): GitLabAttempt<Answer> {
  if (exchange.kind === 'broken') {
    const reason = `${apiUrl.host} did not respond (${describeBrokenExchange(exchange, apiUrl.href)})`;
    return makeFailedAttempt(reason, getFailureEffect(exchange));
  }
  const { status, nextPage } = exchange;
  if (!isSuccessStatus(status)) {
    const said = makeResponseExcerpt(exchange, [token]);
    const reason = `GitLab responded with ${status}`;
    const fullReason = said === '' ? reason : `${reason}: "${said}"`;
    return makeFailedAttempt(fullReason, getFailureEffect(exchange), status);
  }
  try {
    const text = Buffer.from(exchange.body).toString('utf8');
    const next = /^\d+$/.exec(nextPage ?? '')?.[0] ?? null;
    return { isSuccess: true, value: { value: shape.parse(JSON.parse(text)), next } };
  } catch {
    return makeFailedAttempt('the response does not match the GitLab API documentation', 'unknown');
  }
}
