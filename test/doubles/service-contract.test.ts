import { describe, expect, test } from 'vitest';
import { contentDigest, digestOf, EMPTY_METADATA_DIGEST, metadataDigest } from '../../src/domain/digest.ts';
import type { NewVersion, PromptService } from '../../src/service/prompt-service.ts';
import { stampToWire, toVersion, type Stamp } from '../../src/ledger/stamp.ts';
import { failureOf } from '../service/support.ts';
import { backends } from './backends.ts';
import { recorded } from './recorded.ts';

const stamp: Stamp = {
  digest: digestOf('Hello'),
  commit: 'c0ffee',
  path: 'prompts/a.md',
  operation: 'op_1',
  ledger: [
    { number: 3, id: 'ver_x', digest: digestOf('Old'), metadataDigest: EMPTY_METADATA_DIGEST, ours: false },
    {
      number: 2,
      id: 'ver_w',
      digest: digestOf('Older'),
      metadataDigest: EMPTY_METADATA_DIGEST,
      ours: true,
      pinned: true,
    },
  ],
};

function draft(text: string, rest: Partial<NewVersion> = {}): NewVersion {
  return { text, ...rest, metadata: { ...rest.metadata, promptsync: stampToWire(stamp) } };
}

describe.each(backends)('a prompt service (%s)', (_, start) => {
  test('reads the fields of a prompt without any version', async () => {
    const service = await start();
    expect(await service.readPrompt('p1', 'staging')).toStrictEqual({
      id: 'p1',
      key: 'k/1',
      name: 'First',
      description: 'About it.',
      latestVersionId: null,
      activeVersion: null,
    });
  });

  test('reads a description that is absent as the empty text', async () => {
    expect(await (await start()).readPrompt('p2')).toMatchObject({ description: '' });
  });

  test('counts the versions of each prompt from 1 and makes none of them active', async () => {
    const service = await start();
    const numbers = [];
    for (const id of ['p1', 'p1', 'p2']) numbers.push((await service.createVersion(id, draft('Hello'))).number);
    expect(numbers).toStrictEqual([1, 2, 1]);
    expect(await service.readPrompt('p1', 'staging')).toMatchObject({ latestVersionId: 'ver_2', activeVersion: null });
  });

  test('answers a new version as it reads it later: own metadata and stamp apart', async () => {
    const service = await start();
    const metadata = { model: 'gpt-5', nested: { list: [1, null, 'x'] } };
    const made = await service.createVersion('p1', draft('Hello', { metadata, changeSummary: 'Say hello' }));
    await service.setActive('p1', 'staging', made.id);
    expect(toVersion(made)).toStrictEqual({
      id: 'ver_1',
      number: 1,
      text: 'Hello',
      digest: digestOf('Hello'),
      metadata,
      metadataDigest: metadataDigest(metadata),
      stamp,
    });
    expect((await service.readPrompt('p1', 'staging')).activeVersion).toStrictEqual(made);
  });

  test('keeps a text as it is, and its digest is blind to CRLF', async () => {
    const service = await start();
    const made = await service.createVersion('p1', draft('a\r\nb\rc\n\n \u{1f600}'));
    expect(made.text).toBe('a\r\nb\rc\n\n \u{1f600}');
    expect(toVersion(made).digest).toBe(contentDigest('a\nb\rc\n\n \u{1f600}'));
  });

  test('shows a version that somebody else made without a stamp', async () => {
    const service = await start();
    service.activate('p1', 'staging', service.addVersion('p1', { text: 'Theirs', metadata: { by: 'hand' } }));
    expect((await service.readPrompt('p1', 'staging')).activeVersion).toMatchObject({
      text: 'Theirs',
      metadata: { by: 'hand' },
    });
  });

  test('changes the given fields only, and no version', async () => {
    const service = await start();
    await service.createVersion('p1', draft('Hello'));
    const answer = await service.updatePrompt('p1', { description: '' });
    expect(answer).toMatchObject({ key: 'k/1', name: 'First', description: '', latestVersionId: 'ver_1' });
    await service.updatePrompt('p1', { key: 'k/9', name: 'Ninth' });
    const fields = { key: 'k/9', name: 'Ninth', description: '', latestVersionId: 'ver_1' };
    expect(await service.readPrompt('p1')).toMatchObject(fields);
  });

  test('makes one version active per environment, an older one again as well', async () => {
    const service = await start();
    await service.createVersion('p1', draft('One'));
    await service.createVersion('p1', draft('Two'));
    const steps = [
      ['staging', 'ver_2'],
      ['production', 'ver_2'],
      ['staging', 'ver_1'],
    ] as const;
    for (const [environment, id] of steps) await service.setActive('p1', environment, id);
    expect([service.serves('p1', 'staging'), service.serves('p1', 'production')]).toStrictEqual([
      ['ver_1', 'One'],
      ['ver_2', 'Two'],
    ]);
  });

  test('gives versions that are made at the same time a number each', async () => {
    const service = await start();
    const made = await Promise.all([...'abcdef'].map((text) => service.createVersion('p1', draft(text))));
    expect(made.map(({ number }) => number).toSorted()).toStrictEqual([1, 2, 3, 4, 5, 6]);
    expect(service.countVersions('p1')).toBe(6);
  });

  const calls = {
    'read-prompt': (service: PromptService, id: string) => service.readPrompt(id, 'staging'),
    'create-version': (service: PromptService, id: string) => service.createVersion(id, draft('Hello')),
    'update-prompt': (service: PromptService, id: string) => service.updatePrompt(id, { name: 'Other' }),
    'set-active': (service: PromptService, id: string) => service.setActive(id, 'staging', 'ver_1'),
  };
  const refusals = [
    ['read-prompt', 'p0', 'service/prompt-not-found'],
    ['create-version', 'p0', 'service/prompt-not-found'],
    ['update-prompt', 'p0', 'service/prompt-not-found'],
    ['set-active', 'p0', 'service/version-not-found'],
    ['read-prompt', 'q1', 'service/not-authorised'],
    ['create-version', 'q1', 'service/not-authorised'],
    ['update-prompt', 'q1', 'service/not-authorised'],
    ['set-active', 'q1', 'service/not-authorised'],
  ] as const;
  test.each(refusals)('refuses %s of %s with %s', async (call, id, code) => {
    const { effect, problem } = await failureOf(calls[call](await start(), id));
    expect([effect, problem.code]).toStrictEqual(['rejected', code]);
  });

  test.each([
    ['that is not known', 'ver_9'],
    ['of another prompt', 'ver_2'],
  ])('refuses to make a version active %s, and leaves what is', async (_sentence, versionId) => {
    const service = await start();
    await service.createVersion('p1', draft('Hello'));
    await service.createVersion('p2', draft('Hello'));
    await service.setActive('p1', 'staging', 'ver_1');
    const { effect, problem } = await failureOf(service.setActive('p1', 'staging', versionId));
    expect([effect, problem.code]).toStrictEqual(['rejected', 'service/version-not-found']);
    expect(service.serves('p1', 'staging')).toStrictEqual(['ver_1', 'Hello']);
  });

  test('is recorded call by call', async () => {
    const service = recorded(await start());
    const made = await service.createVersion('p1', draft('Hello'));
    await service.setActive('p1', 'staging', made.id);
    await service.updatePrompt('p1', { name: 'Other' });
    await service.readPrompt('p1', 'staging');
    await service.readPrompt('p1');
    expect(service.lines).toStrictEqual([
      'create p1 "Hello"',
      'set p1 staging ver_1',
      'update p1 {"name":"Other"}',
      'read p1 staging',
      'read p1',
    ]);
  });
});
