import { type Effect, ServiceError } from './service-error.ts';
import { makeExcerpt, redactText } from '../text.ts';
import { makeProblem, type Problem } from '../problem.ts';
import { findErrorMessage } from './find-error-message.ts';
import { InvalidResponse, type Refusal, type ServiceCall } from './service-call.ts';
import * as http from './send-request.ts';
import type { AttemptResult } from './retry.ts';

/** The connection settings that problem messages mention, and the secrets that they must not contain. */
type ConnectionFacts = Pick<http.HttpSettings, 'baseUrl' | 'timeoutSeconds'> & {
  readonly secrets: readonly string[];
  /** Where the user put the keys, such as `the variable MY_KEY`. Absent if the caller of the library passes the key. */
  readonly keySources?: readonly string[];
};

/** The HTTP statuses after which a retry can succeed. */
const TRANSIENT_STATUSES: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Why a request got no complete response, by error code. */
const BROKEN_EXCHANGE_REASONS: Readonly<Record<string, string>> = {
  EAI_AGAIN: 'the DNS lookup for its host failed',
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EHOSTUNREACH: 'no route to its host',
  ENETUNREACH: 'no route to its network',
  ENOTFOUND: 'its host is unknown',
  EPIPE: 'connection closed',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the server does not use TLS, so its URL may have to begin with http://',
  ETIMEDOUT: 'the connection timed out',
  [http.TIMEOUT_ERROR_NAME]: 'the request timed out',
  UND_ERR_ABORTED: 'the proxy rejected the tunnel',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
  UND_ERR_HEADERS_TIMEOUT: 'the proxy did not open a tunnel in time',
  UND_ERR_INVALID_ARG: 'the request or the proxy setting is not valid',
  UND_ERR_PRX_CONN: 'the proxy closed the connection',
  UND_ERR_PRX_TLS: "the proxy's certificate was rejected",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the response was truncated',
  UND_ERR_SOCKET: 'connection closed',
  ERR_INVALID_URL: 'the proxy setting is not valid',
};

/** Matches failures that a retry cannot resolve: invalid certificates or settings, closed clients, large responses. */
const PERMANENT_ERROR_CODE =
  /^(CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|ERR_INVALID_URL|ERR_TLS_|too-large)|_(ARG|CLOSED|DESTROYED|OVERFLOW)$/;

/** Converts an HTTP exchange to the result of an attempt: a value, or an error and whether a retry is allowed. */
export function interpretExchange<Value>(
  call: ServiceCall<Value>,
  exchange: http.Exchange,
  facts: ConnectionFacts,
): AttemptResult<Value> {
  if (exchange.kind === 'broken') {
    const error = new ServiceError(makeBrokenProblem(exchange, facts), getFailureEffect(exchange));
    return { isSuccess: false, error, mayRepeat: mayRepeat(exchange, call.isSentOnce), retryAfter: null };
  }
  const { status, retryAfter } = exchange;
  if (http.isSuccessStatus(status)) return interpretReceived(call, exchange, facts);
  const refusal = interpretRefusal(call, exchange, facts);
  const problem = refusal?.problem ?? makeStatusProblem(exchange, facts, call);
  const effect = refusal?.effect ?? getFailureEffect(exchange);
  const error = new ServiceError(problem, effect, { status });
  return { isSuccess: false, error, mayRepeat: mayRepeat(exchange, call.isSentOnce), retryAfter };
}

/** Interprets a 4xx response as the call defines. Returns null if the response means the same as for any service. */
function interpretRefusal(
  call: ServiceCall<unknown>,
  response: http.ReceivedResponse,
  { secrets }: ConnectionFacts,
): Refusal | null {
  const { status, body, isComplete } = response;
  const isReadable = status >= 400 && status < 500 && !isEncoded(response);
  if (call.interpretRefusal === undefined || !isReadable) return null;
  return call.interpretRefusal(status, redactText(Buffer.from(body).toString('utf8'), isComplete, ...secrets));
}

