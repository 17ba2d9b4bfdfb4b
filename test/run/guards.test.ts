import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
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

describe('uncommitted prompt files', () => {
  test.each<[string, (folder: string) => void]>([
    [
      'sync refuses a prompt file with uncommitted edits but syncs the other prompts',
      (folder) => writeFiles(folder, edited),
    ],
    [
      'sync refuses a git-ignored prompt file but syncs the other prompts',
      (folder) => (git(folder, 'rm', '--cached', '-q', PATH), writeFiles(folder, { '.gitignore': 'prompts\n' })),
    ],
  ])('%s', async (_, change) => {
    const folder = makeRepository(workspaceFiles({ greeting: {}, refund: {} }));
    const service = await startTestService(['greeting', 'refund']);
    change(folder);
    const { exitCode, report } = await runJson(folder, SYNC, service);
    expect(exitCode).toBe(3);
    const [first, second] = report.prompts;
    expect(first).toMatchObject({ status: 'blocked', problems: [{ code: 'guard/uncommitted', path: PATH }] });
    expect(second?.status).toBe('applied');
    expect(service.takeWrites().filter((write) => write.includes('greeting'))).toEqual([]);
  });

  test('sync --allow-dirty creates versions from uncommitted files without recording a commit', async () => {
    const folder = makeRepository(workspaceFiles({ greeting: {} }));
    const service = await startTestService(['greeting']);
    writeFiles(folder, edited);
    expect(await runJson(folder, [...SYNC, '--allow-dirty'], service)).toMatchObject({ exitCode: 0 });
    expect(versionRecordOf(service)).not.toHaveProperty('commit');
    expect(versionRecordOf(service)).not.toHaveProperty('path');
    // A sync that has nothing to write accepts uncommitted files.
    expect(await runJson(folder, SYNC, service)).toMatchObject({ exitCode: 0 });
  });
});

describe('prompt files in a git submodule', () => {
  const makeWithSubmodule = () => {
    const library = makeRepository({ 'greeting.md': promptText('greeting', { pins: { staging: 'latest' } }) });
    const folder = makeRepository(workspaceFiles({}));
    git(folder, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library, 'prompts');
    commitAll(folder, 'Add the submodule');
    return folder;
  };

  test.each([
    ['sync rejects a prompt file in a git submodule and names the submodule', SYNC, 3, 'guard/uncommitted'],
    ['plan warns about a prompt file in a git submodule and names the submodule', ['plan'], 0, 'git/uncommitted'],
  ] as const)('%s', async (_, words, expected, code) => {
    const { exitCode, report } = await runJson(makeWithSubmodule(), words, await startTestService(['greeting']));
    const problems = [...report.problems, ...report.prompts.flatMap((prompt) => prompt.problems)];
    const message = expect.stringContaining('"prompts", which is a git submodule');
    expect(exitCode).toBe(expected);
    expect(problems).toContainEqual(expect.objectContaining({ code, message, path: PATH }));
    expect(problems).toContainEqual(
      expect.objectContaining({ code, hint: expect.stringContaining('promptsync.yaml into the submodule') }),
    );
  });

  test('sync --allow-dirty syncs a prompt file in a git submodule', async () => {
    const service = await startTestService(['greeting']);
    expect(await runJson(makeWithSubmodule(), [...SYNC, '--allow-dirty'], service)).toMatchObject({ exitCode: 0 });
  });
});

describe('prompt files with the ident git attribute', () => {
  test.each([
    ['sync rejects a prompt file in which git expands $Id$', 'Version $Id: 12 $', 'git/ident'],
    [
      'sync accepts a prompt file with the ident git attribute if the file does not contain $Id$',
      'Costs $Id',
      undefined,
    ],
  ])('%s', async (_, text, code) => {
    const folder = makeRepository({ ...workspaceFiles({ greeting: { text } }), '.gitattributes': '*.md ident\n' });
    const { exitCode, report } = await runJson(folder, SYNC, await startTestService(['greeting']));
    expect([exitCode, report.problems[0]?.code]).toEqual([code === undefined ? 0 : 1, code]);
  });
});

