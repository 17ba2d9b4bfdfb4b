import { describe, expect, onTestFinished, test } from 'vitest';
import type { ObservedPrompt } from '../../src/domain/observed-prompt.ts';
import type { CreateVersion } from '../../src/domain/plan.ts';
import type { Provider, PromptWriter } from '../../src/domain/provider.ts';
import { findVersionWithContent, findPinnedVersion, type VersionRef } from '../../src/domain/versions.ts';
import { connectLangfuse } from '../../src/langfuse/client.ts';
import { makeLangfuseProvider } from '../../src/langfuse/provider.ts';
import { makeLedgerProvider } from '../../src/ledger/provider.ts';
import { makeReadRequest } from '../../src/observing/observe-prompts.ts';
import { connectPromptService } from '../../src/service/client.ts';
import { MAIN, type Service } from '../faults/calls.ts';
import { integration } from '../faults/integration.ts';
import { langfuse } from '../faults/langfuse.ts';
import { content, file, rules, TRACKING, type FileParts } from '../planning/support.ts';
import { startFront } from '../support/front.ts';
import { KEY } from '../support/service.ts';
import { PUBLIC_KEY, SECRET_KEY } from './langfuse-server.ts';

type Opened = { readonly provider: Provider; readonly close: () => Promise<void> };

/** A double and the provider that works with it. */
type Case = { readonly service: Service; readonly connectTo: (baseUrl: string) => Opened };

let operations = 0;
const sleep = async () => {};
const connection = { concurrency: 4, timeoutSeconds: 5, environment: {}, now: () => 0, random: () => 0, sleep };

const CASES: readonly Case[] = [
  {
    service: integration,
    connectTo: (baseUrl) => {
      const service = connectPromptService({ ...connection, baseUrl, apiKey: KEY });
      const world = {
        trackingEnvironment: TRACKING,
        newOperation: () => `op_${++operations}`,
        textAt: async () => null,
      };
      return { provider: makeLedgerProvider({ ...world, service, sleep }), close: service.close };
    },
  },
  {
    service: langfuse,
    connectTo: (baseUrl) => {
      const service = connectLangfuse(
        { ...connection, baseUrl },
        { publicKey: PUBLIC_KEY, secretKey: SECRET_KEY },
        () => null,
      );
      return {
        provider: makeLangfuseProvider({ service, readFormerContents: async () => null, sleep }),
        close: service.close,
      };
    },
  },
];

