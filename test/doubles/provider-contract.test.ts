import { describe, expect, onTestFinished, test } from 'vitest';
import type { Observed } from '../../src/domain/observed.ts';
import type { CreateVersion } from '../../src/domain/plan.ts';
import type { Provider, Writer } from '../../src/domain/provider.ts';
import { findContent, findNamed, type VersionRef } from '../../src/domain/versions.ts';
import { connectLangfuse } from '../../src/langfuse/client.ts';
import { langfuseProvider } from '../../src/langfuse/provider.ts';
import { ledgerProvider } from '../../src/ledger/provider.ts';
import { wantedOf } from '../../src/observing/observe.ts';
import { connect } from '../../src/service/client.ts';
import { MAIN, type Service } from '../faults/calls.ts';
import { integration } from '../faults/integration.ts';
import { langfuse } from '../faults/langfuse.ts';
import { content, file, rules, TRACKING, type FileParts } from '../planning/support.ts';
import { startFront } from '../support/front.ts';
import { KEY } from '../support/service.ts';
import { PUBLIC_KEY, SECRET_KEY } from './langfuse-server.ts';

type Opened = { readonly provider: Provider; readonly close: () => Promise<void> };

/** A double, and the provider that promptsync has for it. */
type Case = { readonly service: Service; readonly connectTo: (baseUrl: string) => Opened };

let operations = 0;
const sleep = async () => {};
const connection = { concurrency: 4, timeoutSeconds: 5, environment: {}, now: () => 0, random: () => 0, sleep };

const CASES: readonly Case[] = [
  {
    service: integration,
    connectTo: (baseUrl) => {
      const service = connect({ ...connection, baseUrl, apiKey: KEY });
      const world = {
        trackingEnvironment: TRACKING,
        newOperation: () => `op_${++operations}`,
        textAt: async () => null,
      };
      return { provider: ledgerProvider({ ...world, service, sleep }), close: service.close };
    },
  },
  {
    service: langfuse,
    connectTo: (baseUrl) => {
      const service = connectLangfuse({ ...connection, baseUrl }, { publicKey: PUBLIC_KEY, secretKey: SECRET_KEY });
      return { provider: langfuseProvider({ service, sleep }), close: service.close };
    },
  },
];

