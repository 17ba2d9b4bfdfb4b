import pLimit from 'p-limit';
import { ServiceError, type Effect } from './service-error.ts';
import { makeProblem, type Problem } from '../problem.ts';
import type { ServiceCall } from './service-call.ts';
import { interpretExchange, isTimeout, makeSilenceProblem } from './interpret-exchange.ts';
import { makeHttp, type Exchange, type Http, type HttpSettings } from './send-request.ts';
import { makeWaitNotifier, withRetries, type AttemptResult, type RetryPolicy } from './retry.ts';

/** A report about one request to the service. `--verbose` prints these reports. */
export type CallReport = {
  readonly method: string;
  /** The path, including the query. */
  readonly path: string;
  /** Null if there was no response. */
  readonly status: number | null;
  readonly milliseconds: number;
  /** 1 for the first request of a call, 2 for its first retry. */
  readonly attempt: number;
};

export type ConnectionOptions = RetryPolicy &
  HttpSettings & {
    /** Called after each request. */
    readonly onCall?: (report: CallReport) => void;
    /** After this signal aborts, promptsync sends no further requests, not even those in the queue. */
    readonly stop?: AbortSignal;
    /** Where the user put the keys, for messages about a rejected key. For example, `the variable MY_KEY`. */
    readonly keySources?: readonly string[];
  };

export type Credentials = {
  readonly header: Readonly<Record<string, string>>;
  /** The parts of the header that must not appear in any message. */
  readonly secrets: readonly string[];
};

/** A connection to one service. It limits the number of requests in flight. */
export type Connection = {
  /** Sends a call and returns the value of its response. Throws a `ServiceError` if the call fails. */
  readonly perform: <Value>(call: ServiceCall<Value>) => Promise<Value>;
  /** Closes all sockets immediately. Must be called only while no request is in flight. */
  readonly close: () => Promise<void>;
};

/** Does not send a request. Throws a `TypeError` if the base URL is invalid. */
export function openConnection(settings: ConnectionOptions, credentials: Credentials): Connection {
  const options = { ...settings, ...credentials };
  const shared = { options, http: makeHttp(options, options.header), liveness: makeLivenessCheck(options) };
  const limit = pLimit(options.concurrency);
  const policy = { ...options, onWait: makeWaitNotifier(options) };
  return {
    // The limit applies to each attempt, so other requests can be sent while a call waits for its next attempt.
    perform: (call) => withRetries((attempt) => limit(() => performOnce(call, attempt, shared)), policy),
    close: shared.http.close,
  };
}

type ResolvedOptions = ConnectionOptions & Credentials;
type SharedConnection = { readonly options: ResolvedOptions; readonly http: Http; readonly liveness: LivenessCheck };

/**
 * Detects a service that does not answer at all. Checks only the "first requests", which promptsync sends before the
 * service has answered any. Every response and every broken connection counts as an answer. A timeout does not.
 */
type LivenessCheck = {
  /** Registers a request that was just sent. */
  readonly noteRequest: (sending: Promise<Exchange>) => void;
  /**
   * Checks the result of a registered request. If the request timed out, waits for the other first requests, and
   * returns a problem if all of them timed out.
   */
  readonly checkExchange: (exchange: Exchange) => Promise<Problem | null>;
  /** Returns the problem that `checkExchange` found. After that, promptsync sends no further requests. */
  readonly getSilenceProblem: () => Problem | null;
};

/** Without this check, a sync of forty prompts would take nine minutes to fail. */
function makeLivenessCheck(options: ResolvedOptions): LivenessCheck {
  const firstTimeouts: Promise<boolean>[] = [];
  let isAlive = false;
  let silence: Problem | null = null;
  return {
    noteRequest: (sending) => {
      if (!isAlive) firstTimeouts.push(sending.then(isTimeout));
    },
    checkExchange: async (exchange) => {
      if (isAlive || !isTimeout(exchange) || (await Promise.all(firstTimeouts)).includes(false)) isAlive = true;
      else silence ??= makeSilenceProblem(exchange, firstTimeouts.length, options);
      return silence;
    },
    getSilenceProblem: () => silence,
  };
}

/** Sends nothing if promptsync was interrupted or if all first requests timed out. */
async function performOnce<Value>(
  call: ServiceCall<Value>,
  attempt: number,
  shared: SharedConnection,
): Promise<AttemptResult<Value>> {
  const { http, liveness, options } = shared;
  const { stop, now, onCall } = options;
  const obstacle = stop?.aborted ? makeProblem('apply/interrupted') : liveness.getSilenceProblem();
  if (obstacle !== null) return makeFinalFailure(obstacle, 'not-sent');
  const { method, path, body, isSentOnce } = call;
  const startTime = now();
  const sending = http.send({ method, path, body, usesFreshConnection: isSentOnce });
  liveness.noteRequest(sending);
  const exchange = await sending;
  onCall?.({ method, path: http.prefix + path, status: exchange.status, milliseconds: now() - startTime, attempt });
  const silence = await liveness.checkExchange(exchange);
  const result = interpretExchange(call, exchange, options);
  return result.isSuccess || silence === null ? result : makeFinalFailure(silence, result.error.effect);
}

function makeFinalFailure(problem: Problem, effect: Effect): AttemptResult<never> {
  return { isSuccess: false, error: new ServiceError(problem, effect), mayRepeat: false, retryAfter: null };
}
