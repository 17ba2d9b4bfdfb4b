import { computeContentDigest } from '../../src/domain/content.ts';
import { makePlainReadRequest, type ReadRequest } from '../../src/domain/observed-prompt.ts';
import { makeLedgerProvider } from '../../src/ledger/provider.ts';
import { observePrompts } from '../../src/observing/observe-prompts.ts';
import { connectPromptService } from '../../src/service/client.ts';
import { servicePaths } from '../../src/service/wire.ts';
import type { Case, Group, Target } from '../core/case.ts';
import { timed } from '../core/measure.ts';
import { API_KEY, CONCURRENCY, ENVIRONMENTS, idOf, textOf, TRACKING } from '../core/prompts.ts';
import { sendAll } from '../floor/send-all.ts';

const LOOP = 'bare undici loop, answers parsed as JSON';
const THROWN_AWAY = 'bare undici loop, answers thrown away';
const OBSERVE = 'connect + observe';
const WARMING = 10;

/** In one process, so that start-up counts for neither: what reading the service costs beyond the requests. */
function observing(count: number, latency: number, rounds: number, more: Partial<Case> = {}): Case {
  return {
    title: `${count.toLocaleString('en')} prompts × ${ENVIRONMENTS.length}, ${latency} ms`,
    rounds,
    ...more,
    prepare: async (bench) => {
      const standIn = await bench.standIn('prompts');
      await standIn.stock({ count, behind: 0 });
      const { baseUrl } = standIn;
      const wanted = Array.from({ length: count }, (_, index) => wantedOf(index));
      const requests = wanted.flatMap(({ promptId, environments }) =>
        environments.map((environment) => ({
          ...{ method: 'GET', path: `${servicePaths.prompt(promptId)}?environment=${environment}`, body: '' },
        })),
      );
      const subjects = {
        [LOOP]: { run: () => timed(() => sendAll(baseUrl, requests, CONCURRENCY, 'json')) },
        [THROWN_AWAY]: { run: () => timed(() => sendAll(baseUrl, requests, CONCURRENCY)) },
        [OBSERVE]: { run: () => timed(() => observeAll(baseUrl, wanted)) },
      };
      await standIn.delay(0);
      // The compiler has seen all of it, and often, before anything counts: what starting costs is another group's.
      for (let round = 0; round < WARMING; round++) for (const { run } of Object.values(subjects)) await run();
      await standIn.delay(latency);
      return latency === 0 ? subjects : { [LOOP]: subjects[LOOP], [OBSERVE]: subjects[OBSERVE] };
    },
  };
}

/** Nothing is to be done where the text is found. */
function wantedOf(index: number): ReadRequest {
  const digest = computeContentDigest(textOf(index, 1));
  return {
    ...makePlainReadRequest(idOf(index), ENVIRONMENTS),
    isSynced: ({ known }) => known.some((version) => version.digest === digest),
  };
}

async function observeAll(baseUrl: string, wanted: readonly ReadRequest[]): Promise<void> {
  const sleep = async () => {};
  const options = { baseUrl, apiKey: API_KEY, concurrency: CONCURRENCY, timeoutSeconds: 15, environment: {} };
  const service = connectPromptService({ ...options, now: Date.now, random: Math.random, sleep });
  const world = { trackingEnvironment: TRACKING, newOperation: () => 'none', textAt: async () => null, sleep };
  const { observed } = await observePrompts(makeLedgerProvider({ ...world, service }), wanted, {
    concurrency: CONCURRENCY,
  });
  await service.close();
  if (observed.size !== wanted.length) throw new Error('not every prompt was observed');
}

function within(shows: string, atMost: number): Target {
  return { shows, of: OBSERVE, to: LOOP, figure: 'milliseconds', atMost };
}

export const observation: Group = {
  name: 'observation',
  about: 'reading the service, beside a bare undici loop of the same requests with the same concurrency',
  cases: [
    // First: what the compiler has learnt of slower services is of no use here.
    observing(1_000, 0, 21),
    observing(50, 0, 11),
    observing(50, 20, 5),
    observing(50, 50, 5),
    observing(1_000, 20, 3, { targets: [within('observation of 1,000 prompts × 3 at 20 ms', 1.15)] }),
    observing(1_000, 50, 3, { long: true }),
    observing(10_000, 0, 3, { long: true }),
    observing(10_000, 20, 1, { long: true }),
    observing(10_000, 50, 1, { long: true }),
  ],
};
