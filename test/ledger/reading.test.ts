import { describe, expect, test } from 'vitest';
import type { Wanted } from '../../src/domain/observed.ts';
import { ServiceError, type PromptService } from '../../src/service/prompt-service.ts';
import { stampToWire, type LedgerEntry } from '../../src/ledger/stamp.ts';
import { type Needs, observe, wantedOf } from '../../src/observing/observe.ts';
import { makeProblem } from '../../src/problem.ts';
import { backends, inMemoryBackend, type Backend } from '../doubles/backends.ts';
import { recorded, type Hooks } from '../doubles/recorded.ts';
import {
  content,
  entry,
  file,
  rules,
  TRACKING,
  version,
  type FileParts,
  type RulesParts,
} from '../planning/support.ts';
import { openLedger } from './support.ts';

function requestFor(parts: FileParts, ruleParts: RulesParts = {}, needs?: Needs): Wanted {
  return wantedOf(file(parts), rules(ruleParts), needs);
}

/** Observes `p1` and gives the calls, sorted where they are made at the same time, with what was seen. */
async function observing(service: PromptService, wanted: Wanted, tracking = TRACKING) {
  const spy = recorded(service);
  const { observed, failed } = await observe(openLedger(spy, tracking), [wanted], { concurrency: 4 });
  return { calls: spy.lines, observed: observed.get(wanted.promptId), problem: failed.get(wanted.promptId) };
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
  test('shows the fields, and that a newest version is there to be found', async () => {
    const service = await start();
    addOwn(service, 'Hello');
    const { observed } = await observing(service, requestFor({ pins: { staging: 'latest' } }));
    expect(observed).toMatchObject({ findable: true, missing: [] });
    expect(observed?.fields).toStrictEqual({ id: 'p1', key: 'k/1', name: 'First', description: 'About it.' });
  });
});

