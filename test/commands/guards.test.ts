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

/** What the newest version says of where it comes from. */
function stampOf({ store }: TestService): unknown {
  return store.readPrompt('prm_greeting', 'staging')?.active_version?.metadata_?.['promptsync'];
}

describe('files that are not committed', () => {
  test.each<[string, (folder: string) => void]>([
    ['edited', (folder) => writeFiles(folder, edited)],
    [
      'ignored',
      (folder) => (git(folder, 'rm', '--cached', '-q', PATH), writeFiles(folder, { '.gitignore': 'prompts\n' })),
    ],
  ])('are not written from, and do not stop those that are: %s', async (_, change) => {
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

  test('are written from with --allow-dirty, and their versions carry no commit', async () => {
    const folder = makeRepository(workspaceFiles({ greeting: {} }));
    const service = await startTestService(['greeting']);
    writeFiles(folder, edited);
    expect(await runJson(folder, [...SYNC, '--allow-dirty'], service)).toMatchObject({ exitCode: 0 });
    expect(stampOf(service)).not.toHaveProperty('commit');
    expect(stampOf(service)).not.toHaveProperty('path');
    // Where nothing is to be written it does not matter.
    expect(await runJson(folder, SYNC, service)).toMatchObject({ exitCode: 0 });
  });
});

describe('where a version comes from', () => {
  test('a worktree, where .git is a file', async () => {
    const folder = makeRepository(workspaceFiles({ greeting: {} }));
    const commit = git(folder, 'rev-parse', 'HEAD');
    const service = await startTestService(['greeting']);
    const tree = join(makeFolder(), 'tree');
    git(folder, 'worktree', 'add', '--quiet', tree);
    const { report } = await runJson(tree, SYNC, service);
    expect(report.commit).toBe(commit);
    expect(stampOf(service)).toMatchObject({ commit, path: PATH });
  });

  test('a workspace in a folder of the repository, run from below it', async () => {
    const files = Object.entries(workspaceFiles({ greeting: {} })).map(([path, text]) => [`team/ws/${path}`, text]);
    const folder = makeRepository(Object.fromEntries(files));
    const service = await startTestService(['greeting']);
    const { report } = await runJson(join(folder, 'team/ws/prompts'), SYNC, service);
    expect(report.prompts[0]?.path).toBe(PATH);
    expect(stampOf(service)).toMatchObject({ path: `team/ws/${PATH}` });
  });

  test('no repository: all may be written, and nothing is known of commits; a repository without one refuses', async () => {
    const folder = makeWorkspace(workspaceFiles({ greeting: {} }));
    const service = await startTestService(['greeting']);
    expect(await runJson(folder, SYNC, service)).toMatchObject({ exitCode: 0, report: { commit: null } });
    expect(stampOf(service)).not.toHaveProperty('commit');
    initRepository(folder);
    writeFiles(folder, edited);
    expect(await runJson(folder, SYNC, service)).toMatchObject({ exitCode: 3, report: { commit: null } });
  });
});

test('applies the plan that was reviewed, also after a squash merge, with --expect-plan', async () => {
  const folder = makeRepository(workspaceFiles({ greeting: {} }));
  const service = await startTestService(['greeting']);
  const plan = await runJson(folder, ['plan'], service);
  commitAll(folder, 'Merged');
  const words = [...SYNC, '--expect-plan', plan.report.plan_digest!];
  expect(await runJson(folder, words, service)).toMatchObject({ exitCode: 0 });
});
