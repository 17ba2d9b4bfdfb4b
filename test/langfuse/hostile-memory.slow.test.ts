import { createServer } from 'node:http';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { childEnvironment, spawnNode } from '../support/cli.ts';
import { makeRepository } from '../support/folder.ts';
import { listen } from '../support/front.ts';
import { parseReport } from '../support/run.ts';
import { PUBLIC_KEY, SECRET_KEY } from '../doubles/langfuse-server.ts';

const MEASURED = resolve(import.meta.dirname, '../faults/measured-run.ts');
const MIB = 1024 * 1024;

/** A full page of the listing with some 31 MiB, all of it within the limits of a prompt. */
function heavyPage(): Buffer {
  const label = 'x'.repeat((31 * MIB) / 10_000);
  const labels = Array.from({ length: 100 }, () => label);
  const data = Array.from({ length: 100 }, (_, at) => ({ name: `heavy-${at}`, versions: [1], labels }));
  return Buffer.from(JSON.stringify({ data }));
}

test.each([
  ['plan', 'prompts/known.md'],
  ['status', '--orphans'],
  ['import', '**'],
])('A Langfuse that lists 31 MiB per page without end takes less than 600 MB of memory in %s %s', async (...words) => {
  const page = heavyPage();
  const version = { name: 'known', version: 1, type: 'text', prompt: 'Served.', config: {}, labels: ['staging'] };
  let pages = 0;
  const server = createServer(({ url = '' }, response) => {
    pages += Number(url.includes('page='));
    response.end(url.includes('page=') ? page : JSON.stringify(version));
  });
  const folder = makeRepository({
    'promptsync.yaml': 'service: { provider: langfuse }\nenvironments: { staging: {} }\n',
    'prompts/known.md': '---\nid: known\npins:\n  staging: latest\n---\n\nWanted.\n',
  });
  const environment = childEnvironment({
    LANGFUSE_HOST: await listen(server),
    LANGFUSE_PUBLIC_KEY: PUBLIC_KEY,
    LANGFUSE_SECRET_KEY: SECRET_KEY,
  });
  const ran = await spawnNode(MEASURED, [...words, '--format', 'json'], { cwd: folder, environment }).ended;
  const peak = 1024 * Number(/peak (\d+)/.exec(ran.stderr)?.[1] ?? Number.NaN);
  console.log(`${words.join(' ')}: ${pages} pages, peak memory ${Math.round(peak / MIB)} MiB`);
  const { problems, prompts } = parseReport(ran.stdout);
  const codes = [...problems, ...prompts.flatMap((prompt) => prompt.problems)].map(({ code }) => code);
  expect({ exitCode: ran.exitCode, codes }).toEqual({ exitCode: 1, codes: ['langfuse/listing-too-large'] });
  expect(peak).toBeLessThan(600_000_000);
});
