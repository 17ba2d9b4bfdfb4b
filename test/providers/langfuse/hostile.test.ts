import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commitAll, makeRepository } from '../../support/folder.ts';
import { startFront } from '../../support/front.ts';
import { runJson } from '../../support/run.ts';
import { PUBLIC_KEY, SECRET_KEY } from '../../doubles/langfuse-server.ts';

const PROMPTS = '/api/public/v2/prompts';
const MIB = 1024 * 1024;

type Row = { readonly name: string; readonly versions: readonly unknown[]; readonly labels: readonly unknown[] };

/** The listing and the labels that a hostile Langfuse server sends. */
type Hostile = {
  /** Returns a page of the listing. Pages count from 1. `name` is null if the request is for all prompts. */
  readonly listing: (page: number, name: string | null) => readonly Row[];
  /** The labels of the version that each prompt serves. */
  readonly labels?: readonly unknown[];
};

async function startHostile({ listing, labels = ['staging'] }: Hostile) {
  const front = await startFront({
    answer: ({ path }) => {
      const { pathname, searchParams: query } = new URL(path, 'http://langfuse');
      const name = decodeURIComponent(pathname.slice(PROMPTS.length + 1));
      const version = Number(query.get('version') ?? 1);
      const served = { name, version, type: 'text', prompt: `Served ${version}.`, config: {}, labels };
      const body = pathname === PROMPTS ? { data: listing(Number(query.get('page')), query.get('name')) } : served;
      return { status: 200, body: JSON.stringify(body) };
    },
  });
  const environment = {
    LANGFUSE_HOST: front.baseUrl,
    LANGFUSE_PUBLIC_KEY: PUBLIC_KEY,
    LANGFUSE_SECRET_KEY: SECRET_KEY,
  };
  return { environment, requests: front.requests };
}

function makeWorkspace(...names: readonly string[]): string {
  const files = names.map((name) => [
    `prompts/${name}.md`,
    `---\nid: ${name}\npins:\n  staging: latest\n---\n\nWanted.\n`,
  ]);
  const folder = makeRepository({
    'promptsync.yaml': 'service: { provider: langfuse }\nenvironments: { staging: {} }\n',
    ...Object.fromEntries(files),
  });
  commitAll(folder, 'Prompts');
  return folder;
}

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at + 1);
const labelled = (count: number) => numbers(count).map((number) => `label-${number}`);
const small = (name: string): Row => ({ name, versions: [1], labels: ['staging'] });

const EXCESSES: readonly (readonly [row: Row, message: string])[] = [
  [
    { ...small('big'), versions: numbers(1_000_000) },
    '"big" has 1,000,000 versions in Langfuse, but promptsync reads at most 10,000.',
  ],
  [
    { ...small('big'), labels: labelled(100_000) },
    '"big" has 100,000 labels in Langfuse, but promptsync reads at most 200.',
  ],
];

/** Returns the requested row, or all rows on the first page. */
function listingOf(...rows: readonly Row[]): Hostile['listing'] {
  return (page, name) => (page > 1 ? [] : rows.filter((row) => name === null || row.name === name));
}

