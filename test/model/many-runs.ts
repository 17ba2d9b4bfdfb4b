/**
 * Plays many sequences of commands against the model, on all cores: `npm run model -- --runs 10000`. Ends with 1 and
 * the shortest sequence it found where a law is broken, or where the model no longer reaches what it is for.
 */
import { randomInt } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { checkSequence, renderBroken, type Broken } from './check-sequence.ts';
import { addAll, rendered, unreached, type Statistics } from './situations.ts';
import type { Share, Told } from './worker.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '1000' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    commands: { type: 'string', default: '200' },
    workers: { type: 'string', default: String(availableParallelism()) },
    'run-seed': { type: 'string' },
  },
});

/** Fewer sequences may well miss something. */
const ENOUGH_TO_REACH_ALL = 1000;

const commands = Number(values.commands);
const runSeed = values['run-seed'];
process.exitCode = runSeed === undefined ? await playMany() : await playAgain(Number(runSeed));

async function playAgain(seed: number): Promise<number> {
  const statistics: Statistics = new Map();
  const broken = await checkSequence(seed, commands, statistics);
  process.stdout.write(broken === null ? `${rendered(statistics)}every law holds\n` : renderBroken(broken, commands));
  return broken === null ? 0 : 1;
}

async function playMany(): Promise<number> {
  const [runs, seed, workers] = [Number(values.runs), Number(values.seed), Number(values.workers)];
  process.stdout.write(`seed ${seed}, ${runs} sequences of ${commands} commands on average, ${workers} workers\n`);
  const began = performance.now();
  const statistics: Statistics = new Map();
  const shares = Array.from({ length: workers }, (_, first): Share => ({ seed, runs, commands, first, step: workers }));
  const broken = await playShares(shares, statistics);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  if (broken !== null) {
    process.stdout.write(`${renderBroken(broken, commands)}seed ${seed}, ${seconds} s\n`);
    return 1;
  }
  process.stdout.write(rendered(statistics));
  const missed = runs < ENOUGH_TO_REACH_ALL ? [] : unreached(statistics);
  for (const what of missed) process.stdout.write(`never reached: ${what}\n`);
  process.stdout.write(`${summary(statistics)}, seed ${seed}, ${seconds} s\n`);
  return missed.length === 0 ? 0 : 1;
}

function summary(statistics: Statistics): string {
  const count = (what: string): number => statistics.get(what) ?? 0;
  const troubles = [...statistics].filter(([what]) => what.startsWith('trouble: ')).map(([, times]) => times);
  return [
    `every law holds: ${count('sequences')} sequences`,
    `${count('commands')} commands`,
    `${count('runs of the tool')} runs of the tool`,
    `${count('versions made by the tool')} versions made`,
    `${troubles.reduce((sum, times) => sum + times, 0)} faults`,
  ].join(', ');
}

/** Ends all of them as soon as one has found a broken law. */
async function playShares(shares: readonly Share[], statistics: Statistics): Promise<Broken | null> {
  const workers = shares.map((share) => new Worker(new URL('worker.ts', import.meta.url), { workerData: share }));
  let played = 0;
  const ends = workers.map(
    (worker) =>
      new Promise<Broken | null>((resolve, reject) => {
        worker.on('error', reject);
        worker.on('message', (told: Told) => {
          if (told.what === 'broken') resolve(told.broken);
          if (told.what === 'progress') process.stderr.write(`\r${(played += told.runs)} sequences`);
          if (told.what !== 'done') return;
          addAll(statistics, told.statistics);
          resolve(null);
        });
      }),
  );
  const broken = await firstBroken(ends);
  process.stderr.write('\n');
  await Promise.all(workers.map((worker) => worker.terminate()));
  return broken;
}

async function firstBroken(ends: readonly Promise<Broken | null>[]): Promise<Broken | null> {
  const found = ends.map(async (end) => (await end) ?? new Promise<never>(() => {}));
  const all = Promise.all(ends).then((results) => results.find((broken) => broken !== null) ?? null);
  return Promise.race([all, ...found]);
}
