import { describe, expect, test } from 'vitest';
import { makeProgressReporter } from '../../src/cli/progress-reporter.ts';

type Phase = 'Observing' | 'Applying';

type Pace = {
  readonly milliseconds: number;
  readonly all?: number;
  readonly columns?: number;
  readonly until?: number;
  readonly phases?: readonly Phase[];
};

/** Returns the lines that are drawn if each prompt of each phase takes this many milliseconds. */
function drawLines({ milliseconds, all: total = 10, columns, until = total, phases = ['Observing'] }: Pace) {
  const lines: string[] = [];
  let now = 1_000;
  const report = makeProgressReporter({
    draw: (line) => void lines.push(line),
    columns: () => columns,
    now: () => now,
  });
  for (const phase of phases) {
    for (let done = 1; done <= until; done += 1) {
      now += milliseconds;
      report({ phase, done, total });
    }
  }
  return lines;
}

describe('makeProgressReporter', () => {
  test('makeProgressReporter shows no progress during a short run', () => {
    expect(drawLines({ milliseconds: 5 })).toEqual(['']);
  });

  test('makeProgressReporter draws at most ten times per second and clears its line at the end', () => {
    expect(drawLines({ milliseconds: 40 })).toEqual([
      'Observing 3 of 10 prompts',
      'Observing 6 of 10 prompts',
      'Observing 9 of 10 prompts',
      '',
    ]);
  });

  test('makeProgressReporter shows the rate and the remaining time after one second', () => {
    const lines = drawLines({ milliseconds: 20, all: 1_000, until: 500 });
    const guessed = lines.filter((line) => !line.includes('/s'));
    expect(guessed.at(-1)).toBe('Observing 50 of 1,000 prompts');
    expect(lines.at(-1)).toBe('Observing 500 of 1,000 prompts · 50/s · 10 s left');
  });

  test.each<[Pace, string]>([
    [{ milliseconds: 2_000, all: 30, until: 5 }, 'Observing 5 of 30 prompts · 0.5/s · 50 s left'],
    [{ milliseconds: 100, all: 10_000, until: 100 }, 'Observing 100 of 10,000 prompts · 10/s · 17 min left'],
    [{ milliseconds: 1_000, all: 10_000, until: 100 }, 'Observing 100 of 10,000 prompts · 1.0/s · 3 h left'],
    [{ milliseconds: 1_000, all: 50, until: 9, columns: 40 }, 'Observing 9 of 50 prompts · 1.0/s'],
    [{ milliseconds: 1_000, all: 50, until: 9, columns: 30 }, 'Observing 9 of 50 prompts'],
    [{ milliseconds: 1_000, all: 50, until: 9, columns: 12 }, 'Observing 9'],
  ])('makeProgressReporter at the pace %j ends with the line %j', (pace, expected) => {
    expect(drawLines(pace).at(-1)).toBe(expected);
  });

  test('makeProgressReporter restarts its rate estimate in each phase', () => {
    const lines = drawLines({ milliseconds: 1_000, all: 9, phases: ['Observing', 'Observing', 'Applying'] });
    const first = /^(Observing|Applying) 1 of 9 prompts$/;
    expect(lines.filter((line) => first.test(line))).toHaveLength(3);
  });
});
