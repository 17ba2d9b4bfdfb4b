import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { afterAnswer, startingPace, type Pace, type Told } from '../../src/service/pace.ts';

const quick: Told = { request: 0, begun: 0, busy: true, status: 200, waited: 20 };

/** Answers to requests that come one after the other, each begun after the answer before it. */
function after(pace: Pace, answers: readonly Partial<Told>[]): Pace {
  return answers.reduce<Pace>(
    (now, answer, index) =>
      afterAnswer(now, { ...quick, request: now.since + index, begun: now.since + index + 1, ...answer }),
    pace,
  );
}

const times = (count: number, answer: Partial<Told> = {}) => Array.from({ length: count }, () => answer);

describe('How many requests may be in flight', () => {
  test.each([
    [1, 1],
    [3, 3],
    [8, 4],
    [100, 4],
  ])('of at most %i, %i at first', (most, limit) => {
    expect(startingPace(most).limit).toBe(limit);
  });

  test('doubles with each round of good answers, and stays at the most', () => {
    const answers = [0, 4, 12, 28, 60, 124, 500];
    const limits = answers.map((count) => after(startingPace(100), times(count)).limit);
    expect(limits).toStrictEqual([4, 8, 16, 32, 64, 100, 100]);
  });

  type Row = readonly [sentence: string, answers: readonly Partial<Told>[], limit: number];
  const rows: readonly Row[] = [
    ['grows with answers that say no such prompt', times(4, { status: 404 }), 20],
    ['halves on 429', [{ status: 429 }], 8],
    ['halves on 503', [{ status: 503 }], 8],
    ['stays where no answer came', times(40, { status: null }), 16],
    ['stays where the service fails', times(40, { status: 500 }), 16],
    ['stays where nobody waits for a place', times(40, { busy: false }), 16],
    [
      'halves when answers take clearly longer than they did',
      [...times(16, { busy: false }), ...times(16, { waited: 90, busy: false })],
      8,
    ],
    ['grows when they take longer by a little', [...times(16, { busy: false }), ...times(16, { waited: 60 })], 32],
    ['grows when one of many takes long', [...times(16, { busy: false }), ...times(15), { waited: 9_000 }], 32],
    [
      'is not led by the noise of quick answers',
      [...times(16, { waited: 0, busy: false }), ...times(16, { waited: 40 })],
      32,
    ],
    [
      'is not led by what is not like a read',
      [...times(16, { busy: false }), ...times(40, { waited: null, busy: false }), ...times(4, { waited: null })],
      20,
    ],
  ];
  test.each(rows)('%s', (_, answers, limit) => {
    const pace = after(startingPace(100), times(12));
    expect(pace.limit).toBe(16);
    expect(after({ ...pace, recent: [] }, answers).limit).toBe(limit);
  });

  test('doubles with each round of no answers from a service that never gave any: nobody is spared by waiting', () => {
    const silent = [0, 4, 12, 124].map((count) => after(startingPace(100), times(count, { status: null })).limit);
    expect(silent).toStrictEqual([4, 8, 16, 100]);
    const failed = after(startingPace(100), [{ status: 500 }, ...times(40, { status: null })]);
    expect(failed.limit).toBe(4);
  });

  test('halves once for all requests that were in flight together', () => {
    const pace = after(startingPace(100), times(12));
    const refusals = Array.from({ length: 16 }, (_, index) => ({ ...quick, request: index, begun: 16, status: 429 }));
    const refused = refusals.reduce(afterAnswer, { ...pace, since: 0 });
    expect(refused.limit).toBe(8);
    expect(afterAnswer(refused, { ...quick, request: 16, begun: 24, status: 429 }).limit).toBe(4);
  });

  test('grows by one each round after a trouble, and comes back to where it was ever more rarely', () => {
    const refused = after({ ...startingPace(100), limit: 8 }, [{ status: 429 }]);
    const tries = [0, 4, 9, 15].map((answers) => after(refused, times(answers)).limit);
    expect(tries).toStrictEqual([4, 5, 6, 7]);
    expect([28, 29].map((answers) => after(refused, times(answers)).limit)).toStrictEqual([7, 8]);
    const again = after(after(refused, times(29)), [{ status: 429 }]);
    expect([42, 43].map((answers) => after(again, times(answers)).limit)).toStrictEqual([7, 8]);
  });

  test('is not held down for ever by a service that has become slower for good', () => {
    const used = after(startingPace(8), times(40));
    const slower = after(used, times(2_000, { waited: 400 }));
    expect([used.limit, slower.limit]).toStrictEqual([8, 8]);
  });
});

describe('Whatever comes', () => {
  const told = fc.record({
    /** How many requests before the latest one was the one that was answered. */
    age: fc.nat(40),
    busy: fc.boolean(),
    status: fc.constantFrom(200, 200, 200, 404, 429, 500, 503, null),
    waited: fc.option(fc.nat(2_000)),
  });
  const run = (most: number, answers: readonly { readonly age: number }[]) => {
    const paces = [startingPace(most)];
    answers.forEach((answer, index) => {
      const given = { ...quick, ...answer, request: Math.max(0, index - answer.age), begun: index + 1 };
      paces.push(afterAnswer(paces.at(-1)!, given));
    });
    return paces;
  };

  test('the limit is a whole number from 1 to the most', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), fc.array(told, { maxLength: 200 }), (most, answers) => {
        const out = run(most, answers).filter(({ limit }) => !(Number.isInteger(limit) && limit >= 1 && limit <= most));
        expect(out).toStrictEqual([]);
      }),
    );
  });

  test('it falls only by half, and between two falls lies a request begun after the first', () => {
    fc.assert(
      fc.property(fc.array(told, { maxLength: 200 }), (answers) => {
        let since = 0;
        run(64, answers).reduce((before, pace, index) => {
          if (pace.limit < before.limit) {
            expect(pace.limit).toBe(Math.max(1, Math.floor(before.limit / 2)));
            expect(Math.max(0, index - 1 - (answers[index - 1]?.age ?? 0))).toBeGreaterThanOrEqual(since);
            since = index;
          }
          return pace;
        });
      }),
    );
  });

  test('it comes back to the most once all is well', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 16 }), fc.array(told, { maxLength: 100 }), (most, answers) => {
        const troubled = run(most, answers).at(-1)!;
        expect(after({ ...troubled, since: 0 }, times(6_000)).limit).toBe(most);
      }),
    );
  });
});
