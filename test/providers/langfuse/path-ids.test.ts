import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Files, makeRepository } from '../../support/folder.ts';
import { runJson } from '../../support/run.ts';
import { makeScene } from './scene.ts';

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
  const scene = await makeScene(FILES);
  expect((await scene.run('sync', '--yes')).exitCode).toBe(0);
  return scene;
}

test('sync derives the ids of new Langfuse prompts from file paths, and promote writes all pins into a file without pins', async () => {
  const { langfuse, json, run, read } = await makeProject();
  expect((await langfuse.store.list()).data.map(({ name }) => name).toSorted()).toEqual(IDS);
  const { report } = await json('plan');
  expect(report.prompts.map(({ id, key, id_source, status }) => [id, key, id_source, status])).toEqual(
    IDS.map((id) => [id, id, 'path', 'unchanged']),
  );
  const { stdout } = await run('status');
  expect(stdout).toMatch(/^support\/refund \* +v1 +·$/m);
  expect(stdout).toContain('*: the id comes from the path of the file');

  const promoted = await json('promote', 'support/greeting', '--from', 'staging', '--to', 'production');
  expect(promoted.report.prompts[0]).toMatchObject({ id_source: 'path', edits: [{ before: null, after: '1' }] });
  expect(read(GREETING)).toBe('---\npins:\n  staging: latest\n  production: 1\n---\nGreet.\n');
});

test('If a move changes the id of a file, plan reports the lost prompt and suggests writing its id into the file', async () => {
  const { folder, json, commit } = await makeProject();
  const newPath = 'prompts/sales/greeting.md';
  // An older copy of the file is not its new location.
  commit({ 'prompts/copy.md': '---\n---\nGreet.\n' });
  mkdirSync(join(folder, 'prompts/sales'));
  renameSync(join(folder, GREETING), join(folder, newPath));
  commit({}, 'Move');
  const { report } = await json('plan', '--base', 'HEAD^', '--offline');
  expect(report.prompts.find(({ path }) => path === newPath)).toMatchObject({
    id: 'sales/greeting',
    changes: [{ kind: 'create-version' }, { kind: 'set-active' }],
  });
  const gone = report.problems.filter(({ code }) => code === 'prompt/gone');
  const hint = expect.stringContaining(`add \`id: support/greeting\` to the front matter of \`${newPath}\``);
  expect(gone).toMatchObject([{ path: GREETING, hint }]);
  commit({ [newPath]: '---\nid: support/greeting\n---\nGreet.\n' });
  const { report: kept } = await json('plan', '--base', 'HEAD~2');
  expect([kept.problems, kept.summary.unchanged]).toEqual([[], 3]);
  expect(kept.prompts.find(({ path }) => path === newPath)).not.toHaveProperty('id_source');
});

test('plan names no other file for a prompt whose file was removed, and does not warn about files of a new pattern', async () => {
  const { folder, json, commit } = await makeProject();
  commit({ 'prompts/copy.md': '---\n---\nGreet.\n', 'other/fresh.md': '---\n---\nNew.\n' });
  renameSync(join(folder, GREETING), join(folder, 'greeting.txt'));
  commit({ 'promptsync.yaml': `${CONFIG}prompts: ["prompts/**/*.md", "other/*.md"]\n` });
  const { report } = await json('plan', '--base', 'HEAD^', '--offline');
  expect(report.prompts.find(({ id }) => id === 'fresh')?.changes).toHaveLength(2);
  expect(report.problems.map(({ code }) => code)).toEqual(['service/not-asked', 'prompt/gone']);
  expect(report.problems[1]?.hint).not.toContain('copy.md');
});

test('validate rejects paths and files from which no valid Langfuse id can come', async () => {
  const text = '---\n---\nText.\n';
  const validate = async (files: Files) => {
    const { report } = await runJson(makeRepository(files), ['validate']);
    return report.problems.map(({ code, path, line, column }) => `${code} ${path}:${line}:${column}`);
  };
  const invalid = ['a\tb.md', 'a <b>.md', 'a|b.md', 'metrics.md'].map((name) => `prompts/${name}`);
  const duplicates = ['prompts/e\u0301.md', 'prompts/\u00e9.md', 'prompts/x.md', 'prompts/x.txt', 'prompts/y.md'];
  const files = [...invalid, ...duplicates].map((path) => [path, text]);
  const problems = await validate({
    'promptsync.yaml': `${CONFIG}prompts: ["prompts/*"]\n`,
    ...Object.fromEntries(files),
    'prompts/README.md': '# Prompts\n',
    'prompts/name.md': '---\nname: b\n---\nText.\n',
    'prompts/same-name.md': '---\nname: same-name\n---\nText.\n',
    'prompts/z.md': '---\nid: y\n---\nText.\n',
  });
  expect(problems.toSorted()).toEqual([
    ...[2, 3, 4].map(() => expect.stringMatching(/^prompt\/duplicate-id /)),
    'prompt/invalid-field prompts/name.md:2:7',
    ...invalid.map((path) => `prompt/invalid-path-id ${path}:1:1`),
    'prompt/no-front-matter prompts/README.md:1:1',
  ]);
  const fourCall = await validate({ 'promptsync.yaml': '', 'prompts/a.md': text });
  expect(fourCall).toContain('prompt/missing-id prompts/a.md:2:1');
});
