import { describe, expect, test } from 'vitest';
import type { LedgerEntry } from '../../src/ledger/stamp.ts';
import { addOwn, brief, outcomeLine, sync, type SyncParts } from './support.ts';
import { type Backend, backends, inMemoryBackend } from '../doubles/backends.ts';
import { entry, file } from '../planning/support.ts';

const pins = { staging: 'latest', production: 1 };

const one = entry(1, 'One');

/** Versions One (active nowhere), Two (in staging and tracked); Two's ledger says of One what is given. */
async function twoVersions(start: () => Promise<Backend> | Backend, remembered: LedgerEntry = one): Promise<Backend> {
  const service = await start();
  service.addVersion('p1', { text: 'One' });
  const id = addOwn(service, 'Two', [remembered]);
  for (const environment of ['staging', 'promptsync']) service.activate('p1', environment, id);
  return service;
}

async function pinOne(service: Backend, parts: SyncParts = {}, production: string | number = 1) {
  const { lines, outcomes } = await sync(service, [file({ text: 'Two', pins: { ...pins, production } })], parts);
  return { lines, said: outcomes.map(outcomeLine)[0], hint: outcomes[0]?.problems[0]?.message };
}

describe.each(backends)('A version that is active nowhere (%s)', (_, start) => {
  test('is looked at before it goes live', async () => {
    const service = await twoVersions(start);
    const { lines, said } = await pinOne(service);
    expect(lines).toStrictEqual([
      'set p1 promptsync-look ver_1',
      'read p1 promptsync-look',
      'set p1 production ver_1',
      'read p1 production',
    ]);
    expect(said).toBe('applied: made');
  });

  test.each([
    ['another text', { ...one, digest: entry(1, 'Other').digest }, 1],
    ['another number', { ...one, number: 7 }, 7],
  ])('does not go live where the ledger has %s for it', async (_sentence, reported, number) => {
    const service = await twoVersions(start, reported);
    const { said, hint } = await pinOne(service, {}, number);
    expect(said).toBe('failed: not_made apply/other-content');
    expect(hint).toBe('Setting "production": Version v1 is not what the ledger knows it as; it was not made active.');
    expect(service.serves('p1', 'production')).toBeNull();
  });

  test.each([
    ['has the same text at the commit of the ledger', { 'c1:prompts/a.md': 'One' }],
    ['does not have the commit of the ledger', { 'c2:prompts/a.md': 'Other' }],
  ])('goes live where git %s', async (_sentence, inGit) => {
    expect((await pinOne(await twoVersions(start), { inGit })).said).toBe('applied: made');
  });

  test('does not go live where git has another text at that commit, and is not even looked at', async () => {
    const service = await twoVersions(start);
    const { said, hint, lines } = await pinOne(service, { inGit: { 'c1:prompts/a.md': 'Other' } });
    expect([said, lines]).toStrictEqual(['failed: not_made apply/other-content', []]);
    expect(hint).toMatch(/^Setting "production": Version v1 is not what git has at c1:prompts\/a\.md; it was not/);
    expect(service.serves('p1', 'production')).toBeNull();
  });
});

describe('Git has nothing to say of a version', () => {
  const { commit: _commit, ...withoutCommit } = one;
  const { path: _path, ...withoutPath } = one;
  test.each([
    ['commit', withoutCommit],
    ['path', withoutPath],
  ])('where the ledger names no %s', async (_, remembered) => {
    const inGit = { 'undefined:prompts/a.md': 'Other', 'c1:undefined': 'Other' };
    expect((await pinOne(await twoVersions(inMemoryBackend, remembered), { inGit })).said).toBe('applied: made');
  });

  test('that was read in this run: it is looked at no more either', async () => {
    const service = inMemoryBackend();
    service.activate('p1', 'staging', addOwn(service, 'One'));
    const wanted = file({ text: 'One', pins: { staging: 'latest', production: 1 } });
    const { lines } = await sync(service, [wanted], { inGit: { 'c1:prompts/a.md': 'Reviewed' } });
    expect(brief(lines)).toStrictEqual(['track ver_1', 'production ver_1']);
  });
});
