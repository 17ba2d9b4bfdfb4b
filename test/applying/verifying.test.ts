import { describe, expect, test } from 'vitest';
import type { LedgerEntry } from '../../src/providers/four-call/version-record.ts';
import { addManagedVersion, shortenCalls, formatOutcome, sync, type SyncParts } from './support.ts';
import { type Backend, backends, inMemoryBackend } from '../doubles/backends.ts';
import { entry, file } from '../planning/support.ts';

const pins = { staging: 'latest', production: 1 };

const one = entry(1, 'One');

/**
 * Starts a service with the versions One and Two. One is active nowhere. Two is active in staging and in the tracking
 * environment, and its ledger contains `remembered` for One.
 */
async function startWithTwoVersions(
  start: () => Promise<Backend> | Backend,
  remembered: LedgerEntry = one,
): Promise<Backend> {
  const service = await start();
  service.addVersion('p1', { text: 'One' });
  const id = addManagedVersion(service, 'Two', [remembered]);
  for (const environment of ['staging', 'promptsync']) service.activate('p1', environment, id);
  return service;
}

async function syncWithPinnedNumber(service: Backend, parts: SyncParts = {}, production: string | number = 1) {
  const { lines, outcomes } = await sync(service, [file({ text: 'Two', pins: { ...pins, production } })], parts);
  return { lines, outcome: outcomes.map(formatOutcome)[0], message: outcomes[0]?.problems[0]?.message };
}

describe.each(backends)('activation of an inactive version (backend: %s)', (_, start) => {
  test('Before activating a version that no environment serves, promptsync probes it', async () => {
    const service = await startWithTwoVersions(start);
    const { lines, outcome } = await syncWithPinnedNumber(service);
    expect(lines).toStrictEqual([
      'set p1 promptsync-look ver_1',
      'read p1 promptsync-look',
      'set p1 production ver_1',
      'read p1 production',
    ]);
    expect(outcome).toBe('applied: made');
  });

  test.each([
    [
      'promptsync does not activate a version whose text differs from its ledger entry',
      { ...one, digest: entry(1, 'Other').digest },
      1,
    ],
    ['promptsync does not activate a version whose number differs from its ledger entry', { ...one, number: 7 }, 7],
  ])('%s', async (_title, reported, number) => {
    const service = await startWithTwoVersions(start, reported);
    const { outcome, message } = await syncWithPinnedNumber(service, {}, number);
    expect(outcome).toBe('failed: not_made apply/other-content');
    expect(message).toBe(
      'Setting "production": Version v1 does not match its entry in the ledger, so promptsync did not activate it.',
    );
    expect(service.serves('p1', 'production')).toBeNull();
  });

  test('promptsync activates a version if git has the same text at the commit of its ledger entry, or lacks the commit', async () => {
    for (const inGit of [{ 'c1:prompts/a.md': 'One' }, { 'c2:prompts/a.md': 'Other' }])
      expect((await syncWithPinnedNumber(await startWithTwoVersions(start), { inGit })).outcome).toBe('applied: made');
  });

  test('promptsync neither probes nor activates a version whose text differs from the committed text', async () => {
    const service = await startWithTwoVersions(start);
    const { outcome, message, lines } = await syncWithPinnedNumber(service, { inGit: { 'c1:prompts/a.md': 'Other' } });
    expect([outcome, lines]).toStrictEqual(['failed: not_made apply/other-content', []]);
    expect(message).toMatch(
      /^Setting "production": Version v1 does not match the prompt file in git \(c1:prompts\/a\.md\), so promptsync did not/,
    );
    expect(service.serves('p1', 'production')).toBeNull();
  });
});

test('promptsync activates a version that it just observed without probing it or comparing it with git', async () => {
  const service = inMemoryBackend();
  service.activate('p1', 'staging', addManagedVersion(service, 'One'));
  const wanted = file({ text: 'One', pins: { staging: 'latest', production: 1 } });
  const { lines } = await sync(service, [wanted], { inGit: { 'c1:prompts/a.md': 'Reviewed' } });
  expect(shortenCalls(lines)).toStrictEqual(['track ver_1', 'production ver_1']);
});
