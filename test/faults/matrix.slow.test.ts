import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { kindOf, MAIN } from './calls.ts';
import { cellsOf, chosen, chosenStates, faultsOf, troubleOf, type Cell } from './cells.ts';
import { inSilence, replaceDeadlines } from './deadlines.ts';
import { FAULTS, type Act } from './faults.ts';
import { lawsOf, messagesOf, settle } from './laws.ts';
import { close, open } from '../support/front.ts';
import { makeScenes, onStage, type RunRecord, type Scene } from './stage.ts';

const sceneOf = makeScenes();
const fired = new Set<Cell>();

/** Another origin, to which redirects lead. */
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

describe.each(chosenStates)('$service.name: $name', (state) => {
  test('without more trouble these calls are made', async () => {
    await onStage(await sceneOf(state), elsewhereUrl, async ({ run }) => {
      const { exitCode, arrivals } = await run(['sync', '--yes'], troubleOf(state));
      const asked = arrivals.map(({ request }) => state.service.asked(request));
      const calls = asked.flatMap(({ promptId, call }) => (promptId === MAIN ? [call] : []));
      // Some reads go out side by side.
      expect({ exitCode, calls: calls.toSorted() }).toEqual({ exitCode: 0, calls: state.calls.toSorted() });
    });
  });

  test.concurrent.each(cellsOf(state))('$name', async (cell) => {
    const broken = await tryCell(cell, await sceneOf(state), elsewhereUrl);
    expect(broken).toEqual([]);
    fired.add(cell);
  });
});

describe('the fault matrix', () => {
  test('allows two versions of one content by two known limits alone', () => {
    expect(FAULTS.flatMap(({ name, limit }) => (limit === undefined ? [] : [[name, limit]]))).toEqual([
      ['silence, done late: next create', 'a create that lands after the next run has begun'],
      ['cut, done, and somebody else writes', "a lost create followed by somebody else's create"],
    ]);
    expect(chosen.map(({ service: { name, limits } }) => [name, limits.length])).toEqual([
      ['the four calls', 2],
      ['Langfuse', 1],
    ]);
  });
});

describe.each(chosen)('the fault matrix of $service.name', ({ service, states }) => {
  test('has every fault done in each of its cells, and no redirect followed', () => {
    const cells = states.flatMap(cellsOf);
    const calls = states.flatMap((state) => state.calls);
    const faults = faultsOf(service);
    const done = [...fired].filter(({ state }) => state.service === service);
    console.log(
      `fault matrix of ${service.name}: ${faults.length} faults × ${calls.length} calls of ${states.length} states = ` +
        `${cells.length} cells that can be; done and lawful in ${done.length}`,
    );
    expect(faults.filter((fault) => !done.some((cell) => cell.fault === fault))).toEqual([]);
    expect(done.length).toBe(cells.length);
    expect(visits).toEqual([]);
  });
});

/** Runs once with the fault and again without, and gives every law that was broken. */
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

/** The answer to create-version is all that there is to go by until the version is set. */
function isExcused({ fault }: Cell, what: string): boolean {
  return fault.phantom === true && what.includes('create-version is made, but the service has 0');
}

/** One fault that can be got over is got over, within the same run. */
function heals({ fault, call, nth }: Cell, record: RunRecord): readonly string[] {
  const mayHeal = nth !== 'every' && fault.heals?.includes(kindOf(call)) === true;
  // A service that answers nothing is given up.
  const silence = fault.silent === true && record.arrivals.every(({ status }) => status() === null);
  if (!mayHeal || silence || record.exitCode === 0) return [];
  return [`one such fault is got over, but it ended with ${record.exitCode}: ${messagesOf(record).join(' ')}`];
}
