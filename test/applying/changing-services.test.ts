import { describe, expect, test } from 'vitest';
import { omitKey } from '../../src/domain/json.ts';
import type { NewServiceVersion, PromptService } from '../../src/providers/four-call/prompt-service.ts';
import { formatOutcome, sync, type SyncParts } from './support.ts';
import { type Backend, inMemoryBackend } from '../doubles/backends.ts';
import { content, file, type FileParts, type WrittenPins } from '../planning/support.ts';

const staging = { staging: 'latest' };

type SentContent = NewServiceVersion['content'];

/** Wraps a service so that it stores a changed form of the content of each version that it receives. */
function rewriteVersions(backend: Backend, rewrite: (sent: SentContent) => SentContent): PromptService {
  return {
    ...backend,
    createVersion: (promptId, { content, ...version }) =>
      backend.createVersion(promptId, { ...version, content: rewrite(content) }),
  };
}

async function syncFile(service: PromptService, parts: FileParts, more: SyncParts = {}) {
  const { outcomes } = await sync(service, [file(parts)], more);
  return outcomes.map(formatOutcome)[0];
}

/** Starts a service that trims all texts. */
function startTrimming() {
  const backend = inMemoryBackend();
  return { backend, service: rewriteVersions(backend, (sent) => ({ ...sent, text: sent.text.trim() })) };
}

describe('a service that rewrites versions', () => {
  const MODEL = { metadata: { model: 'x' } };
  const rewriting: readonly (readonly [string, FileParts, rewrite: (sent: SentContent) => Partial<SentContent>])[] = [
    [
      'Each of three syncs fails with apply/rewritten and only the first creates a version if the service trims text',
      { text: 'Hello ' },
      ({ text }) => ({ text: text.trim() }),
    ],
    [
      'Each of three syncs fails with apply/rewritten and only the first creates a version if the service extends the metadata of the file',
      MODEL,
      ({ metadata }) => ({ metadata: { ...metadata, by: 'api' } }),
    ],
    [
      'Each of three syncs fails with apply/rewritten and only the first creates a version if the service drops the metadata of the file',
      MODEL,
      ({ metadata }) => ({ metadata: omitKey(metadata, 'model') }),
    ],
  ];
  test.each(rewriting)('%s', async (_effect, parts, rewrite) => {
    for (const pins of [staging, {}]) {
      const backend = inMemoryBackend();
      const service = rewriteVersions(backend, (sent) => ({ ...sent, ...rewrite(sent) }));
      expect(await syncFile(service, { ...parts, pins })).toMatch(/^failed: made.* apply\/rewritten$/);
      expect(await syncFile(service, { ...parts, pins })).toMatch(/^failed: not_made.* apply\/rewritten$/);
      expect(await syncFile(service, { ...parts, pins })).toMatch(/^failed: not_made.* apply\/rewritten$/);
      expect(backend.countVersions('p1')).toBe(1);
      expect([backend.serves('p1', 'staging'), backend.serves('p1', 'promptsync')]).toStrictEqual([null, null]);
    }
  });

  test('If the service trims text, sync succeeds as soon as the file contains the trimmed text, or a new text that needs no trimming', async () => {
    const { backend, service } = startTrimming();
    await syncFile(service, { text: 'Hello ', pins: staging });
    expect(await syncFile(service, { text: 'Hello', pins: staging })).toBe('applied: made made');
    expect(await syncFile(service, { text: 'Hello', pins: staging })).toBe('unchanged:');
    expect(backend.countVersions('p1')).toBe(2);
    await syncFile(service, { text: 'Hello ', pins: staging });
    expect(await syncFile(service, { text: 'Other', pins: staging })).toBe('applied: made made');
    expect(await syncFile(service, { text: 'Other', pins: staging })).toBe('unchanged:');
  });

  test('If a file declares no metadata, promptsync ignores metadata that the service adds to a version', async () => {
    const backend = inMemoryBackend();
    const service = rewriteVersions(backend, (sent) => ({
      ...sent,
      metadata: { ...sent.metadata, by: 'api' },
    }));
    expect(await syncFile(service, { text: 'Hello', pins: staging })).toBe('applied: made made');
    expect(await syncFile(service, { text: 'Hello', pins: staging })).toBe('unchanged:');
    expect(await syncFile(service, { text: 'Hello', pins: {} })).toBe('unchanged:');
  });

  test.each([
    [
      'The second sync of a file with metadata and a latest pin changes nothing if the service drops metadata',
      { pins: staging, metadata: { model: 'x' } },
      'applied: made made',
    ],
    [
      'The second sync of a file without pins changes nothing if the service drops metadata',
      { pins: {} },
      'applied: made',
    ],
  ])('%s', async (_title, parts, first) => {
    const backend = inMemoryBackend();
    const service = dropMetadata(backend);
    for (const text of ['One', 'Two']) {
      expect(await syncFile(service, { ...parts, text })).toBe(`${first} service/drops-metadata`);
      expect(await syncFile(service, { ...parts, text })).toMatch(/^unchanged:( service\/drops-metadata)?$/);
    }
    expect(backend.countVersions('p1')).toBe(2);
    expect(backend.serves('p1', 'staging')?.[1]).toBe(parts.pins === staging ? 'Two' : undefined);
  });
});

