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
import { CONFIG, promptText, workspaceFiles } from '../support/prompts.ts';
import { runJson } from '../support/run.ts';
import { startTestService, type TestService } from '../support/service.ts';

const PATH = 'prompts/greeting.md';
const edited = { [PATH]: promptText('greeting', { text: 'Edited.' }) };

/** What the newest version says of where it comes from. */
function stampOf({ store }: TestService): unknown {
  return store.readPrompt('prm_greeting', 'staging')?.active_version?.metadata_?.['promptsync'];
}

describe('files that are not committed', () => {
  test.each<[string, (folder: string) => void]>([
    ['edited', (folder) => writeFiles(folder, edited)],
    ['edited and staged', (folder) => (writeFiles(folder, edited), git(folder, 'add', '.'))],
    ['untracked', (folder) => (git(folder, 'rm', '--cached', '-q', PATH), commitAllBut(folder))],
    [
      'ignored',
      (folder) => (git(folder, 'rm', '--cached', '-q', PATH), writeFiles(folder, { '.gitignore': 'prompts\n' })),
    ],
    [
      'edited behind the back of git',
      (folder) => (git(folder, 'update-index', '--assume-unchanged', PATH), writeFiles(folder, edited)),
    ],
  ])('are not written from: %s', async (_, change) => {
    const folder = makeRepository(workspaceFiles({ greeting: {} }));
    const service = await startTestService(['greeting']);
    change(folder);
    const { exitCode, report } = await runJson(folder, ['sync', '--yes'], service);
    expect(exitCode).toBe(3);
    expect(report.prompts).toMatchObject([
      { status: 'blocked', problems: [{ code: 'guard/uncommitted', path: PATH }] },
    ]);
    expect(service.takeWrites()).toEqual([]);
  });

  test('do not stop those that are', async () => {
    const folder = makeRepository(workspaceFiles({ greeting: {}, refund: {} }));
    const service = await startTestService(['greeting', 'refund']);
    writeFiles(folder, edited);
    const { exitCode, report } = await runJson(folder, ['sync', '--yes'], service);
    expect(exitCode).toBe(3);
    expect(report.prompts.map(({ key, status }) => [key, status])).toEqual([
      ['greeting', 'blocked'],
      ['refund', 'applied'],
    ]);
  });

  test('are written from with --allow-dirty, and their versions carry no commit', async () => {
    const folder = makeRepository(workspaceFiles({ greeting: {} }));
    const service = await startTestService(['greeting']);
    writeFiles(folder, edited);
    expect(await runJson(folder, ['sync', '--yes', '--allow-dirty'], service)).toMatchObject({ exitCode: 0 });
    expect(stampOf(service)).not.toHaveProperty('commit');
    expect(stampOf(service)).not.toHaveProperty('path');
  });

  test('do not matter where nothing is to be written', async () => {
    const folder = makeRepository(workspaceFiles({ greeting: {} }));
    const service = await startTestService(['greeting']);
    await runJson(folder, ['sync', '--yes'], service);
    writeFiles(folder, { [PATH]: `${promptText('greeting').trimEnd()}` });
    expect(await runJson(folder, ['sync', '--yes'], service)).toMatchObject({ exitCode: 0 });
  });
});

function commitAllBut(folder: string): void {
  git(folder, 'commit', '--quiet', '--message', 'Untrack');
}

