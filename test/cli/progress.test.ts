import { describe, expect, test } from 'vitest';
import { progressReporter } from '../../src/cli/progress.ts';

type Pace = {
  readonly milliseconds: number;
  readonly all?: number;
  readonly columns?: number;
  readonly until?: number;
};

/** The lines that are drawn when one prompt is done each so many milliseconds. */
function drawn({ milliseconds, all = 10, columns, until = all }: Pace): readonly string[] {
  const lines: string[] = [];
  let now = 1_000;
  const report = progressReporter({ draw: (line) => void lines.push(line), columns: () => columns, now: () => now });
  for (let done = 1; done <= until; done += 1) {
    now += milliseconds;
    report({ what: 'Observing', done, all });
  }
  return lines;
}

describe('progress', () => {
  test('of a short run is not shown', () => {
    expect(drawn({ milliseconds: 5 })).toEqual(['']);
  });

  test('is drawn again ten times a second at most, and taken away at the end', () => {
    expect(drawn({ milliseconds: 40 })).toEqual([
      'Observing 3 of 10 prompts',
      'Observing 6 of 10 prompts',
      'Observing 9 of 10 prompts',
      '',
    ]);
  });

  test('tells rate and remaining time once they are known for a second', () => {
    const lines = drawn({ milliseconds: 20, all: 1_000, until: 500 });
    const guessed = lines.filter((line) => !line.includes('/s'));
    expect(guessed.at(-1)).toBe('Observing 50 of 1,000 prompts');
    expect(lines.at(-1)).toBe('Observing 500 of 1,000 prompts · 50/s · 10 s left');
  });

  test.each<[string, Pace, string]>([
    ['slow ones', { milliseconds: 2_000, all: 30, until: 5 }, 'Observing 5 of 30 prompts · 0.5/s · 50 s left'],
    ['minutes', { milliseconds: 100, all: 10_000, until: 100 }, 'Observing 100 of 10,000 prompts · 10/s · 17 min left'],
    ['hours', { milliseconds: 1_000, all: 10_000, until: 100 }, 'Observing 100 of 10,000 prompts · 1.0/s · 3 h left'],
    [
      'without room for the time',
      { milliseconds: 1_000, all: 50, until: 9, columns: 40 },
      'Observing 9 of 50 prompts · 1.0/s',
    ],
    ['without room for the rate', { milliseconds: 1_000, all: 50, until: 9, columns: 30 }, 'Observing 9 of 50 prompts'],
    ['without room for itself', { milliseconds: 1_000, all: 50, until: 9, columns: 12 }, 'Observing 9'],
  ])('in words: %s', (_, pace, expected) => {
    expect(drawn(pace).at(-1)).toBe(expected);
  });

  test('of another phase begins anew', () => {
    const lines: string[] = [];
    let now = 0;
    const report = progressReporter({ draw: (line) => void lines.push(line), columns: () => 80, now: () => now });
    for (const what of ['Observing', 'Observing', 'Applying'] as const) {
      for (let done = 1; done <= 9; done += 1) {
        now += 1_000;
        report({ what, done, all: 9 });
      }
    }
    const first = /^(Observing|Applying) 1 of 9 prompts$/;
    expect(lines.filter((line) => first.test(line))).toHaveLength(3);
  });
});
