import pLimit from 'p-limit';
import { ServiceError, type Effect } from './prompt-service.ts';
import { makeProblem, type Problem } from '../problem.ts';
import type { ServiceCall } from './service-call.ts';
import { interpretExchange, isTimeout, makeSilenceProblem } from './interpret-exchange.ts';
import { makeHttp, type Exchange, type Http, type HttpSettings } from './http.ts';
import { makeWaitNotifier, withRetries, type AttemptResult, type RetryPolicy } from './retry.ts';

/** One request that was sent. `--verbose` prints it. */
export type CallReport = {
  readonly method: string;
  /** The path with the query. */
  readonly path: string;
  /** The status of the response. Null if there was no response. */
  readonly status: number | null;
  readonly milliseconds: number;
  /** 1 for the first request of a call, 2 for its first repetition. */
  readonly attempt: number;
};

/** The settings of a connection, the clock and the hooks that it uses. */
export type ConnectionOptions = RetryPolicy &
  HttpSettings & {
    /** Called after each request. */
    readonly onCall?: (report: CallReport) => void;
    /** Once aborted, promptsync sends no other request. Requests of calls that wait in the queue are not sent either. */
    readonly stop?: AbortSignal;
  };

/** The credentials that every request carries. */
export type Credentials = {
  readonly header: Readonly<Record<string, string>>;
  /** The parts of the header that no message may quote. */
  readonly secrets: readonly string[];
};

/** A connection to one service. It limits how many requests are in flight. */
export type Connection = {
  /** Sends a call and returns the value of its response. Throws a `ServiceError` if the call fails. */
  readonly perform: <Value>(call: ServiceCall<Value>) => Promise<Value>;
  /** Closes all sockets immediately. Call it only while no request is in flight. */
  readonly close: () => Promise<void>;
};

/** Makes a connection to a service. Sends nothing. Throws a `TypeError` if the base URL is invalid. */
export function openConnection(settings: ConnectionOptions, credentials: Credentials): Connection {
  const options = { ...settings, ...credentials };
  const shared = { options, http: makeHttp(options, options.header), liveness: makeLivenessCheck(options) };
  const limit = pLimit(options.concurrency);
  const policy = { ...options, onWait: makeWaitNotifier(options) };
  return {
    // A request that waits for its repetition does not count as in flight, so other requests can be sent meanwhile.
    perform: (call) => withRetries((attempt) => limit(() => performOnce(call, attempt, shared)), policy),
    close: shared.http.close,
  };
}

type ResolvedOptions = ConnectionOptions & Credentials;
type SharedConnection = { readonly options: ResolvedOptions; readonly http: Http; readonly liveness: LivenessCheck };

/**
 * Detects a service that answers none of the first requests. A response with any status and a broken connection both
 * count as an answer. The first requests are those that were sent before the first answer.
 */
type LivenessCheck = {
  /** Registers a request that was just sent. */
  readonly noteRequest: (sending: Promise<Exchange>) => void;
  /**
   * Evaluates the exchange of a registered request. Returns the problem if all first requests have timed out, or null.
   * After a timeout, it waits for the other first requests.
   */
  readonly checkExchange: (exchange: Exchange) => Promise<Problem | null>;
  /** Returns the problem that `checkExchange` has found, or null. While there is one, nothing is sent. */
  readonly getSilenceProblem: () => Problem | null;
};

/** Makes the check. Without it, a run with forty prompts would wait nine minutes for a service that never answers. */
function makeLivenessCheck(connected: ResolvedOptions): LivenessCheck {
  const firstTimeouts: Promise<boolean>[] = [];
  let isAlive = false;
  let silence: Problem | null = null;
  return {
    noteRequest: (sending) => {
      if (!isAlive) firstTimeouts.push(sending.then(isTimeout));
    },
    checkExchange: async (exchange) => {
      if (isAlive || !isTimeout(exchange) || (await Promise.all(firstTimeouts)).includes(false)) isAlive = true;
      else silence ??= makeSilenceProblem(exchange, firstTimeouts.length, connected);
      return silence;
    },
    getSilenceProblem: () => silence,
  };
}

/** Sends one request of a call. Sends nothing if the run was interrupted, or if all first requests have timed out. */
async function performOnce<Value>(
  call: ServiceCall<Value>,
  attempt: number,
  shared: SharedConnection,
): Promise<AttemptResult<Value>> {
  const { http, liveness: life, options } = shared;
  const { stop, now, onCall, ...connected } = options;
  const obstacle = stop?.aborted ? makeProblem('apply/interrupted') : life.getSilenceProblem();
  if (obstacle !== null) return makeGivenUpAttempt(obstacle, 'not-sent');
  const { method, path, body, isSentOnce } = call;
  const started = now();
  const sending = http.send({ method, path, body, usesFreshConnection: isSentOnce });
  life.noteRequest(sending);
  const exchange = await sending;
  onCall?.({ method, path: http.prefix + path, status: exchange.status, milliseconds: now() - started, attempt });
  const silence = await life.checkExchange(exchange);
  const outcome = interpretExchange(call, exchange, connected);
  return outcome.isSuccess || silence === null ? outcome : makeGivenUpAttempt(silence, outcome.error.effect);
}

function makeGivenUpAttempt(problem: Problem, effect: Effect): AttemptResult<never> {
  return { isSuccess: false, error: new ServiceError(problem, effect), mayRepeat: false, retryAfter: null };
}
