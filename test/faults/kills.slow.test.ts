import { afterAll, describe, expect, test } from 'vitest';
import { aimsAt, chosenStates, troubleOf, type Aim } from './cells.ts';
import { makeScenes, onStage, startChild, type Child, type Stage } from './stage.ts';
import type { Act } from './faults.ts';
import { contentsAreSentOnce, keyIsHidden, settle } from './laws.ts';
import type { State } from './states.ts';

const WHENS = ['before the service has seen', 'after the service has done'] as const;

type Kill = Aim & { readonly when: (typeof WHENS)[number] };

const scenes = makeScenes();
const lawful = new Set<Kill>();
afterAll(scenes.clear);

/** Both sides of every call of a whole run. */
function killsOf(state: State): readonly Kill[] {
  return aimsAt(state).flatMap((aim) => WHENS.map((when) => ({ ...aim, name: `${when} ${aim.name}`, when })));
}

async function tryKill(kill: Kill, stage: Stage): Promise<readonly string[]> {
  let child: Child | null = null;
  const act: Act = async ({ commit, response }) => {
    if (kill.when === 'after the service has done') await commit();
    child?.process.kill('SIGKILL');
    await child?.ended;
    response.destroy();
  };
  let signal: NodeJS.Signals | null = null;
  const killed = await stage.during(troubleOf(kill.state, { aim: kill, act }), async () => {
    child = startChild(stage, ['sync', '--yes', '--verbose']);
    const ran = await child.ended;
    signal = ran.signal;
    return ran;
  });
  return [
    ...(signal === 'SIGKILL' ? [] : ['it was not killed']),
    ...keyIsHidden(killed),
    ...contentsAreSentOnce(killed),
    ...(await settle(stage, { finished: false, twice: false })),
  ];
}

describe.each(chosenStates)('$name, killed', (state) => {
  test.concurrent.each(killsOf(state))('$name', async (kill) => {
    const scene = await scenes.get(state);
    expect(await onStage(scene, '', (stage) => tryKill(kill, stage))).toEqual([]);
    lawful.add(kill);
  });
});

describe('the kill matrix', () => {
  test('has a process killed in each of its cells', () => {
    const kills = chosenStates.flatMap(killsOf);
    const calls = chosenStates.flatMap((state) => state.calls);
    console.log(
      `kill matrix: ${WHENS.length} sides × ${calls.length} calls of ${chosenStates.length} states = ` +
        `${kills.length} cells; killed and lawful in ${lawful.size}`,
    );
    expect(lawful.size).toBe(kills.length);
  });
});
