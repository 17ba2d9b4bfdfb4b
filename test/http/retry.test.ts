import { expect, test } from 'vitest';
import { ServiceError, type Effect } from '../../src/http/service-error.ts';
import type { RequestedWait } from '../../src/domain/system.ts';
import { makeProblem } from '../../src/problem.ts';
import { makeWaitNotifier, withRetries, type AttemptResult } from '../../src/http/retry.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');

type FailureOptions = { readonly effect?: Effect; readonly repeat?: boolean; readonly retryAfter?: string };

function failed({ effect = 'rejected', repeat = true, retryAfter }: FailureOptions = {}): AttemptResult<string> {
  const error = new ServiceError(makeProblem('service/timeout', { seconds: 1 }), effect);
  return { isSuccess: false, error, mayRepeat: repeat, retryAfter: retryAfter ?? null };
}

const done: AttemptResult<string> = { isSuccess: true, value: 'done' };

async function runAttempts(attempts: readonly AttemptResult<string>[], random = 1) {
  const sleeps: number[] = [];
  const attempted: number[] = [];
  const next = async (attempt: number) => {
    attempted.push(attempt);
    return attempts[attempt - 1] ?? done;
  };
  const waits: string[] = [];
  const result = await withRetries(next, {
    now: () => NOW,
    random: () => random,
    sleep: async (ms: number) => void sleeps.push(ms),
    onWait: ({ seconds, requestedSeconds }) => void waits.push(`${seconds} of ${requestedSeconds}`),
  }).catch((error: unknown) => error);
  return { result, sleeps, attempted, waits };
}

test('retries wait 250 ms at first, double the delay each time, and stop after four attempts', async () => {
  const { result, sleeps, attempted } = await runAttempts([failed(), failed(), failed(), failed(), done]);
  expect(result).toBeInstanceOf(ServiceError);
  expect(sleeps).toEqual([250, 500, 1000]);
  expect(attempted).toEqual([1, 2, 3, 4]);
});

test('retries do not wait if the random factor of the delay is zero', async () => {
  expect((await runAttempts([failed(), failed(), done], 0)).sleeps).toEqual([0, 0]);
});

test('a failure that must not be retried is thrown immediately', async () => {
  expect(await runAttempts([failed({ repeat: false }), done])).toMatchObject({ sleeps: [], attempted: [1] });
});

test.each([
  ['not-sent', [failed({ effect: 'not-sent' })]],
  ['rejected', [failed({ effect: 'rejected' })]],
  ['unknown', [failed({ effect: 'unknown' })]],
  ['unknown', [failed({ effect: 'unknown' }), failed({ effect: 'not-sent' })]],
] as const)(
  'if a call is interrupted before a retry, its error reports the combined effect %s of all previous attempts',
  async (effect, attempts) => {
    const sleep = async () => {
      waits += 1;
      if (waits === attempts.length) throw new Error('aborted');
    };
    let waits = 0;
    const call = withRetries(async (attempt) => attempts[attempt - 1] ?? done, {
      now: () => NOW,
      random: () => 1,
      sleep,
    });
    await expect(call).rejects.toMatchObject({ effect, problem: { code: 'apply/interrupted' } });
  },
);

const retryAfters: readonly (readonly [string, number, said: string])[] = [
  ['7', 7_000, '7 of 7'],
  ['3600', 60_000, '60 of 3600'],
  ['9'.repeat(400), 60_000, '60 of Infinity'],
  ['Thu, 01 Jan 2026 00:00:09 GMT', 9_000, '9 of 9'],
  ['Wed, 01 Jan 2025 00:00:00 GMT', 250, ''],
  ['-5', 250, ''],
  ['1.5', 250, ''],
  ['soon', 250, ''],
];
test.each(retryAfters)(
  'a retry after the Retry-After value %j waits for %i milliseconds',
  async (retryAfter, expected, announced) => {
    const { sleeps, waits } = await runAttempts([failed({ retryAfter }), done]);
    expect([sleeps, waits.join()]).toEqual([[expected], announced]);
  },
);

test('promptsync announces only the first of several overlapping retry delays', () => {
  const announced: RequestedWait[] = [];
  let now = NOW;
  const onWait = makeWaitNotifier({ now: () => now, onWait: (wait) => void announced.push(wait) });
  for (const [after, seconds] of [
    [0, 60],
    [0, 60],
    [59_999, 7],
    [1, 7],
    [6_999, 1],
  ] as const) {
    now += after;
    onWait({ seconds, requestedSeconds: 120 });
  }
  expect(announced.map(({ seconds }) => seconds)).toEqual([60, 7]);
});

test.each<[readonly Effect[], Effect]>([
  [['not-sent', 'not-sent', 'not-sent', 'rejected'], 'rejected'],
  [['unknown', 'not-sent', 'not-sent', 'not-sent'], 'unknown'],
  [['rejected', 'unknown', 'rejected', 'rejected'], 'unknown'],
])('a call whose attempts had the effects %j has the effect %s', async (each, expected) => {
  const { result } = await runAttempts(each.map((effect) => failed({ effect })));
  expect(result).toMatchObject({ effect: expected, problem: { code: 'service/timeout' } });
});