const WARNING =
  'The active version in "promptsync" does not contain a promptsync record. Either the service does not store `metadata_`, or the version was not created by promptsync.';

const dropMetadata = (service: Backend) => rewriteVersions(service, (sent) => ({ ...sent, metadata: {} }));

describe('a service that drops all metadata', () => {
  const edited = (text: string, pins: WrittenPins = staging) => file({ text, metadata: { model: 'x' }, pins });

  test('If the service drops all metadata, promptsync warns that the tracked version has no version record', async () => {
    const service = inMemoryBackend();
    const { outcomes } = await sync(dropMetadata(service), [edited('One')]);
    expect(outcomes[0]?.problems).toMatchObject([{ severity: 'warning', path: 'prompts/a.md', message: WARNING }]);
    const again = await sync(dropMetadata(service), [edited('One', { staging: 1 })]);
    expect(again.outcomes.map(formatOutcome)).toStrictEqual(['unchanged: service/drops-metadata']);
  });

  test('If the service drops all metadata, promptsync warns about it only once per sync even if it creates two versions', async () => {
    const service = inMemoryBackend();
    await sync(dropMetadata(service), [edited('One')]);
    const wanted = edited('Two', { staging: 'latest', production: 'git:v1' });
    const { outcomes } = await sync(dropMetadata(service), [wanted], { refs: { v1: content('Old') } });
    expect(outcomes.map(formatOutcome)).toStrictEqual(['applied: made made made made service/drops-metadata']);
  });

  test('If the service drops all metadata, promptsync cannot find the old version of a reverted text and creates a new one', async () => {
    const service = inMemoryBackend();
    for (const text of ['One', 'Two', 'One']) await sync(dropMetadata(service), [edited(text)]);
    expect(service.serves('p1', 'staging')).toStrictEqual(['ver_3', 'One']);
  });
});

test('If the service drops all metadata, a reviewed sync uses the same version for contents that differ only in metadata', async () => {
  const service = inMemoryBackend();
  await sync(dropMetadata(service), [file({ text: 'One', pins: staging })]);
  const wanted = file({ text: 'Two', metadata: { model: 'x' }, pins: { staging: 'latest', production: 'git:v1' } });
  const refs = { v1: content('Two', { model: 'y' }) };
  const { plan } = await sync(dropMetadata(service), [wanted], {
    refs,
    guards: { maxChanges: { kind: 'count', count: 0 } },
  });
  const { outcomes } = await sync(dropMetadata(service), [wanted], { refs, guards: { expectedPlan: plan.digest } });
  expect(outcomes.map(formatOutcome)).toStrictEqual(['applied: made adopted made made service/drops-metadata']);
});
