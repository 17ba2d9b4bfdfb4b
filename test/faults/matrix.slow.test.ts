import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { kindOf, MAIN } from './calls.ts';
import { byState, cellsOf, faultsOf, printSize, sampleCells, troubleOf, type Cell } from './cells.ts';
import { inSilence, replaceDeadlines } from './deadlines.ts';
import { FAULTS, type Act } from './faults.ts';
import { langfuseChat } from './langfuse.ts';
import { lawsOf, messagesOf, settle } from './laws.ts';
import { close, open } from '../support/front.ts';
import { makeScenes, onStage, type RunRecord, type Scene } from './stage.ts';

const sceneOf = makeScenes();
const lawful = new Set<Cell>();
const samples = sampleCells(cellsOf, ({ fault, call }) => [fault.name, call]);

/** The server that redirects lead to. */
const visits: string[] = [];
const elsewhere = createServer((request, response) => {
  visits.push(`${request.method} ${request.url}`);
  response.end('{}');
});
let elsewhereUrl = '';
beforeAll(async () => {
  elsewhereUrl = await open(elsewhere);
  replaceDeadlines();
});
afterAll(async () => {
  vi.restoreAllMocks();
  await close(elsewhere);
});

describe.each(byState(samples))('sync withstands faults in its calls to the service ($service: $name)', (group) => {
  test('sync makes exactly the expected calls to the service if no fault is injected', async () => {
    const { state } = group;
    await onStage(await sceneOf(state), elsewhereUrl, async ({ run }) => {
      const { exitCode, arrivals } = await run(['sync', '--yes'], troubleOf(state));
      const asked = arrivals.map(({ request }) => state.service.asked(request));
      const calls = asked.flatMap(({ promptId, call }) => (promptId === MAIN ? [call] : []));
      // Sorted, because promptsync sends some reads concurrently.
      expect({ exitCode, calls: calls.toSorted() }).toEqual({ exitCode: 0, calls: state.calls.toSorted() });
    });
  });

  test.concurrent.each(group.cells)(
    'sync upholds every invariant when a test injects the fault $name',
    async (cell) => {
      const broken = await tryCell(cell, await sceneOf(cell.state), elsewhereUrl);
      expect(broken).toEqual([]);
      lawful.add(cell);
    },
  );
});

describe('the fault matrix', () => {
  test('Only two of the simulated faults may cause duplicate versions', () => {
    expect(FAULTS.flatMap(({ name, limit }) => (limit === undefined ? [] : [{ name, limit }]))).toEqual([
      { name: 'silence, done late: next create', limit: 'a create that lands after the next run has begun' },
      { name: 'cut, done, and somebody else writes', limit: "a lost create followed by somebody else's create" },
    ]);
    expect(samples.map(({ service: { name, limits } }) => ({ name, count: limits.length }))).toEqual([
      { name: 'the four calls', count: 2 },
      { name: 'Langfuse', count: 1 },
      { name: 'Langfuse with chat prompts', count: 1 },
    ]);
  });
});

describe.each(samples)('the fault tests for $service.name are complete', (sample) => {
  test('The fault tests inject every fault into every call to which it applies', () => {
    const done = sample.cells.filter((cell) => lawful.has(cell));
    printSize('fault matrix', sample, done.length);
    expect(done).toEqual(sample.cells);
    expect(visits).toEqual([]);
    if (sample.service === langfuseChat) return;
    expect(new Set(done.map(({ fault }) => fault))).toEqual(new Set(faultsOf(sample.service)));
    expect(new Set(done.map(({ call }) => call))).toEqual(new Set(sample.states.flatMap(({ calls }) => calls)));
  });
});

/** Runs once with the fault and once without it. Returns the broken laws as sentences. */
function tryCell(cell: Cell, scene: Scene, elsewhere: string): Promise<readonly string[]> {
  return onStage(scene, elsewhere, async (stage) => {
    const { state, fault } = cell;
    let fired = false;
    const words = ['sync', '--yes', '--verbose', '--format', 'json'];
    const first = await inSilence((swallowed) => {
      const act: Act = async (exchange) => {
        fired = true;
        await fault.act(exchange);
        if (fault.silent) swallowed();
      };
      return stage.run(words, troubleOf(state, { aim: cell, act }));
    });
    const broken = [
      ...(fired ? [] : ['the fault was not done']),
      ...lawsOf(first).filter((what) => !isExcused(cell, what)),
      ...heals(cell, first),
    ];
    const finished = first.exitCode === 0 && fault.phantom === undefined;
    const settling = { finished, twice: allowsTwo(cell), hides: fault.hides };
    return [...broken, ...(await settle(stage, settling))];
  });
}

function allowsTwo({ fault, state }: Cell): boolean {
  return fault.limit !== undefined && state.service.limits.includes(fault.limit);
}

/** Whether a fault excuses a broken law: until an activation, promptsync knows a version only from the answer to create-version. */
function isExcused({ fault }: Cell, what: string): boolean {
  return fault.phantom === true && what.includes('create-version is made, but the service has 0');
}

/** Returns a sentence if a run did not recover from a fault that it can recover from. */
function heals({ fault, call, nth }: Cell, record: RunRecord): readonly string[] {
  const mayHeal = nth !== 'every' && fault.heals?.includes(kindOf(call)) === true;
  // promptsync gives up on a service that never answers.
  const silence = fault.silent === true && record.arrivals.every(({ status }) => status() === null);
  if (!mayHeal || silence || record.exitCode === 0) return [];
  return [
    `the run recovers from one such fault, but it ended with ${record.exitCode}: ${messagesOf(record).join(' ')}`,
  ];
}
