import { against, type Bench } from '../core/bench.ts';
import type { Case, Group } from '../core/case.ts';

const SMALL = '1,000 prompts';
const LARGE = '10,000 prompts';

function growing(title: string, shows: string, rounds: number, words: readonly string[]): Case {
  return {
    title,
    rounds,
    targets: [{ shows: `${shows}: 10,000 against 1,000`, of: LARGE, to: SMALL, figure: 'milliseconds', atMost: 11 }],
    prepare: async (bench) => {
      await (await bench.standIn('prompts')).delay(0);
      return { [SMALL]: await runOf(1_000, words, bench), [LARGE]: await runOf(10_000, words, bench) };
    },
  };
}

async function runOf(count: number, words: readonly string[], bench: Bench) {
  const standIn = await bench.standIn('prompts');
  const folder = bench.repository(count);
  return { run: () => against(standIn, { count, behind: 0 }, () => bench.promptsync(folder, ...words)) };
}

export const growth: Group = {
  name: 'growth',
  about: 'ten times as many prompts cost about ten times as much',
  cases: [
    growing('sync, nothing changed, 0 ms', 'no-op sync', 2, ['sync', '--yes']),
    growing('validate', 'validate', 3, ['validate']),
  ],
};
