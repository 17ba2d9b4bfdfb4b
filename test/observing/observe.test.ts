import { describe, expect, test } from 'vitest';
import { observeRequests } from '../../src/commands/preparing/observe-files.ts';
import { versionsRead } from '../../src/domain/observed.ts';
import type { ObserveRequest } from '../../src/domain/observed.ts';
import { ServiceError, type PromptService } from '../../src/domain/prompt-service.ts';
import type { LedgerEntry } from '../../src/domain/version.ts';
import { observe, type ObserveOptions } from '../../src/observing/observe.ts';
import { makeProblem } from '../../src/problem.ts';
import { stampToWire } from '../../src/service/stamp.ts';
import { backends, inMemoryBackend, type Backend } from '../doubles/backends.ts';
import { recorded, type Hooks } from '../doubles/recorded.ts';
import { content, entry, file, rules, version, type FileParts, type RulesParts } from '../planning/support.ts';

const options: ObserveOptions = {
  trackingEnvironment: 'promptsync',
  concurrency: 4,
  stop: new AbortController().signal,
};

function requestFor(parts: FileParts, ruleParts: RulesParts = {}): ObserveRequest {
  return observeRequests([file(parts)], rules(ruleParts))[0]!;
}

/** Observes `p1` and gives the calls, sorted where they are made at the same time, with what was seen. */
async function observing(service: PromptService, request: ObserveRequest, changed: Partial<ObserveOptions> = {}) {
  const spy = recorded(service);
  const { observed, failed } = await observe(spy, [request], { ...options, ...changed });
  return { calls: spy.lines, observed: observed.get(request.promptId), problem: failed.get(request.promptId) };
}

/** Makes version `ver_<n>` of p1 as the tool would, with a ledger. */
function addOwn(service: Backend, text: string, ledger: readonly LedgerEntry[] = []): string {
  const stamp = { ...version(1, text).stamp!, ledger };
  return service.addVersion('p1', { text, metadata: { promptsync: stampToWire(stamp) } });
}

function notFound(promptId: string): ServiceError {
  return new ServiceError(makeProblem('service/prompt-not-found', { promptId }), 'rejected');
}

/** The in-memory service with a fault before some calls. */
function faulty(service: PromptService, before: NonNullable<Hooks['before']>): PromptService {
  return recorded(service, { before });
}

describe.each(backends)('Observing (%s)', (_, start) => {
  test('reads every pinned environment once, and no other', async () => {
    const service = await start();
    const id = addOwn(service, 'Hello');
    for (const environment of ['staging', 'elsewhere']) service.activate('p1', environment, id);
    const request = requestFor({ pins: { staging: 'latest', production: 'latest', qa: 'version:ver_1' } });
    const { calls, observed } = await observing(service, request);
    expect(calls.toSorted()).toStrictEqual(['read p1 production', 'read p1 qa', 'read p1 staging']);
    expect([...(observed?.active ?? [])].map(([name, found]) => [name, found?.id ?? null])).toStrictEqual([
      ['staging', 'ver_1'],
      ['production', null],
      ['qa', null],
    ]);
  });

  test('shows the fields, the newest version id and nothing looked at', async () => {
    const service = await start();
    addOwn(service, 'Hello');
    const { observed } = await observing(service, requestFor({ pins: { staging: 'latest' } }));
    expect(observed).toMatchObject({ looked: [], missing: [] });
    expect(observed?.prompt).toStrictEqual({
      id: 'p1',
      key: 'k/1',
      name: 'First',
      description: 'About it.',
      latestVersionId: 'ver_1',
    });
  });

  test('says of a prompt that is not there that it is not, and of others what they hold', async () => {
    const service = await start();
    const requests = ['p0', 'p1', 'q1', 'p2'].map((promptId) => ({
      ...requestFor({ pins: { staging: 'latest' } }),
      promptId,
    }));
    const { observed, failed } = await observe(service, requests, options);
    expect([...observed.keys()].toSorted()).toStrictEqual(['p1', 'p2']);
    expect([failed.get('p0')?.code, failed.get('q1')?.code]).toStrictEqual([
      'service/prompt-not-found',
      'service/not-authorised',
    ]);
    expect(failed.size).toBe(2);
  });
});

