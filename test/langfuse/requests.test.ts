import { expect, test } from 'vitest';
import { startLangfuse } from '../doubles/langfuse-server.ts';
import type { Service } from '../faults/calls.ts';
import { integration } from '../faults/integration.ts';
import { langfuse } from '../faults/langfuse.ts';
import { commitAll, initRepository, makeFolder, writeFiles } from '../support/folder.ts';
import type { FrontRequest } from '../support/front.ts';
import { CONFIG, promptText, type PromptParts } from '../support/prompts.ts';
import { run } from '../support/run.ts';
import { startTestService } from '../support/service.ts';

const NAMES = ['a', 'b', 'c'];

type Table = {
  readonly service: Service;
  readonly start: () => Promise<{ readonly baseUrl: string; readonly requests: readonly FrontRequest[] }>;
  readonly table: readonly Row[];
};

/** What becomes of the first of the prompts, which all stand on their only version in staging and production. */
const STEPS: readonly (readonly [step: string, parts: PromptParts])[] = [
  ['nothing to do', {}],
  ['an edit that goes to staging', { text: 'Two.', pins: { staging: 'latest', production: 1 } }],
  ['its promotion', { text: 'Two.', pins: { staging: 'latest', production: 2 } }],
  ['a revert of the text', { pins: { staging: 'latest', production: 2 } }],
];

type Count = readonly [listings: number, reads: number, writes: number];
type Row = readonly [step: string, plan: Count, sync: Count];

/** A sync plans first, and looks at a prompt once more right before it writes. */
const TABLES: readonly Table[] = [
  {
    service: integration,
    start: () => startTestService(NAMES),
    table: [
      ['nothing to do', [0, 6, 0], [0, 6, 0]],
      ['an edit that goes to staging', [0, 7, 0], [0, 12, 3]],
      ['its promotion', [0, 7, 0], [0, 11, 1]],
      ['a revert of the text', [0, 7, 0], [0, 12, 2]],
    ],
  },
  {
    service: langfuse,
    start: () => startLangfuse(),
    table: [
      ['nothing to do', [0, 6, 0], [0, 6, 0]],
      ['an edit that goes to staging', [1, 6, 0], [2, 9, 1]],
      ['its promotion', [1, 6, 0], [2, 9, 1]],
      ['a revert of the text', [1, 7, 0], [2, 11, 1]],
    ],
  },
];

/** Each step in the same repository: the requests of its plan, and those of its sync. */
test.each(TABLES)('the same three prompts on the double of $service.name', async ({ service, start, table }) => {
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
      const parts = { key: `prm_${name}`, name: `prm_${name}`, text: 'One.', pins: BOTH, ...(name === 'a' && first) };
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
});

const BOTH = { staging: 'latest', production: 'latest' };
const ORDER = 'environments: { staging: {}, production: {} }\n';

function count(service: Service, requests: readonly FrontRequest[]): Count {
  const calls = requests.map((request) => service.asked(request).call);
  const writes = requests.filter(({ method }) => method !== 'GET').length;
  const listings = calls.filter((call) => call === 'read list').length;
  return [listings, calls.length - listings - writes, writes];
}
