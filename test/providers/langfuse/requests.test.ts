import { expect, test } from 'vitest';
import { startLangfuse } from '../../doubles/langfuse-server.ts';
import type { Service } from '../../faults/calls.ts';
import { integration } from '../../faults/integration.ts';
import { langfuse } from '../../faults/langfuse.ts';
import { commitAll, initRepository, makeFolder, writeFiles } from '../../support/folder.ts';
import type { FrontRequest } from '../../support/front.ts';
import { CONFIG, promptText, type PromptParts } from '../../support/prompts.ts';
import { run } from '../../support/run.ts';
import { startTestService } from '../../support/service.ts';

const NAMES = ['a', 'b', 'c'];

type Table = {
  readonly prompts: string;
  readonly service: Service;
  /** The parts of a prompt file with this text. */
  readonly makeContent: (text: string) => PromptParts;
  readonly start: () => Promise<{ readonly baseUrl: string; readonly requests: readonly FrontRequest[] }>;
  readonly table: readonly Row[];
};

/** The changes of the first prompt. At the start, staging and production serve the only version of every prompt. */
const STEPS: readonly (readonly [step: string, parts: PromptParts])[] = [
  ['No prompt file has changed', {}],
  ['A new text is deployed to staging only', { text: 'Two.', pins: { staging: 'latest', production: 1 } }],
  ['The new text is promoted from staging to production', { text: 'Two.', pins: { staging: 'latest', production: 2 } }],
  ['The text in staging is reverted', { pins: { staging: 'latest', production: 2 } }],
];

type Count = readonly [listings: number, reads: number, writes: number];
type Row = readonly [step: string, plan: Count, sync: Count];

/** Text prompts and chat prompts need the same requests. */
const LANGFUSE_TABLE: readonly Row[] = [
  ['No prompt file has changed', [0, 6, 0], [0, 6, 0]],
  ['A new text is deployed to staging only', [1, 6, 0], [2, 9, 1]],
  ['The new text is promoted from staging to production', [1, 6, 0], [2, 9, 1]],
  ['The text in staging is reverted', [1, 7, 0], [2, 10, 1]],
];

/** A sync plans first, and observes a prompt again right before it writes the prompt. */
const TABLES: readonly Table[] = [
  {
    prompts: 'text prompts',
    service: integration,
    makeContent: (text) => ({ text }),
    start: () => startTestService(NAMES),
    table: [
      ['No prompt file has changed', [0, 6, 0], [0, 6, 0]],
      ['A new text is deployed to staging only', [0, 7, 0], [0, 12, 3]],
      ['The new text is promoted from staging to production', [0, 7, 0], [0, 11, 1]],
      ['The text in staging is reverted', [0, 7, 0], [0, 12, 2]],
    ],
  },
  {
    prompts: 'text prompts',
    service: langfuse,
    makeContent: (text) => ({ text }),
    start: () => startLangfuse(),
    table: LANGFUSE_TABLE,
  },
  {
    prompts: 'chat prompts',
    service: langfuse,
    makeContent: (text) => ({ type: 'chat', text: `{{role "system"}}\n${text}\n\n{{placeholder "history"}}` }),
    start: () => startLangfuse(),
    table: LANGFUSE_TABLE,
  },
];

/** Runs all steps in one repository and counts the requests of each plan and each sync. */
test.each(TABLES)(
  'plan and sync of $prompts send the expected number of requests to the $service.name service',
  async ({ service, makeContent, start, table }) => {
    const { baseUrl, requests } = await start();
    const folder = makeFolder();
    initRepository(folder);
    const options = { environment: service.environment(baseUrl) };
    const counted = async (...words: readonly string[]): Promise<Count> => {
      const from = requests.length;
      expect((await run(folder, words, options)).exitCode).toBe(0);
      return count(service, requests.slice(from));
    };
    const commit = (step: string, first: PromptParts): void => {
      const files = NAMES.map((name) => {
        const { text = 'One.', ...others } = name === 'a' ? first : {};
        const parts = { key: `prm_${name}`, name: `prm_${name}`, pins: BOTH, ...others, ...makeContent(text) };
        return [`prompts/${name}.md`, promptText(name, parts)];
      });
      writeFiles(folder, { 'promptsync.yaml': CONFIG + service.settings + ORDER, ...Object.fromEntries(files) });
      commitAll(folder, step);
    };
    commit('the first sync', {});
    await counted('sync', '--yes');
    const rows: Row[] = [];
    for (const [step, parts] of STEPS) {
      if (Object.keys(parts).length > 0) commit(step, parts);
      rows.push([step, await counted('sync', '--dry-run'), await counted('sync', '--yes')]);
    }
    expect(rows).toEqual(table);
  },
);

