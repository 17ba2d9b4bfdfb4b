import { describe, expect, onTestFinished, test } from 'vitest';
import type { ObservedPrompt } from '../../src/domain/observed-prompt.ts';
import type { CreateVersion } from '../../src/domain/plan.ts';
import type { Provider, PromptWriter } from '../../src/providers/provider-interface.ts';
import { findVersionWithContent, findPinnedVersion, type VersionRef } from '../../src/domain/versions.ts';
import { makeReadRequest } from '../../src/observing/observe-prompts.ts';
import { content, file, rules, type FileParts } from '../planning/support.ts';
import { startFront } from '../support/front.ts';

/** A version that a service holds. */
export type ContractVersion = { readonly id: string; readonly text: string };

/** One prompt in a service, for one test. No other test uses its id. */
export type ContractPrompt = {
  readonly baseUrl: string;
  readonly promptId: string;
  /** The versions of the prompt, oldest first. */
  readonly versions: () => Promise<readonly ContractVersion[]>;
  readonly active: (environment: string) => Promise<ContractVersion | null>;
  /** Adds a version without promptsync, and activates it in `environment`. */
  readonly add: (text: string, environment?: string) => Promise<void>;
  readonly close: () => Promise<void>;
};

export type OpenProvider = { readonly provider: Provider; readonly close: () => Promise<void> };

/** A service and the provider that works with it. */
export type ContractService = {
  readonly name: string;
  /** Whether a sync creates a prompt that the service does not have, and the provider lists the prompts. */
  readonly createsPrompts: boolean;
  readonly open: () => Promise<ContractPrompt>;
  readonly connectTo: (baseUrl: string) => OpenProvider;
};

/** Defines the tests that every provider has to pass, for one service. */
export function describeProviderContract(service: ContractService): void {
  describe(`the provider for ${service.name} fulfills the provider contract`, () => {
    defineTests(service);
  });
}

