import { describe, expect, test } from 'vitest';
import type { ReadRequest } from '../../../src/domain/observed-prompt.ts';
import type { PromptService } from '../../../src/providers/four-call/prompt-service.ts';
import { ServiceError } from '../../../src/http/service-error.ts';
import { renderVersionRecord } from '../../../src/providers/four-call/version-record.ts';
import { type ReadNeeds, observePrompts, makeReadRequest } from '../../../src/observing/observe-prompts.ts';
import { makeProblem } from '../../../src/problem.ts';
import { inMemoryBackend, type Backend } from '../../doubles/backends.ts';
import { recordCalls, type Hooks } from '../../doubles/record-calls.ts';
import {
  entry,
  file,
  observed,
  parseFile,
  parseRules,
  rules,
  version,
  type FileParts,
  type RulesParts,
} from '../../planning/support.ts';
import { addManagedVersion } from '../../applying/support.ts';
import { openLedger } from './support.ts';

function requestFor(parts: FileParts, ruleParts: RulesParts = {}, needs?: ReadNeeds): ReadRequest {
  return makeReadRequest(file(parts), rules(ruleParts), needs);
}

/** Observes `p1` and returns the calls with the observation or the problem. */
async function observePrompt(service: PromptService, wanted: ReadRequest) {
  const spy = recordCalls(service);
  const { observed, failed } = await observePrompts(openLedger(spy), [wanted], { concurrency: 4 });
  return { calls: spy.lines, observed: observed.get(wanted.promptId), problem: failed.get(wanted.promptId) };
}

function notFound(promptId: string): ServiceError {
  return new ServiceError(makeProblem('service/prompt-not-found', { promptId }), 'rejected');
}

/** Wraps a service so that some calls fail. */
function failBefore(service: PromptService, before: NonNullable<Hooks['before']>): PromptService {
  return recordCalls(service, { before });
}

test('The observation contains the prompt fields and says that promptsync can look up unknown version numbers', async () => {
  const service = inMemoryBackend();
  addManagedVersion(service, 'Hello');
  const { observed } = await observePrompt(service, requestFor({ pins: { staging: 'latest' } }));
  expect(observed).toMatchObject({ canFindNumbers: true, missingIds: [] });
  expect(observed?.fields).toStrictEqual({ id: 'p1', key: 'k/1', name: 'First', description: 'About it.' });
});

describe('the tracking environment', () => {
  test('promptsync reads the tracking environment last and adds the versions in its ledger to the known versions', async () => {
    const service = inMemoryBackend();
    service.activate('p1', 'staging', addManagedVersion(service, 'One'));
    service.activate('p1', 'promptsync', addManagedVersion(service, 'Two', [entry(1, 'One'), entry(9, 'Nine')]));
    const { calls, observed } = await observePrompt(
      service,
      requestFor({ pins: { staging: 'latest', production: 9 } }),
    );
    expect(calls.at(-1)).toBe('read p1 promptsync');
    expect(observed?.known.map(({ number }) => number)).toStrictEqual([9, 2, 1]);
  });

  test('promptsync treats the tracking environment as empty if the service does not find the prompt there', async () => {
    const service = failBefore(inMemoryBackend(), (line) => {
      if (line === 'read p1 promptsync') throw notFound('p1');
    });
    const { calls, observed } = await observePrompt(service, requestFor({ pins: { staging: 'latest' } }));
    expect(calls).toStrictEqual(['read p1 staging', 'read p1 promptsync']);
    expect(observed?.known).toStrictEqual([]);
  });

  test('The observation fails if reading the tracking environment times out', async () => {
    const service = failBefore(inMemoryBackend(), (line) => {
      if (line === 'read p1 promptsync')
        throw new ServiceError(makeProblem('service/timeout', { seconds: 1 }), 'unknown');
    });
    const { problem } = await observePrompt(service, requestFor({ pins: { staging: 'latest' } }));
    expect(problem?.code).toBe('service/timeout');
  });
});

describe('an environment that the service does not find', () => {
  const pins = { staging: 'latest', production: 'latest' };

  test('promptsync treats an environment as empty if the service finds the prompt only in another environment', async () => {
    const service = inMemoryBackend();
    service.activate('p1', 'staging', addManagedVersion(service, 'Hello'));
    const front = failBefore(service, (line) => {
      if (line === 'read p1 production') throw notFound('p1');
    });
    const { calls, observed } = await observePrompt(front, requestFor({ pins }));
    expect(observed?.active.get('production')).toBeNull();
    expect(observed?.active.get('staging')?.content?.text).toBe('Hello');
    expect(calls).toHaveLength(3);
  });

  test('promptsync treats every environment as empty if only a request without an environment finds the prompt', async () => {
    const front = failBefore(inMemoryBackend(), (line) => {
      if (line !== 'read p1') throw notFound('p1');
    });
    const { calls, observed } = await observePrompt(front, requestFor({ pins }));
    expect(calls).toStrictEqual(['read p1 staging', 'read p1 production', 'read p1', 'read p1 promptsync']);
    expect([...(observed?.active.values() ?? [])]).toStrictEqual([null, null]);
    expect(observed?.fields?.name).toBe('First');
  });

  test('promptsync reports an authorization error in one environment even if the prompt is not found in another environment', async () => {
    const front = failBefore(inMemoryBackend(), (line) => {
      if (line === 'read p1 staging') throw notFound('p1');
      throw new ServiceError(
        makeProblem('service/not-authorised', { status: 403, promptId: 'p1', said: '', keySources: [] }),
        'rejected',
      );
    });
    const { problem } = await observePrompt(front, requestFor({ pins }));
    expect(problem?.code).toBe('service/not-authorised');
  });
});

