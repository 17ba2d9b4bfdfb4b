import pLimit, { type LimitFunction } from 'p-limit';
import { ServiceError, type PromptService } from './prompt-service.ts';
import { makeProblem } from '../problem.ts';
import { createVersionCall, readPromptCall, setActiveCall, updatePromptCall, type Call } from './calls.ts';
import { interpret, type Connected } from './errors.ts';
import { makeHttp, type Exchange, type Http, type HttpSettings } from './http.ts';
import { withRetries, type Attempt, type RetryPolicy } from './retry.ts';
import { API_KEY_HEADER } from './wire.ts';

/** One request that was made. `status` is null when none came; `attempt` counts from 1. */
export type CallReport = {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly status: number | null;
  readonly milliseconds: number;
  readonly attempt: number;
};

/** `now` in milliseconds since 1970, `random` in [0, 1), `sleep` in milliseconds. */
export type ClientOptions = RetryPolicy & {
  /** May have a path. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Requests in flight, at most. */
  readonly concurrency: number;
  /** For each attempt as a whole, from its start to the last byte of its answer. */
  readonly timeoutSeconds: number;
  /** For HTTP_PROXY, HTTPS_PROXY and NO_PROXY, in upper or lower case. */
  readonly environment: HttpSettings['environment'];
  readonly onCall?: (report: CallReport) => void;
  /** Once aborted, no request is begun, not even of a call that has waited for its turn. */
  readonly stop?: AbortSignal;
};

/** A service with connections of its own, which have to be closed. */
export type ConnectedService = PromptService & {
  /** Ends all connections at once: for when no call is in flight. */
  readonly close: () => Promise<void>;
};

/**
 * The prompt service over HTTP (interface sections 4 and 5). Nothing is sent before the first call; a base URL that is
 * no URL throws a `TypeError`.
 */
export function connect(options: ClientOptions): ConnectedService {
  const connection = makeConnection(options);
  return {
    readPrompt: async (promptId, environment) => perform(readPromptCall(promptId, environment), connection),
    createVersion: async (promptId, version) => perform(createVersionCall(promptId, version), connection),
    updatePrompt: async (promptId, fields) => perform(updatePromptCall(promptId, fields), connection),
    setActive: async (promptId, environment, versionId) =>
      perform(setActiveCall(promptId, environment, versionId), connection),
    close: connection.http.close,
  };
}

type Connection = {
  readonly options: ClientOptions;
  readonly connected: Connected;
  /** The base URL's path without a slash at its end. */
  readonly basePath: string;
  readonly http: Http;
  readonly limit: LimitFunction;
};

function makeConnection(options: ClientOptions): Connection {
  const { apiKey, concurrency, environment, timeoutSeconds } = options;
  const origin = new URL(options.baseUrl);
  return {
    options,
    connected: { origin: origin.origin, seconds: timeoutSeconds, apiKey },
    basePath: origin.pathname.replace(/\/+$/, ''),
    http: makeHttp({ origin, concurrency, timeoutMilliseconds: timeoutSeconds * 1_000, environment }),
    limit: pLimit(concurrency),
  };
}

/** A place among the requests in flight is held while a request runs, not while it waits to be repeated. */
function perform<Answer>(call: Call<Answer>, connection: Connection): Promise<Answer> {
  const { limit, options } = connection;
  return withRetries((attempt) => limit(() => tryOnce(call, connection, attempt)), options);
}

async function tryOnce<Answer>(call: Call<Answer>, connection: Connection, attempt: number): Promise<Attempt<Answer>> {
  if (connection.options.stop?.aborted) {
    const error = new ServiceError(makeProblem('apply/interrupted'), 'not-sent');
    return { ok: false, error, repeat: false, retryAfter: null };
  }
  return interpret(call, await exchange(call, connection, attempt), connection.connected);
}

async function exchange(call: Call<unknown>, connection: Connection, attempt: number): Promise<Exchange> {
  const { basePath, http, options } = connection;
  const { now, onCall } = options;
  const { method, once: fresh } = call;
  const path = basePath + call.path;
  const body = call.body === null ? null : JSON.stringify(call.body);
  const started = now();
  const result = await http.send({ method, path, headers: headersOf(options.apiKey, body), body, fresh });
  onCall?.({ method, path, status: result.status, milliseconds: now() - started, attempt });
  return result;
}

function headersOf(apiKey: string, body: string | null): Readonly<Record<string, string>> {
  return {
    [API_KEY_HEADER]: apiKey,
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'promptsync',
    ...(body !== null && { 'content-type': 'application/json' }),
  };
}
