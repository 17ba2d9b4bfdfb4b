import { describe, expect, test } from 'vitest';
import { expandPatterns } from '../../../src/commands/import/import.ts';
import type { ListedPrompt, Provider } from '../../../src/providers/provider-interface.ts';
import { makeKeptMetadataFields } from '../../../src/report/make-text-fields.ts';
import type { Report } from '../../../src/report/schema/report-schema.ts';
import { listPrompts } from '../../../src/run/open-service.ts';
import { file } from '../../planning/support.ts';
import { FORMATS } from './formats.ts';
import { makeScene } from './scene.ts';

/** Makes a Langfuse with three prompts in one folder and two in another. Imports those of the folder `support`. */
async function makeImported() {
  const scene = await makeScene();
  const { store } = scene;
  store.addVersion('support/greeting', { text: 'One.', labels: ['production'], message: 'First\n\nWith a body.' });
  const config = { model: 'gpt-5', limits: { tokens: 300 } };
  store.addVersion('support/greeting', { text: 'Two.\n', config, labels: ['staging', 'canary'], message: 'Shorter' });
  store.addVersion('support/greeting', { text: 'Three.' });
  store.addVersion('support/refund', { text: 'Refund.', labels: ['staging', 'production'] });
  store.addVersion('support/two words', { text: 'List.', config: [1, 2], labels: ['staging'] });
  store.addVersion('team/a', { text: 'A.', labels: ['production', 'canary'] });
  store.addVersion('team/idle', { text: 'Idle.' });
  expect((await scene.run('import', 'support/*')).exitCode).toBe(0);
  return scene;
}

const codes = (problems: readonly { readonly code: string }[]) => problems.map(({ code }) => code);
const historyOf = ({ prompts }: Report) => prompts[0]?.history?.versions ?? [];

test('import reads the list and each label once, the next sync writes nothing, and history shows who created each version', async () => {
  const { langfuse, store, json, run, read, commit } = await makeImported();
  const listings = langfuse.requests.filter(({ path }) => path.includes('page='));
  expect([listings.length, langfuse.requests.length]).toEqual([1, 1 + 3 * 2]);
  const greeting = 'pins:\n  staging: latest\n  production: 1\nmetadata:\n  model: gpt-5\n  limits:\n    tokens: 300\n';
  expect(read('prompts/support/greeting.md')).toBe(`---\nid: support/greeting\n${greeting}---\n\nTwo.\n`);
  // A file cannot hold a config that is not a mapping. The version keeps the config.
  expect(read('prompts/support/two-words.md')).toBe(
    '---\nid: support/two words\npins:\n  staging: latest\n---\n\nList.\n',
  );
  commit({}, 'Import');
  expect((await run('sync', '--yes')).exitCode).toBe(0);
  expect((await run('plan', '--exit-code')).exitCode).toBe(0);
  expect(langfuse.takeWrites()).toEqual([]);

  commit({ 'prompts/support/greeting.md': read('prompts/support/greeting.md').replace('Two.', 'Four.') }, 'Edit');
  store.setTime('2026-03-04T05:06:00Z');
  expect((await run('sync', '--yes')).exitCode).toBe(0);
  const { report } = await json('history', 'support/greeting');
  const creator = { made_by: 'unknown', created_by: 'cmf8a2b7d0001qz' };
  expect(historyOf(report)).toMatchObject([
    { version_number: 4, created_at: expect.stringMatching(/^2026-03-04T05:06:.*Z$/), created_by: 'API' },
    { version_number: 3, created_at: expect.stringMatching(/^2025-06-01T00:02:.*Z$/), ...creator, active_in: [] },
    { version_number: 2, active_in: ['canary'], message: 'Shorter', ...creator },
    { version_number: 1, active_in: ['production'], message: 'First\n\nWith a body.', ...creator },
  ]);
  for (const render of Object.values(FORMATS)) {
    expect(render(report)).toMatch(/v1\W[^v]*First(?!.*With a body)/);
    expect(render(report)).not.toMatch(/keeps no metadata|outside/);
  }
  const { stdout } = await run('history', 'support/greeting');
  expect(stdout).toMatch(/^v4 +2026-03-04 05:06 +[0-9a-f]{12} +Ada +Edit$/m);
  expect(stdout).toMatch(/^v3 +2025-06-01 00:02 +user cmf8…$/m);
});

/** Returns a provider that lists these prompts and can do nothing else. */
function makeListing(names: readonly string[] | null): Provider {
  const unused = () => Promise.reject(new Error('The test reads no prompt.'));
  const makePrompt = (name: string): ListedPrompt => ({ name, environments: [], lastVersion: 1, problem: null });
  const list = names && (async () => names.map(makePrompt));
  return { list, observe: unused, readServed: unused, makeWriter: () => expect.fail('The test writes no prompt.') };
}

