import { against, type Bench } from '../core/bench.ts';
import type { Case, Figure, Group } from '../core/case.ts';
import type { Stock } from '../stand-ins/service.ts';

/** Numbers of requests, which are the same in each run: one is enough. */
function counting(title: string, name: string, stock: Stock, atMost: number, words: readonly string[]): Case {
  const figure: Figure = 'requests';
  return {
    title,
    rounds: 1,
    targets: [{ shows: `requests: ${title}`, of: name, figure, atMost }],
    prepare: (bench) => subjectsOf(name, stock, words, bench),
  };
}

async function subjectsOf(name: string, stock: Stock, words: readonly string[], bench: Bench) {
  const standIn = await bench.standIn('prompts');
  await standIn.delay(0);
  const folder = bench.repository(stock.count);
  return { [name]: { run: () => against(standIn, stock, () => bench.promptsync(folder, ...words)) } };
}

export const requests: Group = {
  name: 'requests',
  about: 'how often the service is asked',
  cases: [
    counting('a sync of 1,000 × 3 that changes nothing', 'promptsync sync', { count: 1_000, behind: 0 }, 3_000, [
      ...['sync', '--yes'],
    ]),
    counting('a dry run of 1,000 × 3, one changed', 'promptsync plan', { count: 1_000, behind: 1 }, 3_001, ['plan']),
  ],
};
