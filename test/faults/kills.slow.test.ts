import { describe, expect, test } from 'vitest';
import { kindOf } from './calls.ts';
import { aimsAt, byState, printSize, sampleCells, troubleOf, type Aim } from './cells.ts';
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

const samples = sampleCells(killsOf, ({ call, when }) => [kindOf(call), when]);

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

describe.each(byState(samples))('sync is killed before or after one of its calls ($service: $name)', (group) => {
  test.concurrent.each(group.cells)(
    'The next sync makes the remaining changes if sync was killed $name',
    async (kill) => {
      const scene = await sceneOf(kill.state);
      expect(await onStage(scene, '', (stage) => tryKill(kill, stage))).toEqual([]);
      lawful.add(kill);
    },
  );
});

describe.each(samples)('the kill tests for $service.name are complete', (sample) => {
  test('The next sync makes the remaining changes if sync was killed before or after any call in any scenario', () => {
    const killed = sample.cells.filter((kill) => lawful.has(kill));
    printSize('kill matrix', sample, killed.length);
    expect(killed).toEqual(sample.cells);
  });
});
