import { describe, expect, test } from 'vitest';
import type { NewVersion, PromptService } from '../../src/service/prompt-service.ts';
import { outcomeLine, sync, type SyncParts } from './support.ts';
import { type Backend, inMemoryBackend } from '../doubles/backends.ts';
import { content, file, type FileParts } from '../planning/support.ts';

const staging = { staging: 'latest' };

/** The service as it is when it stores versions otherwise than they are sent. */
function storing(backend: Backend, change: (version: NewVersion) => NewVersion): PromptService {
  return { ...backend, createVersion: (promptId, version) => backend.createVersion(promptId, change(version)) };
}

async function said(service: PromptService, parts: FileParts, more: SyncParts = {}) {
  const { outcomes } = await sync(service, [file(parts)], more);
  return outcomes.map(outcomeLine)[0];
}

const rewriting: readonly (readonly [string, FileParts, (version: NewVersion) => NewVersion])[] = [
  ['trims texts', { text: 'Hello ' }, (version) => ({ ...version, text: version.text.trim() })],
  ['composes characters', { text: 'u\u0308ber' }, (version) => ({ ...version, text: version.text.normalize('NFC') })],
  ['takes out HTML', { text: 'Hello <b>you</b>' }, (version) => ({ ...version, text: 'Hello you' })],
  [
    'adds metadata to that of the file',
    { text: 'Hello', metadata: { model: 'x' } },
    (version) => ({ ...version, metadata: { ...version.metadata, by: 'api' } }),
  ],
];

const pinned: readonly (readonly [string, FileParts['pins'] & object])[] = [
  ['latest', staging],
  ['nothing', {}],
];

describe('A service that', () => {
  const rows = rewriting.flatMap(([how, parts, change]) =>
    pinned.map(([what, pins]) => [how, what, { ...parts, pins }, change] as const),
  );
  test.each(rows)(
    '%s is reported, for a file that pins %s, and gets one version only',
    async (_h, _w, parts, change) => {
      const backend = inMemoryBackend();
      const service = storing(backend, change);
      expect(await said(service, parts)).toMatch(/^failed: made.* apply\/rewritten$/);
      expect(await said(service, parts)).toMatch(/^failed: not_made.* apply\/rewritten$/);
      expect(await said(service, parts)).toMatch(/^failed: not_made.* apply\/rewritten$/);
      expect(backend.countVersions('p1')).toBe(1);
      expect([backend.serves('p1', 'staging'), backend.serves('p1', 'promptsync')]).toStrictEqual([null, null]);
    },
  );

  test('trims texts is content with a file that is written as it keeps it', async () => {
    const backend = inMemoryBackend();
    const service = storing(backend, (version) => ({ ...version, text: version.text.trim() }));
    await said(service, { text: 'Hello ', pins: staging });
    expect(await said(service, { text: 'Hello', pins: staging })).toBe('applied: made made');
    expect(await said(service, { text: 'Hello', pins: staging })).toBe('unchanged:');
    expect(backend.countVersions('p1')).toBe(2);
  });

  test('trims texts does not hold up other texts', async () => {
    const backend = inMemoryBackend();
    const service = storing(backend, (version) => ({ ...version, text: version.text.trim() }));
    await said(service, { text: 'Hello ', pins: staging });
    expect(await said(service, { text: 'Other', pins: staging })).toBe('applied: made made');
    expect(await said(service, { text: 'Other', pins: staging })).toBe('unchanged:');
  });

  test('adds metadata where the file manages none is left to do so', async () => {
    const backend = inMemoryBackend();
    const service = storing(backend, (version) => ({ ...version, metadata: { ...version.metadata, by: 'api' } }));
    expect(await said(service, { text: 'Hello', pins: staging })).toBe('applied: made made');
    expect(await said(service, { text: 'Hello', pins: staging })).toBe('unchanged:');
    expect(await said(service, { text: 'Hello', pins: {} })).toBe('unchanged:');
  });

  test.each([
    ['latest', { pins: staging }, 'applied: made made'],
    ['latest, with metadata', { pins: staging, metadata: { model: 'x' } }, 'applied: made made'],
    ['nothing', { pins: {} }, 'applied: made'],
    ['nothing, with metadata', { pins: {}, metadata: { model: 'x' } }, 'applied: made'],
  ])(
    'drops metadata converges all the same for a file that pins %s, and it is said',
    async (_sentence, parts, first) => {
      const backend = inMemoryBackend();
      const service = forgetting(backend);
      expect(await said(service, parts)).toBe(`${first} service/drops-metadata`);
      expect(await said(service, parts)).toMatch(/^unchanged:( service\/drops-metadata)?$/);
      expect(await said(service, { ...parts, text: 'Two' })).toBe(`${first} service/drops-metadata`);
      expect(await said(service, { ...parts, text: 'Two' })).toMatch(/^unchanged:/);
      expect(backend.countVersions('p1')).toBe(2);
      if (parts.pins === staging) expect(backend.serves('p1', 'staging')?.[1]).toBe('Two');
    },
  );
});

