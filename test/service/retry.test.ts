import { describe, expect, test } from 'vitest';
import { ServiceError, type Effect } from '../../src/service/prompt-service.ts';
import type { Wait } from '../../src/domain/world.ts';
import { makeProblem } from '../../src/problem.ts';
import { oncePerWait, withRetries, type Attempt } from '../../src/service/retry.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');

type Failing = { readonly effect?: Effect; readonly repeat?: boolean; readonly retryAfter?: string };

function failed({ effect = 'rejected', repeat = true, retryAfter }: Failing = {}): Attempt<string> {
  const error = new ServiceError(makeProblem('service/timeout', { seconds: 1 }), effect);
  return { ok: false, error, repeat, retryAfter: retryAfter ?? null };
}

const done: Attempt<string> = { ok: true, value: 'done' };

async function play(attempts: readonly Attempt<string>[], random = 1) {
  const sleeps: number[] = [];
  const made: number[] = [];
  const next = async (attempt: number) => {
    made.push(attempt);
    return attempts[attempt - 1] ?? done;
  };
  const waits: string[] = [];
  const result = await withRetries(next, {
    now: () => NOW,
    random: () => random,
    sleep: async (ms: number) => void sleeps.push(ms),
    onWait: ({ seconds, asked }) => void waits.push(`${seconds} of ${asked}`),
  }).catch((error: unknown) => error);
  return { result, sleeps, made, waits };
}

describe('retries', () => {
  test('a call that succeeds is made once', async () => {
    expect(await play([done])).toEqual({ result: 'done', sleeps: [], made: [1], waits: [] });
  });

  test('waits double from 250 ms, and four attempts are all', async () => {
    const { result, sleeps, made } = await play([failed(), failed(), failed(), failed(), done]);
    expect(result).toBeInstanceOf(ServiceError);
    expect(sleeps).toEqual([250, 500, 1000]);
    expect(made).toEqual([1, 2, 3, 4]);
  });

  test('jitter is full: with the lowest chance there is no wait', async () => {
    expect((await play([failed(), failed(), done], 0)).sleeps).toEqual([0, 0]);
  });

  test('a failure that may not be repeated is thrown at once', async () => {
    expect(await play([failed({ repeat: false }), done])).toMatchObject({ sleeps: [], made: [1] });
  });

  test.each([
    ['not-sent', [failed({ effect: 'not-sent' })]],
    ['rejected', [failed({ effect: 'rejected' })]],
    ['unknown', [failed({ effect: 'unknown' })]],
    ['unknown', [failed({ effect: 'unknown' }), failed({ effect: 'not-sent' })]],
  ] as const)('interrupted while it waits, the effect is what its attempts left: %s', async (effect, attempts) => {
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
  });

  const retryAfters: readonly (readonly [string, string, number, said: string])[] = [
    ['seconds', '7', 7_000, '7 of 7'],
    ['an hour, counted as a minute', '3600', 60_000, '60 of 3600'],
    ['more digits than a number has', '9'.repeat(400), 60_000, '60 of Infinity'],
    ['an HTTP date', 'Thu, 01 Jan 2026 00:00:09 GMT', 9_000, '9 of 9'],
    ['a date next year', 'Fri, 01 Jan 2027 00:00:00 GMT', 60_000, '60 of 31536000'],
    ['a date that has passed', 'Wed, 01 Jan 2025 00:00:00 GMT', 250, ''],
    ['zero', '0', 250, ''],
    ['a negative number', '-5', 250, ''],
    ['a fraction', '1.5', 250, ''],
    ['nothing', '', 250, ''],
    ['words', 'soon', 250, ''],
  ];
  test.each(retryAfters)('Retry-After with %s', async (_, retryAfter, expected, said) => {
    const { sleeps, waits } = await play([failed({ retryAfter }), done]);
    expect([sleeps, waits.join()]).toEqual([[expected], said]);
  });

  test('of waits side by side the first is said, and another one once it is over', () => {
    const said: Wait[] = [];
    let now = NOW;
    const onWait = oncePerWait({ now: () => now, onWait: (wait) => void said.push(wait) });
    for (const [after, seconds] of [
      [0, 60],
      [0, 60],
      [59_999, 7],
      [1, 7],
      [6_999, 1],
    ] as const) {
      now += after;
      onWait({ seconds, asked: 120 });
    }
    expect(said.map(({ seconds }) => seconds)).toEqual([60, 7]);
  });

  const effects: readonly (readonly [string, readonly Effect[], Effect])[] = [
    ['all were refused', ['rejected', 'rejected', 'rejected', 'rejected'], 'rejected'],
    ['none was sent', ['not-sent', 'not-sent', 'not-sent', 'not-sent'], 'not-sent'],
    ['the last was refused', ['not-sent', 'not-sent', 'not-sent', 'rejected'], 'rejected'],
    ['the first may have worked and the last was not sent', ['unknown', 'not-sent', 'not-sent', 'not-sent'], 'unknown'],
    ['one in the middle may have worked', ['rejected', 'unknown', 'rejected', 'rejected'], 'unknown'],
  ];
  test.each(effects)('the effect when %s', async (_, each, expected) => {
    const { result } = await play(each.map((effect) => failed({ effect })));
    expect(result).toMatchObject({ effect: expected, problem: { code: 'service/timeout' } });
  });
});