describe.each(EXCESSES)('a Langfuse prompt with too many versions or labels (%#)', (big, message) => {
  const problem = { code: 'langfuse/too-many', message };

  test.each(['plan', 'sync', 'pull', 'history', 'status'])(
    'promptsync %s fails only for the Langfuse prompt that has too many versions or labels',
    async (command) => {
      const folder = makeWorkspace('big', 'small');
      const { environment, requests } = await startHostile({ listing: listingOf(big, small('small')) });
      const words = command === 'sync' ? ['sync', '--dry-run'] : [command];
      const { exitCode, report } = await runJson(folder, words, { environment });
      expect(exitCode).toBe(4);
      expect(report.prompts).toMatchObject([
        { id: 'big', status: 'failed', problems: [problem] },
        { id: 'small', problems: [] },
      ]);
      expect(requests.length).toBeLessThan(10);
    },
  );

  test('import skips a Langfuse prompt that has too many versions or labels but still imports other prompts', async () => {
    const folder = makeWorkspace('known');
    const { environment } = await startHostile({ listing: listingOf(big, small('small')) });
    const { exitCode, report } = await runJson(folder, ['import', '**'], { environment });
    expect(exitCode).toBe(4);
    expect(report.prompts).toMatchObject([
      { id: 'big', status: 'failed', problems: [problem] },
      { id: 'small', status: 'applied', problems: [] },
    ]);
    expect(existsSync(join(folder, 'prompts/big.md'))).toBe(false);
    expect(existsSync(join(folder, 'prompts/small.md'))).toBe(true);
  });

  test('status --orphans reports a Langfuse prompt that has too many versions or labels but still lists the others', async () => {
    const folder = makeWorkspace('known');
    const { environment } = await startHostile({ listing: listingOf(big, small('known'), small('small')) });
    const { exitCode, report } = await runJson(folder, ['status', '--orphans'], { environment });
    expect(exitCode).toBe(1);
    expect(report.problems).toMatchObject([problem]);
    expect(report.orphans).toEqual([{ name: 'small', labels: ['staging'], last_version: 1 }]);
  });
});

test('history fails for a Langfuse prompt that has a version with 100,000 labels', async () => {
  const folder = makeWorkspace('big');
  const { environment } = await startHostile({ listing: listingOf(small('big')), labels: labelled(100_000) });
  const { report } = await runJson(folder, ['history'], { environment });
  expect(report.prompts).toMatchObject([{ status: 'failed', problems: [{ code: 'langfuse/too-many' }] }]);
});

test('plan accepts a Langfuse prompt with 10,000 versions and 200 labels', async () => {
  const folder = makeWorkspace('full');
  const full = { name: 'full', versions: numbers(10_000), labels: labelled(200) };
  const { environment } = await startHostile({ listing: listingOf(full) });
  const { exitCode, report } = await runJson(folder, ['plan'], { environment });
  expect([exitCode, report.prompts[0]?.problems]).toEqual([0, []]);
});

describe("Langfuse's listing", () => {
  /** Returns about 31 MiB in a hundred rows. Each prompt stays within its limits. */
  const heavyPage = (page: number): readonly Row[] =>
    numbers(100).map((row) => ({
      ...small(`heavy-${page}-${row}`),
      labels: labelled(100).map((label) => label.padEnd((31 * MIB) / 10_000, '-')),
    }));

  test.each<[words: readonly string[], listings: number]>([
    [['plan'], 1],
    [['import', '**'], 1],
    // Also looks for the prompt of the file in the listing.
    [['status', '--orphans'], 2],
  ])('The command %j fails if the Langfuse listing exceeds 64 MiB', async (words, listings) => {
    const folder = makeWorkspace('known');
    const listing = (page: number) => (page > 6 ? [] : heavyPage(page));
    const { environment, requests } = await startHostile({ listing });
    const { exitCode, report } = await runJson(folder, words, { environment });
    const problems = [...report.problems, ...report.prompts.flatMap((prompt) => prompt.problems)];
    expect(problems).toMatchObject([
      {
        code: 'langfuse/listing-too-large',
        message: 'The list of prompts in Langfuse is larger than 64 MiB, which is the most that promptsync reads.',
      },
    ]);
    expect(exitCode).toBe(1);
    const pages = requests.filter(({ path }) => path.includes('page='));
    expect(pages.length).toBe(3 * listings);
  });

  test('plan stops requesting pages of the Langfuse listing once it finds the prompt', async () => {
    const folder = makeWorkspace('known');
    const { environment, requests } = await startHostile({ listing: () => numbers(100).map(() => small('known')) });
    const { exitCode } = await runJson(folder, ['plan'], { environment });
    expect(exitCode).toBe(0);
    expect(requests.filter(({ path }) => path.includes('page=')).length).toBe(1);
  });

  test.each<[what: string, rows: readonly Row[]]>([
    [
      'promptsync rejects a Langfuse listing with half a million rows on one page',
      numbers(500_000).map(() => small('')),
    ],
    [
      'promptsync rejects a Langfuse listing whose version numbers are strings',
      [{ ...small('known'), versions: ['1'] }],
    ],
    [
      'promptsync rejects a Langfuse listing that contains a version number below 1',
      [{ ...small('known'), versions: [0] }],
    ],
    ['promptsync rejects a Langfuse listing whose labels are not strings', [{ ...small('known'), labels: [1] }]],
  ])('%s', async (_, rows) => {
    const folder = makeWorkspace('known');
    const { environment } = await startHostile({ listing: () => rows });
    for (const words of [['plan'], ['status', '--orphans']]) {
      const { report } = await runJson(folder, words, { environment });
      const problems = [...report.problems, ...report.prompts.flatMap((prompt) => prompt.problems)];
      expect(problems.map(({ code }) => code)).toContain('service/invalid-answer');
    }
  });
});

