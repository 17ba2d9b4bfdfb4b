import { ServiceError } from './prompt-service.ts';
import { makeExcerpt } from '../domain/text.ts';
import { makeProblem, type Problem } from '../problem.ts';
import { InvalidAnswer, type Call } from './call.ts';
import * as http from './http.ts';
import type { Attempt } from './retry.ts';

/** For naming failures; `secrets` are what went with the request, and must not be quoted. */
type Connected = Pick<http.HttpSettings, 'baseUrl' | 'timeoutSeconds'> & { readonly secrets: readonly string[] };

const TRANSIENT_STATUS: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);

const REASONS: Readonly<Record<string, string>> = {
  EAI_AGAIN: 'its name could not be looked up',
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EHOSTUNREACH: 'no way to its host',
  ENETUNREACH: 'no way to its network',
  ENOTFOUND: 'its name is not known',
  EPIPE: 'connection closed',
  ETIMEDOUT: 'no connection in time',
  [http.TOO_LATE]: 'no answer in time',
  UND_ERR_ABORTED: 'the proxy refused the tunnel',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  UND_ERR_HEADERS_TIMEOUT: 'the proxy opened no tunnel in time',
  UND_ERR_INVALID_ARG: 'the request or the proxy setting is not valid',
  UND_ERR_PRX_CONN: 'the proxy closed the connection',
  UND_ERR_PRX_TLS: "the proxy's certificate is not accepted",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer was cut short',
  UND_ERR_SOCKET: 'connection closed',
  ERR_INVALID_URL: 'the proxy setting is not valid',
};

/** Certificates, settings, a closed client and too much of an answer do not get better by trying again. */
const PERMANENT =
  /^(CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|ERR_INVALID_URL|ERR_TLS_|too-large)|_(ARG|CLOSED|DESTROYED|OVERFLOW)$/;

/** Makes of one exchange the call's answer, or the failure with its name, its effect and whether to repeat it. */
export function interpret<Answer>(call: Call<Answer>, exchange: http.Exchange, connected: Connected): Attempt<Answer> {
  if (exchange.kind === 'broken') {
    const error = new ServiceError(brokenProblem(exchange, connected), exchange.sent ? 'unknown' : 'not-sent');
    return { ok: false, error, repeat: mayRepeat(exchange, call.once), retryAfter: null };
  }
  const { status, retryAfter } = exchange;
  if (status >= 200 && status < 300) return interpretAnswer(call, exchange, connected);
  const problem = statusProblem(status, saidIn(exchange, connected), call);
  const error = new ServiceError(problem, status >= 300 && status < 500 ? 'rejected' : 'unknown');
  return { ok: false, error, repeat: mayRepeat(exchange, call.once), retryAfter };
}

/** Whether what failed so may pass; what is to be sent once is repeated only where it was certainly not carried out. */
export function mayRepeat(exchange: http.Exchange, once: boolean): boolean {
  if (exchange.kind === 'broken') return !PERMANENT.test(exchange.code) && !(once && exchange.sent);
  return once ? exchange.status === 429 : TRANSIENT_STATUS.has(exchange.status);
}

const INVALID: Readonly<Record<string, string>> = {
  [http.TOO_LARGE]: `it is larger than ${http.ANSWER_LIMIT} bytes`,
  HTTPParserError: 'it is not HTTP, or it was cut short',
  UND_ERR_HEADERS_OVERFLOW: 'its headers are too long',
};

function brokenProblem(broken: http.Broken, { baseUrl, timeoutSeconds: seconds }: Connected): Problem {
  const { code, sent } = broken;
  const reason = reasonOf(broken, baseUrl);
  if (!sent) return makeProblem('service/unreachable', { origin: new URL(baseUrl).origin, reason });
  if (code === http.TOO_LATE) return makeProblem('service/timeout', { seconds });
  const invalid = INVALID[code];
  if (invalid !== undefined) return makeProblem('service/invalid-answer', { reason: invalid });
  return makeProblem('service/connection-lost', { reason });
}

/** A proxy that cannot be reached is named, by host and port alone: its address may hold a password. */
export function reasonOf({ code, unreached }: http.Broken, baseUrl: string): string {
  const said = REASONS[code];
  const reason = said === undefined ? code : `${said}, ${code}`;
  return unreached === null || unreached === new URL(baseUrl).host ? reason : `the proxy ${unreached}: ${reason}`;
}

/** Whether nothing at all was heard of a request until its time was over, be it only for its connection. */
export function isTimeOut(exchange: http.Exchange): exchange is http.Broken {
  const late = ['ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', http.TOO_LATE];
  return exchange.kind === 'broken' && exchange.status === null && late.includes(exchange.code);
}

/** So many requests have heard nothing; one of them stands for all. */
export function silenceProblem(one: http.Broken, requests: number, { baseUrl, timeoutSeconds: seconds }: Connected) {
  const reason = one.sent ? 'no answer' : reasonOf(one, baseUrl);
  return makeProblem('service/no-answer', { origin: new URL(baseUrl).origin, requests, seconds, reason });
}

/** Interface section 7. */
function statusProblem(status: number, said: string, { promptId, versionId }: Call<unknown>): Problem {
  if (status === 403) return makeProblem('service/not-authorised', { promptId });
  if (status === 404) {
    if (versionId === undefined) return makeProblem('service/prompt-not-found', { promptId });
    return makeProblem('service/version-not-found', { promptId, versionId });
  }
  if (status >= 300 && status < 400) return makeProblem('service/redirect', { status });
  return makeProblem('service/unexpected-status', { status, said });
}

function saidIn(answered: http.Answered, { secrets }: Connected): string {
  return isEncoded(answered)
    ? ''
    : makeExcerpt(Buffer.from(answered.body).toString('utf8'), answered.whole, ...secrets);
}

function interpretAnswer<Answer>(call: Call<Answer>, answered: http.Answered, { secrets }: Connected): Attempt<Answer> {
  try {
    if (isEncoded(answered)) throw new InvalidAnswer('it is compressed, which was not asked for');
    if (answered.body.length > (call.maxBytes ?? http.ANSWER_LIMIT)) throw new InvalidAnswer('it is too large');
    return { ok: true, value: call.parse(parseJson(answered.body), answered.body.length) };
  } catch (error) {
    return { ok: false, error: nameFailure(error, secrets), repeat: false, retryAfter: null };
  }
}

function isEncoded({ encoding }: http.Answered): boolean {
  return encoding !== null && encoding.trim().toLowerCase() !== 'identity';
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true });

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(UTF_8.decode(body));
  } catch (error) {
    if (error instanceof SyntaxError) throw new InvalidAnswer('it is not JSON');
    if (error instanceof TypeError) throw new InvalidAnswer('it is not UTF-8');
    throw error;
  }
}

/** A 2xx answer that breaks the interface: the call may have done its work. */
function nameFailure(thrown: unknown, secrets: readonly string[]): ServiceError {
  if (thrown instanceof ServiceError) return thrown;
  const error = thrown instanceof RangeError ? new InvalidAnswer('it is nested too deeply') : thrown;
  if (!(error instanceof InvalidAnswer)) throw error;
  const reason = makeExcerpt(error.message, true, ...secrets);
  return new ServiceError(makeProblem('service/invalid-answer', { reason }), 'unknown');
}