describe('The tracking environment', () => {
  type Row = readonly [
    sentence: string,
    file: FileParts,
    isRead: boolean,
    rules?: RulesParts,
    options?: Partial<ObserveOptions>,
  ];
  const known = { v1: content('Old') };
  const unknown = { v1: content('Nowhere') };
  /** staging serves version 3, whose ledger knows 2; production serves version 1. */
  const rows: readonly Row[] = [
    ['is not read where latest is found active', { pins: { staging: 'latest' } }, false],
    ['is not read where latest is found in a ledger', { text: 'Two', pins: { staging: 'latest' } }, false],
    ['is read where the content is found nowhere', { text: 'New', pins: { staging: 'latest' } }, true],
    ['is read where the text is found with other metadata', { metadata: { a: 1 }, pins: { staging: 'latest' } }, true],
    ['is read without any pin', {}, true],
    ['is read without a pin latest', { pins: { staging: 3 } }, true],
    ['is read without a pin latest, whatever is found', { pins: { staging: 'version:ver_3' } }, true],
    ['is not read where numbers are found as well', { pins: { staging: 'latest', production: 2 } }, false],
    ['is not read where a number is active', { pins: { staging: 'latest', production: 1 } }, false],
    ['is read where a number is found nowhere', { pins: { staging: 'latest', production: 7 } }, true],
    [
      'is not read where the content at a ref is found',
      { pins: { staging: 'latest', production: 'git:v1' } },
      false,
      { refs: known },
    ],
    [
      'is read where the content at a ref is found nowhere',
      { pins: { staging: 'latest', production: 'git:v1' } },
      true,
      { refs: unknown },
    ],
    ['has the name that is configured', { text: 'New' }, false, {}, { trackingEnvironment: 'mine' }],
  ];
  test.each(rows.map(([sentence, ...given]) => [sentence, given] as const))(
    '%s',
    async (_, [parts, isRead, ruleParts, changed]) => {
      const service = inMemoryBackend();
      service.activate('p1', 'production', addOwn(service, 'Old'));
      addOwn(service, 'Two');
      service.activate('p1', 'staging', addOwn(service, 'Hello', [entry(2, 'Two')]));
      const { calls } = await observing(service, requestFor(parts, ruleParts), changed);
      expect(calls.includes('read p1 promptsync')).toBe(isRead);
      expect(calls.includes('read p1 mine')).toBe(changed?.trackingEnvironment === 'mine');
      expect(calls).toStrictEqual([...new Set(calls)]);
    },
  );

  test('is read after the pinned ones, and its ledger counts', async () => {
    const service = inMemoryBackend();
    service.activate('p1', 'staging', addOwn(service, 'One'));
    service.activate('p1', 'promptsync', addOwn(service, 'Two', [entry(1, 'One'), entry(9, 'Nine')]));
    const { calls, observed } = await observing(service, requestFor({ pins: { staging: 'latest', production: 9 } }));
    expect(calls.at(-1)).toBe('read p1 promptsync');
    expect(versionsRead(observed!).flatMap(({ stamp }) => stamp?.ledger.map(({ number }) => number))).toContain(9);
  });

  test('is the only one read of a file without pins', async () => {
    const { calls } = await observing(inMemoryBackend(), requestFor({}));
    expect(calls).toStrictEqual(['read p1 promptsync']);
  });

  test('may be not found although the prompt is: then nothing is active in it, without another call', async () => {
    const service = faulty(inMemoryBackend(), (line) => {
      if (line === 'read p1 promptsync') throw notFound('p1');
    });
    const { calls, observed } = await observing(service, requestFor({ pins: { staging: 'latest' } }));
    expect(calls).toStrictEqual(['read p1 staging', 'read p1 promptsync']);
    expect(observed?.active.get('promptsync')).toBeNull();
  });

  test('that cannot be read fails the prompt', async () => {
    const service = faulty(inMemoryBackend(), (line) => {
      if (line === 'read p1 promptsync')
        throw new ServiceError(makeProblem('service/timeout', { seconds: 1 }), 'unknown');
    });
    const { problem } = await observing(service, requestFor({ pins: { staging: 'latest' } }));
    expect(problem?.code).toBe('service/timeout');
  });
});

