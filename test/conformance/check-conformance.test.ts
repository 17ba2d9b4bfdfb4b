import { expect, test } from 'vitest';
import type { ConformanceTarget } from '../../src/conformance/conformance-target.ts';
import { makeOkPoint } from '../../src/domain/doctor-point.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import { ServiceError } from '../../src/http/service-error.ts';
import { makeProblem } from '../../src/problem.ts';
import { checkMemoryService } from '../commands/doctor/conformance-service.ts';

const timeOut = async (): Promise<never> => {
  throw new ServiceError(makeProblem('service/timeout', { seconds: 15 }), 'unknown');
};

const failToConnect = async (): Promise<never> => {
  const evidence = { origin: 'https://prompts.example.com', reason: 'the connection timed out' };
  throw new ServiceError(makeProblem('service/unreachable', evidence), 'not-sent');
};

/** A service that returns this metadata for each new version. */
const returning = (metadata: JsonObject) => (): Partial<ConformanceTarget> => ({
  createVersion: async (text) => ({ id: 'v1', number: 1, content: { text, metadata } }),
});

test.each([
  ['checkConformance stops after two timeouts, keeps the points so far and cleans up', timeOut],
  ['checkConformance stops after two failed connections, keeps the points so far and cleans up', failToConnect],
])('%s', async (_, fail) => {
  let reads = 0;
  const readActive = async () => ((reads += 1) > 1 ? fail() : null);
  const { points } = await checkMemoryService(() => ({ readActive }));
  expect(reads).toBe(3);
  expect(points.at(0)?.name).toBe('text: white space');
  expect(points.at(-2)).toMatchObject({ name: 'other points', level: 'error' });
  expect(points.at(-1)?.name).toBe('left behind');
});

test('checkConformance stops if the search for a lost version times out, too', async () => {
  const calls: string[] = [];
  const { points } = await checkMemoryService(() => ({
    createVersion: () => {
      calls.push('create');
      return timeOut();
    },
    readNewestId: async () => (calls.push('read') > 1 ? timeOut() : null),
    cleanUp: async ({ versions }) => makeOkPoint('left behind', JSON.stringify(versions)),
  }));
  expect(calls).toEqual(['read', 'create', 'read']);
  expect(points.map(({ name }) => name)).toEqual(['other points', 'left behind']);
  expect(points[1]?.found).toBe('[{"id":null,"number":null}]');
});

test('checkConformance counts the time of slow reads when it waits for an activation', async () => {
  let reads = 0;
  const { point } = await checkMemoryService(({ pass }) => ({
    findOtherVersionId: null,
    readActive: async () => {
      reads += 1;
      pass(14_000);
      return null;
    },
  }));
  expect(point('activation').level).toBe('error');
  // One read before the first create, three reads of the first version, and one read of each further version. Then
  // two reads around the unknown version, and one of an environment in which nothing is active.
  expect(reads).toBe(1 + 3 + 3 + 2 + 1);
});

test('checkConformance reports metadata that is nested 100,000 levels deep as changed', async () => {
  let metadata: JsonObject = {};
  for (let level = 0; level < 100_000; level += 1) metadata = { a: metadata };
  const { point } = await checkMemoryService(returning(metadata));
  expect(point('metadata_')).toMatchObject({ level: 'error', found: 'the service changed it' });
});

test('checkConformance cleans up even if comparing the metadata throws', async () => {
  const get = () => {
    throw new RangeError('too deep');
  };
  const { points } = await checkMemoryService(returning(Object.defineProperty({}, 'a', { enumerable: true, get })));
  expect(points.map(({ name }) => name)).toEqual(['other points', 'left behind']);
});