const WARNING =
  'The version in "promptsync" carries no record of promptsync\'s: the service drops `metadata_`, or somebody moved that environment.';

const forgetting = (service: Backend) => storing(service, (version) => ({ ...version, metadata: {} }));

describe.each([
  ['a file without metadata', file({ text: 'One', pins: staging })],
  ['a file with metadata', file({ text: 'One', metadata: { model: 'x' }, pins: staging })],
])('Where the service drops all metadata, %s', (_, wanted) => {
  const edited = (text: string) => ({ ...wanted, content: content(text, wanted.content.metadata) });

  test('is synced with a warning that names the environment in which it shows', async () => {
    const service = inMemoryBackend();
    const { outcomes } = await sync(forgetting(service), [wanted]);
    expect(outcomes[0]?.problems).toMatchObject([{ severity: 'warning', path: 'prompts/a.md', message: WARNING }]);
    const draft = { ...wanted, pins: file({ pins: { staging: 1 } }).pins };
    const again = await sync(forgetting(service), [draft]);
    expect(again.outcomes.map(outcomeLine)).toStrictEqual(['unchanged: service/drops-metadata']);
    expect(again.outcomes[0]?.problems[0]).toMatchObject({ path: 'prompts/a.md', message: WARNING });
  });

  test('is warned of once, however many versions a run makes', async () => {
    const service = inMemoryBackend();
    await sync(forgetting(service), [wanted]);
    const { pins } = file({ pins: { staging: 'latest', production: 'git:v1' } });
    const { outcomes } = await sync(forgetting(service), [{ ...edited('Two'), pins }], {
      refs: { v1: content('Old') },
    });
    expect(outcomes.map(outcomeLine)).toStrictEqual(['applied: made made made made service/drops-metadata']);
  });

  test('goes back to a text by another version: nothing remembers the first', async () => {
    const service = inMemoryBackend();
    await sync(forgetting(service), [wanted]);
    await sync(forgetting(service), [edited('Two')]);
    await sync(forgetting(service), [wanted]);
    expect(service.serves('p1', 'staging')).toStrictEqual(['ver_3', 'One']);
  });
});

test("Where the service drops the file's metadata and keeps the tool's, the version is made active nowhere", async () => {
  const service = storing(inMemoryBackend(), ({ metadata: { promptsync }, ...rest }) => {
    return { ...rest, metadata: { promptsync: promptsync! } };
  });
  const { lines, outcomes } = await sync(service, [file({ metadata: { model: 'x' }, pins: staging })]);
  expect(lines).toStrictEqual(['create p1 "Hello"']);
  expect(outcomes.map(outcomeLine)).toStrictEqual(['failed: made not_made apply/rewritten']);
});
