import { against, type Bench } from '../core/bench.ts';
import type { Case, Group } from '../core/case.ts';

const SMALL = '1,000 prompts';
const LARGE = '10,000 prompts';

function makeGrowthCase(title: string, shows: string, rounds: number, args: readonly string[]): Case {
  return {
    title,
    rounds,
    targets: [{ shows: `${shows}: 10,000 against 1,000`, of: LARGE, to: SMALL, figure: 'milliseconds', atMost: 11 }],
    prepare: async (bench) => {
      await (await bench.standIn('prompts')).delay(0);
      return { [SMALL]: await prepareRun(1_000, args, bench), [LARGE]: await prepareRun(10_000, args, bench) };
    },
  };
}

async function prepareRun(count: number, args: readonly string[], bench: Bench) {
  const standIn = await bench.standIn('prompts');
  const folder = bench.repository(count);
  return { run: () => against(standIn, { count, behind: 0 }, () => bench.promptsync(folder, ...args)) };
}

export const growth: Group = {
  name: 'growth',
  about: 'the cost of ten times as many prompts, which should be about ten times as high',
  cases: [
    makeGrowthCase('sync, nothing changed, 0 ms', 'no-op sync', 2, ['sync', '--yes']),
    makeGrowthCase('validate', 'validate', 3, ['validate']),
  ],
};
