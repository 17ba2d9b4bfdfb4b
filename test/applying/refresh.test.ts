import { describe, expect, test } from 'vitest';
import type { DesiredBase } from '../../src/domain/desired.ts';
import { makeProblem } from '../../src/problem.ts';
import { ServiceError } from '../../src/service/prompt-service.ts';
import { begun, outcomeLine, sync, type SyncParts } from './support.ts';
import { type Backend, backends, inMemoryBackend } from '../doubles/backends.ts';
import { file } from '../planning/support.ts';

const staging = { staging: 'latest' };
const one = file({ text: 'One', pins: staging });
const two = file({ text: 'Two', pins: staging });

/** Does something in the service before each of the first so many times that the prompt is observed once more. */
function meddling(times: number, meddle: (time: number) => unknown): Pick<SyncParts, 'onObserve'> & { count: number } {
  const state = {
    count: 0,
    onObserve: async () => {
      state.count += 1;
      if (state.count <= times) await meddle(state.count);
    },
  };
  return state;
}

/** Somebody makes a version and makes it active. */
function outsideVersion(service: Backend, text: string, environment = 'staging'): void {
  service.activate('p1', environment, service.addVersion('p1', { text }));
}

describe.each(backends)('Right before its first write (%s)', (_, start) => {
  test('a prompt is observed once more, and nothing else of it when it is as it was', async () => {
    const service = await begun(start);
    const watched = meddling(0, () => {});
    const { outcomes } = await sync(service, [two], watched);
    expect([watched.count, outcomes.map(outcomeLine)]).toStrictEqual([1, ['applied: made made']]);
  });

  test('a prompt that has nothing to write is not observed again', async () => {
    const service = await begun(start);
    const watched = meddling(0, () => {});
    await sync(service, [one], watched);
    expect(watched.count).toBe(0);
  });

  const changes: readonly (readonly [string, (service: Backend) => unknown, string])[] = [
    ['another version active', (service) => outsideVersion(service, 'Theirs'), 'applied: made made'],
    ['the wanted text active', (service) => outsideVersion(service, 'Two'), 'unchanged:'],
    ['a draft that is active nowhere', (service) => service.addVersion('p1', { text: 'Draft' }), 'applied: made made'],
    ['a draft of the wanted text', (service) => service.addVersion('p1', { text: 'Two' }), 'applied: made made'],
    ['another name', (service) => service.updatePrompt('p1', { name: 'Theirs' }), 'applied: made made made'],
    ['another description', (service) => service.updatePrompt('p1', { description: 'New' }), 'applied: made made'],
  ];
  test.each(changes)('a prompt that has %s by now is planned afresh', async (_sentence, meddle, said) => {
    const service = await begun(start);
    const watched = meddling(1, () => meddle(service));
    const { outcomes, lines } = await sync(service, [two], watched);
    expect([watched.count, outcomes.map(outcomeLine)]).toStrictEqual([2, [said]]);
    expect(service.serves('p1', 'staging')?.[1]).toBe('Two');
    expect(lines.filter((line) => line.startsWith('create')).length).toBeLessThanOrEqual(1);
    expect((await sync(service, [two])).lines).toStrictEqual([]);
  });

  test('the report has what was active when it was planned afresh: that is what leads back', async () => {
    const service = await begun(start);
    const { outcomes } = await sync(
      service,
      [two],
      meddling(1, () => outsideVersion(service, 'Theirs')),
    );
    expect(outcomes[0]?.plan.changes.at(-1)).toMatchObject({ before: { id: 'ver_2', number: 2 } });
  });

  test('a prompt that changes a second time fails, and nothing is written', async () => {
    const service = await begun(start);
    const watched = meddling(2, (time) => outsideVersion(service, `Theirs ${time}`));
    const { outcomes, lines } = await sync(service, [two], watched);
    expect(outcomes.map(outcomeLine)).toStrictEqual(['failed: not_made not_made apply/keeps-changing']);
    expect([watched.count, lines]).toStrictEqual([2, []]);
  });

  test('a prompt that can no longer be read fails, and the others are applied', async () => {
    const service = await start();
    const other = { ...one, id: 'p2', key: 'k/2', name: 'Second', path: 'prompts/b.md' };
    const watched = meddling(1, () => {
      throw new ServiceError(makeProblem('service/timeout', { seconds: 1 }), 'unknown');
    });
    const { outcomes } = await sync(service, [two, other], watched);
    expect(outcomes.map(outcomeLine)).toStrictEqual([
      'failed: not_made not_made service/timeout',
      'applied: made made',
    ]);
  });

  test('a reviewed plan that would become another one is refused', async () => {
    const service = await begun(start);
    const { plan } = await sync(service, [two], { guards: { maxChanges: { kind: 'count', count: 0 } } });
    const guards = { expectedPlan: plan.digest };
    const refused = await sync(service, [two], { guards, ...meddling(1, () => outsideVersion(service, 'Theirs')) });
    expect(refused.outcomes.map(outcomeLine)).toStrictEqual(['blocked: not_made not_made guard/stale-plan']);
    const message = refused.outcomes[0]?.problems[0]?.message;
    expect(message).toMatch(/^The plan is sha256:[0-9a-f]{64}, not the expected sha256:[0-9a-f]{64}\.$/);
    expect(message).toContain(`not the expected ${plan.digest}.`);
    expect(refused.lines).toStrictEqual([]);
    expect(service.serves('p1', 'staging')?.[1]).toBe('Theirs');
  });

  test('a reviewed plan that stays the same although the prompt changed is applied', async () => {
    const service = await begun(start);
    const { plan } = await sync(service, [two], { guards: { maxChanges: { kind: 'count', count: 0 } } });
    const guards = { expectedPlan: plan.digest };
    const draft = meddling(1, () => service.addVersion('p1', { text: 'Draft' }));
    const { outcomes } = await sync(service, [two], { guards, ...draft });
    expect(outcomes.map(outcomeLine)).toStrictEqual(['applied: made made']);
  });

  test('a reviewed plan that names a version by its id alone is applied once the version was found', async () => {
    const service = await begun(start);
    service.addVersion('p1', { text: 'Theirs', metadata: { model: 'x' } });
    const wanted = file({ text: 'One', pins: { ...staging, production: 'version:ver_2' } });
    const { plan } = await sync(service, [wanted], { guards: { maxChanges: { kind: 'count', count: 0 } } });
    const { outcomes } = await sync(service, [wanted], { guards: { expectedPlan: plan.digest } });
    expect(outcomes.map(outcomeLine)).toStrictEqual(['applied: made']);
    expect(service.serves('p1', 'production')?.[1]).toBe('Theirs');
  });

  test('new drift is refused where drift is, and overwritten where it is not', async () => {
    const service = await begun(start);
    const base: DesiredBase = { files: new Map([['p1', one]]) };
    const meddle = () => meddling(1, () => outsideVersion(service, 'Theirs'));
    const refused = await sync(service, [two], { base, guards: { onDrift: 'fail' }, ...meddle() });
    expect(refused.outcomes.map(outcomeLine)).toStrictEqual(['blocked: not_made not_made guard/drift']);
    expect(refused.outcomes[0]?.problems).toMatchObject([
      { path: 'prompts/a.md', message: expect.stringMatching(/is `fail`: "staging" serves v2 \(id ver_2\)\.$/) },
    ]);
    expect([refused.lines, service.serves('p1', 'staging')?.[1]]).toStrictEqual([[], 'Theirs']);
    const overwritten = await sync(service, [two], { base, guards: { onDrift: 'overwrite' }, ...meddle() });
    expect(overwritten.outcomes.map(outcomeLine)).toStrictEqual(['applied: made made']);
    expect(overwritten.outcomes[0]?.plan.drift).toHaveLength(1);
  });
});

