import { expect, test } from 'vitest';
import type { PromptService } from '../../src/providers/four-call/prompt-service.ts';
import { ServiceError } from '../../src/http/service-error.ts';
import { observePrompts, makeReadRequest } from '../../src/observing/observe-prompts.ts';
import { makeProblem } from '../../src/problem.ts';
import { inMemoryBackend } from '../doubles/backends.ts';
import { recordCalls } from '../doubles/record-calls.ts';
import { openLedger } from '../providers/four-call/support.ts';
import { file, rules } from '../planning/support.ts';

const REQUEST = makeReadRequest(file({ pins: { staging: 'latest' } }), rules());
const many = Array.from({ length: 20 }, (_, index) => ({ ...REQUEST, promptId: `p${1 + (index % 2)}#${index}` }));

/** Makes a service with slow answers, in which the prompt `p1#3` is p1. */
function makeSlowService(fault: (promptId: string) => void = () => {}): PromptService {
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
])(
  'If the concurrency is %i, observePrompts observes up to %i of 20 prompts at the same time',
  async (concurrency, most) => {
    const spy = recordCalls(makeSlowService());
    const { observed } = await observePrompts(openLedger(spy), many, { concurrency });
    expect(observed.size).toBe(20);
    expect(spy.mostInFlight()).toBe(most);
  },
);

test('observePrompts continues with other prompts while three prompts wait for a response', async () => {
  const others = Promise.withResolvers<unknown>();
  const service = makeSlowService();
  const held: PromptService = {
    ...service,
    readPrompt: async (promptId, environment) => {
      if (['p1#0', 'p2#1', 'p1#2'].includes(promptId)) await others.promise;
      return service.readPrompt(promptId, environment);
    },
  };
  const done = (count: number) => count === 17 && others.resolve(undefined);
  const { observed } = await observePrompts(openLedger(held), many, { concurrency: 1, onObserved: done });
  expect(observed.size).toBe(20);
});

test('observePrompts continues with the other prompts if two prompts fail', async () => {
  const service = makeSlowService((promptId) => {
    if (promptId === 'p2#3') throw new TypeError('oh');
    if (promptId === 'p1#4') throw new ServiceError(makeProblem('service/prompt-not-found', { promptId }), 'rejected');
  });
  const { observed, failed } = await observePrompts(openLedger(service), many, { concurrency: 4 });
  expect(observed.size).toBe(18);
  expect([...failed].map(([id, { code }]) => [id, code]).toSorted()).toStrictEqual([
    ['p1#4', 'service/prompt-not-found'],
    ['p2#3', 'internal/unexpected'],
  ]);
});

test('observePrompts reports its progress after each prompt', async () => {
  const reported: string[] = [];
  await observePrompts(openLedger(makeSlowService()), many.slice(0, 3), {
    concurrency: 4,
    onObserved: (done, all) => reported.push(`${done}/${all}`),
  });
  expect(reported).toStrictEqual(['1/3', '2/3', '3/3']);
});

test('observePrompts sends no further request for a prompt after an interrupt', async () => {
  const stopping = new AbortController();
  const spy = recordCalls(inMemoryBackend(), { after: () => stopping.abort() });
  const ledger = openLedger(spy, stopping.signal);
  const { failed } = await observePrompts(ledger, [REQUEST], { concurrency: 4 });
  expect([spy.lines, failed.get('p1')?.code]).toStrictEqual([['read p1 staging'], 'apply/interrupted']);
});

test('observePrompts does not start observing another prompt after an interrupt', async () => {
  const stopping = new AbortController();
  const spy = recordCalls(makeSlowService(), { after: (_, index) => void (index === 3 && stopping.abort()) });
  const ledger = openLedger(spy, stopping.signal);
  const { observed, failed } = await observePrompts(ledger, many, { concurrency: 1 });
  expect(observed.size + failed.size).toBe(20);
  expect(new Set([...failed.values()].map(({ code }) => code))).toStrictEqual(new Set(['apply/interrupted']));
  // The calls for the four prompts that were in progress.
  expect(spy.lines.length).toBeLessThanOrEqual(8);
});