/** A response with a 3xx or 4xx status means that the service rejected the request. */
export function getFailureEffect(exchange: http.Exchange): Effect {
  if (exchange.kind === 'broken') return exchange.mayHaveBeenSent ? 'unknown' : 'not-sent';
  return exchange.status >= 300 && exchange.status < 500 ? 'rejected' : 'unknown';
}

/** If `isSentOnce` is true, allows a retry only if the service certainly did not execute the request. */
export function mayRepeat(exchange: http.Exchange, isSentOnce: boolean): boolean {
  if (exchange.kind === 'broken') {
    return !PERMANENT_ERROR_CODE.test(exchange.code) && !(isSentOnce && exchange.mayHaveBeenSent);
  }
  return isSentOnce ? exchange.status === 429 : TRANSIENT_STATUSES.has(exchange.status);
}

/** Why a response is not valid HTTP or exceeds a limit, by error code. */
const INVALID_RESPONSE_REASONS: Readonly<Record<string, string>> = {
  [http.TOO_LARGE_CODE]: `it is larger than ${http.MAX_RESPONSE_BYTES} bytes`,
  HTTPParserError: 'it is not HTTP, or it is truncated',
  UND_ERR_HEADERS_OVERFLOW: 'its headers are too long',
};

/** Creates the problem for a request without a usable response. */
function makeBrokenProblem(
  broken: http.BrokenExchange,
  { baseUrl, timeoutSeconds: seconds }: ConnectionFacts,
): Problem {
  const { code, mayHaveBeenSent } = broken;
  const reason = describeBrokenExchange(broken, baseUrl);
  if (!mayHaveBeenSent) return makeProblem('service/unreachable', { origin: new URL(baseUrl).origin, reason });
  if (code === http.TIMEOUT_ERROR_NAME) return makeProblem('service/timeout', { seconds });
  const fault = INVALID_RESPONSE_REASONS[code];
  if (fault !== undefined) return makeProblem('service/invalid-answer', { reason: fault });
  return makeProblem('service/connection-lost', { reason });
}

/** Mentions only the host and port of an unreachable proxy, because its full address may contain a password. */
export function describeBrokenExchange({ code, unreachedHost }: http.BrokenExchange, baseUrl: string): string {
  const wording = BROKEN_EXCHANGE_REASONS[code];
  const reason = wording === undefined ? code : `${wording}, ${code}`;
  const isService = unreachedHost === null || unreachedHost === new URL(baseUrl).host;
  return isService ? reason : `the proxy ${unreachedHost}: ${reason}`;
}

/** Returns true if a request, or its attempt to connect, timed out before any response arrived. */
export function isTimeout(exchange: http.Exchange): exchange is http.BrokenExchange {
  const timeoutCodes = ['ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', http.TIMEOUT_ERROR_NAME];
  return exchange.kind === 'broken' && exchange.status === null && timeoutCodes.includes(exchange.code);
}

/** Creates the problem for a service that answered none of the first requests. `requests` is their number. */
export function makeSilenceProblem(
  timedOut: http.BrokenExchange,
  requests: number,
  { baseUrl, timeoutSeconds: seconds }: ConnectionFacts,
): Problem {
  const reason = timedOut.mayHaveBeenSent ? 'no response' : describeBrokenExchange(timedOut, baseUrl);
  return makeProblem('service/no-answer', { origin: new URL(baseUrl).origin, requests, seconds, reason });
}

