import { describe, expect, test } from 'vitest';
import { progressReporter } from '../../src/command-line/progress.ts';

/** What is written when one of ten prompts is done each so many milliseconds. */
function written(terminal: boolean, pace: number): readonly string[] {
  const texts: string[] = [];
  let now = 1_000;
  const report = progressReporter({ write: (text) => void texts.push(text), terminal, now: () => now });
  for (let done = 1; done <= 10; done += 1) {
    now += pace;
    report({ what: 'Observing', done, all: 10 });
  }
  return texts;
}

const CLEAR = '\r\u001b[2K';

describe('progress', () => {
  test('of a short run is not shown', () => {
    expect(written(true, 5)).toEqual([]);
    expect(written(false, 900)).toEqual([]);
  });

  test('on a terminal is one line that is drawn again and then cleared', () => {
    expect(written(true, 40)).toEqual([
      `${CLEAR}Observing 3 of 10 prompts`,
      `${CLEAR}Observing 6 of 10 prompts`,
      `${CLEAR}Observing 9 of 10 prompts`,
      CLEAR,
    ]);
  });

  test('elsewhere is a line every ten seconds', () => {
    expect(written(false, 4_000)).toEqual([
      'Observing 3 of 10 prompts\n',
      'Observing 6 of 10 prompts\n',
      'Observing 9 of 10 prompts\n',
    ]);
  });
});
