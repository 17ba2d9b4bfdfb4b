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
import { runJson } from '../support/run.ts';
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

test('sync --expect-plan accepts the digest of a reviewed plan even if HEAD has changed since the review', async () => {
  const folder = makeRepository(workspaceFiles({ greeting: {} }));
  const service = await startTestService(['greeting']);
  const plan = await runJson(folder, ['plan'], service);
  commitAll(folder, 'Merged');
  const words = [...SYNC, '--expect-plan', plan.report.plan_digest!];
  expect(await runJson(folder, words, service)).toMatchObject({ exitCode: 0 });
});
