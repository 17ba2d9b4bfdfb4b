import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  commitAll,
  git,
  initRepository,
  makeFolder,
  makeRepository,
  makeWorkspace,
  writeFiles,
} from '../support/folder.ts';
import { promptText, workspaceFiles } from '../support/prompts.ts';
import { run, runJson } from '../support/run.ts';
import { startTestService, type TestService } from '../support/service.ts';

const PATH = 'prompts/greeting.md';
const edited = { [PATH]: promptText('greeting', { text: 'Edited.' }) };
const SYNC = ['sync', '--yes'];

/** Returns the version record of the version that staging serves. */
function versionRecordOf({ store }: TestService): unknown {
  return store.readPrompt('prm_greeting', 'staging')?.active_version?.metadata_?.['promptsync'];
}

test('sync refuses a prompt file with uncommitted edits but syncs the other prompts', async () => {
  const folder = makeRepository(workspaceFiles({ greeting: {}, refund: {} }));
  const service = await startTestService(['greeting', 'refund']);
  const refuse = async (refund: string) => {
    const { exitCode, report } = await runJson(folder, SYNC, service);
    expect(exitCode).toBe(3);
    expect(report.prompts).toMatchObject([
      { status: 'blocked', problems: [{ code: 'guard/uncommitted', path: PATH }] },
      { status: refund },
    ]);
    expect(service.takeWrites().filter((write) => write.includes('greeting'))).toEqual([]);
  };
  writeFiles(folder, edited);
  await refuse('applied');
  git(folder, 'rm', '--cached', '-q', PATH);
  writeFiles(folder, { '.gitignore': 'prompts\n' });
  await refuse('unchanged');
  expect(await runJson(folder, [...SYNC, '--allow-dirty'], service)).toMatchObject({ exitCode: 0 });
  expect(versionRecordOf(service)).not.toHaveProperty('commit');
  expect(versionRecordOf(service)).not.toHaveProperty('path');
  // A sync that has nothing to write accepts uncommitted files.
  expect(await runJson(folder, SYNC, service)).toMatchObject({ exitCode: 0 });
});

test('sync rejects a prompt file in a git submodule, plan warns about it, and --allow-dirty syncs it', async () => {
  const library = makeRepository({ 'greeting.md': promptText('greeting', { pins: { staging: 'latest' } }) });
  const folder = makeRepository(workspaceFiles({}));
  git(folder, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library, 'prompts');
  commitAll(folder, 'Add the submodule');
  const service = await startTestService(['greeting']);
  for (const [words, expected, code] of [
    [SYNC, 3, 'guard/uncommitted'],
    [['plan'], 0, 'git/uncommitted'],
  ] as const) {
    const { exitCode, report } = await runJson(folder, words, service);
    const problems = [...report.problems, ...report.prompts.flatMap((prompt) => prompt.problems)];
    expect([words, exitCode]).toEqual([words, expected]);
    expect(problems).toMatchObject([
      {
        ...{ code, path: PATH, message: expect.stringContaining('"prompts", which is a git submodule') },
        hint: expect.stringContaining('promptsync.yaml into the submodule'),
      },
    ]);
  }
  expect(await runJson(folder, [...SYNC, '--allow-dirty'], service)).toMatchObject({ exitCode: 0 });
});

test('sync rejects a prompt file in which git expands $Id$, but accepts the ident git attribute in other files', async () => {
  const files = workspaceFiles({ greeting: { text: 'Costs $Id' } });
  const folder = makeRepository({ ...files, '.gitattributes': '*.md ident\n' });
  const service = await startTestService(['greeting']);
  expect(await runJson(folder, SYNC, service)).toMatchObject({ exitCode: 0 });
  writeFiles(folder, workspaceFiles({ greeting: { text: 'Version $Id: 12 $' } }));
  commitAll(folder, 'Add a keyword');
  const { exitCode, report } = await runJson(folder, SYNC, service);
  expect([exitCode, report.problems[0]?.code]).toEqual([1, 'git/ident']);
});

test('sync records the commit and the path from the repository root, also in a git worktree and in a subfolder', async () => {
  const files = Object.entries(workspaceFiles({ greeting: {} })).map(([path, text]) => [`team/ws/${path}`, text]);
  const folder = makeRepository(Object.fromEntries(files));
  const commit = git(folder, 'rev-parse', 'HEAD');
  const service = await startTestService(['greeting']);
  const tree = join(makeFolder(), 'tree');
  git(folder, 'worktree', 'add', '--quiet', tree);
  const { report } = await runJson(join(tree, 'team/ws/prompts'), SYNC, service);
  expect([report.commit, report.prompts[0]?.path]).toEqual([commit, PATH]);
  expect(versionRecordOf(service)).toMatchObject({ commit, path: `team/ws/${PATH}` });
});

test('sync succeeds outside a git repository but refuses to write from a repository without commits', async () => {
  const folder = makeWorkspace(workspaceFiles({ greeting: {} }));
  const service = await startTestService(['greeting']);
  expect(await runJson(folder, SYNC, service)).toMatchObject({ exitCode: 0, report: { commit: null } });
  expect(versionRecordOf(service)).not.toHaveProperty('commit');
  initRepository(folder);
  writeFiles(folder, edited);
  expect(await runJson(folder, SYNC, service)).toMatchObject({ exitCode: 3, report: { commit: null } });
});

test('sync --expect-plan accepts the digest of a reviewed plan even if HEAD has changed since the review', async () => {
  const folder = makeRepository(workspaceFiles({ greeting: {} }));
  const service = await startTestService(['greeting']);
  const { report } = await runJson(folder, ['plan'], service);
  const digits = report.plan_digest!.slice('sha256:'.length);
  for (const format of ['text', 'markdown', 'html']) {
    const { stdout } = await run(folder, ['plan', '--format', format], service);
    expect([format, /sha256:[0-9a-f]+/.exec(stdout)?.[0]]).toEqual([format, `sha256:${digits.slice(0, 12)}`]);
  }
  commitAll(folder, 'Merged');
  const sync = async (digest: string) => (await run(folder, [...SYNC, '--expect-plan', digest], service)).exitCode;
  service.takeWrites();
  for (const [exitCode, digest] of [
    [3, `sha256:${digits.slice(0, -1)}${digits.endsWith('0') ? '1' : '0'}`],
    [1, `sha256:${digits.slice(0, 11)}`],
    [1, `${digits}0`],
    [1, ''],
  ] as const) {
    expect([digest, await sync(digest)]).toEqual([digest, exitCode]);
  }
  expect(service.takeWrites()).toEqual([]);
  expect(await sync(digits.slice(0, 12).toUpperCase())).toBe(0);
  expect(service.takeWrites()).toHaveLength(3);
});
