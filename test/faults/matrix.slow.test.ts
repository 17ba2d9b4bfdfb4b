import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callOf } from './calls.ts';
import { cellsOf, chosenStates, troubleOf, type Cell } from './cells.ts';
import { FAULTS } from './faults.ts';
import { close, listen } from './faulty-front.ts';
import { makeScenes } from './scene.ts';
import { onStage } from './stage.ts';
import { tryCell } from './try-cell.ts';

const scenes = makeScenes();
const fired = new Set<Cell>();

/** Another origin, to which redirects lead. */
const visits: string[] = [];
const elsewhere = createServer((request, response) => {
  visits.push(`${request.method} ${request.url}`);
  response.end('{}');
});
let elsewhereUrl = '';
beforeAll(async () => {
  elsewhereUrl = await listen(elsewhere);
});
afterAll(async () => {
  await close(elsewhere);
  scenes.clear();
});

describe.each(chosenStates)('$name', (state) => {
  test('without more trouble these calls are made', async () => {
    await onStage(await scenes.get(state), elsewhereUrl, async ({ run }) => {
      const { exitCode, arrivals } = await run(['sync', '--yes'], troubleOf(state));
      const calls = arrivals.flatMap(({ request }) => callOf(request) ?? []);
      // Some reads go out side by side.
      expect({ exitCode, calls: calls.toSorted() }).toEqual({ exitCode: 0, calls: state.calls.toSorted() });
    });
  });

  test.concurrent.each(cellsOf(state))('$name', async (cell) => {
    const broken = await tryCell(cell, await scenes.get(state), elsewhereUrl);
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
  });

  test('has every fault done in each of its cells, and no redirect followed', () => {
    const cells = chosenStates.flatMap(cellsOf);
    const calls = chosenStates.flatMap((state) => state.calls);
    console.log(
      `fault matrix: ${FAULTS.length} faults × ${calls.length} calls of ${chosenStates.length} states = ` +
        `${cells.length} cells that can be; done and lawful in ${fired.size}`,
    );
    expect(FAULTS.filter((fault) => ![...fired].some((cell) => cell.fault === fault))).toEqual([]);
    expect(fired.size).toBe(cells.length);
    expect(visits).toEqual([]);
  });
});
