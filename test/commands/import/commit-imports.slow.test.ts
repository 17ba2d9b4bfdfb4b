import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commitImports } from '../../../src/commands/import/commit-imports.ts';
import { openCommitter } from '../../../src/git/open-committer.ts';
import { makeGitSettings } from '../../../src/workspace/config.ts';
import { parseConfig } from '../../../src/workspace/load-config.ts';
import { addHook, configure, git, makeRepository, writeFiles } from '../../support/folder.ts';
import { CONFIG } from '../../support/prompts.ts';

const A = 'prompts/a.md';
const B = 'prompts/b.md';
const SAME = 'prompts/same.md';
const NEW: Readonly<Record<string, string>> = { [A]: 'A3\n', [B]: 'B3\n', [SAME]: 'Same\n' };
const list = (files: Readonly<Record<string, string>>) =>
  Object.entries(files).map(([path, source]) => ({ path, source }));
const COMMITS = [
  { subject: 'First', files: list({ [A]: 'A1\n', [B]: 'B1\n' }) },
  { subject: 'Second', files: list({ [A]: 'A2\n' }) },
  { subject: 'Last', files: list(NEW) },
];

/** A shell condition that is true in the last commit. */
const IS_LAST = 'git diff --cached --name-only | grep -q same';
const REJECT = 'echo "not today" >&2; exit 1';
const REJECT_LAST = `if ${IS_LAST}; then echo "not on Fridays" >&2; exit 1; fi`;

/** Makes a repository with the new files of an import, which are not committed, and a staged file. */
function makeScene() {
  const folder = makeRepository({ 'promptsync.yaml': CONFIG });
  writeFiles(folder, { ...NEW, 'staged.txt': 'Staged.' });
  git(folder, 'add', 'staged.txt');
  const file = join(folder, 'promptsync.yaml');
  const config = parseConfig(CONFIG, { file, shownPath: file, root: folder, environment: {} }).config!;
  const stop = new AbortController();
  return {
    folder,
    stop,
    commit: async () => {
      const committer = openCommitter(makeGitSettings(config));
      const { problems, ...made } = await commitImports(COMMITS, committer, config, { stopSignal: stop.signal });
      return { ...made, message: problems.map(({ message }) => message).join('\n') };
    },
    subjects: () => git(folder, 'log', '--format=%s', '--reverse').split('\n').slice(1),
    staged: () => git(folder, 'diff', '--cached', '--name-only'),
    files: () => [A, B, SAME].map((path) => readFileSync(join(folder, path), 'utf8')),
  };
}

describe('a failure of the commits of an import', () => {
  const changeB = `if ${IS_LAST}; then echo added >> ${B}; git add ${B}; fi`;
  const ignored = { '.git/info/exclude': 'b.md\n' };
  const signing = { 'commit.gpgSign': 'true', 'gpg.program': '/bin/false' };

  test.each<[string, (folder: string) => void, RegExp]>([
    ['An import leaves no commit if a hook rejects the first', (folder) => addHook(folder, REJECT), /not today/],
    ['An import leaves no commit if a hook rejects the last', (folder) => addHook(folder, REJECT_LAST), /Fridays/],
    ['An import leaves no commit if a hook changes a file', (folder) => addHook(folder, changeB), /commit differs/],
    ['An import leaves no commit if git cannot sign one', (folder) => configure(folder, signing), /failed to sign/],
    ['An import leaves no commit if git ignores a file', (folder) => writeFiles(folder, ignored), /ignored/],
  ])('%s', async (_, prepare, reason) => {
    const scene = makeScene();
    prepare(scene.folder);
    expect(await scene.commit()).toEqual({ message: expect.stringMatching(reason) });
    expect([scene.subjects(), scene.staged(), scene.files()]).toEqual([[], 'staged.txt', Object.values(NEW)]);
  });

  test('If the commits of an import fail in a repository without commits, the repository still has no commits', async () => {
    const { folder, commit, files } = makeScene();
    git(folder, 'update-ref', '-d', 'HEAD');
    addHook(folder, REJECT_LAST);
    expect((await commit()).message).toContain('not on Fridays');
    expect(() => git(folder, 'rev-parse', '--verify', 'HEAD')).toThrow(/single revision/);
    expect(files()).toEqual(Object.values(NEW));
  });

  test('A failed import does not remove a commit that somebody else made after its commits', async () => {
    const { folder, commit, subjects } = makeScene();
    const addCommit = 'git update-ref HEAD $(git commit-tree HEAD^{tree} -p HEAD -m Other)';
    addHook(folder, `if ${IS_LAST}; then ${addCommit}; echo "not on Fridays" >&2; exit 1; fi`);
    expect((await commit()).message).toMatch(/not on Fridays\. The branch still has the earlier commits: .*HEAD/);
    expect(subjects()).toEqual(['First', 'Second', 'Other']);
  });

  test('A failed import does not remove a commit that somebody else made between two of its commits', async () => {
    const { folder, commit, subjects, staged } = makeScene();
    const addOnce = '[ -e .git/done ] || git update-ref HEAD $(git commit-tree HEAD^{tree} -p HEAD -m Other)';
    addHook(folder, `${addOnce}; touch .git/done`, 'post-commit');
    addHook(folder, REJECT_LAST);
    expect((await commit()).message).toMatch(/not on Fridays\. The branch still has the earlier commits: .*someone/);
    expect([subjects(), staged()]).toEqual([['First', 'Other', 'Second'], 'staged.txt']);
  });

  test('An import keeps an edit that somebody else makes to a new file between two commits', async () => {
    const { folder, commit, subjects, files } = makeScene();
    addHook(folder, `[ -e .git/done ] || echo Edited > ${SAME}; touch .git/done`, 'post-commit');
    expect((await commit()).message).toMatch(/prompts\/same\.md: The file changed/);
    expect([subjects(), files()]).toEqual([[], ['A3\n', 'B3\n', 'Edited\n']]);
  });

  test('If an import fails only because the git index is locked, the error does not claim that commits were left behind', async () => {
    const { folder, commit, subjects } = makeScene();
    addHook(folder, 'touch .git/index.lock', 'post-commit');
    const { message } = await commit();
    expect(message.match(/index\.lock/g)).toHaveLength(1);
    expect(message).not.toContain('earlier commits');
    expect(subjects()).toEqual([]);
  });

  test('An import leaves no commit behind if a signal interrupts it between two commits', async () => {
    const { folder, commit, stop, subjects, staged } = makeScene();
    addHook(folder, 'touch .git/started; until [ -e .git/go ]; do sleep 0.02; done');
    const running = commit();
    await expect.poll(() => existsSync(join(folder, '.git/started')), { timeout: 20_000 }).toBe(true);
    stop.abort();
    writeFiles(folder, { '.git/go': '' });
    expect((await running).message).toContain('interrupted');
    expect([subjects(), staged()]).toEqual([[], 'staged.txt']);
  });
});
