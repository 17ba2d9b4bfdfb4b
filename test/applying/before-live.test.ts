import { describe, expect, test } from 'vitest';
import type { LedgerEntry } from '../../src/ledger/stamp.ts';
import { inMemoryBackend } from '../doubles/backends.ts';
import { entry, file } from '../planning/support.ts';
import { addOwn, outcomeLine, sync, type SyncParts } from './support.ts';

/** Pins production to version 1, which is active nowhere, by the number that the ledger gives it. */
async function pinOne(remembered: LedgerEntry, parts: SyncParts = {}) {
  const service = inMemoryBackend();
  service.addVersion('p1', { text: 'One' });
  service.activate('p1', 'staging', addOwn(service, 'Two', [remembered]));
  const pins = { staging: 'latest', production: remembered.number };
  const { lines, outcomes } = await sync(service, [file({ text: 'Two', pins })], parts);
  return { lines, line: outcomes.map(outcomeLine)[0], said: outcomes[0]?.problems[0]?.message };
}

describe('A version that is not what is known of it', () => {
  test.each([
    ['a ledger', entry(7, 'One', { id: 'ver_1' }), {}, 'the ledger knows it as'],
    ['git', entry(1, 'One'), { 'c1:prompts/a.md': 'Reviewed' }, 'git has at c1:prompts/a.md'],
  ])('is told with the environment that it was for: known by %s', async (_, remembered, inGit, known) => {
    const { line, said } = await pinOne(remembered, { inGit });
    expect(line).toBe('failed: not_made apply/other-content');
    expect(said).toBe(`Setting "production": Version v1 is not what ${known}; it was not made active.`);
  });
});

describe('Git has nothing to say of a version', () => {
  const { commit: _commit, ...withoutCommit } = entry(1, 'One');
  const { path: _path, ...withoutPath } = entry(1, 'One');
  test.each([
    ['commit', withoutCommit],
    ['path', withoutPath],
  ])('where the ledger names no %s', async (_, remembered) => {
    const inGit = { 'undefined:prompts/a.md': 'Other', 'c1:undefined': 'Other' };
    expect((await pinOne(remembered, { inGit })).line).toBe('applied: made');
  });

  test('that was read in this run: it is looked at no more either', async () => {
    const service = inMemoryBackend();
    service.activate('p1', 'staging', addOwn(service, 'One'));
    const wanted = file({ text: 'One', pins: { staging: 'latest', production: 1 } });
    const { lines } = await sync(service, [wanted], { inGit: { 'c1:prompts/a.md': 'Reviewed' } });
    expect(lines).toStrictEqual(['set p1 production ver_1', 'read p1 production']);
  });
});
