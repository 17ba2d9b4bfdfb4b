import pLimit from 'p-limit';
import type { PromptService } from '../domain/prompt-service.ts';
import { createVersionCall, readPromptCall, setActiveCall, updatePromptCall, type Call } from './calls.ts';
import { makeDispatchers, type Dispatchers, type Environment } from './dispatchers.ts';
import { send, type Exchange } from './http.ts';
import { judge } from './judge.ts';
import { withRetries, type RetryPolicy } from './retry.ts';
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
  readonly environment: Environment;
  readonly onCall?: (report: CallReport) => void;
};

export type ConnectedService = PromptService & {
  /** Ends all connections at once: for when no call is in flight. */
  readonly close: () => Promise<void>;
};

/**
 * The prompt service over HTTP (interface sections 4 and 5). Nothing is sent before the first call; a base URL that is
 * no URL throws a `TypeError`.
 */
export function connect(options: ClientOptions): ConnectedService {
  const line = makeLine(options);
  return {
    readPrompt: async (promptId, environment) => perform(readPromptCall(promptId, environment), line),
    createVersion: async (promptId, version) => perform(createVersionCall(promptId, version), line),
    updatePrompt: async (promptId, fields) => perform(updatePromptCall(promptId, fields), line),
    setActive: async (promptId, environment, versionId) =>
      perform(setActiveCall(promptId, environment, versionId), line),
    close: line.dispatchers.close,
  };
}

type Line = {
  readonly options: ClientOptions;
  readonly origin: string;
  /** The base URL's path without a slash at its end. */
  readonly basePath: string;
  readonly dispatchers: Dispatchers;
  readonly limit: <Value>(task: () => Promise<Value>) => Promise<Value>;
};

function makeLine(options: ClientOptions): Line {
  const { concurrency, environment } = options;
  const url = new URL(options.baseUrl);
  const timeoutMilliseconds = options.timeoutSeconds * 1_000;
  return {
    options,
    origin: url.origin,
    basePath: url.pathname.replace(/\/+$/, ''),
    dispatchers: makeDispatchers({ origin: url, concurrency, timeoutMilliseconds, environment }),
    limit: pLimit(concurrency),
  };
}

/** A place among the requests in flight is held while a request runs, not while it waits to be repeated. */
function perform<Answer>(call: Call<Answer>, line: Line): Promise<Answer> {
  const judging = { origin: line.origin, seconds: line.options.timeoutSeconds, apiKey: line.options.apiKey };
  return withRetries(
    async (attempt) => judge(call, await line.limit(() => exchange(call, line, attempt)), judging),
    line.options,
  );
}

async function exchange(call: Call<unknown>, line: Line, attempt: number): Promise<Exchange> {
  const { apiKey, timeoutSeconds, now, onCall } = line.options;
  const path = line.basePath + call.path;
  const started = now();
  const result = await send(
    {
      origin: line.origin,
      method: call.method,
      path,
      headers: headersOf(call, apiKey),
      body: call.body === null ? null : JSON.stringify(call.body),
    },
    {
      dispatcher: () => line.dispatchers.get(call.once ? 'fresh' : 'reused'),
      reset: call.once,
      timeoutMilliseconds: timeoutSeconds * 1_000,
      now,
    },
  );
  onCall?.({ method: call.method, path, status: result.status, milliseconds: now() - started, attempt });
  return result;
}

function headersOf(call: Call<unknown>, apiKey: string): Readonly<Record<string, string>> {
  return {
    [API_KEY_HEADER]: apiKey,
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'promptsync',
    ...(call.body !== null && { 'content-type': 'application/json' }),
  };
}
