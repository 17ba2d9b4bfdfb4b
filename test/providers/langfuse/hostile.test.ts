import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeRepository } from '../../support/folder.ts';
import { startFront } from '../../support/front.ts';
import { runJson } from '../../support/run.ts';
import { PUBLIC_KEY, SECRET_KEY } from '../../doubles/langfuse-server.ts';

const PROMPTS = '/api/public/v2/prompts';

type Row = { readonly name: string; readonly versions: readonly number[]; readonly labels: readonly string[] };

/** Starts a server with these rows in its list of prompts. Version 1 of every prompt has the label staging. */
async function startHostile(rows: readonly Row[]) {
  const { baseUrl, requests } = await startFront({
    answer: ({ path }) => {
      const { pathname, searchParams } = new URL(path, 'http://langfuse');
      const name = decodeURIComponent(pathname.slice(PROMPTS.length + 1));
      const version = Number(searchParams.get('version') ?? 1);
      const served = { name, version, type: 'text', prompt: 'Served.', config: {}, labels: ['staging'] };
      const asked = searchParams.get('name');
      const data = rows.filter((row) => asked === null || row.name === asked);
      return { status: 200, body: JSON.stringify(pathname === PROMPTS ? { data } : served) };
    },
  });
  const keys = { LANGFUSE_PUBLIC_KEY: PUBLIC_KEY, LANGFUSE_SECRET_KEY: SECRET_KEY };
  return { environment: { LANGFUSE_HOST: baseUrl, ...keys }, requests };
}

function makeWorkspace(...names: readonly string[]): string {
  const files = names.map((name) => [
    `prompts/${name}.md`,
    `---\nid: ${name}\npins:\n  staging: latest\n---\n\nWanted.\n`,
  ]);
  const config = 'service: { provider: langfuse }\nenvironments: { staging: {} }\n';
  return makeRepository({ 'promptsync.yaml': config, ...Object.fromEntries(files) });
}

const small = (name: string): Row => ({ name, versions: [1], labels: ['staging'] });
const labels = Array.from({ length: 201 }, (_, index) => `label-${index}`);

test('promptsync plan, import and status --orphans fail only for the Langfuse prompt that has too many labels', async () => {
  const problem = {
    code: 'langfuse/too-many',
    message: '"big" has 201 labels in Langfuse, but promptsync reads at most 200.',
  };
  const { environment, requests } = await startHostile([{ ...small('big'), labels }, small('small'), small('other')]);
  const folder = makeWorkspace('big', 'small');
  const plan = await runJson(folder, ['plan'], { environment });
  expect([plan.exitCode, plan.report.prompts]).toMatchObject([
    4,
    [
      { id: 'big', status: 'failed', problems: [problem] },
      { id: 'small', problems: [] },
    ],
  ]);
  expect(requests.length).toBeLessThan(10);
  const others = makeWorkspace('other');
  const status = await runJson(others, ['status', '--orphans'], { environment });
  expect([status.exitCode, status.report]).toMatchObject([
    1,
    { problems: [problem], orphans: [{ name: 'small', labels: ['staging'], last_version: 1 }] },
  ]);
  const imported = await runJson(others, ['import', '**'], { environment });
  expect([imported.exitCode, imported.report.prompts]).toMatchObject([
    4,
    [
      { id: 'other', status: 'unchanged' },
      { id: 'big', status: 'failed', problems: [problem] },
      { id: 'small', status: 'applied' },
    ],
  ]);
  expect(readdirSync(join(others, 'prompts')).toSorted()).toEqual(['other.md', 'small.md']);
});

test('import blocks Langfuse prompts with invalid names and leaves the workspace valid', async () => {
  const folder = makeWorkspace('known');
  const bad = ['new', 'a|b', ' blank', 'folder//name', '<b>bold</b>'];
  // Names that differ only in case or in Unicode normalization would be the same file on some systems.
  const clashing = ['CASE', 'case', 'caf\u00e9', 'cafe\u0301'];
  const { environment } = await startHostile([...clashing, ...bad].map(small));
  const { exitCode, report } = await runJson(folder, ['import', '*', '*/**'], { environment });
  expect(exitCode).toBe(3);
  const statuses = report.prompts.map(({ status }) => status);
  expect(statuses).toEqual(['applied', 'blocked', 'applied', 'blocked', ...bad.map(() => 'blocked')]);
  const problems = report.prompts.slice(clashing.length).flatMap((prompt) => prompt.problems);
  expect(problems.map(({ code }) => code)).toEqual(bad.map(() => 'import/not-writable'));
  expect(problems[0]?.message).toContain('`id` is invalid: Langfuse reserves this name');
  expect((await runJson(folder, ['validate'], { environment })).exitCode).toBe(0);
});
