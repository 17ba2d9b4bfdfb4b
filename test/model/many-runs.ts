/**
 * Runs many sequences of commands against the model, on all cores: `npm run model -- --runs 10000`. Half of them use
 * each provider unless `--provider` names one. Exits with 1 if a law is broken, and prints the shortest sequence that it
 * found. Also exits with 1 if the sequences no longer reach every required situation.
 */
import { randomInt } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import type { ProviderName } from '../../src/providers/provider-list.ts';
import { checkSequence, renderBroken, seedOf, type Broken } from './check-sequence.ts';
import { addAll, rendered, unreached, type Statistics } from './situations.ts';

const { values } = parseArgs({
  options: {
    provider: { type: 'string' },
    runs: { type: 'string', default: '1000' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    commands: { type: 'string', default: '200' },
    workers: { type: 'string', default: String(availableParallelism()) },
    'run-seed': { type: 'string' },
  },
});

/** With fewer sequences, some situations may not occur by chance. */
const ENOUGH_TO_REACH_ALL = 1000;

const PROVIDERS: readonly ProviderName[] = ['integration', 'langfuse'];

const commands = Number(values.commands);
const runSeed = values['run-seed'];
if (!isMainThread) await playShare(workerData);
else {
  for (const provider of PROVIDERS.filter((one) => one === (values.provider ?? one))) {
    process.exitCode ||= runSeed === undefined ? await playMany(provider) : await playAgain(provider, Number(runSeed));
  }
}

async function playAgain(provider: ProviderName, seed: number): Promise<number> {
  const statistics: Statistics = new Map();
  const broken = await checkSequence(provider, seed, commands, statistics);
  process.stdout.write(broken === null ? `${rendered(statistics)}every law holds\n` : renderBroken(broken, commands));
  return broken === null ? 0 : 1;
}

async function playMany(provider: ProviderName): Promise<number> {
  const [seed, workers] = [Number(values.seed), Number(values.workers)];
  const runs = Math.ceil(Number(values.runs) / (values.provider === undefined ? PROVIDERS.length : 1));
  process.stdout.write(
    `${provider}: seed ${seed}, ${runs} sequences of ${commands} commands on average, ${workers} workers\n`,
  );
  const began = performance.now();
  const statistics: Statistics = new Map();
  const shares = Array.from({ length: workers }, (_, first): Share => ({ provider, seed, runs, first, step: workers }));
  const broken = await playShares(shares, statistics);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  if (broken !== null) {
    process.stdout.write(`${renderBroken(broken, commands)}seed ${seed}, ${seconds} s\n`);
    return 1;
  }
  process.stdout.write(rendered(statistics));
  const missed = runs < ENOUGH_TO_REACH_ALL ? [] : unreached(provider, statistics);
  for (const what of missed) process.stdout.write(`never reached: ${what}\n`);
  process.stdout.write(`${provider}: every law holds, seed ${seed}, ${seconds} s\n`);
  return missed.length === 0 ? 0 : 1;
}

/** The runs of one thread: every `step`th run from `first`. */
type Share = {
  readonly provider: ProviderName;
  readonly seed: number;
  readonly runs: number;
  readonly first: number;
  readonly step: number;
};

/** The message of a thread at its end. */
type ShareResult = { readonly broken: Broken | null; readonly statistics: Statistics };

async function playShare({ provider, seed, runs, first, step }: Share): Promise<void> {
  const statistics: Statistics = new Map();
  let broken: Broken | null = null;
  for (let number = first; number < runs && broken === null; number += step) {
    broken = await checkSequence(provider, seedOf(seed, number), commands, statistics);
  }
  const result: ShareResult = { broken, statistics };
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(result);
}

/** Runs all shares in threads. Stops all threads as soon as one finds a broken law. */
async function playShares(shares: readonly Share[], statistics: Statistics): Promise<Broken | null> {
  const argv = process.argv.slice(2);
  const workers = shares.map((share) => new Worker(new URL(import.meta.url), { workerData: share, argv }));
  const broken = await new Promise<Broken | null>((resolve, reject) => {
    let playing = workers.length;
    const handleResult = (result: ShareResult): void => {
      addAll(statistics, result.statistics);
      playing -= 1;
      if (result.broken !== null || playing === 0) resolve(result.broken);
    };
    for (const worker of workers) worker.on('error', reject).on('message', handleResult);
  });
  await Promise.all(workers.map((worker) => worker.terminate()));
  return broken;
}
