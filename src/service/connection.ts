import pLimit from 'p-limit';
import { ServiceError, type Effect } from './prompt-service.ts';
import { makeProblem, type Problem } from '../problem.ts';
import type { Call } from './call.ts';
import { interpret, isTimeOut, silenceProblem } from './errors.ts';
import { makeHttp, type Exchange, type Http, type HttpSettings } from './http.ts';
import { oncePerWait, withRetries, type Attempt, type RetryPolicy } from './retry.ts';

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
export type ConnectionOptions = RetryPolicy &
  HttpSettings & {
    readonly onCall?: (report: CallReport) => void;
    /** Once aborted, no request is begun, not even of a call that has waited for its turn. */
    readonly stop?: AbortSignal;
  };

/** What goes with each request: a header, and all that is secret in it. */
export type Credentials = {
  readonly header: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
};

/** Sends calls to one service, as many at a time as are allowed. */
export type Connection = {
  /** Throws a `ServiceError` when the call fails. */
  readonly perform: <Answer>(call: Call<Answer>) => Promise<Answer>;
  /** Ends all connections at once: for when no call is in flight. */
  readonly close: () => Promise<void>;
};

/** Nothing is sent before the first call; a base URL that is no URL throws a `TypeError`. */
export function openConnection(settings: ConnectionOptions, credentials: Credentials): Connection {
  const options = { ...settings, ...credentials };
  const shared = { options, http: makeHttp(options, options.header), life: awaitLife(options) };
  const limit = pLimit(options.concurrency);
  const policy = { ...options, onWait: oncePerWait(options) };
  return {
    // A place among the requests in flight is held while a request runs, not while it waits to be repeated.
    perform: (call) => withRetries((attempt) => limit(() => tryOnce(call, attempt, shared)), policy),
    close: shared.http.close,
  };
}

type Options = ConnectionOptions & Credentials;
type Shared = { readonly options: Options; readonly http: Http; readonly life: ReturnType<typeof awaitLife> };

/**
 * Waits for the first sign of life: any status, or a connection that breaks. Where the first requests in flight have all
 * timed out, no other is worth its time: forty prompts would be nine minutes of silence.
 */
function awaitLife(connected: Options) {
  const first: Promise<boolean>[] = [];
  let alive = false;
  let silence: Problem | null = null;
  return {
    begin: (sending: Promise<Exchange>): void => {
      if (!alive) first.push(sending.then(isTimeOut));
    },
    /** Why nothing else is sent, or null. After a time-out it is waited for the other first requests: they decide. */
    end: async (exchange: Exchange): Promise<Problem | null> => {
      if (alive || !isTimeOut(exchange) || (await Promise.all(first)).includes(false)) alive = true;
      else silence ??= silenceProblem(exchange, first.length, connected);
      return silence;
    },
    silence: () => silence,
  };
}

async function tryOnce<Answer>(call: Call<Answer>, attempt: number, shared: Shared): Promise<Attempt<Answer>> {
  const { http, life, options } = shared;
  const { stop, now, onCall, ...connected } = options;
  const obstacle = stop?.aborted ? makeProblem('apply/interrupted') : life.silence();
  if (obstacle !== null) return givenUp(obstacle, 'not-sent');
  const { method, path, body, once: fresh } = call;
  const started = now();
  const sending = http.send({ method, path, body, fresh });
  life.begin(sending);
  const exchange = await sending;
  onCall?.({ method, path: http.prefix + path, status: exchange.status, milliseconds: now() - started, attempt });
  const silence = await life.end(exchange);
  const outcome = interpret(call, exchange, connected);
  return outcome.ok || silence === null ? outcome : givenUp(silence, outcome.error.effect);
}

function givenUp(problem: Problem, effect: Effect): Attempt<never> {
  return { ok: false, error: new ServiceError(problem, effect), repeat: false, retryAfter: null };
}
