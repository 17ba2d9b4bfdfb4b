import { ServiceError } from './service-error.ts';
import type { RequestedWait } from '../domain/system.ts';
import { makeProblem, ProblemError } from '../problem.ts';

export type AttemptResult<Value> =
  | { readonly isSuccess: true; readonly value: Value }
  | {
      readonly isSuccess: false;
      readonly error: ServiceError;
      readonly mayRepeat: boolean;
      /** The `Retry-After` header of the response. */
      readonly retryAfter: string | null;
    };

/** The clock, the random numbers and the callback that retries use. Tests replace them to be deterministic. */
export type RetryPolicy = {
  /** Returns the time in milliseconds since 1970. */
  readonly now: () => number;
  /** Returns a random number that is at least 0 and less than 1. */
  readonly random: () => number;
  /** Rejects if promptsync is interrupted. */
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** Called at the start of a wait if the service requested a wait of at least one second. */
  readonly onWait?: ((wait: RequestedWait) => void) | undefined;
};

const MAX_ATTEMPTS = 4;
const FIRST_WAIT_MS = 250;
const MAX_WAIT_MS = 5_000;
const MAX_RETRY_AFTER_MS = 60_000;

/**
 * Attempts a call up to four times. Throws the error of the last attempt, or the problem `apply/interrupted` after an
 * interruption. If the effect of any attempt is unknown, so is that of the thrown error.
 * @param call makes one attempt and receives its number, starting at 1
 */
export async function withRetries<Value>(
  call: (attempt: number) => Promise<AttemptResult<Value>>,
  policy: RetryPolicy,
): Promise<Value> {
  let mayHaveEffect = false;
  for (let attempt = 1; ; attempt += 1) {
    const result = await call(attempt);
    if (result.isSuccess) return result.value;
    mayHaveEffect ||= result.error.effect === 'unknown';
    if (!result.mayRepeat || attempt === MAX_ATTEMPTS) {
      throw mayHaveEffect ? markOutcomeUnknown(result.error) : result.error;
    }
    const wait = computeWait(attempt + 1, result.retryAfter, policy);
    await policy.sleep(wait).catch(() => {
      throw new ServiceError(makeProblem('apply/interrupted'), mayHaveEffect ? 'unknown' : result.error.effect);
    });
  }
}

/** Returns milliseconds, or 0 if the header is neither a number of seconds nor an HTTP date. */
export function parseRetryAfter(header: string, now: number): number {
  const text = header.trim();
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  const date = /^[A-Za-z]/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? 0 : Math.max(0, date - now);
}

/** Returns milliseconds. The exponential backoff has full jitter, so that clients retry at different times. */
function computeWait(attempt: number, retryAfter: string | null, policy: RetryPolicy): number {
  const backoff = policy.random() * Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 2));
  const requested = retryAfter === null ? 0 : parseRetryAfter(retryAfter, policy.now());
  const wait = Math.max(backoff, Math.min(requested, MAX_RETRY_AFTER_MS));
  if (requested >= 1_000) {
    policy.onWait?.({ seconds: Math.ceil(wait / 1_000), requestedSeconds: Math.ceil(requested / 1_000) });
  }
  return wait;
}

/** Reports waits to the user, except those that begin during a reported wait, because one notice is enough. */
export function makeWaitNotifier({ now, onWait }: Pick<RetryPolicy, 'now' | 'onWait'>): (wait: RequestedWait) => void {
  let reportedUntil = Number.NEGATIVE_INFINITY;
  return (wait) => {
    if (now() < reportedUntil) return;
    reportedUntil = now() + wait.seconds * 1_000;
    onWait?.(wait);
  };
}

function markOutcomeUnknown(error: ServiceError): ServiceError {
  return error.effect === 'unknown' ? error : new ServiceError(error.problem, 'unknown');
}

/**
 * The waits, in milliseconds, between the reads that look for the effect of a write. They add up to ten seconds,
 * because the service may return a cached state for that long.
 */
export const READ_BACK_WAITS_MS: readonly number[] = [250, 500, 1_000, 2_000, 3_000, 3_250];

/** Reads a value repeatedly, but for at most ten seconds. Returns the value of the last read. */
export async function readUntil<Read>(
  read: () => Promise<Read>,
  isExpected: (value: Read) => boolean,
  sleep: RetryPolicy['sleep'],
): Promise<Read> {
  for (const wait of READ_BACK_WAITS_MS) {
    const value = await read();
    if (isExpected(value)) return value;
    await sleep(wait).catch(() => {
      throw new ProblemError(makeProblem('apply/interrupted'));
    });
  }
  return read();
}
