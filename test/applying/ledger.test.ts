import { expect, test } from 'vitest';
import { inMemoryBackend, type Backend } from '../doubles/backends.ts';
import { content, entry, file, type WrittenPins } from '../planning/support.ts';
import { addManagedVersion, sync, type SyncParts } from './support.ts';

/** Syncs an edited file and returns the ledger of the version that this creates. */
async function syncEdit(service: Backend, number: number, pins: WrittenPins, parts: SyncParts = {}) {
  const { created } = await sync(service, [file({ text: `T${number}`, pins: { staging: 'latest', ...pins } })], parts);
  return created[0]?.stamp.ledger ?? [];
}

/** Starts a service with versions 1 to 25: staging serves version 25, and production serves version 1. */
async function startWith25Versions(): Promise<Backend> {
  const service = inMemoryBackend();
  for (let number = 1; number <= 25; number += 1) await syncEdit(service, number, {});
  service.activate('p1', 'production', 'ver_1');
  return service;
}

const newest = (from: number) => Array.from({ length: 20 }, (_, index) => from - index);

test('A new ledger omits an old unpinned version, but includes it while a pin at the base commit makes promptsync observe it', async () => {
  const pins = { staging: 'latest', production: 1 };
  const base = { files: new Map([['p1', file({ text: 'T25', pins })]]), isDefault: false };
  for (const [parts, numbers] of [
    [{}, newest(25)],
    [{ base }, [...newest(25), 1]],
  ] as const) {
    const ledger = await syncEdit(await startWith25Versions(), 26, {}, parts);
    expect(ledger.map(({ number }) => number)).toStrictEqual(numbers);
    expect(ledger.filter(({ pinned }) => pinned)).toStrictEqual([]);
  }
});

test('If a version was pinned by number, later ledgers still list it after the pin is removed', async () => {
  const service = await startWith25Versions();
  const ledger = await syncEdit(service, 26, { production: 1 });
  expect(ledger.map(({ number }) => number)).toStrictEqual([...newest(25), 1]);
  expect(ledger.filter(({ pinned }) => pinned).map(({ number }) => number)).toStrictEqual([1]);
  const later = await syncEdit(service, 27, {});
  expect(later.map(({ number }) => number)).toStrictEqual([...newest(26), 1]);
});

test('Of the versions marked as pinned, a ledger keeps only the twenty newest', async () => {
  const service = inMemoryBackend();
  const named = (from: number) => Array.from({ length: 25 }, (_, at) => entry(from + at, `T${from + at}`));
  const pinned = named(2).map((one) => ({ ...one, pinned: true as const }));
  service.activate('p1', 'promptsync', addManagedVersion(service, 'Head', [...pinned, ...named(27)]));
  const ledger = await syncEdit(service, 52, {});
  expect(ledger.filter((one) => one.pinned).map(({ number }) => number)).toStrictEqual(newest(26));
  expect(ledger.filter((one) => !one.pinned).map(({ number }) => number)).toStrictEqual([...newest(51), 1]);
});

test('A new ledger marks an older version as pinned if the file pins its number, but not if a latest pin activated it', async () => {
  const ledger = await syncEdit(await startWith25Versions(), 26, { qa: 20 });
  expect(ledger.filter(({ pinned }) => pinned).map(({ number }) => number)).toStrictEqual([20]);
  const service = inMemoryBackend();
  await syncEdit(service, 1, { production: 'latest' });
  const [entryOfFirst, ...rest] = await syncEdit(service, 2, { production: 'latest' });
  expect([entryOfFirst?.pinned, rest]).toStrictEqual([undefined, []]);
});

test('A ledger includes the latest managed version even if many newer foreign versions exist', async () => {
  const service = inMemoryBackend();
  addManagedVersion(service, 'T1');
  service.activate('p1', 'promptsync', 'ver_1');
  for (let number = 2; number <= 30; number += 1) service.addVersion('p1', { text: `Theirs ${number}` });
  const pairs = Array.from({ length: 25 }, (_, index) => [`e${index}`, `version:ver_${index + 2}`]);
  const pins = Object.fromEntries(pairs);
  await sync(service, [file({ text: 'T1', pins })]);
  const { created } = await sync(service, [file({ text: 'T2', pins })]);
  expect(created[0]?.stamp.ledger.map(({ number }) => number)).toContain(1);
});

test('A ledger keeps one version with the text of the file even if no pin uses that text', async () => {
  const service = inMemoryBackend();
  const own = [2, 3].map((number) => entry(number, 'Own', { stampFor: null }));
  const others = Array.from({ length: 25 }, (_, index) => entry(index + 4, `T${index + 4}`));
  const head = addManagedVersion(service, 'Head', [...own, ...others]);
  service.activate('p1', 'promptsync', head);
  const wanted = file({ text: 'Own', pins: { production: 'git:v1' } });
  const { created } = await sync(service, [wanted], { refs: { v1: content('Old') } });
  expect(created[0]?.stamp.ledger.map(({ number }) => number)).toStrictEqual([...newest(28), 2, 1]);
});