describe('An environment that is not found', () => {
  const pins = { staging: 'latest', production: 'latest' };

  test('serves nothing where the prompt is found in another one', async () => {
    const service = inMemoryBackend();
    service.activate('p1', 'staging', addOwn(service, 'Hello'));
    const front = faulty(service, (line) => {
      if (line === 'read p1 production') throw notFound('p1');
    });
    const { calls, observed } = await observing(front, requestFor({ pins }));
    expect(observed?.active.get('production')).toBeNull();
    expect(observed?.active.get('staging')?.text).toBe('Hello');
    expect(calls).toHaveLength(2);
  });

  test('serves nothing where the prompt is found without one', async () => {
    const front = faulty(inMemoryBackend(), (line) => {
      if (line !== 'read p1') throw notFound('p1');
    });
    const { calls, observed } = await observing(front, requestFor({ pins }));
    expect(calls).toStrictEqual(['read p1 staging', 'read p1 production', 'read p1', 'read p1 promptsync']);
    expect([...(observed?.active.values() ?? [])]).toStrictEqual([null, null, null]);
    expect(observed?.prompt.name).toBe('First');
  });

  test('is a prompt that is not found where the plain read finds none either', async () => {
    const front = faulty(inMemoryBackend(), () => {
      throw notFound('p1');
    });
    const { observed, problem } = await observing(front, requestFor({ pins }));
    expect([observed, problem?.code]).toStrictEqual([undefined, 'service/prompt-not-found']);
  });

  test('does not hide another failure', async () => {
    const front = faulty(inMemoryBackend(), (line) => {
      if (line === 'read p1 staging') throw notFound('p1');
      throw new ServiceError(makeProblem('service/not-authorised', { promptId: 'p1' }), 'rejected');
    });
    const { problem } = await observing(front, requestFor({ pins }));
    expect(problem?.code).toBe('service/not-authorised');
  });
});

describe('Observing many prompts', () => {
  const many = Array.from({ length: 20 }, (_, index) => ({
    ...requestFor({ pins: { staging: 'latest' } }),
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
    const { observed } = await observe(spy, many, { ...options, concurrency });
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
    const { observed } = await observe(held, many, { ...options, concurrency: 1, onObserved: done });
    expect(observed.size).toBe(20);
  });

  test('goes on with the others when some fail, be it by a defect of the tool', async () => {
    const service = slow((promptId) => {
      if (promptId === 'p2#3') throw new TypeError('oh');
      if (promptId === 'p1#4') throw notFound(promptId);
    });
    const { observed, failed } = await observe(service, many, options);
    expect(observed.size).toBe(18);
    expect([...failed].map(([id, { code }]) => [id, code]).toSorted()).toStrictEqual([
      ['p1#4', 'service/prompt-not-found'],
      ['p2#3', 'internal/unexpected'],
    ]);
  });

  test('never makes any other call than reads', async () => {
    const spy = recorded(slow());
    await observe(spy, many, options);
    expect(spy.lines.every((line) => line.startsWith('read '))).toBe(true);
  });

  test('tells of its progress', async () => {
    const told: string[] = [];
    await observe(slow(), many.slice(0, 3), { ...options, onObserved: (done, all) => told.push(`${done}/${all}`) });
    expect(told).toStrictEqual(['1/3', '2/3', '3/3']);
  });

  test('begins no further call once it is stopped, within a prompt neither', async () => {
    const stopping = new AbortController();
    const spy = recorded(inMemoryBackend(), { after: () => stopping.abort() });
    const { failed } = await observe(spy, [requestFor({ pins: { staging: 'latest' } })], {
      ...options,
      stop: stopping.signal,
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
    const { observed, failed } = await observe(spy, many, { ...options, concurrency: 1, stop: stopping.signal });
    expect(observed.size + failed.size).toBe(20);
    expect(new Set([...failed.values()].map(({ code }) => code))).toStrictEqual(new Set(['apply/interrupted']));
    // Those of the four prompts that were under way.
    expect(spy.lines.length).toBeLessThanOrEqual(8);
  });
});