describe('the patterns of import', () => {
  const NAMES = ['.drafts/one', 'support/greeting', 'support/refund', 'team/a', 'team/idle'];
  const expand = (ids: readonly string[], names: readonly string[] | null = NAMES) => {
    const refund = file({ id: 'support/refund', key: 'support/refund' });
    return expandPatterns({ ids, existing: [] }, [refund], makeListing(names));
  };

  test.each<[what: string, patterns: readonly string[], ids: readonly string[], existing: number]>([
    ['import accepts a mix of patterns and prompt names', ['*/a', 'team/idle'], ['team/idle', 'team/a'], 0],
    ['import processes a prompt once if several patterns match it', ['team/[a]', 'team/{a,b}'], ['team/a'], 0],
    ['import only counts a matching prompt that already has a file', ['support/*'], ['support/greeting'], 1],
    ['import with the pattern ** includes names that begin with a dot', ['**'], NAMES.toSpliced(2, 1), 1],
  ])('%s', async (_, patterns, ids, existing) => {
    const expanded = await expand(patterns);
    expect(expanded).toMatchObject({ isSuccess: true, value: { ids, existing: { length: existing } } });
  });

  test.each([
    ['suport/gre?ting', 'support/greeting'],
    ['team/aa', 'team/a'],
  ])('import of %s fails, because no prompt has that name, and suggests %s', async (name, suggestion) => {
    const { problems } = { problems: [], ...(await expand([name, 'team/a'])) };
    expect(problems).toMatchObject([{ code: 'usage/nothing-selected' }]);
    expect(problems[0]).toMatchObject({ hint: expect.stringContaining(`Did you mean "${suggestion}"?`) });
  });

  test('A pattern of import or status --orphans is an error if the service cannot list its prompts', async () => {
    const hint = (text: string) => [{ code: 'service/cannot-list', hint: expect.stringContaining(text) }];
    expect(await expand(['support/*'], null)).toMatchObject({
      problems: hint('Specify prompt ids instead of patterns.'),
    });
    const orphans = await listPrompts(makeListing(null), [], { isForOrphans: true });
    expect(orphans).toMatchObject({ files: [], problems: hint('Omit `--orphans`.') });
    expect(await expand(['prm_a'], null)).toMatchObject({ isSuccess: true, value: { ids: ['prm_a'] } });
  });
});

test('status --orphans lists the prompts without a file whose names match, in every format', async () => {
  const { langfuse, json, write } = await makeImported();
  langfuse.requests.length = 0;
  const [A, IDLE] = [
    { name: 'team/a', labels: ['canary', 'production'], last_version: 1 },
    { name: 'team/idle', labels: [], last_version: 1 },
  ];
  expect((await json('status')).report).not.toHaveProperty('orphans');
  const { report } = await json('status', 'support/greeting', '--orphans');
  expect(report.orphans).toEqual([A, IDLE]);
  const { report: none } = await json('status', '--orphans=support/*');
  expect(none.orphans).toEqual([]);
  for (const render of Object.values(FORMATS)) {
    const shown = render(report).replaceAll('`', '');
    expect(shown).toContain('team/a: newest version v1, active in canary, production');
    expect(shown).toContain('team/idle: newest version v1, not active anywhere');
    expect(render(none)).toContain('none: every matching prompt has a file');
  }
  const unmatched = await json('status', '--orphans', 'taem/*');
  expect([unmatched.exitCode, codes(unmatched.report.problems)]).toEqual([1, ['usage/nothing-selected']]);
  write({ 'prompts/support/refund.md': '---\nid: support/refund\n---\n\n<<<<<<< HEAD\n' });
  const { report: invalid } = await json('status', 'support/greeting', '--orphans');
  expect([codes(invalid.problems), invalid.orphans]).toEqual([['prompt/others-invalid'], [A, IDLE]]);
  expect(langfuse.takeWrites()).toEqual([]);
});

describe('a config that a new version inherits', () => {
  test('plan shows the config that a new version inherits, but only if the file has no metadata', async () => {
    const { langfuse, store, json, read, write } = await makeImported();
    const path = 'prompts/support/greeting.md';
    const edited = read(path).replace('Two.', 'Four.');
    write({ [path]: edited });
    expect((await json('plan')).report.prompts[0]?.changes[0]).not.toHaveProperty('metadata_from');
    write({
      [path]: edited.replace(/metadata:[^]*?---/, '---').replace('production: 1', 'canary: latest'),
    });
    write({ 'promptsync.yaml': 'service: { provider: langfuse }\n' });
    const { report } = await json('plan', 'support/greeting');
    const metadata = 'limits: {"tokens":300}\nmodel: "gpt-5"';
    expect(report.prompts[0]?.changes).toMatchObject([
      { metadata_from: { version_number: 2 }, kept_metadata: metadata },
      { environment: 'staging', after_metadata: metadata },
      { environment: 'canary', after_metadata: metadata },
    ]);
    store.addVersion('support/greeting', { text: 'X', config: { a: 'x'.repeat(1_000_001) }, labels: ['staging'] });
    const { report: large } = await json('plan', 'support/greeting');
    for (const render of Object.values(FORMATS)) expect(render(large)).toContain('because it is larger than 1 MB');
    expect(langfuse.takeWrites()).toEqual([]);
  });

  test.each([
    ['A report shows an inherited config as JSON if it is not a mapping', [1, 2], '[1,2]'],
    ['A report escapes a line feed in a key of an inherited config', { 'a: "b"\nx': 1 }, '"a: \\"b\\"\\nx": 1'],
  ])('%s', (_, metadata, shown) => {
    const from = { id: '1-a', number: 1, metadata, metadataDigest: 'sha256:0' } as const;
    expect(makeKeptMetadataFields(from)).toMatchObject({ kept_metadata: shown });
  });
});
