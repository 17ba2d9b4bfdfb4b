import { createServer, type Server } from 'node:http';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { childEnvironment, spawnNode } from '../../support/cli.ts';
import { makeRepository } from '../../support/folder.ts';
import { listen } from '../../support/front.ts';
import { parseReport } from '../../support/run.ts';
import { PUBLIC_KEY, SECRET_KEY } from '../../doubles/langfuse-server.ts';

const MEASURED = resolve(import.meta.dirname, '../../faults/measured-run.ts');
const MIB = 1024 * 1024;

/** Returns a full page of the listing with about 31 MiB. Each prompt stays within its limits. */
function heavyPage(): Buffer {
  const label = 'x'.repeat((31 * MIB) / 10_000);
  const labels = Array.from({ length: 100 }, () => label);
  const data = Array.from({ length: 100 }, (_, at) => ({ name: `heavy-${at}`, versions: [1], labels }));
  return Buffer.from(JSON.stringify({ data }));
}

/** Runs a command with one prompt file against a server. `peak` is in bytes. */
async function runMeasured(server: Server, words: readonly string[]) {
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
  console.log(`${words.join(' ')}: peak memory ${Math.round(peak / MIB)} MiB`);
  return { exitCode: ran.exitCode, report: parseReport(ran.stdout), peak };
}

test('import uses less than 600 MB of memory when the Langfuse listing never ends', async () => {
  const page = heavyPage();
  const version = { name: 'known', version: 1, type: 'text', prompt: 'Served.', config: {}, labels: ['staging'] };
  const server = createServer(({ url = '' }, response) => {
    response.end(url.includes('page=') ? page : JSON.stringify(version));
  });
  const { exitCode, report, peak } = await runMeasured(server, ['import', '**']);
  const problems = [...report.problems, ...report.prompts.flatMap((prompt) => prompt.problems)];
  const codes = problems.map(({ code }) => code);
  expect({ exitCode, codes }).toEqual({ exitCode: 1, codes: ['langfuse/listing-too-large'] });
  expect(peak).toBeLessThan(600_000_000);
});

test('plan rejects a Langfuse prompt that has 190 versions with over a million config values each', async () => {
  // A version with about 3.9 MiB, which is within the limit of one version.
  const config = Array.from({ length: (13 * MIB) / 10 }, () => ({}));
  const after = JSON.stringify({ type: 'text', prompt: 'Served.', config, labels: [] }).slice(1);
  const labels = Array.from({ length: 190 }, (_, at) => `label-${at}`);
  const server = createServer(({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://127.0.0.1');
    if (searchParams.has('page')) {
      response.end(JSON.stringify({ data: [{ name: searchParams.get('name'), versions: [1, 200], labels }] }));
      return;
    }
    const name = decodeURIComponent(pathname.split('/').at(-1) ?? '');
    const version = 1 + Number(/\d+$/.exec(searchParams.get('label') ?? '')?.[0] ?? 0);
    response.end(`{"name":${JSON.stringify(name)},"version":${version},${after}`);
  });
  const { report, peak } = await runMeasured(server, ['plan']);
  expect(report.prompts).toMatchObject([{ problems: [{ code: 'langfuse/too-large' }] }]);
  expect(peak).toBeLessThan(1_500_000_000);
});

test('promptsync rejects a Langfuse version larger than 4 MiB before parsing it', async () => {
  const server = createServer((_, response) => response.end(`{"config":[${'{},'.repeat(10 * MIB)}0]}`));
  const { report, peak } = await runMeasured(server, ['plan']);
  expect(report.prompts).toMatchObject([
    { problems: [{ code: 'service/invalid-answer', message: expect.stringContaining('it is too large') }] },
  ]);
  expect(peak).toBeLessThan(400_000_000);
});
