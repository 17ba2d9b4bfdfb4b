import { against, type Bench } from '../core/bench.ts';
import type { Case, Figure, Group } from '../core/case.ts';
import type { Stock } from '../stand-ins/service.ts';

/** Makes a case that counts requests. One round is enough, because the number is the same in every run. */
function makeRequestCase(title: string, name: string, stock: Stock, atMost: number, args: readonly string[]): Case {
  const figure: Figure = 'requests';
  return {
    title,
    rounds: 1,
    targets: [{ shows: `requests: ${title}`, of: name, figure, atMost }],
    prepare: (bench) => prepareRun(name, stock, args, bench),
  };
}

async function prepareRun(name: string, stock: Stock, args: readonly string[], bench: Bench) {
  const standIn = await bench.standIn('prompts');
  await standIn.delay(0);
  const folder = bench.repository(stock.count);
  return { [name]: { run: () => against(standIn, stock, () => bench.promptsync(folder, ...args)) } };
}

export const requests: Group = {
  name: 'requests',
  about: 'the number of requests to the service',
  cases: [
    makeRequestCase('a sync of 1,000 × 3 that changes nothing', 'promptsync sync', { count: 1_000, behind: 0 }, 3_000, [
      'sync',
      '--yes',
    ]),
    makeRequestCase('a dry run of 1,000 × 3, one changed', 'promptsync plan', { count: 1_000, behind: 1 }, 3_001, [
      'plan',
    ]),
  ],
};