/** Creates the problem for a response that is not 2xx (interface section 7). */
function makeStatusProblem(
  response: http.ReceivedResponse,
  facts: ConnectionFacts,
  { promptId, versionId }: ServiceCall<unknown>,
): Problem {
  const { status } = response;
  const said = makeResponseExcerpt(response, facts.secrets);
  if (status === 401 || status === 403) {
    const { keySources = ['the API key'] } = facts;
    return makeProblem('service/not-authorised', { status, promptId, said, keySources });
  }
  if (status === 404 && promptId !== null) {
    if (versionId === undefined) return makeProblem('service/prompt-not-found', { promptId });
    return makeProblem('service/version-not-found', { promptId, versionId });
  }
  if (status >= 300 && status < 400) {
    const target = findRedirectTarget(response, facts);
    return makeProblem('service/redirect', {
      status,
      target,
      isSameOrigin: target === new URL(facts.baseUrl).origin,
    });
  }
  return makeProblem('service/unexpected-status', { status, said });
}

/** Returns the target of a redirect without its path and query, because a login page may put secrets there. */
function findRedirectTarget({ location }: http.ReceivedResponse, { baseUrl, secrets }: ConnectionFacts): string | null {
  const target = URL.parse(location ?? '', baseUrl);
  if (location === null || target === null || !/^https?:$/.test(target.protocol)) return null;
  return makeExcerpt(target.origin, true, ...secrets);
}

/**
 * Returns the error message of a response, the title of a web page, or else the beginning of the body, without secrets.
 * Empty for a compressed body and for a web page without a title.
 */
export function makeResponseExcerpt(response: http.ReceivedResponse, secrets: readonly string[]): string {
  if (isEncoded(response)) return '';
  const body = Buffer.from(response.body).toString('utf8');
  const [, title = ''] = /<title[^<>]*>([^<]*)<\/title/i.exec(body) ?? [];
  const message = findErrorMessage(body) ?? (/^\s*</.test(body) ? title : body);
  // Redact the message instead of the body. In the body, JSON escapes can hide a secret.
  return makeExcerpt(message, response.isComplete, ...secrets);
}

/** Parses a 2xx response. If the response violates the interface, the call fails and must not be retried. */
function interpretReceived<Value>(
  call: ServiceCall<Value>,
  response: http.ReceivedResponse,
  { secrets }: ConnectionFacts,
): AttemptResult<Value> {
  try {
    if (isEncoded(response))
      throw new InvalidResponse('it is compressed, although promptsync did not request compression');
    if (response.body.length > (call.maxBytes ?? http.MAX_RESPONSE_BYTES)) throw new InvalidResponse('it is too large');
    const value = response.status === 204 ? null : parseJsonResponse(response.body);
    return { isSuccess: true, value: call.parse(value, response.body.length) };
  } catch (error) {
    return { isSuccess: false, error: makeServiceError(error, secrets), mayRepeat: false, retryAfter: null };
  }
}

/** A compressed response is invalid, because promptsync requests uncompressed bodies. */
function isEncoded({ encoding }: http.ReceivedResponse): boolean {
  return encoding !== null && encoding.trim().toLowerCase() !== 'identity';
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true });

/** Throws `InvalidResponse` if the body is not JSON in UTF-8. */
function parseJsonResponse(body: Uint8Array): unknown {
  try {
    return JSON.parse(UTF_8.decode(body));
  } catch (error) {
    if (error instanceof SyntaxError) throw new InvalidResponse('it is not JSON');
    if (error instanceof TypeError) throw new InvalidResponse('it is not UTF-8');
    throw error;
  }
}

/**
 * Converts an error from parsing a 2xx response. If the response is invalid, the effect is `unknown`, because the
 * service may have executed the call. Rethrows any other error, because it is a bug in promptsync.
 */
function makeServiceError(thrown: unknown, secrets: readonly string[]): ServiceError {
  if (thrown instanceof ServiceError) return thrown;
  const error = thrown instanceof RangeError ? new InvalidResponse('it is nested too deeply') : thrown;
  if (!(error instanceof InvalidResponse)) throw error;
  const reason = makeExcerpt(error.message, true, ...secrets);
  return new ServiceError(makeProblem('service/invalid-answer', { reason }), 'unknown');
}