/** Makes a service in which staging serves version 3, whose ledger names 2, and production serves version 1. Nothing is tracked. */
function makeThreeVersions(): Backend {
  const backend = inMemoryBackend();
  backend.activate('p1', 'production', addManagedVersion(backend, 'One', [entry(1, 'One')]));
  addManagedVersion(backend, 'Two', [entry(1, 'One')]);
  backend.activate('p1', 'staging', addManagedVersion(backend, 'Three', [entry(1, 'One'), entry(2, 'Two')]));
  return backend;
}

/** Rows `title: 'FILE | environments that promptsync reads | RULES'`. RULES are those of a git ref, or a key of `RULES`. */
const RULES: Readonly<Record<string, RulesParts>> = {
  promoted: { promotionSources: new Map([['production', 'staging']]) },
  base: { base: { files: new Map([['p1', file(parseFile('One staging=latest production=1'))]]), isDefault: false } },
};
const rows = {
  'only the tracking environment if a file has no pins': 'nothing | promptsync',
  'only the pinned environment if a file with one pin is in sync': 'Three staging=latest | staging',
  'also the tracking environment if it knows the text of the file only from a ledger':
    'Two staging=latest | staging promptsync',
  'also the tracking environment if no known version has the text of the file':
    'Four staging=latest | staging promptsync',
  'also the tracking environment if a pinned version is not active yet':
    'Three staging=latest qa=2 | staging qa promptsync',
  'also the tracking environment if the prompt name in the file differs from the name in the service':
    'Three name=Other staging=latest | staging promptsync',
  'also the tracking environment if a pinned version number is unknown':
    'Three staging=latest qa=9 | staging qa promptsync',
  'only the pinned environment if this environment already serves the pinned version number':
    'Three staging=3 | staging',
  'also the tracking environment if a file has new text but no pin to latest': 'Four staging=3 | staging promptsync',
  'only the pinned environment if this environment already serves the pinned version id':
    'Three staging=version:ver_3 | staging',
  'also the tracking environment if a known version has the text of the file but different metadata':
    'Three{"a":1} staging=latest | staging promptsync',
  'also the tracking environment if no known version has the content of a pinned git ref':
    'Three staging=latest production=git:v1 | staging production promptsync | git:v1=Nowhere',
  'only the pinned environment if this environment already serves the content of the pinned git ref':
    'Three staging=git:v1 | staging | git:v1=Three',
  'only the two pinned environments if a pin to a git ref and a pin to latest are in sync':
    'Three staging=latest production=git:v1 | staging production | git:v1=One',
  'also the environment from which a pinned environment is promoted':
    'Three production=latest | production staging promptsync | promoted',
  'the source environment of a promotion only once if the file also pins this environment':
    'Three production=latest staging=latest | production staging promptsync | promoted',
  'also an environment that only the base commit pins': 'Three staging=latest | staging production | base',
};

/** Observes a prompt and returns the environments that this reads, in this order. */
async function listReads(wanted: ReadRequest, service: Backend = makeThreeVersions()): Promise<string> {
  const { calls, problem } = await observePrompt(service, wanted);
  expect(problem).toBeUndefined();
  return calls.map((call) => call.replace('read p1 ', '')).join(' ');
}

test.each(Object.entries(rows))('promptsync reads %s', async (_, row) => {
  const [words = '', reads = '', given = ''] = row.split(' | ');
  expect(await listReads(requestFor(parseFile(words), RULES[given] ?? parseRules(given)))).toBe(reads);
});

test.each<[string, text: string, ReadNeeds, reads: string]>([
  [
    'promptsync also reads an environment that the command requests',
    'Three',
    { environments: ['qa', 'staging'], readDepth: 'minimal' },
    'staging qa',
  ],
  [
    'promptsync also reads the tracking environment that the command requests',
    'Four',
    { environments: [], readDepth: 'listed' },
    'staging promptsync',
  ],
])('%s', async (_, text, needs, reads) => {
  expect(await listReads(requestFor({ text, pins: { staging: 'latest' } }, {}, needs))).toBe(reads);
});

test.each([
  ['promptsync also reads the tracking environment if the pinned environment serves an unmanaged version', {}],
  [
    'promptsync also reads the tracking environment if the pinned environment serves a baseline',
    { promptsync: renderVersionRecord({ ...version(1, 'One').record!, baseline: true }) },
  ],
])('%s', async (_, metadata) => {
  const service = inMemoryBackend();
  service.activate('p1', 'staging', service.addVersion('p1', { text: 'One', metadata }));
  const wanted = requestFor({ text: 'One', pins: { staging: 'latest' } });
  expect(await listReads(wanted, service)).toBe('staging promptsync');
});

test('An observed version includes its creation time if the service provides that time', () => {
  const active = { staging: { ...version(2, 'Two'), createdAt: 5_000 }, production: version(1, 'One') };
  const times = observed({ active }).known.map((known) => known.times);
  expect(times).toStrictEqual([{ createdAt: 5_000 }, undefined]);
});
