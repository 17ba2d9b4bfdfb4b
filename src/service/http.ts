import type { Dispatcher } from 'undici';
import { Receiver, type Received } from './receiver.ts';

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
  | { readonly kind: 'timeout' }
  | { readonly kind: 'too-large' }
  /** It was not even begun. */
  | { readonly kind: 'stopped' }
  | { readonly kind: 'lost'; readonly code: string };

/** What became of one request. */
export type Exchange = Answered | Broken;

export type Answered = {
  readonly kind: 'answered';
  readonly status: number;
  readonly retryAfter: string | null;
  readonly encoding: string | null;
  readonly body: Uint8Array;
  /** False where a body other than that of a 2xx answer was cut short. */
  readonly whole: boolean;
  /** Between sending it and the first byte of its answer, in milliseconds. */
  readonly waited: number | null;
};

export type Broken = {
  readonly kind: 'broken';
  readonly status: number | null;
  /** False only when not a byte of it can have left. */
  readonly sent: boolean;
  readonly how: Break;
  readonly waited: number | null;
};

/** How to send: `reset` closes the connection after the answer. `now` is in milliseconds. */
export type Sending = {
  readonly dispatcher: () => Dispatcher;
  readonly reset: boolean;
  readonly timeoutMilliseconds: number;
  readonly now: () => number;
};

/** In bytes; a larger 2xx answer is a failure. */
export const ANSWER_LIMIT = 32 * 1024 * 1024;
const ERROR_BODY_LIMIT = 16 * 1024;

/**
 * Sends one request and reads its answer, all within the time given: a body that drips on for ever ends too. Never
 * rejects. Of an answer that is not 2xx only the beginning is read, and its status counts whatever its body does.
 */
export async function send(request: HttpRequest, sending: Sending): Promise<Exchange> {
  const { timeoutMilliseconds, now, reset } = sending;
  const { promise, resolve } = Promise.withResolvers<Received>();
  const receiver = new Receiver({ timeoutMilliseconds, limitOf, now }, resolve);
  try {
    sending.dispatcher().dispatch({ ...request, ...NO_OTHER_TIMES, ...(reset && { reset }) }, receiver);
  } catch (error) {
    receiver.onResponseError(null, error);
  }
  return toExchange(await promise);
}

/** The receiver's deadline ends all. */
const NO_OTHER_TIMES = { headersTimeout: 0, bodyTimeout: 0 };

function limitOf(status: number): number {
  return isGood(status) ? ANSWER_LIMIT : ERROR_BODY_LIMIT;
}

function isGood(status: number): boolean {
  return status >= 200 && status < 300;
}

function toExchange(received: Received): Exchange {
  const { status, headers, body, waited, sent, end } = received;
  const whole = end.kind === 'whole';
  if (status === null || (isGood(status) && !whole)) return { kind: 'broken', status, sent, how: breakOf(end), waited };
  return {
    kind: 'answered',
    status,
    retryAfter: headerOf(headers, 'retry-after'),
    encoding: headerOf(headers, 'content-encoding'),
    body,
    whole,
    waited,
  };
}

/** Only the code is kept: undici's errors may hold headers, and with them the key. */
function breakOf(end: Received['end']): Break {
  if (end.kind === 'late') return { kind: 'timeout' };
  if (end.kind === 'over') return { kind: 'too-large' };
  return { kind: 'lost', code: end.kind === 'broken' ? codeOf(end.error) : 'unknown' };
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

function headerOf(headers: Received['headers'], name: string): string | null {
  const value = headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? null;
}
