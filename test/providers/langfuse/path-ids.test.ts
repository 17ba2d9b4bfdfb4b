import { mkdirSync, readFileSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startLangfuse } from '../../doubles/langfuse-server.ts';
import { commitAll, type Files, makeRepository, writeFiles } from '../../support/folder.ts';
import { run, runJson } from '../../support/run.ts';

const CONFIG = `service: { provider: langfuse }
environments: { staging: {}, production: {} }
defaults: { pins: { staging: latest } }
`;
const GREETING = 'prompts/support/greeting.md';
const FILES: Files = {
  'promptsync.yaml': CONFIG,
  [GREETING]: '---\n---\nGreet.\n',
  'prompts/support/refund.md': '---\n---\n\nRefund.\n',
  'prompts/pitch.md': '---\n# No field\n---\n\nSell.\n',
};
const IDS = ['pitch', 'support/greeting', 'support/refund'];

/** Makes a synced project of three prompt files without fields. */
async function makeProject() {
  const langfuse = await startLangfuse();
  const folder = makeRepository(FILES);
  const json = (...words: readonly string[]) => runJson(folder, words, langfuse);
  expect((await json('sync', '--yes', '--any-commit')).exitCode).toBe(0);
  return {
    ...{ folder, langfuse, json },
    read: (path: string) => readFileSync(join(folder, path), 'utf8'),
    commit: (files: Files) => {
      writeFiles(folder, files);
      return commitAll(folder, 'Change');
    },
    move: (from: string, to: string) => {
      mkdirSync(dirname(join(folder, to)), { recursive: true });
      renameSync(join(folder, from), join(folder, to));
      return commitAll(folder, 'Move');
    },
  };
}

/** Validates a workspace without a service. */
async function validate(files: Files) {
  const { report } = await runJson(makeRepository(files), ['validate']);
  return report.problems.map(({ code, path, line, column }) => `${code} ${path}:${line}:${column}`);
}

describe('Langfuse prompts that take their ids from their paths', () => {
  test('sync derives the ids of new Langfuse prompts from file paths, and reports mark those ids', async () => {
    const { folder, langfuse, json } = await makeProject();
    expect((await langfuse.store.list()).data.map(({ name }) => name).toSorted()).toEqual(IDS);
    const { report } = await json('plan');
    expect(report.prompts.map(({ id, key, id_source, status }) => [id, key, id_source, status])).toEqual(
      ['pitch', 'support/greeting', 'support/refund'].map((id) => [id, id, 'path', 'unchanged']),
    );
    const { stdout } = await run(folder, ['status'], langfuse);
    expect(stdout).toMatch(/^support\/refund \* +v1 +·$/m);
    expect(stdout).toContain('*: the id comes from the path of the file');
  });

  test('An id in the front matter takes precedence over the id from the path', async () => {
    const { json, commit } = await makeProject();
    commit({ [GREETING]: '---\nid: other/name\n---\nGreet.\n' });
    const { report } = await json('plan');
    const prompt = report.prompts.find(({ path }) => path === GREETING);
    expect(prompt).toMatchObject({ id: 'other/name', key: 'other/name' });
    expect(prompt).not.toHaveProperty('id_source');
  });

  test.each([
    [
      'If a move changes the id of a file, plan reports the lost prompt and suggests writing its id into the file',
      'move',
    ],
    [
      'If new patterns change the id of a file, plan reports the lost prompt and suggests writing its id into the file',
      'pattern',
    ],
  ])('%s', async (_, how) => {
    const { json, move, commit } = await makeProject();
    const newPath = how === 'move' ? 'prompts/sales/greeting.md' : GREETING;
    if (how === 'move') move(GREETING, newPath);
    else commit({ 'promptsync.yaml': `${CONFIG}prompts: ["prompts/support/gr*.md", "prompts/**/*.md"]\n` });
    for (const words of [
      ['plan', '--base', 'HEAD^'],
      ['plan', '--base', 'HEAD^', '--offline'],
    ]) {
      const { report } = await json(...words);
      expect(report.prompts.find(({ path }) => path === newPath)).toMatchObject({
        id: how === 'move' ? 'sales/greeting' : 'greeting',
        changes: [{ kind: 'create-version' }, { kind: 'set-active' }],
      });
      const gone = report.problems.filter(({ code }) => code === 'prompt/gone');
      const hint = expect.stringContaining(`add \`id: support/greeting\` to the front matter of \`${newPath}\``);
      expect(gone).toMatchObject([{ path: GREETING, hint }]);
    }
    commit({ [newPath]: '---\nid: support/greeting\n---\nGreet.\n' });
    const { report } = await json('plan', '--base', 'HEAD~2');
    expect(report.problems).toEqual([]);
    expect(report.summary).toMatchObject({ unchanged: 3 });
  });

  test('plan does not mistake an older copy of a removed file for its new location', async () => {
    const { folder, json, commit } = await makeProject();
    commit({ 'prompts/copy.md': '---\n---\nGreet.\n' });
    renameSync(join(folder, GREETING), join(folder, 'greeting.txt'));
    commitAll(folder, 'Remove');
    const { report } = await json('plan', '--base', 'HEAD^');
    const gone = report.problems.find(({ code }) => code === 'prompt/gone');
    expect(gone?.hint).not.toContain('copy.md');
  });

  test('plan --base does not warn about files that existed at the base but match only a newly added pattern', async () => {
    const { json, commit } = await makeProject();
    commit({ 'other/fresh.md': '---\n---\nNew.\n' });
    commit({ 'promptsync.yaml': `${CONFIG}prompts: ["prompts/**/*.md", "other/*.md"]\n` });
    const { report } = await json('plan', '--base', 'HEAD^', '--offline');
    expect(report.prompts.find(({ id }) => id === 'fresh')?.changes).toHaveLength(2);
    expect(report.problems.map(({ code }) => code)).toEqual(['service/not-asked']);
  });
});