describe.each(CASES)('the provider for $service.name fulfills the provider contract', ({ service, connectTo }) => {
  /** Starts the double with these versions of the main prompt and records the requests of promptsync. */
  async function start(...versions: readonly (readonly [text: string, environment?: string])[]) {
    const double = await service.open();
    onTestFinished(double.close);
    for (const [text, environment] of versions) double.add(text, environment);
    const { baseUrl, requests } = await startFront({ target: double.baseUrl });
    const { provider, close } = connectTo(baseUrl);
    onTestFinished(close);
    const writes = () => requests.filter(({ method }) => method !== 'GET').map((one) => service.asked(one).call);
    const textsOf = () => double.versions().map(({ text }) => text);
    return {
      ...{ double, provider, requests, writes, textsOf },
      serves: (label: string) => double.active(MAIN, label)?.text ?? null,
    };
  }

  /** Begins to write the prompt of a file and observes it, like an apply. */
  async function beginWriting(provider: Provider, parts: FileParts): Promise<PromptWriter> {
    const writer = provider.makeWriter(makeDesiredPrompt(parts));
    await writer.observe();
    return writer;
  }

  /** Starts the double with the state after two syncs: two texts, of which the second is active in staging. */
  async function startWithTwoVersions() {
    const started = await start();
    for (const text of ['One.', 'Two.']) {
      const writer = await beginWriting(started.provider, { text, pins: { staging: 'latest' } });
      const { version } = await writer.create(makeCreateChange(text), {
        environments: ['staging'],
        pinnedVersions: [],
      });
      await writer.activate(['staging'], requireVersion(version));
    }
    return started;
  }

  test('every provider reports the active version of each environment, or no version if none is active there', async () => {
    const { provider } = await start(['One.', 'production'], ['Two.', 'staging']);
    const { active } = await provider.observe(
      makeDesiredPrompt({ pins: { staging: 'latest', production: 1, other: 'latest' } }),
    );
    const activeVersions = ['staging', 'production', 'other'].map((name) => [
      active.get(name)?.content?.text,
      active.get(name)?.number,
    ]);
    expect(activeVersions).toEqual([
      ['Two.', 2],
      ['One.', 1],
      [undefined, undefined],
    ]);
  });

  test('every provider reads what an environment serves with one request, and nothing if no version is active there', async () => {
    const { provider, requests } = await start(['One.\r\n\n', 'production'], ['Two.', 'staging']);
    expect(await provider.readServed(MAIN, 'production')).toEqual({
      ...{ type: 'text', prompt: 'One.\r\n\n', number: 1, config: {} },
    });
    expect(requests.map(({ method }) => method)).toEqual(['GET']);
    expect(await provider.readServed(MAIN, 'other')).toBeNull();
  });

  test('every provider tells a prompt that a sync would create from a prompt that a sync cannot create', async () => {
    const { provider } = await start(['One.', 'production']);
    const reading = provider.readServed('prm_nowhere', 'production');
    if (!service.hasFields) expect(await reading).toBeNull();
    else await expect(reading).rejects.toMatchObject({ problem: { code: 'service/prompt-not-found' } });
  });

  test.each<readonly [sentence: string, parts: FileParts]>([
    [
      'no provider writes to the service while it observes a prompt that is in sync',
      { text: 'Two.', pins: { staging: 'latest' } },
    ],
    [
      'no provider writes to the service while it observes a prompt whose text was edited',
      { text: 'Three.', pins: { staging: 'latest' } },
    ],
    [
      'no provider writes to the service while it observes a prompt that was reverted to earlier text',
      { text: 'One.', pins: { staging: 'latest' } },
    ],
    [
      'no provider writes to the service while it observes a prompt with a pinned version number',
      { text: 'Two.', pins: { staging: 1 } },
    ],
    [
      'no provider writes to the service while it observes a prompt with a pin for an environment without an active version',
      { text: 'Two.', pins: { production: 2 } },
    ],
    [
      'no provider writes to the service while it observes a prompt that does not exist there',
      { id: 'prm_nowhere', pins: { staging: 'latest' } },
    ],
  ])('%s', async (_, parts) => {
    const { provider, writes } = await startWithTwoVersions();
    const before = writes().length;
    await provider.observe(makeDesiredPrompt(parts)).catch(() => null);
    await provider
      .makeWriter(makeDesiredPrompt(parts))
      .observe()
      .catch(() => null);
    expect(writes().slice(before)).toEqual([]);
  });

  test('every provider returns the same fingerprint for an unchanged prompt and a different one after the prompt changes', async () => {
    const { double, provider } = await startWithTwoVersions();
    const desired = makeDesiredPrompt({ text: 'Three.', pins: { staging: 'latest' } });
    const states = [await provider.observe(desired), await provider.observe(desired)].map(
      ({ fingerprint }) => fingerprint,
    );
    double.add('Theirs.', 'staging');
    const { fingerprint: state } = await provider.observe(desired);
    expect([states[0] === states[1], states[0] === state]).toEqual([true, false]);
  });

  test('every provider creates a version with the exact text and activates it only in the requested environment', async () => {
    const { double, provider, serves, textsOf } = await start(['One.', 'production'], ['Two.', 'staging']);
    const text = ' Three\u0301 {{name}}\n\n\u{1f600}';
    const writer = await beginWriting(provider, { text, pins: { staging: 'latest' } });
    const created = await writer.create(makeCreateChange(text), { environments: ['staging'], pinnedVersions: [] });
    expect(created).toMatchObject({ status: 'made', version: { number: 3 }, problems: [] });
    if (!created.movedEnvironments?.includes('staging'))
      await writer.activate(['staging'], requireVersion(created.version));
    expect([textsOf(), serves('staging'), serves('production')]).toEqual([['One.', 'Two.', text], text, 'One.']);
    expect(double.active(MAIN, 'staging')?.id).toBe(created.version?.id);
  });

  test('every provider can activate a version that it just created', async () => {
    const { provider, serves, textsOf } = await start(['One.', 'staging']);
    const writer = await beginWriting(provider, { text: 'Three.', pins: { staging: 'latest', production: 'git:v2' } });
    const second = await writer.create(makeCreateChange('Two.'), { environments: [], pinnedVersions: [] });
    const third = await writer.create(makeCreateChange('Three.'), { environments: ['staging'], pinnedVersions: [] });
    await writer.activate(['staging'], requireVersion(third.version));
    expect(await writer.activate(['production'], requireVersion(second.version))).toMatchObject([
      { status: 'made', problems: [] },
    ]);
    expect([textsOf(), serves('staging'), serves('production')]).toEqual([
      ['One.', 'Two.', 'Three.'],
      'Three.',
      'Two.',
    ]);
  });

  test.each<readonly [sentence: string, parts: FileParts, find: (observed: ObservedPrompt) => VersionRef | undefined]>([
    [
      'every provider finds an existing version by its text and activates it without creating a version',
      { text: 'One.', pins: { staging: 'latest' } },
      ({ known }) => findVersionWithContent(known, content('One.')),
    ],
    [
      'every provider finds a version by its number and activates it without creating a version',
      { text: 'Two.', pins: { staging: 1 } },
      ({ known }) => findPinnedVersion(known, { kind: 'number', number: 1 }),
    ],
  ])('%s', async (_, parts, find) => {
    const { provider, serves, textsOf } = await startWithTwoVersions();
    const writer = await beginWriting(provider, parts);
    const pins = makeDesiredPrompt(parts).pins.flatMap(({ pin }) => (pin.kind === 'number' ? [pin] : []));
    const found = find(await writer.find(pins));
    const written = await writer.activate(['staging'], requireVersion(found));
    expect(written).toMatchObject([{ status: 'made', version: { number: 1 }, problems: [] }]);
    expect([textsOf(), serves('staging')]).toEqual([['One.', 'Two.'], 'One.']);
  });

  test('every provider finds no version if the pinned version number does not exist', async () => {
    const { provider } = await startWithTwoVersions();
    const parts = { text: 'Two.', pins: { staging: 9 } };
    const { known } = await (await beginWriting(provider, parts)).find([{ kind: 'number', number: 9 }]);
    expect(known.map(({ number }) => number)).not.toContain(9);
  });

  test('every provider refuses to activate a missing version and leaves the environment unchanged', async () => {
    const { provider, serves } = await startWithTwoVersions();
    const writer = await beginWriting(provider, { text: 'Two.', pins: { staging: 'latest' } });
    const [written] = await writer.activate(['staging'], { id: '9-nowhere', number: 9 });
    expect([written?.status, written?.problems.length, serves('staging')]).toEqual(['not_made', 1, 'Two.']);
  });

  test('every provider reports a problem if a prompt does not exist in the service', async () => {
    const { provider } = await start();
    const desired = makeDesiredPrompt({ id: 'prm_nowhere', pins: { staging: 'latest' } });
    const problemCode = await provider.observe(desired).then(
      ({ problems }) => problems[0]?.code,
      (error: { readonly problem: { readonly code: string } }) => error.problem.code,
    );
    expect(problemCode).toBe(service.hasFields ? 'service/prompt-not-found' : 'langfuse/new-prompt');
  });

  test('a provider lists the prompts in the service if the service supports listing', async () => {
    const { provider } = await start(['One.', 'production'], ['Two.', 'staging']);
    const listed = [{ name: MAIN, environments: ['production', 'staging'], lastVersion: 2, problem: null }];
    expect((await provider.list?.()) ?? null).toEqual(service.hasFields ? null : listed);
  });
});

function makeDesiredPrompt(parts: FileParts) {
  const fields = { id: MAIN, key: 'main', name: 'main' };
  return makeReadRequest(file({ ...fields, ...parts }), rules());
}

function makeCreateChange(text: string): CreateVersion {
  return { kind: 'create-version', content: content(text), provenance: { changeSummary: 'Why' } };
}

function requireVersion(version: VersionRef | undefined): VersionRef {
  if (version === undefined) throw new Error('no version is named');
  return version;
}
