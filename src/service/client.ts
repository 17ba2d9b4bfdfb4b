import pLimit from 'p-limit';
import { ServiceError, type PromptService } from './prompt-service.ts';
import { makeProblem } from '../problem.ts';
import { createVersionCall, readPromptCall, setActiveCall, updatePromptCall, type Call } from './calls.ts';
import { interpret } from './errors.ts';
import { makeHttp, type Http, type HttpSettings } from './http.ts';
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
export type ClientOptions = RetryPolicy &
  HttpSettings & {
    readonly apiKey: string;
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
  const http = makeHttp(options);
  const limit = pLimit(options.concurrency);
  // A place among the requests in flight is held while a request runs, not while it waits to be repeated.
  const perform = <Answer>(call: Call<Answer>): Promise<Answer> =>
    withRetries((attempt) => limit(() => tryOnce(call, http, options, attempt)), options);
  return {
    readPrompt: async (promptId, environment) => perform(readPromptCall(promptId, environment)),
    createVersion: async (promptId, version) => perform(createVersionCall(promptId, version)),
    updatePrompt: async (promptId, fields) => perform(updatePromptCall(promptId, fields)),
    setActive: async (promptId, environment, versionId) => perform(setActiveCall(promptId, environment, versionId)),
    close: http.close,
  };
}

async function tryOnce<Answer>(
  call: Call<Answer>,
  http: Http,
  { stop, now, onCall, ...connected }: ClientOptions,
  attempt: number,
): Promise<Attempt<Answer>> {
  if (stop?.aborted) {
    const error = new ServiceError(makeProblem('apply/interrupted'), 'not-sent');
    return { ok: false, error, repeat: false, retryAfter: null };
  }
  const { method, once: fresh } = call;
  const path = new URL(connected.baseUrl).pathname.replace(/\/+$/, '') + call.path;
  const body = call.body === null ? null : JSON.stringify(call.body);
  const started = now();
  const exchange = await http.send({ method, path, headers: headersOf(connected.apiKey, body), body, fresh });
  onCall?.({ method, path, status: exchange.status, milliseconds: now() - started, attempt });
  return interpret(call, exchange, connected);
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
