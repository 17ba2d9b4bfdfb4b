import { expect, test } from 'vitest';
import { makeSharedRequirements } from '../../src/conformance/requirements.ts';
import { DEFAULT_WORDS } from '../../src/service-words.ts';
import { makeOkPoint } from '../../src/domain/doctor-point.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import { makeProblem } from '../../src/problem.ts';
import { checkConformance } from '../../src/conformance/check-conformance.ts';
import type { ConformanceTarget, SampleVersion } from '../../src/conformance/conformance-target.ts';
import { ServiceError } from '../../src/http/service-error.ts';

const refuse =
  (code: 'service/prompt-not-found' | 'service/version-not-found' | 'service/not-authorised') => async () => {
    const evidence = { promptId: 'p', versionId: 'v', status: 401, said: '', keySources: ['the key'] };
    throw new ServiceError(makeProblem(code, evidence), 'rejected');
  };

const timeOut = async (): Promise<never> => {
  throw new ServiceError(makeProblem('service/timeout', { seconds: 15 }), 'unknown');
};

const failToConnect = async (): Promise<never> => {
  const evidence = { origin: 'https://prompts.example.com', reason: 'the connection timed out' };
  throw new ServiceError(makeProblem('service/unreachable', evidence), 'not-sent');
};

/** A clock that moves only while the check waits or while a request takes time. */
function makeClock() {
  let time = 0;
  const pass = async (milliseconds: number): Promise<void> => void (time += milliseconds);
  return { now: () => time, sleep: pass, pass };
}

/** Runs the check against a correct service in memory, some of whose requests are replaced. Records all requests. */
async function check(replaced: Partial<ConformanceTarget>, clock = makeClock()) {
  const versions: SampleVersion[] = [];
  let active: SampleVersion | null = null;
  const calls: string[] = [];
  const correct: ConformanceTarget = {
    words: DEFAULT_WORDS,
    requirements: {
      ...makeSharedRequirements(DEFAULT_WORDS),
      metadata: { point: 'metadata', request: 'keep it', loss: 'promptsync loses it.' },
      newest: { point: 'newest', request: 'report it', loss: 'promptsync loses it.' },
    },
    createVersion: async (text, metadata) => {
      const version = { id: `v${versions.length + 1}`, number: versions.length + 1, text, metadata };
      versions.push(version);
      return { ...version, content: version };
    },
    readVersion: null,
    activate: async (versionId) => {
      active = versions.find(({ id }) => id === versionId) ?? null;
    },
    readActive: async (environment) => (environment === 'promptsync-doctor' ? active : null),
    readNewestId: async () => versions.at(-1)?.id ?? null,
    useUnknownVersion: refuse('service/version-not-found'),
    readUnknownPrompt: refuse('service/prompt-not-found'),
    readWithWrongKey: refuse('service/not-authorised'),
    findOtherVersionId: null,
    cleanUp: async (remains) => makeOkPoint('left behind', JSON.stringify(remains.versions)),
  };
  const target = { ...correct, ...replaced };
  const count =
    <Input extends readonly unknown[], Output>(name: string, send: (...input: Input) => Promise<Output>) =>
    (...input: Input): Promise<Output> => {
      calls.push(name);
      return send(...input);
    };
  const createVersion = count('create', target.createVersion);
  const readActive = count('readActive', target.readActive);
  const readNewestId = count('readNewestId', target.readNewestId);
  const points = await checkConformance(
    { ...target, createVersion, readActive, readNewestId },
    { ...clock, runId: 'abc' },
  );
  return { points, calls, clock };
}

/** A service that returns this metadata for each new version. */
const returning = (metadata: JsonObject): Partial<ConformanceTarget> => ({
  createVersion: async (text) => ({ id: 'v1', number: 1, content: { text, metadata } }),
});

test.each([
  ['checkConformance stops after two timeouts, keeps the points so far and cleans up', timeOut],
  ['checkConformance stops after two failed connections, keeps the points so far and cleans up', failToConnect],
])('%s', async (_, fail) => {
  let reads = 0;
  const { points, calls } = await check({ readActive: async () => ((reads += 1) > 1 ? fail() : null) });
  expect(calls.filter((name) => name === 'readActive')).toHaveLength(3);
  expect(points.at(0)?.name).toBe('text: white space');
  expect(points.at(-2)).toMatchObject({ name: 'other points', level: 'error' });
  expect(points.at(-1)?.name).toBe('left behind');
});

test('checkConformance stops if the search for a lost version times out, too', async () => {
  let newestReads = 0;
  const readNewestId = async (): Promise<string | null> => ((newestReads += 1) > 1 ? timeOut() : null);
  const { points, calls } = await check({ createVersion: timeOut, readNewestId });
  expect(calls).toEqual(['readActive', 'readNewestId', 'create', 'readNewestId']);
  expect(points.map(({ name }) => name)).toEqual(['other points', 'left behind']);
  expect(points[1]?.found).toBe('[{"id":null,"number":null}]');
});

test('checkConformance counts the time of slow reads when it waits for an activation', async () => {
  const clock = makeClock();
  const readActive = async (): Promise<null> => {
    await clock.pass(14_000);
    return null;
  };
  const { points, calls } = await check({ readActive }, clock);
  expect(points.find(({ name }) => name === 'activation')?.level).toBe('error');
  // One read before the first create, three reads of the first version, and one read of each further version. Then
  // two reads around the unknown version, and one of an environment in which nothing is active.
  expect(calls.filter((name) => name === 'readActive')).toHaveLength(1 + 3 + 3 + 2 + 1);
});

test('checkConformance reports metadata that is nested 100,000 levels deep as changed', async () => {
  let metadata: JsonObject = {};
  for (let level = 0; level < 100_000; level += 1) metadata = { a: metadata };
  const { points } = await check(returning(metadata));
  const point = { level: 'error', found: 'the service changed it' };
  expect(points.find(({ name }) => name === 'metadata')).toMatchObject(point);
});

test('checkConformance cleans up even if comparing the metadata throws', async () => {
  const get = () => {
    throw new RangeError('too deep');
  };
  const { points } = await check(returning(Object.defineProperty({}, 'a', { enumerable: true, get })));
  expect(points.map(({ name }) => name)).toEqual(['other points', 'left behind']);
});
