import { expect, test } from 'vitest';
import { makeReadRequest } from '../../../src/observing/observe-prompts.ts';
import { startLangfuse } from '../../doubles/langfuse-server.ts';
import { file, rules, type FileParts } from '../../planning/support.ts';
import { startFront } from '../../support/front.ts';
import { openClient, openProvider } from './support.ts';

const request = (parts: FileParts) => makeReadRequest(file({ pins: { staging: 'latest' }, ...parts }), rules());

/** Starts a Langfuse in which the newest of these texts of the prompt `p1` has the label staging. */
async function start(...texts: readonly string[]) {
  const langfuse = await startLangfuse();
  for (const text of texts) langfuse.store.addVersion('p1', { text });
  langfuse.store.moveLabel('p1', texts.length, 'staging');
  return { langfuse, store: langfuse.store, provider: openProvider(langfuse.baseUrl) };
}

test('A prompt in sync takes one request for each of its labels', async () => {
  const { langfuse, store, provider } = await start('One.');
  store.moveLabel('p1', 1, 'production');
  await provider.observe(request({ text: 'One.', pins: { staging: 'latest', production: 'latest' } }));
  expect(langfuse.requests).toHaveLength(2);
});

test('An edited prompt takes requests for its label, for the list, and once for each other of its 20 newest versions', async () => {
  const { langfuse, provider } = await start(...Array.from({ length: 25 }, (_, index) => `Text ${index}.`));
  const { observe } = provider.makeWriter(request({ text: 'Edited.' }));
  await observe();
  expect(langfuse.requests.splice(0)).toHaveLength(1 + 1 + 19);
  await observe();
  expect(langfuse.requests).toHaveLength(2);
});

test('A read finds a version with the text of the file only among the 20 newest versions and those with labels', async () => {
  const texts = ['Oldest.', ...Array.from({ length: 20 }, (_, index) => `Text ${index}.`)];
  const { store, provider } = await start(...texts);
  const find = async (text: string) =>
    (await provider.observe(request({ text }))).known.some(({ content }) => content?.text === text);
  expect([await find('Text 0.'), await find('Oldest.')]).toEqual([true, false]);
  store.moveLabel('p1', 1, 'canary');
  expect(await find('Oldest.')).toBe(true);
});

test('The client stops requesting pages of the prompt list once it finds the prompt', async () => {
  const data = Array.from({ length: 100 }, () => ({ name: 'p1', versions: [1], labels: [] }));
  const { baseUrl, requests } = await startFront({
    answer: () => ({ status: 200, body: JSON.stringify({ data }) }),
  });
  expect(await openClient(baseUrl).find('p1')).toMatchObject({ name: 'p1' });
  expect(requests).toHaveLength(1);
});

test.each<[sentence: string, pins: FileParts['pins'] & object, number: number | undefined]>([
  ['A new version inherits the config of the version of the first pinned label', { qa: 1, staging: 'latest' }, 3],
  ['A new version inherits the config of the first pinned label that has a version', { eu: 1, qa: 1 }, 3],
  ['Without a pinned label that has a version, a new version inherits the newest config', { eu: 'latest' }, 4],
  ['A new version inherits no config from a version with an empty config', { staging: 'latest' }, undefined],
])('%s', async (_, pins, number) => {
  const { store, provider } = await start('One.', 'Two.');
  store.addVersion('p1', { text: 'One!', config: { model: 'a' }, labels: ['qa'] });
  store.addVersion('p1', { text: 'Three.', config: { model: 'b' } });
  const { metadataFrom } = await provider.observe(request({ text: 'New.', pins }));
  expect(metadataFrom?.number).toBe(number);
});
