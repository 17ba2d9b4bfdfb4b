import { ServiceError } from './prompt-service.ts';
import type { Wait } from '../domain/world.ts';
import { makeProblem, ProblemError } from '../problem.ts';

/** What one attempt came to; `repeat` says whether another one is allowed. */
export type Attempt<Value> =
  | { readonly ok: true; readonly value: Value }
  | {
      readonly ok: false;
      readonly error: ServiceError;
      readonly repeat: boolean;
      /** The header `Retry-After` as it came. */
      readonly retryAfter: string | null;
    };

/**
 * Time and chance, so that a run can be replayed: milliseconds since 1970, a number in [0, 1), and waiting. Waiting
 * rejects when the run is interrupted.
 */
export type RetryPolicy = {
  readonly now: () => number;
  readonly random: () => number;
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** Called when a wait of a second or more begins because the service asks for so many. */
  readonly onWait?: ((wait: Wait) => void) | undefined;
};

const ATTEMPTS = 4;
const FIRST_WAIT = 250;
const LONGEST_WAIT = 5_000;
const LONGEST_RETRY_AFTER = 60_000;

/**
 * Makes a call up to four times, as long as its failures may be repeated; attempts are counted from 1. Throws the last
 * failure, or that it was interrupted while it waited; the effect is `unknown` when any attempt left it open.
 */
export async function withRetries<Value>(
  call: (attempt: number) => Promise<Attempt<Value>>,
  policy: RetryPolicy,
): Promise<Value> {
  for (let attempt = 1, doubt = false; ; attempt += 1) {
    const outcome = await call(attempt);
    if (outcome.ok) return outcome.value;
    doubt ||= outcome.error.effect === 'unknown';
    if (!outcome.repeat || attempt === ATTEMPTS) throw doubt ? inDoubt(outcome.error) : outcome.error;
    const wait = waitBefore(attempt + 1, outcome.retryAfter, policy);
    await policy.sleep(wait).catch(() => {
      throw new ServiceError(makeProblem('apply/interrupted'), doubt ? 'unknown' : outcome.error.effect);
    });
  }
}

/** A header `Retry-After` (seconds or an HTTP date) in milliseconds from now; 0 where it says neither. */
export function parseRetryAfter(header: string, now: number): number {
  const text = header.trim();
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  const date = /^[A-Za-z]/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? 0 : Math.max(0, date - now);
}

/** Exponential with full jitter, so that many clients that failed together do not come back together. */
function waitBefore(attempt: number, retryAfter: string | null, policy: RetryPolicy): number {
  const backoff = policy.random() * Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** (attempt - 2));
  const asked = retryAfter === null ? 0 : parseRetryAfter(retryAfter, policy.now());
  const wait = Math.max(backoff, Math.min(asked, LONGEST_RETRY_AFTER));
  if (asked >= 1_000) policy.onWait?.({ seconds: Math.ceil(wait / 1_000), asked: Math.ceil(asked / 1_000) });
  return wait;
}

/** Of requests that wait side by side the first speaks for all: nothing is said of another wait until its own is over. */
export function oncePerWait({ now, onWait }: Pick<RetryPolicy, 'now' | 'onWait'>): (wait: Wait) => void {
  let until = Number.NEGATIVE_INFINITY;
  return (wait) => {
    if (now() < until) return;
    until = now() + wait.seconds * 1_000;
    onWait?.(wait);
  };
}

function inDoubt(error: ServiceError): ServiceError {
  return error.effect === 'unknown' ? error : new ServiceError(error.problem, 'unknown');
}

/** In milliseconds, ten seconds in all: services have caches, which show what was before for a while. */
const WHILE_CACHED = [250, 500, 1_000, 2_000, 3_000, 3_250];

/** Reads until it shows what is meant: then that, otherwise what it has shown for ten seconds instead. */
export async function readUntil<Read>(
  read: () => Promise<Read>,
  isMeant: (shown: Read) => boolean,
  sleep: RetryPolicy['sleep'],
): Promise<Read> {
  for (const wait of WHILE_CACHED) {
    const shown = await read();
    if (isMeant(shown)) return shown;
    await sleep(wait).catch(() => {
      throw new ProblemError(makeProblem('apply/interrupted'));
    });
  }
  return read();
}