describe('where a version comes from', () => {
  test.each<[string, (folder: string) => string]>([
    ['a repository', (folder) => folder],
    [
      'a worktree, where .git is a file',
      (folder) => {
        const tree = join(makeFolder(), 'tree');
        git(folder, 'worktree', 'add', '--quiet', tree);
        return tree;
      },
    ],
  ])('%s', async (_, locate) => {
    const folder = makeRepository(workspaceFiles({ greeting: {} }));
    const commit = git(folder, 'rev-parse', 'HEAD');
    const service = await startTestService(['greeting']);
    const { report } = await runJson(locate(folder), ['sync', '--yes'], service);
    expect(report.commit).toBe(commit);
    expect(stampOf(service)).toMatchObject({ commit, path: PATH });
  });

  test('a workspace in a folder of the repository, run from below it', async () => {
    const files = Object.entries(workspaceFiles({ greeting: {} })).map(([path, text]) => [`team/ws/${path}`, text]);
    const folder = makeRepository(Object.fromEntries(files));
    const service = await startTestService(['greeting']);
    const { report } = await runJson(join(folder, 'team/ws/prompts'), ['sync', '--yes'], service);
    expect(report.prompts[0]?.path).toBe(PATH);
    expect(stampOf(service)).toMatchObject({ path: `team/ws/${PATH}` });
  });

  test('no repository: everything may be written, and nothing is known of commits', async () => {
    const folder = makeWorkspace(workspaceFiles({ greeting: {} }));
    const service = await startTestService(['greeting']);
    const { exitCode, report } = await runJson(folder, ['sync', '--yes'], service);
    expect({ exitCode, commit: report.commit }).toEqual({ exitCode: 0, commit: null });
    expect(stampOf(service)).not.toHaveProperty('commit');
  });

  test('a repository without a commit refuses', async () => {
    const folder = makeWorkspace(workspaceFiles({ greeting: {} }));
    initRepository(folder);
    const service = await startTestService(['greeting']);
    const { exitCode, report } = await runJson(folder, ['sync', '--yes'], service);
    expect({ exitCode, commit: report.commit }).toEqual({ exitCode: 3, commit: null });
  });
});

describe('--expect-plan', () => {
  test('applies the plan that was reviewed, also after a squash merge', async () => {
    const folder = makeRepository(workspaceFiles({ greeting: {} }));
    const service = await startTestService(['greeting']);
    const plan = await runJson(folder, ['plan'], service);
    commitAll(folder, 'Merged');
    const words = ['sync', '--yes', '--expect-plan', plan.report.plan_digest!];
    expect(await runJson(folder, words, service)).toMatchObject({ exitCode: 0 });
  });

  test.each([['sync', '--yes'], ['plan']])('refuses any other: %s', async (...command) => {
    const folder = makeRepository(workspaceFiles({ greeting: {}, refund: {} }));
    const service = await startTestService(['greeting', 'refund']);
    const plan = await runJson(folder, ['plan'], service);
    writeFiles(folder, edited);
    commitAll(folder, 'Edit');
    const { exitCode, report } = await runJson(
      folder,
      [...command, '--expect-plan', plan.report.plan_digest!],
      service,
    );
    expect(exitCode).toBe(3);
    expect(report.prompts.map(({ status }) => status)).toEqual(['blocked', 'blocked']);
    expect(service.takeWrites()).toEqual([]);
  });
});

describe('max_changes', () => {
  test.each<[string, string, readonly string[], number]>([
    ['none is set', '', [], 0],
    ['as many as there are', 'max_changes: 2\n', [], 0],
    ['fewer', 'max_changes: 1\n', [], 3],
    ['a percentage, rounded up', 'max_changes: 51%\n', [], 0],
    ['a smaller percentage', 'max_changes: 50%\n', [], 3],
    ['the flag goes first', 'max_changes: 0\n', ['--max-changes', '100%'], 0],
    ['of those selected', 'max_changes: 1\n', ['--only', 'refund'], 0],
  ])('%s', async (_, setting, flags, exitCode) => {
    const files = workspaceFiles({ greeting: {}, refund: {} }, `${CONFIG}${setting}`);
    const service = await startTestService(['greeting', 'refund']);
    expect(await runJson(makeWorkspace(files), ['plan', ...flags], service)).toMatchObject({ exitCode });
  });
});

test('latest is refused where the configuration does not allow it', async () => {
  const config = `${CONFIG}environments: { staging: {}, production: { allow_latest: false } }\n`;
  const folder = makeWorkspace(workspaceFiles({ greeting: { pins: { production: 'latest' } }, refund: {} }, config));
  const service = await startTestService(['greeting', 'refund']);
  const { exitCode, report } = await runJson(folder, ['sync', '--yes'], service);
  expect(exitCode).toBe(3);
  expect(report.prompts).toMatchObject([
    { status: 'blocked', problems: [{ code: 'guard/latest-not-allowed', path: PATH, line: 5 }] },
    { status: 'applied' },
  ]);
});
