import { describe, expect, test } from 'vitest';
import { isWriteTo, kindOf, MAIN } from './calls.ts';
import { aimsAt, byState, printSize, sampleCells, troubleOf, type Aim } from './cells.ts';
import { answer, type Act } from './faults.ts';
import { contentsAreSentOnce, keyIsHidden, reportIsTrue, settle } from './laws.ts';
import { makeScenes, onStage, type Stage } from './stage.ts';

const sceneOf = makeScenes();
const lawful = new Set<Aim>();
const samples = sampleCells(aimsAt, ({ call }) => [kindOf(call)]);

/** Interrupts a run. Expects that it finishes the call in flight, starts no other write, and that the next run completes. */
async function tryInterrupt(aim: Aim, stage: Stage): Promise<readonly string[]> {
  let signal = (): void => {};
  let arrived = Number.NaN;
  const act: Act = async (exchange) => {
    arrived = stage.front.arrivals().length;
    signal();
    await answer(exchange);
  };
  const words = ['sync', '--yes', '--verbose', '--format', 'json'];
  const trouble = troubleOf(aim.state, { aim, act });
  const run = await stage.run(words, trouble, { onSignal: (handle) => (signal = handle) });
  const late = run.arrivals.slice(arrived).filter(({ request }) => isWriteTo(run.service, request, MAIN));
  return [
    ...(run.exitCode === 130 ? [] : [`it ended with ${run.exitCode}`]),
    ...late.map(({ request }) => `${request.method} ${request.path} was sent afterwards`),
    ...keyIsHidden(run),
    ...contentsAreSentOnce(run),
    ...reportIsTrue(run),
    ...(await settle(stage, { finished: false, twice: false })),
  ];
}

describe.each(byState(samples))('sync is interrupted at one of its calls ($service: $name)', (group) => {
  test.concurrent.each(group.cells)(
    'The next sync makes the remaining changes after an interrupt during the call $name',
    async (aim) => {
      const scene = await sceneOf(aim.state);
      expect(await onStage(scene, '', (stage) => tryInterrupt(aim, stage))).toEqual([]);
      lawful.add(aim);
    },
  );
});

describe.each(samples)('the interrupt tests for $service.name are complete', (sample) => {
  test('The next sync makes the remaining changes if sync was interrupted during any call in any scenario', () => {
    const interrupted = sample.cells.filter((aim) => lawful.has(aim));
    printSize('interruptions', sample, interrupted.length);
    expect(interrupted).toEqual(sample.cells);
  });
});
