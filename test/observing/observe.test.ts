import { describe, expect, test } from 'vitest';
import { ServiceError, type PromptService } from '../../src/service/prompt-service.ts';
import { observe, wantedOf } from '../../src/observing/observe.ts';
import { makeProblem } from '../../src/problem.ts';
import { inMemoryBackend } from '../doubles/backends.ts';
import { recorded } from '../doubles/recorded.ts';
import { openLedger } from '../ledger/support.ts';
import { file, rules, TRACKING } from '../planning/support.ts';

describe('Observing many prompts', () => {
  const many = Array.from({ length: 20 }, (_, index) => ({
    ...wantedOf(file({ pins: { staging: 'latest' } }), rules()),
    promptId: index % 2 === 0 ? 'p1' : 'p2',
  })).map((request, index) => ({ ...request, promptId: `${request.promptId}#${index}` }));

  /** Any prompt `p1#3` is p1, and an answer takes a while. */
  function slow(fault: (promptId: string) => void = () => {}): PromptService {
    const service = inMemoryBackend();
    return {
      ...service,
      readPrompt: async (promptId, environment) => {
        await new Promise((resolve) => setImmediate(resolve));
        fault(promptId);
        return { ...(await service.readPrompt(promptId.slice(0, 2), environment)), id: promptId };
      },
    };
  }

  test.each([
    [1, 4],
    [3, 12],
    [8, 20],
  ])('for %i requests in flight, has at most %i of 20 under way', async (concurrency, most) => {
    const spy = recorded(slow());
    const { observed } = await observe(openLedger(spy), many, { concurrency });
    expect(observed.size).toBe(20);
    expect(spy.mostInFlight()).toBe(most);
  });

  test('goes on with the others while some wait', async () => {
    const others = Promise.withResolvers<unknown>();
    const service = slow();
    const held: PromptService = {
      ...service,
      readPrompt: async (promptId, environment) => {
        if (['p1#0', 'p2#1', 'p1#2'].includes(promptId)) await others.promise;
        return service.readPrompt(promptId, environment);
      },
    };
    const done = (count: number) => count === 17 && others.resolve(undefined);
    const { observed } = await observe(openLedger(held), many, { concurrency: 1, onObserved: done });
    expect(observed.size).toBe(20);
  });

  test('goes on with the others when some fail, be it by a defect of the tool', async () => {
    const service = slow((promptId) => {
      if (promptId === 'p2#3') throw new TypeError('oh');
      if (promptId === 'p1#4')
        throw new ServiceError(makeProblem('service/prompt-not-found', { promptId }), 'rejected');
    });
    const { observed, failed } = await observe(openLedger(service), many, { concurrency: 4 });
    expect(observed.size).toBe(18);
    expect([...failed].map(([id, { code }]) => [id, code]).toSorted()).toStrictEqual([
      ['p1#4', 'service/prompt-not-found'],
      ['p2#3', 'internal/unexpected'],
    ]);
  });

  test('reports its progress', async () => {
    const reported: string[] = [];
    await observe(openLedger(slow()), many.slice(0, 3), {
      concurrency: 4,
      onObserved: (done, all) => reported.push(`${done}/${all}`),
    });
    expect(reported).toStrictEqual(['1/3', '2/3', '3/3']);
  });

  test('begins no further call once it is stopped, within a prompt neither', async () => {
    const stopping = new AbortController();
    const spy = recorded(inMemoryBackend(), { after: () => stopping.abort() });
    const ledger = openLedger(spy, TRACKING, stopping.signal);
    const { failed } = await observe(ledger, [wantedOf(file({ pins: { staging: 'latest' } }), rules())], {
      concurrency: 4,
    });
    expect([spy.lines, failed.get('p1')?.code]).toStrictEqual([['read p1 staging'], 'apply/interrupted']);
  });

  test('begins no further prompt once it is stopped', async () => {
    const stopping = new AbortController();
    const spy = recorded(slow(), {
      after: (_, index) => {
        if (index === 3) stopping.abort();
      },
    });
    const { observed, failed } = await observe(openLedger(spy, TRACKING, stopping.signal), many, { concurrency: 1 });
    expect(observed.size + failed.size).toBe(20);
    expect(new Set([...failed.values()].map(({ code }) => code))).toStrictEqual(new Set(['apply/interrupted']));
    // Those of the four prompts that were under way.
    expect(spy.lines.length).toBeLessThanOrEqual(8);
  });
});
