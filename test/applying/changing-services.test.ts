import { describe, expect, test } from 'vitest';
import type { NewVersion, PromptService, RemoteVersion } from '../../src/service/prompt-service.ts';
import { inMemoryBackend, type Backend } from '../doubles/backends.ts';
import { file, type FileParts } from '../planning/support.ts';
import { outcomeLine, sync, type SyncParts } from './support.ts';

const staging = { staging: 'latest' };

/** The service as it is when it stores versions otherwise than they are sent. */
function storing(backend: Backend, change: (version: NewVersion) => NewVersion): PromptService {
  return { ...backend, createVersion: (promptId, version) => backend.createVersion(promptId, change(version)) };
}

/** The service as it is when it drops `metadata_`: from its answers as from what it stores. */
function dropping(backend: Backend): PromptService {
  const bare = (version: RemoteVersion): RemoteVersion => ({ ...version, metadata: {} });
  return {
    ...backend,
    readPrompt: async (...asked) => {
      const prompt = await backend.readPrompt(...asked);
      return { ...prompt, activeVersion: prompt.activeVersion && bare(prompt.activeVersion) };
    },
    createVersion: async (promptId, version) => {
      const id = backend.addVersion(promptId, { text: version.text });
      backend.activate(promptId, 'aside', id);
      const { activeVersion } = await backend.readPrompt(promptId, 'aside');
      return bare(activeVersion!);
    },
  };
}

async function said(service: PromptService, parts: FileParts, more: SyncParts = {}) {
  const { outcomes } = await sync(service, [file(parts)], more);
  return outcomes.map(outcomeLine)[0];
}

const rewriting: readonly (readonly [string, FileParts, (version: NewVersion) => NewVersion])[] = [
  ['trims texts', { text: 'Hello ' }, (version) => ({ ...version, text: version.text.trim() })],
  ['adds a line feed', { text: 'Hello' }, (version) => ({ ...version, text: `${version.text}\n` })],
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
    '%s is told of, for a file that pins %s, and gets one version only',
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
    expect(await said(service, { text: 'Hello', pins: staging })).toBe('applied: adopted made');
    expect(await said(service, { text: 'Hello', pins: staging })).toBe('unchanged:');
    expect(backend.countVersions('p1')).toBe(1);
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
      const service = dropping(backend);
      expect(await said(service, parts)).toBe(`${first} service/drops-metadata`);
      expect(await said(service, parts)).toMatch(/^unchanged:( service\/drops-metadata)?$/);
      expect(await said(service, { ...parts, text: 'Two' })).toBe(`${first} service/drops-metadata`);
      expect(await said(service, { ...parts, text: 'Two' })).toMatch(/^unchanged:/);
      expect(backend.countVersions('p1')).toBe(2);
      if (parts.pins === staging) expect(backend.serves('p1', 'staging')?.[1]).toBe('Two');
    },
  );
});
