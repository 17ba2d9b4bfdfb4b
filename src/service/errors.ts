import { ServiceError, type Effect } from '../domain/prompt-service.ts';
import { makeProblem, type Problem } from '../problem.ts';
import type { Break } from './http.ts';

/** What a call was about, for naming its failure; `versionId` where the 404 may mean a version (section 7). */
export type Subject = { readonly promptId: string; readonly versionId?: string };

/** A request that got no status: whether it was sent decides what is known of its effect. */
export type BrokenCall = {
  readonly origin: string;
  readonly seconds: number;
  readonly sent: boolean;
  readonly how: Break;
};

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
  UND_ERR_ABORTED: 'the proxy refused the tunnel',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  UND_ERR_CLOSED: 'the client was closed',
  UND_ERR_DESTROYED: 'the client was closed',
  UND_ERR_INVALID_ARG: 'the request or the proxy setting is not valid',
  UND_ERR_PRX_CONN: 'the proxy closed the connection',
  UND_ERR_PRX_TLS: "the proxy's certificate is not accepted",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer was cut short',
  UND_ERR_SOCKET: 'connection closed',
  ERR_INVALID_URL: 'the proxy setting is not valid',
};

/** Certificates, settings, a closed client and headers that are too long do not get better by trying again. */
const PERMANENT =
  /^(CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|ERR_INVALID_URL|ERR_TLS_)|_(ARG|CLOSED|DESTROYED|OVERFLOW)$/;

/** The service answered with a status that is no success (section 7). */
export function statusError(status: number, said: string, subject: Subject): ServiceError {
  return new ServiceError(statusProblem(status, said, subject), status >= 300 && status < 500 ? 'rejected' : 'unknown');
}

export function isTransientStatus(status: number): boolean {
  return TRANSIENT_STATUS.has(status);
}

/** Not begun, no connection, a lost one, no answer in time, or one that is too large or not HTTP. */
export function brokenError(call: BrokenCall, limit: number): ServiceError {
  const effect: Effect = call.sent ? 'unknown' : 'not-sent';
  return new ServiceError(call.sent ? sentProblem(call, limit) : unsentProblem(call), effect);
}

export function isTransientBreak(how: Break): boolean {
  return how.kind === 'timeout' || (how.kind === 'lost' && !PERMANENT.test(how.code));
}

/** A 2xx answer that breaks the interface: the call may have done its work. */
export function invalidAnswerError(reason: string): ServiceError {
  return new ServiceError(makeProblem('service/invalid-answer', { reason }), 'unknown');
}

function statusProblem(status: number, said: string, { promptId, versionId }: Subject): Problem {
  if (status === 403) return makeProblem('service/not-authorised', { promptId });
  if (status === 404 && versionId === undefined) return makeProblem('service/prompt-not-found', { promptId });
  if (status === 404 && versionId !== undefined) {
    return makeProblem('service/version-not-found', { promptId, versionId });
  }
  if (status >= 300 && status < 400) return makeProblem('service/redirect', { status });
  return makeProblem('service/unexpected-status', { status, said });
}

function unsentProblem({ origin, seconds, how }: BrokenCall): Problem {
  if (how.kind === 'stopped') return makeProblem('apply/interrupted');
  const reason = how.kind === 'lost' ? reasonOf(how.code) : `no connection within ${seconds} s`;
  return makeProblem('service/unreachable', { origin, reason });
}

function sentProblem({ seconds, how }: BrokenCall, limit: number): Problem {
  if (how.kind === 'timeout') return makeProblem('service/timeout', { seconds });
  if (how.kind === 'too-large') return makeProblem('service/answer-too-large', { limit });
  if (how.kind === 'stopped') return makeProblem('apply/interrupted');
  if (how.code === 'HTTPParserError') {
    return makeProblem('service/invalid-answer', { reason: 'it is not HTTP, or it was cut short' });
  }
  if (how.code === 'UND_ERR_HEADERS_OVERFLOW') {
    return makeProblem('service/invalid-answer', { reason: 'its headers are too long' });
  }
  return makeProblem('service/connection-lost', { reason: reasonOf(how.code) });
}

function reasonOf(code: string): string {
  const words = REASONS[code];
  return words === undefined ? code : `${words}, ${code}`;
}