function defineTests(service: ContractService): void {
  /** Adds these versions of the prompt and records the requests of promptsync. */
  async function start(...versions: readonly (readonly [text: string, environment?: string])[]) {
    const prompt = await service.open();
    onTestFinished(prompt.close);
    for (const [text, environment] of versions) await prompt.add(text, environment);
    const { baseUrl, requests } = await startFront({ target: prompt.baseUrl });
    const { provider, close } = service.connectTo(baseUrl);
    onTestFinished(close);
    return {
      ...{ prompt, provider, requests },
      writes: () => requests.filter(({ method }) => method !== 'GET').map(({ path }) => path),
      texts: async () => (await prompt.versions()).map(({ text }) => text),
      served: async (environment: string) => (await prompt.active(environment))?.text ?? null,
      desired: (parts: FileParts) => makeDesiredPrompt(prompt.promptId, parts),
      /** Begins to write the prompt of a file and observes it, like an apply. */
      beginWriting: async (parts: FileParts): Promise<PromptWriter> => {
        const writer = provider.makeWriter(makeDesiredPrompt(prompt.promptId, parts));
        await writer.observe();
        return writer;
      },
    };
  }

  /** Starts with the state after two syncs: two texts, of which the second is active in staging. */
  async function startWithTwoVersions() {
    const started = await start();
    for (const text of ['One.', 'Two.']) {
      const writer = await started.beginWriting({ text, pins: { staging: 'latest' } });
      const { version } = await writer.create(makeCreateChange(text), {
        environments: ['staging'],
        pinnedVersions: [],
      });
      await writer.activate(['staging'], requireVersion(version));
    }
    return started;
  }

  test('every provider reports the active version of each environment, or no version if none is active there', async () => {
    const { provider, desired } = await start(['One.', 'production'], ['Two.', 'staging']);
    const { active } = await provider.observe(desired({ pins: { staging: 'latest', production: 1, other: 'latest' } }));
    const activeVersions = ['staging', 'production', 'other'].map((name) => active.get(name));
    expect(activeVersions.map((version) => version?.content?.text)).toEqual(['Two.', 'One.', undefined]);
    expect(activeVersions.map((version) => version?.number)).toEqual([2, 1, undefined]);
  });

  test('every provider reads what an environment serves with one request, and nothing if no version is active there', async () => {
    const { prompt, provider, requests } = await start(['One.\r\n\n', 'production'], ['Two.', 'staging']);
    expect(await provider.readServed(prompt.promptId, 'production')).toEqual({
      ...{ type: 'text', prompt: 'One.\r\n\n', number: 1, config: {} },
    });
    expect(requests.map(({ method }) => method)).toEqual(['GET']);
    expect(await provider.readServed(prompt.promptId, 'other')).toBeNull();
  });

  test('every provider tells a prompt that a sync would create from a prompt that a sync cannot create', async () => {
    const { prompt, provider } = await start(['One.', 'production']);
    const reading = provider.readServed(missing(prompt), 'production');
    if (service.createsPrompts) expect(await reading).toBeNull();
    else await expect(reading).rejects.toMatchObject({ problem: { code: 'service/prompt-not-found' } });
  });

  test.each<readonly [what: string, parts: FileParts]>([
    ['whose text was edited', { text: 'Three.', pins: { staging: 'latest' } }],
    ['with a pinned version number', { text: 'Two.', pins: { staging: 1 } }],
  ])('no provider writes to the service while it observes a prompt %s', async (_, parts) => {
    const { provider, writes, desired } = await startWithTwoVersions();
    const before = writes().length;
    await provider.observe(desired(parts));
    await provider.makeWriter(desired(parts)).observe();
    expect(writes().slice(before)).toEqual([]);
  });

  test('every provider returns the same fingerprint for an unchanged prompt and a different one after the prompt changes', async () => {
    const { prompt, provider, desired } = await startWithTwoVersions();
    const request = desired({ text: 'Three.', pins: { staging: 'latest' } });
    const observe = async () => (await provider.observe(request)).fingerprint;
    const before = await observe();
    expect(await observe()).toBe(before);
    await prompt.add('Theirs.', 'staging');
    expect(await observe()).not.toBe(before);
  });

  test('every provider creates a version with the exact text and activates it only in the requested environment', async () => {
    const { prompt, served, texts, beginWriting } = await start(['One.', 'production'], ['Two.', 'staging']);
    const text = ' Three\u0301 {{name}}\n\n\u{1f600}';
    const writer = await beginWriting({ text, pins: { staging: 'latest' } });
    const created = await writer.create(makeCreateChange(text), { environments: ['staging'], pinnedVersions: [] });
    expect(created).toMatchObject({ status: 'made', version: { number: 3 }, problems: [] });
    if (!created.movedEnvironments?.includes('staging'))
      await writer.activate(['staging'], requireVersion(created.version));
    expect([await texts(), await served('staging'), await served('production')]).toEqual([
      ['One.', 'Two.', text],
      text,
      'One.',
    ]);
    expect((await prompt.active('staging'))?.id).toBe(created.version?.id);
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
    const { desired, served, texts, beginWriting } = await startWithTwoVersions();
    const writer = await beginWriting(parts);
    const pins = desired(parts).pins.flatMap(({ pin }) => (pin.kind === 'number' ? [pin] : []));
    const found = find(await writer.find(pins));
    const written = await writer.activate(['staging'], requireVersion(found));
    expect(written).toMatchObject([{ status: 'made', version: { number: 1 }, problems: [] }]);
    expect([await texts(), await served('staging')]).toEqual([['One.', 'Two.'], 'One.']);
  });

  test('every provider finds no version if the pinned version number does not exist', async () => {
    const { beginWriting } = await startWithTwoVersions();
    const parts = { text: 'Two.', pins: { staging: 9 } };
    const { known } = await (await beginWriting(parts)).find([{ kind: 'number', number: 9 }]);
    expect(known.map(({ number }) => number)).not.toContain(9);
  });

  test('every provider refuses to activate a missing version and leaves the environment unchanged', async () => {
    const { served, beginWriting } = await startWithTwoVersions();
    const writer = await beginWriting({ text: 'Two.', pins: { staging: 'latest' } });
    const [written] = await writer.activate(['staging'], { id: '9-nowhere', number: 9 });
    expect([written?.status, written?.problems.length, await served('staging')]).toEqual(['not_made', 1, 'Two.']);
  });

  test('every provider reports a problem if a prompt does not exist in the service', async () => {
    const { prompt, provider, desired } = await start();
    const result = await provider.observe(desired({ id: missing(prompt), pins: { staging: 'latest' } })).then(
      ({ isMissing }) => isMissing,
      (error: { readonly problem: { readonly code: string } }) => error.problem.code,
    );
    expect(result).toBe(service.createsPrompts ? true : 'service/prompt-not-found');
  });

  test('a provider lists the prompts in the service if the service supports listing', async () => {
    const { prompt, provider } = await start(['One.', 'production'], ['Two.', 'staging']);
    const listed = (await provider.list?.())?.filter(({ name }) => name === prompt.promptId);
    expect(listed).toEqual(
      service.createsPrompts
        ? [{ name: prompt.promptId, environments: ['production', 'staging'], lastVersion: 2, problem: null }]
        : undefined,
    );
  });
}

/** Returns an id that no prompt of the service has. */
function missing({ promptId }: ContractPrompt): string {
  return `${promptId}_nowhere`;
}

function makeDesiredPrompt(id: string, parts: FileParts) {
  const fields = { id, key: 'main', name: 'main' };
  return makeReadRequest(file({ ...fields, ...parts }), rules());
}

function makeCreateChange(text: string): CreateVersion {
  return { kind: 'create-version', content: content(text), provenance: { changeSummary: 'Why' } };
}

function requireVersion(version: VersionRef | undefined): VersionRef {
  if (version === undefined) throw new Error('no version is named');
  return version;
}
