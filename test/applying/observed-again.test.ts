import { describe, expect, test } from 'vitest';
import { inMemoryBackend, type Backend } from '../doubles/backends.ts';
import { file } from '../planning/support.ts';
import { outcomeLine, sync, type SyncParts } from './support.ts';

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

describe('A prompt that is planned afresh and refused says why', () => {
  const staging = { staging: 'latest' };
  const one = file({ text: 'One', pins: staging });

  /** Syncs the text Two over One; somebody has made another version active by the time of the first write. */
  async function problemOf(parts: SyncParts) {
    const service = inMemoryBackend();
    await sync(service, [one]);
    let done = false;
    const onObserve = () => {
      if (!done) service.activate('p1', 'staging', service.addVersion('p1', { text: 'Theirs' }));
      done = true;
    };
    const { plan, outcomes } = await sync(service, [file({ text: 'Two', pins: staging })], { ...parts, onObserve });
    return { reviewed: plan.digest, line: outcomes.map(outcomeLine)[0], problem: outcomes[0]?.problems[0] };
  }

  test('by what it has become, and what was reviewed', async () => {
    const { reviewed } = await problemOf({});
    const { line, problem } = await problemOf({ guards: { expectedPlan: reviewed } });
    expect(line).toBe('blocked: not_made not_made guard/stale-plan');
    expect(problem?.message).toMatch(/^The plan is sha256:[0-9a-f]{64}, not the expected sha256:[0-9a-f]{64}\.$/);
    expect(problem?.message).toContain(`not the expected ${reviewed}.`);
  });

  test('by the version that somebody has made active', async () => {
    const base = { files: new Map([['p1', one]]), ancestors: new Set<string>() };
    const { line, problem } = await problemOf({ base, guards: { onDrift: 'fail' } });
    expect(line).toBe('blocked: not_made not_made guard/drift');
    expect(problem).toMatchObject({
      path: 'prompts/a.md',
      message: 'The service was changed outside of git, and on_drift is `fail`: "staging" serves v2 (id ver_2).',
    });
  });
});
