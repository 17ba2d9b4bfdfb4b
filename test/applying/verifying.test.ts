import { describe, expect, test } from 'vitest';
import type { LedgerEntry } from '../../src/ledger/stamp.ts';
import { backends, type Backend } from '../doubles/backends.ts';
import { entry, file } from '../planning/support.ts';
import { addOwn, outcomeLine, sync, type SyncParts } from './support.ts';

const pins = { staging: 'latest', production: 1 };

/** Versions One (active nowhere), Two (in staging and tracked); Two's ledger says of One what is given. */
async function twoVersions(start: () => Promise<Backend>, told: Partial<LedgerEntry> = {}): Promise<Backend> {
  const service = await start();
  service.addVersion('p1', { text: 'One' });
  const id = addOwn(service, 'Two', [{ ...entry(1, 'One'), ...told }]);
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
    ['another text', { digest: entry(1, 'Other').digest }, 1],
    ['another number', { number: 7 }, 7],
  ])('does not go live where the ledger tells %s of it', async (_sentence, told, number) => {
    const service = await twoVersions(start, told);
    const { said, hint } = await pinOne(service, {}, number);
    expect(said).toBe('failed: not_made apply/other-content');
    expect(hint).toContain('is not what the ledger knows it as');
    expect(service.serves('p1', 'production')).toBeNull();
  });

  test('goes live where git has the same text at the commit of the ledger', async () => {
    const service = await twoVersions(start);
    expect((await pinOne(service, { inGit: { 'c1:prompts/a.md': 'One' } })).said).toBe('applied: made');
  });

  test('goes live where git does not have the commit of the ledger, or the ledger tells none', async () => {
    const unknown = await twoVersions(start);
    expect((await pinOne(unknown, { inGit: { 'c2:prompts/a.md': 'Other' } })).said).toBe('applied: made');
    const { commit: _commit, path: _path, ...bare } = entry(1, 'One');
    const service = await start();
    service.addVersion('p1', { text: 'One' });
    const id = addOwn(service, 'Two', [bare]);
    for (const environment of ['staging', 'promptsync']) service.activate('p1', environment, id);
    expect((await pinOne(service, { inGit: { 'c1:prompts/a.md': 'Other' } })).said).toBe('applied: made');
  });

  test('does not go live where git has another text at that commit, and is not even looked at', async () => {
    const service = await twoVersions(start);
    const { said, hint, lines } = await pinOne(service, { inGit: { 'c1:prompts/a.md': 'Other' } });
    expect([said, lines]).toStrictEqual(['failed: not_made apply/other-content', []]);
    expect(hint).toContain('is not what git has at c1:prompts/a.md');
    expect(service.serves('p1', 'production')).toBeNull();
  });

  test('is looked at once, however many environments it goes to', async () => {
    const service = await twoVersions(start);
    const wanted = file({ text: 'Two', pins: { ...pins, qa: 1 } });
    const { lines } = await sync(service, [wanted]);
    expect(lines.filter((line) => line.startsWith('set'))).toStrictEqual([
      'set p1 promptsync-look ver_1',
      'set p1 production ver_1',
      'set p1 qa ver_1',
    ]);
  });
});