describe('An environment that is observed once more is no longer as it was planned from', () => {
  const pins = { staging: 'latest', production: 'latest' };

  /** Syncs a new name while production changes as it is read; its version was the one of staging. */
  async function syncWhileProduction(shows: (version: object) => object | null): Promise<number> {
    const service = inMemoryBackend();
    await sync(service, [file({ text: 'One', metadata: { a: 1 }, pins })]);
    let times = 0;
    const changing: Backend = {
      ...service,
      readPrompt: async (promptId, environment) => {
        const prompt = await service.readPrompt(promptId, environment);
        const { activeVersion } = prompt;
        if (times === 0 || environment !== 'production' || activeVersion === null) return prompt;
        const shown = shows(activeVersion);
        return { ...prompt, activeVersion: shown === null ? null : { ...activeVersion, ...shown } };
      },
    };
    await sync(changing, [file({ text: 'One', metadata: { a: 1 }, name: 'New', pins })], {
      onObserve: () => void (times += 1),
    });
    return times;
  }

  test.each([
    ['nothing is active in it', () => null],
    ['it shows another id', () => ({ id: 'ver_9' })],
    ['it shows another number', () => ({ number: 9 })],
    ['it shows another text', () => ({ text: 'x' })],
    ['it shows other metadata', () => ({ metadata: { a: 2 } })],
  ])('where %s', async (_, shows) => {
    expect(await syncWhileProduction(shows)).toBe(2);
  });

  test('but is where only the time differs at which it was read', async () => {
    expect(await syncWhileProduction(() => ({}))).toBe(1);
  });
});
