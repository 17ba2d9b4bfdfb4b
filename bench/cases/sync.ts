import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { against, type Bench } from '../core/bench.ts';
import type { Case, Group, Subjects } from '../core/case.ts';
import { CONCURRENCY, ENVIRONMENTS } from '../core/prompts.ts';
import type { Stock } from '../stand-ins/service.ts';

const FLOOR = 'the same requests, bare undici loop';
const SYNC = 'promptsync sync';

const changes = {
  nothing: (count: number): Stock => ({ count, behind: 0 }),
  one: (count: number): Stock => ({ count, behind: 1 }),
  all: (count: number): Stock => ({ count, behind: count }),
  // From a service without any version. Pins on numbers would wait for the second sync.
  first: (count: number): Stock => ({ count, behind: 0, empty: true }),
} as const;

type Changed = keyof typeof changes;

/** The whole command in a process of its own, and its very requests sent again by a bare loop in another one. */
function syncing(count: number, latency: number, changed: Changed, rounds: number, more: Partial<Case> = {}): Case {
  const what = changed === 'first' ? 'first sync' : `${changed} changed`;
  return {
    title: `${count.toLocaleString('en')} prompts × ${ENVIRONMENTS.length}, ${latency} ms, ${what}`,
    rounds,
    ...more,
    prepare: (bench) => subjectsOf(count, latency, changed, bench),
  };
}

async function subjectsOf(count: number, latency: number, changed: Changed, bench: Bench): Promise<Subjects> {
  const standIn = await bench.standIn('prompts');
  const stock = changes[changed](count);
  const folder = bench.repository(count, { withoutNumbers: changed === 'first' });
  const sync = () => bench.promptsync(folder, 'sync', '--yes');
  await standIn.delay(0);
  await standIn.stock(stock);
  await standIn.begin(true);
  await sync();
  const requests = join(bench.folder(), 'requests.json');
  writeFileSync(requests, JSON.stringify(await standIn.recorded()));
  const replay = () => bench.floor('replay', standIn.baseUrl, requests, String(CONCURRENCY));
  await standIn.delay(latency);
  return {
    [FLOOR]: { run: () => against(standIn, stock, () => replay()) },
    [SYNC]: { run: () => against(standIn, stock, sync) },
  };
}

export const sync: Group = {
  name: 'sync',
  about: 'the whole command, beside its very requests sent by a bare undici loop with the same concurrency',
  cases: [
    syncing(50, 0, 'nothing', 5),
    syncing(50, 0, 'one', 5),
    syncing(50, 0, 'all', 5),
    syncing(50, 20, 'nothing', 3),
    syncing(50, 20, 'one', 3),
    syncing(50, 20, 'all', 3),
    syncing(50, 50, 'nothing', 3),
    syncing(1_000, 0, 'nothing', 3),
    syncing(1_000, 0, 'one', 3),
    syncing(1_000, 0, 'all', 1),
    syncing(1_000, 0, 'first', 1),
    syncing(1_000, 20, 'nothing', 1),
    ...([20, 50] as const).map((latency) => syncing(1_000, latency, 'all', 1, { long: true })),
    syncing(1_000, 50, 'nothing', 1, { long: true }),
    ...(['nothing', 'one', 'all'] as const).map((changed) => syncing(10_000, 0, changed, 1, { long: true })),
    ...([20, 50] as const).map((latency) => syncing(10_000, latency, 'nothing', 1, { long: true })),
  ],
};
