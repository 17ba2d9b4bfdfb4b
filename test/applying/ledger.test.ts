import { describe, expect, test } from 'vitest';
import { inMemoryBackend, type Backend } from '../doubles/backends.ts';
import { content, entry, file, type WrittenPins } from '../planning/support.ts';
import { addOwn, sync, type SyncParts } from './support.ts';

/** The ledger of the version that an edit makes. */
async function edit(service: Backend, number: number, pins: WrittenPins, parts: SyncParts = {}) {
  const { created } = await sync(service, [file({ text: `T${number}`, pins: { staging: 'latest', ...pins } })], parts);
  return created[0]?.stamp.ledger ?? [];
}

/** A service with versions 1 to 25, the newest of which staging follows; production stands on version 1. */
async function edited(): Promise<Backend> {
  const service = inMemoryBackend();
  for (let number = 1; number <= 25; number += 1) await edit(service, number, {});
  service.activate('p1', 'production', 'ver_1');
  return service;
}

const newest = (from: number) => Array.from({ length: 20 }, (_, index) => from - index);

describe('The ledger of a new version', () => {
  test('forgets what is older than the twenty newest and was never pinned', async () => {
    const ledger = await edit(await edited(), 26, {});
    expect(ledger.map(({ number }) => number)).toStrictEqual(newest(25));
    expect(ledger.filter(({ pinned }) => pinned)).toStrictEqual([]);
  });

  test('remembers what is active in an environment that the file no longer pins, but the base does', async () => {
    const base = {
      files: new Map([['p1', file({ text: 'T25', pins: { staging: 'latest', production: 1 } })]]),
    };
    const service = await edited();
    const ledger = await edit(service, 26, {}, { base });
    expect(ledger.map(({ number }) => number)).toStrictEqual([...newest(25), 1]);
    expect(ledger.filter(({ pinned }) => pinned)).toStrictEqual([]);
  });

  test('remembers what a number stands on, once it has moved on as well', async () => {
    const service = await edited();
    const ledger = await edit(service, 26, { production: 1 });
    expect(ledger.map(({ number }) => number)).toStrictEqual([...newest(25), 1]);
    expect(ledger.filter(({ pinned }) => pinned).map(({ number }) => number)).toStrictEqual([1]);
    const later = await edit(service, 27, {});
    expect(later.map(({ number }) => number)).toStrictEqual([...newest(26), 1]);
  });

  test('remembers the twenty newest of those that were pinned, and no more', async () => {
    const service = inMemoryBackend();
    const named = (from: number) => Array.from({ length: 25 }, (_, at) => entry(from + at, `T${from + at}`));
    const pinned = named(2).map((one) => ({ ...one, pinned: true as const }));
    service.activate('p1', 'promptsync', addOwn(service, 'Head', [...pinned, ...named(27)]));
    const ledger = await edit(service, 52, {});
    expect(ledger.filter((one) => one.pinned).map(({ number }) => number)).toStrictEqual(newest(26));
    expect(ledger.filter((one) => !one.pinned).map(({ number }) => number)).toStrictEqual([...newest(51), 1]);
  });

  test('remembers what an environment goes back to with the edit', async () => {
    const service = await edited();
    const ledger = await edit(service, 26, { qa: 20 });
    expect(ledger.filter(({ pinned }) => pinned).map(({ number }) => number)).toStrictEqual([20]);
  });

  test('marks nothing that only follows: neither what is active in staging nor what will be', async () => {
    const service = inMemoryBackend();
    await edit(service, 1, { production: 'latest' });
    expect((await edit(service, 2, { production: 'latest' })).map(({ pinned }) => pinned)).toStrictEqual([undefined]);
  });

  test('remembers the head however many versions others have made since', async () => {
    const service = inMemoryBackend();
    addOwn(service, 'T1');
    service.activate('p1', 'promptsync', 'ver_1');
    for (let number = 2; number <= 30; number += 1) service.addVersion('p1', { text: `Theirs ${number}` });
    const pins = Object.fromEntries(
      Array.from({ length: 25 }, (_, index) => [`e${index}`, `version:ver_${index + 2}`]),
    );
    await sync(service, [file({ text: 'T1', pins })]);
    const { created } = await sync(service, [file({ text: 'T2', pins })]);
    expect(created[0]?.stamp.ledger.map(({ number }) => number)).toContain(1);
  });

  test('remembers for good what another ledger says was pinned once, also where that version is looked at and adopted', async () => {
    const service = inMemoryBackend();
    addOwn(service, 'Old');
    const others = Array.from({ length: 24 }, (_, index) => {
      addOwn(service, `T${index + 2}`);
      return entry(index + 2, `T${index + 2}`);
    });
    addOwn(service, 'T26', [...others.toReversed(), { ...entry(1, 'Old'), pinned: true }]);
    const wanted = file({ text: 'T27', pins: { staging: 'latest', production: 'git:v1' } });
    const { created, lines } = await sync(service, [wanted], { refs: { v1: content('Old') } });
    expect(lines).toContain('set p1 production ver_1');
    expect(created[0]?.stamp.ledger.map(({ number }) => number)).toStrictEqual([...newest(26), 1]);
  });

  test('remembers for good what only a version left behind says was pinned, of those that it knows already', async () => {
    const service = inMemoryBackend();
    for (const number of [1, 2]) await edit(service, number, {});
    addOwn(service, 'T3', [entry(2, 'T2'), { ...entry(1, 'T1'), pinned: true }]);
    const ledger = await edit(service, 4, {});
    expect(ledger.find(({ number }) => number === 1)?.pinned).toBe(true);
  });

  test("notes somebody else's version that was looked at as theirs, and nothing of it but what identifies it", async () => {
    const service = inMemoryBackend();
    await edit(service, 1, {});
    service.addVersion('p1', { text: 'Theirs', metadata: { by: 'hand' } });
    const ledger = await edit(service, 3, {});
    const { digest, metadataDigest } = content('Theirs', { by: 'hand' });
    expect(ledger[0]).toStrictEqual({ number: 2, id: 'ver_2', digest, metadataDigest, ours: false });
  });

  test("remembers the version of the file's own text that counts, which is made for nobody now", async () => {
    const service = inMemoryBackend();
    const own = [2, 3].map((number) => entry(number, 'Own', { stampFor: null }));
    const others = Array.from({ length: 25 }, (_, index) => entry(index + 4, `T${index + 4}`));
    const head = addOwn(service, 'Head', [...own, ...others]);
    service.activate('p1', 'promptsync', head);
    const wanted = file({ text: 'Own', pins: { production: 'git:v1' } });
    const { created } = await sync(service, [wanted], { refs: { v1: content('Old') } });
    expect(created[0]?.stamp.ledger.map(({ number }) => number)).toStrictEqual([...newest(28), 2, 1]);
  });
});