describe('the commit and path in a version record', () => {
  test('sync in a git worktree records the commit and the file path in the version', async () => {
    const folder = makeRepository(workspaceFiles({ greeting: {} }));
    const commit = git(folder, 'rev-parse', 'HEAD');
    const service = await startTestService(['greeting']);
    const tree = join(makeFolder(), 'tree');
    git(folder, 'worktree', 'add', '--quiet', tree);
    const { report } = await runJson(tree, SYNC, service);
    expect(report.commit).toBe(commit);
    expect(versionRecordOf(service)).toMatchObject({ commit, path: PATH });
  });

  test('sync records file paths relative to the repository root if the workspace is a subfolder', async () => {
    const files = Object.entries(workspaceFiles({ greeting: {} })).map(([path, text]) => [`team/ws/${path}`, text]);
    const folder = makeRepository(Object.fromEntries(files));
    const service = await startTestService(['greeting']);
    const { report } = await runJson(join(folder, 'team/ws/prompts'), SYNC, service);
    expect(report.prompts[0]?.path).toBe(PATH);
    expect(versionRecordOf(service)).toMatchObject({ path: `team/ws/${PATH}` });
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
});

describe('sync --expect-plan', () => {
  test('sync --expect-plan accepts the digest of a reviewed plan even if HEAD has changed since the review', async () => {
    const folder = makeRepository(workspaceFiles({ greeting: {} }));
    const service = await startTestService(['greeting']);
    const plan = await runJson(folder, ['plan'], service);
    commitAll(folder, 'Merged');
    const words = [...SYNC, '--expect-plan', plan.report.plan_digest!];
    expect(await runJson(folder, words, service)).toMatchObject({ exitCode: 0 });
  });

  test.each(['text', 'markdown', 'html'])(
    'sync --expect-plan accepts the digest with 12 digits that plan --format %s prints',
    async (format) => {
      const folder = makeRepository(workspaceFiles({ greeting: {} }));
      const service = await startTestService(['greeting']);
      const { stdout } = await run(folder, ['plan', '--format', format], service);
      const printed = /sha256:[0-9a-f]+/.exec(stdout)?.[0] ?? '';
      expect(printed).toHaveLength('sha256:'.length + 12);
      expect(await run(folder, [...SYNC, '--expect-plan', printed], service)).toMatchObject({ exitCode: 0 });
    },
  );

  test.each<[string, (digits: string) => string, number]>([
    [
      'sync --expect-plan accepts the first 12 digits of the digest without sha256:',
      (digits) => digits.slice(0, 12),
      0,
    ],
    ['sync --expect-plan accepts a digest in upper case', (digits) => digits.toUpperCase(), 0],
    [
      'sync --expect-plan refuses a plan if the last digit of its digest differs from the expected digest',
      (digits) => `sha256:${digits.slice(0, -1)}${digits.endsWith('0') ? '1' : '0'}`,
      3,
    ],
    [
      'sync --expect-plan refuses a plan if its digest does not begin with the expected digits',
      () => '000000000000',
      3,
    ],
    ['sync --expect-plan rejects a value with fewer than 12 digits', (digits) => `sha256:${digits.slice(0, 11)}`, 1],
    ['sync --expect-plan rejects a value with more than 64 digits', (digits) => `${digits}0`, 1],
    ['sync --expect-plan rejects an empty value', () => '', 1],
  ])('%s', async (_, type, exitCode) => {
    const folder = makeRepository(workspaceFiles({ greeting: {} }));
    const service = await startTestService(['greeting']);
    const { report } = await runJson(folder, ['plan'], service);
    const words = [...SYNC, '--expect-plan', type(report.plan_digest!.slice('sha256:'.length))];
    service.takeWrites();
    expect(await run(folder, words, service)).toMatchObject({ exitCode });
    expect(service.takeWrites()).toHaveLength(exitCode === 0 ? 3 : 0);
  });
});