describe('validate with ids from paths', () => {
  test.each([
    ['a|b.md', 'a "|"'],
    ['a <b>.md', 'an HTML tag'],
    ['metrics.md', 'a reserved name'],
    ['a\tb.md', 'a control character'],
  ])('validate rejects the path %j if Langfuse does not allow %s', async (name) => {
    const path = `prompts/${name}`;
    expect(await validate({ 'promptsync.yaml': CONFIG, [path]: '---\n---\nText.\n' })).toEqual([
      `prompt/invalid-path-id ${path}:1:1`,
    ]);
  });

  test('validate rejects the field `name` if its value differs from the id that comes from the path', async () => {
    const files = { 'promptsync.yaml': CONFIG, 'prompts/a.md': '---\nname: b\n---\nText.\n' };
    expect(await validate(files)).toEqual(['prompt/invalid-field prompts/a.md:2:7']);
    expect(await validate({ ...files, 'prompts/a.md': '---\nname: a\n---\nText.\n' })).toEqual([]);
  });

  test.each([
    [
      'validate rejects two files whose paths are equal after Unicode normalization',
      'prompts/\u00e9.md',
      'prompts/e\u0301.md',
      '---\n---\nText.\n',
    ],
    [
      'validate rejects two files whose paths differ only in the extension',
      'prompts/a.md',
      'prompts/a.txt',
      '---\n---\nText.\n',
    ],
    [
      'validate rejects an id in the front matter that another file takes from its path',
      'prompts/a.md',
      'prompts/b.md',
      '---\nid: a\n---\nText.\n',
    ],
  ])('%s', async (_, one, other, text) => {
    const config = `${CONFIG}prompts: ["prompts/*"]\n`;
    const problems = await validate({ 'promptsync.yaml': config, [one]: '---\n---\nText.\n', [other]: text });
    expect(problems).toEqual([expect.stringMatching(/^prompt\/duplicate-id /)]);
  });

  test('validate rejects a README without front matter even if files can take their ids from their paths', async () => {
    const files = { 'promptsync.yaml': CONFIG, 'prompts/README.md': '# Prompts\n' };
    expect(await validate(files)).toEqual(['prompt/no-front-matter prompts/README.md:1:1']);
  });

  test('Without the Langfuse provider, validate still reports a missing id if the front matter is empty', async () => {
    const problems = await validate({ 'promptsync.yaml': '', 'prompts/a.md': '---\n---\nText.\n' });
    expect(problems).toContain('prompt/missing-id prompts/a.md:2:1');
  });
});

describe('files without pins', () => {
  test('promote writes the default pins and the promoted pin into a file with empty front matter', async () => {
    const { json, read } = await makeProject();
    const { report } = await json('promote', 'support/greeting', '--from', 'staging', '--to', 'production');
    expect(report.prompts[0]).toMatchObject({ id_source: 'path', edits: [{ before: null, after: '1' }] });
    expect(read(GREETING)).toBe('---\npins:\n  staging: latest\n  production: 1\n---\nGreet.\n');
  });

  test('rollback writes the restored pin into a file that only had default pins', async () => {
    const { json, read, commit } = await makeProject();
    commit({ [GREETING]: '---\n---\nGreet warmly.\n' });
    await json('sync', '--yes', '--any-commit');
    const { report } = await json('rollback', 'support/greeting', '--environment', 'staging');
    expect(report.prompts[0]?.edits).toMatchObject([{ before: 'latest', after: '1' }]);
    expect(read(GREETING)).toBe('---\npins:\n  staging: 1\n---\nGreet warmly.\n');
  });

  test('If pull changes a default pin in a file without pins, it writes all default pins into the file', async () => {
    const { langfuse, json, read, commit } = await makeProject();
    commit({ 'promptsync.yaml': CONFIG.replace('latest }', 'latest, production: 1 }') });
    expect((await json('sync', '--yes', '--any-commit')).report.summary).toMatchObject({ set_active: 3 });
    langfuse.store.addVersion('support/greeting', { text: 'Greet by name.', labels: ['production'] });
    const { report } = await json('pull', 'support/greeting');
    expect(report.prompts[0]?.edits).toMatchObject([{ kind: 'set-text' }, { before: '1', after: '2' }]);
    expect(read(GREETING)).toBe('---\npins:\n  staging: latest\n  production: 2\n---\nGreet by name.\n');
  });
});
