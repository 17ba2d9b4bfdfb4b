import { describe, expect, onTestFinished, test } from 'vitest';
import { API_KEY, fieldsOf, idOf, textOf } from '../../bench/core/prompts.ts';
import { listen } from '../../bench/stand-ins/listen.ts';
import { makePromptService } from '../../bench/stand-ins/prompts.ts';
import { startServer } from '../../src/embedded/server.ts';
import { openStore } from '../../src/embedded/prompt-store.ts';
import { NOW } from '../embedded/support.ts';

type Step = readonly [method: string, path: string, body?: unknown];

const PROMPT = `/v1/integration/prompts/${idOf(0)}`;

const stories: Readonly<Record<string, readonly Step[]>> = {
  'reads of a prompt without versions': [
    ['GET', PROMPT],
    ['GET', `${PROMPT}?environment=staging`],
  ],
  'the creation and activation of versions': [
    ['POST', `${PROMPT}/versions`, { content: 'One' }],
    [
      'POST',
      `${PROMPT}/versions`,
      { content: 'Two – é', change_summary: 'Why', metadata_: { promptsync: { a: [1] } } },
    ],
    ['POST', `${PROMPT}/set-active`, { environment: 'staging', version_id: 'the first' }],
    ['GET', `${PROMPT}?environment=staging`],
    ['POST', `${PROMPT}/set-active`, { environment: 'staging', version_id: 'the second' }],
    ['GET', `${PROMPT}?environment=staging`],
    ['GET', `${PROMPT}?environment=production`],
  ],
  'changes of fields': [
    ['PATCH', PROMPT, { name: 'Other' }],
    ['PATCH', PROMPT, { key: 'k/2', description: '' }],
    ['GET', PROMPT],
  ],
};

describe('the benchmark service', () => {
  test.each(Object.entries(stories))(
    'the benchmark service responds to %s exactly like the embedded service',
    async (_, steps) => {
      const [standIn, embedded] = [await startStandIn(), await startEmbedded()];
      expect(await readAnswers(standIn, steps)).toEqual(await readAnswers(embedded, steps));
    },
  );

  test('the benchmark service serves preloaded prompts and counts requests', async () => {
    const service = await listen(makePromptService());
    onTestFinished(service.close);
    service.stock({ count: 2, behind: 1 });
    const reads = [0, 1].map((index): Step => ['GET', `/v1/integration/prompts/${idOf(index)}?environment=production`]);
    const texts = await readAnswers(service.baseUrl, reads);
    expect(texts.map(({ body }) => body)).toMatchObject([
      { active_version: { version_number: 1, content: textOf(0, 0) } },
      { active_version: { version_number: 1, content: textOf(1, 1) } },
    ]);
    expect(service.count()).toBe(2);
  });
});

async function startStandIn(): Promise<string> {
  const service = await listen(makePromptService());
  onTestFinished(service.close);
  service.stock({ count: 1, behind: 0, empty: true });
  return service.baseUrl;
}

async function startEmbedded(): Promise<string> {
  const store = openStore(':memory:', { now: () => NOW });
  store.authorizeKey({ apiKey: API_KEY, projectId: 'bench' });
  store.registerPrompt({ id: idOf(0), projectId: 'bench', ...fieldsOf(0) });
  const server = await startServer({ store, port: 0 });
  onTestFinished(() => server.close());
  return server.baseUrl;
}

/** Returns the answers. Version ids and times are replaced by words because they differ between the services. */
async function readAnswers(baseUrl: string, steps: readonly Step[]) {
  const ids: string[] = [];
  const words = ['the first', 'the second'];
  const answers: { status: number; body: unknown }[] = [];
  for (const [method, path, body] of steps) {
    const sent = JSON.stringify(body)?.replace(/the (first|second)/, (word) => ids[words.indexOf(word)] ?? word);
    const headers = { 'x-api-key': API_KEY, 'content-type': 'application/json' };
    const response = await fetch(baseUrl + path, { method, headers, ...(sent === undefined ? {} : { body: sent }) });
    const text = await response.text();
    if (path.endsWith('/versions')) ids.push(String(JSON.parse(text).id));
    const replaced = ids.reduce((all, id, index) => all.replaceAll(id, words[index] ?? ''), text);
    answers.push({
      status: response.status,
      body: JSON.parse(replaced.replaceAll(/"\d{4}-\d\d-\d\dT[^"]+"/g, '"a time"')),
    });
  }
  return answers;
}
