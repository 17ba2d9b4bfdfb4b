import { parentPort, workerData } from 'node:worker_threads';
import { checkSequence, seedOf, type Broken } from './check-sequence.ts';
import type { Statistics } from './situations.ts';

/** Which of the runs this worker makes: every `step`th from `first`. */
export type Share = {
  readonly seed: number;
  readonly runs: number;
  readonly commands: number;
  readonly first: number;
  readonly step: number;
};

export type Told =
  | { readonly what: 'progress'; readonly runs: number }
  | { readonly what: 'broken'; readonly broken: Broken }
  | { readonly what: 'done'; readonly statistics: Statistics };

const TELL_EVERY = 100;

async function work({ seed, runs, commands, first, step }: Share): Promise<void> {
  const statistics: Statistics = new Map();
  let done = 0;
  for (let number = first; number < runs; number += step) {
    const broken = await checkSequence(seedOf(seed, number), commands, statistics);
    if (broken !== null) return tell({ what: 'broken', broken });
    done += 1;
    if (done % TELL_EVERY === 0) tell({ what: 'progress', runs: TELL_EVERY });
  }
  tell({ what: 'done', statistics });
}

function tell(told: Told): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(told);
}

const share: Share = workerData;
await work(share);
