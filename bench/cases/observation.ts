import { computeContentDigest } from '../../src/domain/content.ts';
import { makePlainReadRequest, type ReadRequest } from '../../src/domain/observed-prompt.ts';
import { makeFourCallProvider } from '../../src/providers/four-call/provider.ts';
import { observePrompts } from '../../src/observing/observe-prompts.ts';
import { connectPromptService } from '../../src/providers/four-call/client.ts';
import { servicePaths } from '../../src/providers/four-call/api-shapes.ts';
import type { Case, Group, Target } from '../core/case.ts';
import { timed } from '../core/measure.ts';
import { API_KEY, CONCURRENCY, ENVIRONMENTS, idOf, textOf } from '../core/prompts.ts';
import { sendAll } from '../floor/send-all.ts';

const LOOP = 'bare undici loop, parses responses as JSON';
const DISCARDING_LOOP = 'bare undici loop, discards responses';
const OBSERVE = 'connect + observe';
const WARM_UP_ROUNDS = 10;

/**
 * Makes a case that compares an observation with its bare requests. Both run in the process of the benchmark, so the
 * time excludes the start of a process.
 */
function makeObservationCase(count: number, latency: number, rounds: number, more: Partial<Case> = {}): Case {
  return {
    title: `${count.toLocaleString('en')} prompts × ${ENVIRONMENTS.length}, ${latency} ms`,
    rounds,
    ...more,
    prepare: async (bench) => {
      const standIn = await bench.standIn('prompts');
      await standIn.stock({ count, behind: 0 });
      const { baseUrl } = standIn;
      const readRequests = Array.from({ length: count }, (_, index) => makeReadRequest(index));
      const requests = readRequests.flatMap(({ promptId, environments }) =>
        environments.map((environment) => ({
          method: 'GET',
          path: `${servicePaths.prompt(promptId)}?environment=${environment}`,
          body: '',
        })),
      );
      const subjects = {
        [LOOP]: { run: () => timed(() => sendAll(baseUrl, requests, CONCURRENCY, 'json')) },
        [DISCARDING_LOOP]: { run: () => timed(() => sendAll(baseUrl, requests, CONCURRENCY)) },
        [OBSERVE]: { run: () => timed(() => observeAll(baseUrl, readRequests)) },
      };
      await standIn.delay(0);
      // Lets V8 optimize all code before the first measurement. The group `start-up` measures the cost of starting.
      for (let round = 0; round < WARM_UP_ROUNDS; round++) {
        for (const { run } of Object.values(subjects)) await run();
      }
      await standIn.delay(latency);
      return latency === 0 ? subjects : { [LOOP]: subjects[LOOP], [OBSERVE]: subjects[OBSERVE] };
    },
  };
}

/** Makes the request for one prompt. The prompt is in sync if one of its known versions has the text of the file. */
function makeReadRequest(index: number): ReadRequest {
  const digest = computeContentDigest(textOf(index, 1));
  return {
    ...makePlainReadRequest(idOf(index), ENVIRONMENTS),
    isSynced: ({ known }) => known.some((version) => version.digest === digest),
  };
}

async function observeAll(baseUrl: string, readRequests: readonly ReadRequest[]): Promise<void> {
  const sleep = async () => {};
  const options = { baseUrl, apiKey: API_KEY, concurrency: CONCURRENCY, timeoutSeconds: 15, environment: {} };
  const service = connectPromptService({ ...options, now: Date.now, random: Math.random, sleep });
  const system = { newOperation: () => 'none', textAt: async () => null, sleep };
  const { observed } = await observePrompts(makeFourCallProvider({ ...system, service }), readRequests, {
    concurrency: CONCURRENCY,
  });
  await service.close();
  if (observed.size !== readRequests.length) throw new Error('Not every prompt was observed.');
}

function makeRatioTarget(shows: string, atMost: number): Target {
  return { shows, of: OBSERVE, to: LOOP, figure: 'milliseconds', atMost };
}

export const observation: Group = {
  name: 'observation',
  about:
    'an observation of the service, compared with the same requests from a bare undici loop with the same concurrency',
  cases: [
    // The fastest service comes first, because code that V8 optimized for slower services would distort the result.
    makeObservationCase(1_000, 0, 21),
    makeObservationCase(50, 0, 11),
    makeObservationCase(50, 20, 5),
    makeObservationCase(50, 50, 5),
    makeObservationCase(1_000, 20, 3, {
      targets: [makeRatioTarget('observation of 1,000 prompts × 3 at 20 ms', 1.15)],
    }),
    makeObservationCase(1_000, 50, 3, { long: true }),
    makeObservationCase(10_000, 0, 3, { long: true }),
    makeObservationCase(10_000, 20, 1, { long: true }),
    makeObservationCase(10_000, 50, 1, { long: true }),
  ],
};
