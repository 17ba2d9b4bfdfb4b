import { describe, expect, test } from 'vitest';
import { median } from '../../bench/core/run-case.ts';
import { groups } from '../../bench/groups.ts';

const cases = groups.flatMap((group) => group.cases.map((one) => ({ ...one, group: group.name })));

describe('the benchmark groups', () => {
  test('every benchmark has a unique name', () => {
    const names = cases.map(({ group, title }) => `${group}: ${title}`);
    expect(names).toEqual([...new Set(names)]);
  });

  test('the benchmarks that run without --all measure every performance target', () => {
    const shown = cases.flatMap(({ targets = [], long }) =>
      targets.map(({ shows }) => `${shows}${long ? ' (long)' : ''}`),
    );
    expect(shown).toEqual([
      '--help',
      'validate on ten files',
      '10,000 prompt files, validated',
      '10,000 × 4 kB validated, peak memory',
      'observation of 1,000 prompts × 3 at 20 ms',
      'one changed of 10,000 with --changed-since, requests',
      'no-op plan of 300 prompts pinned to 300 commits, beside one pinned to numbers',
      'no-op sync: 10,000 against 1,000',
      'validate: 10,000 against 1,000',
      'requests: a sync of 1,000 × 3 that changes nothing',
      'requests: a dry run of 1,000 × 3, one changed',
      'no-op sync of 1,000 prompts at 20 ms, concurrency: 64, beside a serial peer that reads each once',
    ]);
  });

  test.each([
    [[3], 3],
    [[1, 9], 5],
    [[9, 1, 2], 2],
  ])('median(%j) returns %i', (values, expected) => {
    expect(median(values)).toBe(expected);
  });
});