describe.each(CASES)('a provider of $service.name', ({ service, connectTo }) => {
  /** The double with these versions of the main prompt, and what promptsync asks of it. */
  async function start(...versions: readonly (readonly [text: string, environment?: string])[]) {
    const kept = await service.open();
    onTestFinished(kept.close);
    for (const [text, environment] of versions) kept.add(text, environment);
    const { baseUrl, requests } = await startFront({ target: kept.baseUrl });
    const { provider, close } = connectTo(baseUrl);
    onTestFinished(close);
    const writes = () => requests.filter(({ method }) => method !== 'GET').map((one) => service.asked(one).call);
    const textsOf = () => kept.versions().map(({ text }) => text);
    return {
      ...{ kept, provider, writes, textsOf },
      serves: (label: string) => kept.active(MAIN, label)?.text ?? null,
    };
  }

  /** Begins to write the prompt of a file, and looks at it as an apply does. */
  async function begin(provider: Provider, parts: FileParts): Promise<Writer> {
    const writer = provider.begin(wanted(parts));
    await writer.observe();
    return writer;
  }

  /** Both texts, the second one in staging, as syncs of them leave the prompt; the number of the first is pinned. */
  async function startTwice() {
    const started = await start();
    for (const text of ['One.', 'Two.']) {
      const writer = await begin(started.provider, { text, pins: { staging: 'latest' } });
      const { version } = await writer.create(creating(text), { into: ['staging'], activated: [] });
      await writer.activate('staging', named(version));
    }
    return started;
  }

  test('observes what each environment serves, and null where nothing is active', async () => {
    const { provider } = await start(['One.', 'production'], ['Two.', 'staging']);
    const { active } = await provider.observe(wanted({ pins: { staging: 'latest', production: 1, other: 'latest' } }));
    const shown = ['staging', 'production', 'other'].map((name) => [
      active.get(name)?.content?.text,
      active.get(name)?.number,
    ]);
    expect(shown).toEqual([
      ['Two.', 2],
      ['One.', 1],
      [undefined, undefined],
    ]);
  });

  test.each<readonly [sentence: string, parts: FileParts]>([
    ['that is in sync', { text: 'Two.', pins: { staging: 'latest' } }],
    ['with an edit', { text: 'Three.', pins: { staging: 'latest' } }],
    ['with a text of before', { text: 'One.', pins: { staging: 'latest' } }],
    ['with a number', { text: 'Two.', pins: { staging: 1 } }],
    ['with an environment that nothing is active in', { text: 'Two.', pins: { production: 2 } }],
    ['that is not there', { id: 'prm_nowhere', pins: { staging: 'latest' } }],
  ])('never writes when it observes a prompt %s', async (_, parts) => {
    const { provider, writes } = await startTwice();
    const before = writes().length;
    await provider.observe(wanted(parts)).catch(() => null);
    await provider
      .begin(wanted(parts))
      .observe()
      .catch(() => null);
    expect(writes().slice(before)).toEqual([]);
  });

  test('says the same state of what has not changed, and another one of what has', async () => {
    const { kept, provider } = await startTwice();
    const asked = wanted({ text: 'Three.', pins: { staging: 'latest' } });
    const states = [await provider.observe(asked), await provider.observe(asked)].map(({ state }) => state);
    kept.add('Theirs.', 'staging');
    const { state } = await provider.observe(asked);
    expect([states[0] === states[1], states[0] === state]).toEqual([true, false]);
  });

  test('makes one version to the byte, and moves no environment but those that are asked for', async () => {
    const { kept, provider, serves, textsOf } = await start(['One.', 'production'], ['Two.', 'staging']);
    const text = ' Three\u0301 {{name}}\n\n\u{1f600}';
    const writer = await begin(provider, { text, pins: { staging: 'latest' } });
    const made = await writer.create(creating(text), { into: ['staging'], activated: [] });
    expect(made).toMatchObject({ status: 'made', version: { number: 3 }, problems: [] });
    if (!made.set?.includes('staging')) await writer.activate('staging', named(made.version));
    expect([textsOf(), serves('staging'), serves('production')]).toEqual([['One.', 'Two.', text], text, 'One.']);
    expect(kept.active(MAIN, 'staging')?.id).toBe(made.version?.id);
  });

  test('remembers what it has made: the version goes live without being observed again', async () => {
    const { provider, serves, textsOf } = await start(['One.', 'staging']);
    const writer = await begin(provider, { text: 'Three.', pins: { staging: 'latest', production: 'git:v2' } });
    const second = await writer.create(creating('Two.'), { into: [], activated: [] });
    const third = await writer.create(creating('Three.'), { into: ['staging'], activated: [] });
    await writer.activate('staging', named(third.version));
    expect(await writer.activate('production', named(second.version))).toMatchObject({ status: 'made', problems: [] });
    expect([textsOf(), serves('staging'), serves('production')]).toEqual([
      ['One.', 'Two.', 'Three.'],
      'Three.',
      'Two.',
    ]);
  });

  test.each<readonly [sentence: string, parts: FileParts, find: (observed: Observed) => VersionRef | undefined]>([
    [
      'a text of before',
      { text: 'One.', pins: { staging: 'latest' } },
      ({ known }) => findContent(known, content('One.')),
    ],
    [
      'a number',
      { text: 'Two.', pins: { staging: 1 } },
      ({ known }) => findNamed(known, { kind: 'number', number: 1 }),
    ],
  ])('finds %s, and makes it active without another version', async (_, parts, find) => {
    const { provider, serves, textsOf } = await startTwice();
    const writer = await begin(provider, parts);
    const pins = wanted(parts).pins.flatMap(({ pin }) => (pin.kind === 'number' ? [pin] : []));
    const found = find(await writer.find(pins));
    const written = await writer.activate('staging', named(found));
    expect(written).toMatchObject({ status: 'made', version: { number: 1 }, problems: [] });
    expect([textsOf(), serves('staging')]).toEqual([['One.', 'Two.'], 'One.']);
  });

  test('knows no version of a number that is not there', async () => {
    const { provider } = await startTwice();
    const parts = { text: 'Two.', pins: { staging: 9 } };
    const { known } = await (await begin(provider, parts)).find([{ kind: 'number', number: 9 }]);
    expect(known.map(({ number }) => number)).not.toContain(9);
  });

  test('leaves an environment alone where the version is not there, and says so', async () => {
    const { provider, serves } = await startTwice();
    const writer = await begin(provider, { text: 'Two.', pins: { staging: 'latest' } });
    const written = await writer.activate('staging', { id: '9-nowhere', number: 9 });
    expect([written.status, written.problems.length, serves('staging')]).toEqual(['not_made', 1, 'Two.']);
  });

  test('says of a prompt that is not there that it is not, or that it will be made', async () => {
    const { provider } = await start();
    const asked = wanted({ id: 'prm_nowhere', pins: { staging: 'latest' } });
    const said = await provider.observe(asked).then(
      ({ problems }) => problems[0]?.code,
      (error: { readonly problem: { readonly code: string } }) => error.problem.code,
    );
    expect(said).toBe(service.hasFields ? 'service/prompt-not-found' : 'langfuse/new-prompt');
  });

  test('lists what there is where the service can', async () => {
    const { provider } = await start(['One.', 'production'], ['Two.', 'staging']);
    const listed = [{ name: MAIN, environments: ['production', 'staging'], lastVersion: 2, problem: null }];
    expect((await provider.list?.()) ?? null).toEqual(service.hasFields ? null : listed);
  });
});

function wanted(parts: FileParts) {
  const fields = { id: MAIN, key: 'main', name: 'main' };
  return wantedOf(file({ ...fields, ...parts }), rules());
}

function creating(text: string): CreateVersion {
  return { kind: 'create-version', content: content(text), provenance: { changeSummary: 'Why' } };
}

function named(version: VersionRef | undefined): VersionRef {
  if (version === undefined) throw new Error('no version is named');
  return version;
}
