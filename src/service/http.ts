import type { Dispatcher } from 'undici';
import { readUpTo, type Reading } from './body.ts';
import { notingStart, orAborted } from './start.ts';

export type HttpRequest = {
  readonly origin: string;
  readonly method: 'GET' | 'POST' | 'PATCH';
  /** With the query, percent-encoded; sent as it is. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
};

/** How a request failed without a status to judge it by; `code` is Node's or undici's. */
export type Break =
  { readonly kind: 'timeout' } | { readonly kind: 'too-large' } | { readonly kind: 'lost'; readonly code: string };

/** What became of one request. `sent` is false only when not a byte of it can have left. */
export type Exchange =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly retryAfter: string | null;
      readonly encoding: string | null;
      readonly body: Uint8Array;
      /** False where a body other than that of a 2xx answer was cut short. */
      readonly whole: boolean;
    }
  | { readonly kind: 'broken'; readonly status: number | null; readonly sent: boolean; readonly how: Break };

/** How to send: `reset` closes the connection after the answer. */
export type Sending = {
  readonly dispatcher: () => Dispatcher;
  readonly reset: boolean;
  readonly timeoutMilliseconds: number;
};

/** In bytes; a larger 2xx answer is a failure. */
export const ANSWER_LIMIT = 32 * 1024 * 1024;
const ERROR_BODY_LIMIT = 16 * 1024;

/**
 * Sends one request and reads its answer, all within the time given: a body that drips on for ever ends too. Never
 * rejects. Of an answer that is not 2xx only the beginning is read, and its status counts whatever its body does.
 */
export async function send(request: HttpRequest, sending: Sending): Promise<Exchange> {
  const deadline = AbortSignal.timeout(sending.timeoutMilliseconds);
  let sent = false;
  try {
    const dispatcher = notingStart(sending.dispatcher(), () => (sent = true));
    const answer = await orAborted(dispatcher.request(toUndici(request, sending, deadline)), deadline);
    sent = true;
    return await readAnswer(answer, deadline);
  } catch (error) {
    return { kind: 'broken', status: null, sent, how: breakOf(error, deadline) };
  }
}

async function readAnswer(answer: Dispatcher.ResponseData, deadline: AbortSignal): Promise<Exchange> {
  const status = answer.statusCode;
  const good = status >= 200 && status < 300;
  const reading = await readUpTo(answer.body, good ? ANSWER_LIMIT : ERROR_BODY_LIMIT);
  if (good && reading.end !== 'whole') return { kind: 'broken', status, sent: true, how: cutBy(reading, deadline) };
  return {
    kind: 'answered',
    status,
    retryAfter: headerOf(answer, 'retry-after'),
    encoding: headerOf(answer, 'content-encoding'),
    body: reading.bytes,
    whole: reading.end === 'whole',
  };
}

function toUndici(request: HttpRequest, sending: Sending, signal: AbortSignal): Dispatcher.RequestOptions {
  const { timeoutMilliseconds, reset } = sending;
  const limits = { headersTimeout: timeoutMilliseconds, bodyTimeout: timeoutMilliseconds };
  return { ...request, ...limits, signal, ...(reset && { reset }) };
}

function cutBy(reading: Reading, deadline: AbortSignal): Break {
  return reading.end === 'over' ? { kind: 'too-large' } : breakOf(reading.error, deadline);
}

/** Only the code is kept: undici's errors may hold headers, and with them the key. */
function breakOf(error: unknown, deadline: AbortSignal): Break {
  const code = codeOf(error);
  const late = deadline.aborted || code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT';
  return late ? { kind: 'timeout' } : { kind: 'lost', code };
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

function headerOf(answer: Dispatcher.ResponseData, name: string): string | null {
  const value = answer.headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? null;
}