describe('The tracking environment', () => {
  test('is read after the pinned ones, and its ledger counts', async () => {
    const service = inMemoryBackend();
    service.activate('p1', 'staging', addOwn(service, 'One'));
    service.activate('p1', 'promptsync', addOwn(service, 'Two', [entry(1, 'One'), entry(9, 'Nine')]));
    const { calls, observed } = await observing(service, requestFor({ pins: { staging: 'latest', production: 9 } }));
    expect(calls.at(-1)).toBe('read p1 promptsync');
    expect(observed?.known.map(({ number }) => number)).toStrictEqual([9, 2, 1]);
  });

  test('may be not found although the prompt is: then nothing is active in it, without another call', async () => {
    const service = faulty(inMemoryBackend(), (line) => {
      if (line === 'read p1 promptsync') throw notFound('p1');
    });
    const { calls, observed } = await observing(service, requestFor({ pins: { staging: 'latest' } }));
    expect(calls).toStrictEqual(['read p1 staging', 'read p1 promptsync']);
    expect(observed?.known).toStrictEqual([]);
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
    expect(observed?.active.get('staging')?.content?.text).toBe('Hello');
    expect(calls).toHaveLength(3);
  });

  test('serves nothing where the prompt is found without one', async () => {
    const front = faulty(inMemoryBackend(), (line) => {
      if (line !== 'read p1') throw notFound('p1');
    });
    const { calls, observed } = await observing(front, requestFor({ pins }));
    expect(calls).toStrictEqual(['read p1 staging', 'read p1 production', 'read p1', 'read p1 promptsync']);
    expect([...(observed?.active.values() ?? [])]).toStrictEqual([null, null]);
    expect(observed?.fields?.name).toBe('First');
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

/** `staging` serves version 3 of p1, whose ledger names 2; `production` serves version 1; nobody has moved `promptsync`. */
function threeVersions(): Backend {
  const backend = inMemoryBackend();
  const add = (text: string, ledger = [entry(1, 'One')]) =>
    backend.addVersion('p1', { text, metadata: { promptsync: stampToWire({ ...version(1, text).stamp!, ledger }) } });
  backend.activate('p1', 'production', add('One'));
  add('Two');
  backend.activate('p1', 'staging', add('Three', [entry(1, 'One'), entry(2, 'Two')]));
  return backend;
}

const base = (parts: FileParts) => ({
  base: { files: new Map([['p1', file(parts)]]) },
});
const promoted = { promotedFrom: new Map([['production', 'staging']]) };

type Row = readonly [sentence: string, file: FileParts, reads: readonly string[], rules?: RulesParts, needs?: Needs];
const reads: readonly Row[] = [
  ['no pins', {}, ['promptsync']],
  ['one pin, in sync', { text: 'Three', pins: { staging: 'latest' } }, ['staging']],
  [
    'one pin, and a text that only a ledger names',
    { text: 'Two', pins: { staging: 'latest' } },
    ['staging', 'promptsync'],
  ],
  ['one pin, and a new text', { text: 'Four', pins: { staging: 'latest' } }, ['staging', 'promptsync']],
  ['two pins, in sync', { text: 'Three', pins: { staging: 'latest', production: 1 } }, ['staging', 'production']],
  ['a number to move to', { text: 'Three', pins: { staging: 'latest', qa: 2 } }, ['staging', 'qa', 'promptsync']],
  ['another name', { text: 'Three', name: 'Other', pins: { staging: 'latest' } }, ['staging', 'promptsync']],
  ['a number nobody knows', { text: 'Three', pins: { staging: 'latest', qa: 9 } }, ['staging', 'qa', 'promptsync']],
  ['numbers alone', { text: 'Three', pins: { staging: 3 } }, ['staging']],
  ['numbers alone, and a text that no ledger names', { text: 'Four', pins: { staging: 3 } }, ['staging', 'promptsync']],
  ['an id alone', { text: 'Three', pins: { staging: 'version:ver_3' } }, ['staging']],
  [
    'a text that is found with other metadata',
    { text: 'Three', metadata: { a: 1 }, pins: { staging: 'latest' } },
    ['staging', 'promptsync'],
  ],
  [
    'a git pin of a content that is found nowhere',
    { text: 'Three', pins: { staging: 'latest', production: 'git:v1' } },
    ['staging', 'production', 'promptsync'],
    { refs: { v1: content('Nowhere') } },
  ],
  ['git pins alone', { text: 'Three', pins: { staging: 'git:v1' } }, ['staging'], { refs: { v1: content('Three') } }],
  [
    'a git pin beside latest',
    { text: 'Three', pins: { staging: 'latest', production: 'git:v1' } },
    ['staging', 'production'],
    { refs: { v1: content('One') } },
  ],
  [
    'an environment to promote from',
    { text: 'Three', pins: { production: 'latest' } },
    ['production', 'staging', 'promptsync'],
    promoted,
  ],
  [
    'an environment to promote from that is pinned as well',
    { text: 'Three', pins: { production: 'latest', staging: 'latest' } },
    ['production', 'staging', 'promptsync'],
    promoted,
  ],
  [
    'the environments of the base as well',
    { text: 'Three', pins: { staging: 'latest' } },
    ['staging', 'production'],
    base({ text: 'One', pins: { staging: 'latest', production: 1 } }),
  ],
  [
    'an environment that is asked for',
    { text: 'Three', pins: { staging: 'latest' } },
    ['staging', 'qa'],
    {},
    { environments: ['qa', 'staging'], whole: false },
  ],
  [
    'all that can be known',
    { text: 'Four', pins: { staging: 'latest' } },
    ['staging', 'promptsync'],
    {},
    { environments: [], whole: 'record' },
  ],
];

test.each(reads.map(([sentence, ...given]) => [sentence, given] as const))(
  '%s: each needed environment is read once, and no other',
  async (_, [parts, read, ruleParts, needs]) => {
    const { calls, problem } = await observing(threeVersions(), requestFor(parts, ruleParts, needs));
    expect(problem).toBeUndefined();
    expect(calls).toStrictEqual(read.map((environment) => `read p1 ${environment}`));
    const renamed = await observing(threeVersions(), requestFor(parts, ruleParts, needs), 'mine');
    expect(renamed.calls).toStrictEqual(calls.map((line) => line.replace('promptsync', 'mine')));
  },
);

test.each([
  ['somebody else’s version', { text: 'One' }],
  [
    'a baseline',
    { text: 'One', metadata: { promptsync: stampToWire({ ...version(1, 'One').stamp!, baseline: true }) } },
  ],
])('Where nothing is to be done and all stands on %s the tracking environment is read as well', async (_, made) => {
  const service = inMemoryBackend();
  service.activate('p1', 'staging', service.addVersion('p1', made));
  const { calls } = await observing(service, requestFor({ text: 'One', pins: { staging: 'latest' } }));
  expect(calls).toStrictEqual(['read p1 staging', 'read p1 promptsync']);
});
