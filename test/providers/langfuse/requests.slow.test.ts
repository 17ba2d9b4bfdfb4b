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
const BOTH = { staging: 'latest', production: 'latest' };
const ORDER = 'environments: { staging: {}, production: {} }\n';

/** The changes of the first prompt. At the start, staging and production serve the only version of every prompt. */
const STEPS: readonly (readonly [step: string, parts: PromptParts])[] = [
  ['No prompt file has changed', {}],
  ['A new text is deployed to staging only', { text: 'Two.', pins: { staging: 'latest', production: 1 } }],
  ['The new text is promoted from staging to production', { text: 'Two.', pins: { staging: 'latest', production: 2 } }],
  ['The text in staging is reverted', { pins: { staging: 'latest', production: 2 } }],
];

type Started = { readonly baseUrl: string; readonly requests: readonly FrontRequest[] };

/**
 * The lists, reads and writes of each plan, and of the sync after it. A sync plans first, and observes a prompt again
 * right before it writes the prompt.
 */
const TABLES: readonly (readonly [name: string, Service, start: () => Promise<Started>, counts: readonly string[]])[] =
  [
    [
      integration.name,
      integration,
      () => startTestService(NAMES),
      ['0 6 0, 0 6 0', '0 7 0, 0 12 3', '0 7 0, 0 11 1', '0 7 0, 0 12 2'],
    ],
    [langfuse.name, langfuse, () => startLangfuse(), ['0 6 0, 0 6 0', '1 6 0, 2 9 1', '1 6 0, 2 9 1', '1 7 0, 2 10 1']],
  ];

/** Runs all steps in one repository and counts the requests of each plan and each sync. */
test.each(TABLES)('plan and sync send the expected number of requests to the %s service', async (...row) => {
  const [, service, start, table] = row;
  const { baseUrl, requests } = await start();
  const folder = makeFolder();
  initRepository(folder);
  const counted = async (...words: readonly string[]): Promise<string> => {
    const from = requests.length;
    expect((await run(folder, words, { environment: service.environment(baseUrl) })).exitCode).toBe(0);
    return count(service, requests.slice(from));
  };
  const commit = (step: string, first: PromptParts): void => {
    const files = NAMES.map((name) => {
      const parts = { key: `prm_${name}`, name: `prm_${name}`, pins: BOTH, text: 'One.', ...(name === 'a' && first) };
      return [`prompts/${name}.md`, promptText(name, parts)];
    });
    writeFiles(folder, { 'promptsync.yaml': CONFIG + service.settings + ORDER, ...Object.fromEntries(files) });
    commitAll(folder, step);
  };
  commit('the first sync', {});
  await counted('sync', '--yes');
  const counts: string[] = [];
  for (const [step, parts] of STEPS) {
    if (Object.keys(parts).length > 0) commit(step, parts);
    counts.push(`${step}: ${await counted('sync', '--dry-run')}, ${await counted('sync', '--yes')}`);
  }
  expect(counts).toEqual(STEPS.map(([step], index) => `${step}: ${table[index]}`));
});

function count(service: Service, requests: readonly FrontRequest[]): string {
  const calls = requests.map((request) => service.asked(request).call);
  const writes = requests.filter(({ method }) => method !== 'GET').length;
  const listings = calls.filter((call) => call === 'read list').length;
  return `${listings} ${calls.length - listings - writes} ${writes}`;
}