const BOTH = { staging: 'latest', production: 'latest' };
const ORDER = 'environments: { staging: {}, production: {} }\n';

function count(service: Service, requests: readonly FrontRequest[]): Count {
  const calls = requests.map((request) => service.asked(request).call);
  const writes = requests.filter(({ method }) => method !== 'GET').length;
  const listings = calls.filter((call) => call === 'read list').length;
  return [listings, calls.length - listings - writes, writes];
}

/** Makes a committed workspace on a new Langfuse, and a function that counts the requests of a command line. */
async function makeCountedScene(files: Readonly<Record<string, string>>) {
  const double = await startLangfuse();
  const folder = makeFolder();
  initRepository(folder);
  const commit = (changed: Readonly<Record<string, string>>): void => {
    writeFiles(folder, changed);
    commitAll(folder, 'Change the prompts');
  };
  commit({ 'promptsync.yaml': CONFIG + langfuse.settings, ...files });
  const countRequests = async (...words: readonly string[]): Promise<number> => {
    const from = double.requests.length;
    expect((await run(folder, words, double)).exitCode).toBe(0);
    return double.requests.length - from;
  };
  return { store: double.store, commit, countRequests };
}

test('a plan of 200 unchanged Langfuse prompts sends one request for each label', async () => {
  const files = Array.from({ length: 200 }, (_, n) => [`prompts/p${n}.md`, promptText(`p${n}`, NAMED(`p${n}`))]);
  const { countRequests } = await makeCountedScene(Object.fromEntries(files));
  await countRequests('sync', '--yes');
  expect(await countRequests('plan')).toBe(200);
});

test('a sync of an edit reads the versions of a Langfuse prompt only once', async () => {
  const { store, commit, countRequests } = await makeCountedScene({});
  for (let number = 1; number <= 25; number += 1) store.addVersion('prm_a', { text: `Text ${number}.` });
  store.moveLabel('prm_a', 25, 'staging');
  commit({ 'prompts/a.md': promptText('a', { ...NAMED('a'), text: 'Edited.' }) });
  const plan = await countRequests('plan');
  // The label, the listing and the 19 other versions among the 20 newest.
  expect(plan).toBe(21);
  // The sync plans, reads the label and the listing again, creates the version and reads the label back.
  expect(await countRequests('sync', '--yes')).toBe(plan + 4);
});

test('the promotion of a Langfuse prompt to two labels sends one PATCH', async () => {
  const pins = { staging: 1, production: 1 };
  const { store, commit, countRequests } = await makeCountedScene({});
  for (const text of ['One.', 'Two.']) store.addVersion('prm_a', { text });
  for (const label of ['staging', 'production']) store.moveLabel('prm_a', 1, label);
  commit({ 'prompts/a.md': promptText('a', { ...NAMED('a'), text: 'Two.', pins }) });
  commit({ 'prompts/a.md': promptText('a', { ...NAMED('a'), text: 'Two.', pins: { staging: 2, production: 2 } }) });
  await countRequests('sync', '--yes');
  expect(store.requests.filter((request) => request.startsWith('PATCH'))).toEqual([
    'PATCH prm_a v2 [staging, production]',
  ]);
});

const NAMED = (id: string): PromptParts => ({ key: `prm_${id}`, name: `prm_${id}` });
