import { describe, expect, test } from 'vitest';
import { aimsAt, chosen, chosenStates, troubleOf, type Aim } from './cells.ts';
import { KILLED, type Started } from '../support/cli.ts';
import { makeScenes, onStage, startChild, type Stage } from './stage.ts';
import type { Act } from './faults.ts';
import { contentsAreSentOnce, keyIsHidden, settle } from './laws.ts';
import type { State } from './states.ts';

const WHENS = ['before the service has seen', 'after the service has done'] as const;

type Kill = Aim & { readonly when: (typeof WHENS)[number] };

const sceneOf = makeScenes();
const lawful = new Set<Kill>();

/** Returns a kill before and a kill after each call of a run. */
function killsOf(state: State): readonly Kill[] {
  return aimsAt(state).flatMap((aim) => WHENS.map((when) => ({ ...aim, name: `${when} ${aim.name}`, when })));
}

async function tryKill(kill: Kill, stage: Stage): Promise<readonly string[]> {
  let started: Started | null = null;
  const act: Act = async ({ commit, response }) => {
    if (kill.when === 'after the service has done') await commit();
    started?.child.kill('SIGKILL');
    await started?.ended;
    response.destroy();
  };
  const killed = await stage.during(troubleOf(kill.state, { aim: kill, act }), () => {
    started = startChild(stage, ['sync', '--yes', '--verbose']);
    return started.ended;
  });
  return [
    ...(killed.exitCode === KILLED ? [] : ['it was not killed']),
    ...keyIsHidden(killed),
    ...contentsAreSentOnce(killed),
    ...(await settle(stage, { finished: false, twice: false })),
  ];
}

describe.each(chosenStates)('sync can be killed before and after each of its calls ($service.name: $name)', (state) => {
  test.concurrent.each(killsOf(state))(
    'The next sync makes the remaining changes if sync was killed $name',
    async (kill) => {
      const scene = await sceneOf(state);
      expect(await onStage(scene, '', (stage) => tryKill(kill, stage))).toEqual([]);
      lawful.add(kill);
    },
  );
});

describe.each(chosen)('the kill tests for $service.name are complete', ({ service, states }) => {
  test('The next sync makes the remaining changes if sync was killed before or after any call in any scenario', () => {
    const kills = states.flatMap(killsOf);
    const calls = states.flatMap((state) => state.calls);
    const killed = [...lawful].filter(({ state }) => state.service === service);
    console.log(
      `kill matrix of ${service.name}: ${WHENS.length} sides × ${calls.length} calls of ${states.length} states = ` +
        `${kills.length} cells; killed and lawful in ${killed.length}`,
    );
    expect(killed.length).toBe(kills.length);
  });
});
