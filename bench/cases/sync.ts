import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { against, type Bench } from '../core/bench.ts';
import type { Case, Group, Subjects } from '../core/case.ts';
import { CONCURRENCY, ENVIRONMENTS } from '../core/prompts.ts';
import type { Stock } from '../stand-ins/service.ts';

const FLOOR = 'the same requests, bare undici loop';
const SYNC = 'promptsync sync';

/** The contents of the service before a sync, by what the sync has to change. */
const STOCKS = {
  nothing: (count: number): Stock => ({ count, behind: 0 }),
  one: (count: number): Stock => ({ count, behind: 1 }),
  all: (count: number): Stock => ({ count, behind: count }),
  // The service has no version yet. The files have no pins on numbers, because only a second sync could resolve them.
  first: (count: number): Stock => ({ count, behind: 0, empty: true }),
} as const;

type SyncKind = keyof typeof STOCKS;

/**
 * Makes a case that compares the whole command with a bare loop that resends the same requests from another process.
 */
function makeSyncCase(count: number, latency: number, kind: SyncKind, rounds: number, more: Partial<Case> = {}): Case {
  const description = kind === 'first' ? 'first sync' : `${kind} changed`;
  return {
    title: `${count.toLocaleString('en')} prompts × ${ENVIRONMENTS.length}, ${latency} ms, ${description}`,
    rounds,
    ...more,
    prepare: (bench) => prepareSubjects(count, latency, kind, bench),
  };
}

async function prepareSubjects(count: number, latency: number, kind: SyncKind, bench: Bench): Promise<Subjects> {
  const standIn = await bench.standIn('prompts');
  const stock = STOCKS[kind](count);
  const folder = bench.repository(count, { withoutNumbers: kind === 'first' });
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
  about: 'the whole command, compared with the same requests from a bare undici loop with the same concurrency',
  cases: [
    makeSyncCase(50, 0, 'nothing', 5),
    makeSyncCase(50, 0, 'one', 5),
    makeSyncCase(50, 0, 'all', 5),
    makeSyncCase(50, 20, 'nothing', 3),
    makeSyncCase(50, 20, 'one', 3),
    makeSyncCase(50, 20, 'all', 3),
    makeSyncCase(50, 50, 'nothing', 3),
    makeSyncCase(1_000, 0, 'nothing', 3),
    makeSyncCase(1_000, 0, 'one', 3),
    makeSyncCase(1_000, 0, 'all', 1),
    makeSyncCase(1_000, 0, 'first', 1),
    makeSyncCase(1_000, 20, 'nothing', 1),
    ...([20, 50] as const).map((latency) => makeSyncCase(1_000, latency, 'all', 1, { long: true })),
    makeSyncCase(1_000, 50, 'nothing', 1, { long: true }),
    ...(['nothing', 'one', 'all'] as const).map((kind) => makeSyncCase(10_000, 0, kind, 1, { long: true })),
    ...([20, 50] as const).map((latency) => makeSyncCase(10_000, latency, 'nothing', 1, { long: true })),
  ],
};