test('sync reports an unknown outcome if Langfuse responds to a create request with the invalid version number -1', async () => {
  const folder = makeWorkspace('known');
  const created = { name: 'known', version: -1, type: 'text', prompt: 'Wanted.', config: {}, labels: ['staging'] };
  const front = await startFront({
    answer: ({ method, path }) => {
      if (method === 'POST') return { status: 200, body: JSON.stringify(created) };
      const isListing = path.startsWith(`${PROMPTS}?`);
      return { status: isListing ? 200 : 404, body: JSON.stringify(isListing ? { data: [] } : {}) };
    },
  });
  const environment = {
    LANGFUSE_HOST: front.baseUrl,
    LANGFUSE_PUBLIC_KEY: PUBLIC_KEY,
    LANGFUSE_SECRET_KEY: SECRET_KEY,
  };
  const { exitCode, report } = await runJson(folder, ['sync', '--yes'], { environment });
  expect(exitCode).toBe(4);
  expect(report.prompts[0]?.changes.map(({ status }) => status)).toEqual(['unknown', 'unknown']);
  expect(front.requests.filter(({ path }) => path.includes('-1'))).toEqual([]);
});

describe('import from a hostile Langfuse', () => {
  test('import blocks Langfuse prompts with invalid names and leaves the workspace valid', async () => {
    const folder = makeWorkspace('known');
    const bad = ['new', 'a|b', ' blank', 'folder//name', '<b>bold</b>'];
    const { environment } = await startHostile({ listing: listingOf(...['fine', ...bad].map(small)) });
    const { exitCode, report } = await runJson(folder, ['import', '*', '*/**'], { environment });
    expect(exitCode).toBe(3);
    expect(report.prompts.map(({ id, status }) => [id, status])).toEqual([
      ['fine', 'applied'],
      ...bad.map((id) => [id, 'blocked']),
    ]);
    const problems = report.prompts.flatMap((prompt) => prompt.problems);
    expect(problems.map(({ code }) => code)).toEqual(bad.map(() => 'import/not-writable'));
    expect(problems[0]?.message).toContain('`id` is invalid: Langfuse reserves this name');
    expect(readdirSync(join(folder, 'prompts')).toSorted()).toEqual(['fine.md', 'known.md']);
    expect((await runJson(folder, ['validate'], { environment })).exitCode).toBe(0);
  });

  test('If two Langfuse prompt names differ only in case or Unicode normalization, import accepts only the first', async () => {
    const folder = makeWorkspace('known');
    const names = ['CASE', 'case', 'caf\u00e9', 'cafe\u0301'];
    const { environment } = await startHostile({ listing: listingOf(...names.map(small)) });
    const { exitCode, report } = await runJson(folder, ['import', '*'], { environment });
    expect([exitCode, report.prompts.map(({ status }) => status)]).toEqual([
      3,
      ['applied', 'blocked', 'applied', 'blocked'],
    ]);
    expect((await runJson(folder, ['validate'], { environment })).exitCode).toBe(0);
  });
});
