import { describe, expect, test } from 'vitest';
import { computeDigest } from '../../src/domain/digest.ts';
import { EMPTY_METADATA_DIGEST, computeMetadataDigest } from '../../src/domain/content.ts';
import type { NewServiceVersion, PromptService } from '../../src/providers/four-call/prompt-service.ts';
import {
  renderVersionRecord,
  makeLedgerVersion,
  type VersionRecord,
} from '../../src/providers/four-call/version-record.ts';
import { failureOf } from '../http/support.ts';
import { backends } from './backends.ts';

const stamp: VersionRecord = {
  digest: computeDigest('Hello'),
  metadataDigest: EMPTY_METADATA_DIGEST,
  commit: 'c0ffee',
  path: 'prompts/a.md',
  operation: 'op_1',
  ledger: [
    { number: 3, id: 'ver_x', digest: computeDigest('Old'), metadataDigest: EMPTY_METADATA_DIGEST, isManaged: false },
  ],
};

type Parts = Omit<NewServiceVersion, 'content'> & Partial<NewServiceVersion['content']>;

function draft(text: string, { metadata, ...rest }: Parts = {}): NewServiceVersion {
  return {
    ...rest,
    content: { type: 'text', text, metadata: { ...metadata, promptsync: renderVersionRecord(stamp) } },
  };
}

describe.each(backends)('every prompt service fulfills the same contract (%s)', (_, start) => {
  test('a prompt service returns all fields of a prompt that has no versions', async () => {
    const service = await start();
    expect(await service.readPrompt('p1', 'staging')).toStrictEqual({
      id: 'p1',
      key: 'k/1',
      name: 'First',
      description: 'About it.',
      latestVersionId: null,
      activeVersion: null,
    });
    expect(await service.readPrompt('p2')).toMatchObject({ description: '' });
  });

  test('a prompt service numbers the versions of each prompt from 1 and does not activate a new version automatically', async () => {
    const service = await start();
    const numbers = [];
    for (const id of ['p1', 'p1', 'p2']) numbers.push((await service.createVersion(id, draft('Hello'))).number);
    expect(numbers).toStrictEqual([1, 2, 1]);
    expect(await service.readPrompt('p1', 'staging')).toMatchObject({ latestVersionId: 'ver_2', activeVersion: null });
  });

  test('a prompt service returns the same data when a version is read as when it was created', async () => {
    const service = await start();
    const metadata = { model: 'gpt-5', nested: { list: [1, null, 'x'] } };
    const created = await service.createVersion('p1', draft('Hello', { metadata, changeSummary: 'Say hello' }));
    await service.setActive('p1', 'staging', created.id);
    // A service need not return the creation time.
    const { createdAt: _, ...version } = makeLedgerVersion(created);
    expect(version).toStrictEqual({
      id: 'ver_1',
      number: 1,
      content: {
        type: 'text',
        text: 'Hello',
        digest: computeDigest('Hello'),
        metadata,
        metadataDigest: computeMetadataDigest(metadata),
      },
      record: stamp,
    });
    expect((await service.readPrompt('p1', 'staging')).activeVersion).toStrictEqual(created);
  });

  test('a prompt service updates only the specified fields of a prompt and does not create a version', async () => {
    const service = await start();
    await service.createVersion('p1', draft('Hello'));
    const answer = await service.updatePrompt('p1', { description: '' });
    expect(answer).toMatchObject({ key: 'k/1', name: 'First', description: '', latestVersionId: 'ver_1' });
    await service.updatePrompt('p1', { key: 'k/9', name: 'Ninth' });
    const fields = { key: 'k/9', name: 'Ninth', description: '', latestVersionId: 'ver_1' };
    expect(await service.readPrompt('p1')).toMatchObject(fields);
  });

  test('a prompt service can activate an older version in one environment without affecting another environment', async () => {
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

  const calls = {
    'read-prompt': (service: PromptService, id: string) => service.readPrompt(id, 'staging'),
    'create-version': (service: PromptService, id: string) => service.createVersion(id, draft('Hello')),
    'update-prompt': (service: PromptService, id: string) => service.updatePrompt(id, { name: 'Other' }),
    'set-active': (service: PromptService, id: string) => service.setActive(id, 'staging', 'ver_1'),
  };
  const refusals = (['read-prompt', 'create-version', 'update-prompt', 'set-active'] as const).flatMap((call) => {
    const missing = call === 'set-active' ? 'service/version-not-found' : 'service/prompt-not-found';
    return [[call, 'p0', missing] as const, [call, 'q1', 'service/not-authorised'] as const];
  });
  test.each(refusals)(
    'a prompt service rejects the call %s for prompt %s with the problem code %s',
    async (call, id, code) => {
      const { effect, problem } = await failureOf(calls[call](await start(), id));
      expect([effect, problem.code]).toStrictEqual(['rejected', code]);
    },
  );

  test.each([
    ['a prompt service refuses to activate an unknown version', 'ver_9'],
    ['a prompt service refuses to activate a version of another prompt', 'ver_2'],
  ])('%s', async (_sentence, versionId) => {
    const service = await start();
    await service.createVersion('p1', draft('Hello'));
    await service.createVersion('p2', draft('Hello'));
    await service.setActive('p1', 'staging', 'ver_1');
    const { effect, problem } = await failureOf(service.setActive('p1', 'staging', versionId));
    expect([effect, problem.code]).toStrictEqual(['rejected', 'service/version-not-found']);
    expect(service.serves('p1', 'staging')).toStrictEqual(['ver_1', 'Hello']);
  });
});
