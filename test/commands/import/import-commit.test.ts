import { chmodSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { configure, git, makeWorkspace, writeFiles } from '../../support/folder.ts';
import { run } from '../../support/run.ts';
import { makeAdoption, readAt, STAGES, textOf, type ServedTexts } from './importing.ts';

const GREETING = 'prompts/greeting.md';
const REFUND = 'prompts/refund.md';
const SAME = 'prompts/same.md';

const SERVED: ServedTexts = {
  greeting: { production: 'One.', canary: 'One and a half.', staging: 'Two.' },
  refund: { production: 'Refund.', canary: 'Refund.', staging: 'Refund!' },
  same: { production: 'Same.', canary: 'Same.', staging: 'Same.' },
};

const SUBJECTS = [
  'Import prompts as production serves them',
  'Import prompts as canary serves them',
  'Import 3 prompts',
];

const filesAt = (folder: string, commit: string) =>
  git(folder, 'show', '--format=', '--name-only', commit).split('\n').toSorted();

describe('import --commit', () => {
  test('import --commit commits the texts of other environments first and the final prompt files last', async () => {
    const { folder, importAll, subjects, idIn } = await makeAdoption(SERVED);
    const { exitCode } = await importAll('--commit');
    expect(exitCode).toBe(0);
    expect(subjects()).toEqual(SUBJECTS);
    expect(filesAt(folder, 'HEAD~2')).toEqual([GREETING, REFUND]);
    expect(filesAt(folder, 'HEAD~1')).toEqual([GREETING]);
    expect(filesAt(folder, 'HEAD')).toEqual([GREETING, REFUND, SAME]);
    expect(readAt(folder, 'HEAD~2', GREETING)).toBe(`---
id: prm_greeting
key: greeting
name: greeting
pins:
  staging: version:${idIn('greeting', 'staging')}  # 3
  canary: version:${idIn('greeting', 'canary')}  # 2
  production: version:${idIn('greeting', 'production')}  # 1
---

One.`);
    const texts = ['HEAD~2', 'HEAD~1', 'HEAD'].map((commit) => textOf(readAt(folder, commit, GREETING)));
    expect(texts).toEqual(['One.', 'One and a half.', 'Two.']);
    expect(readAt(folder, 'HEAD', GREETING)).toContain('staging: latest\n');
    expect(git(folder, 'status', '--short')).toBe('');
  });

  test('The JSON report of import --branch lists each commit with its subject and its files', async () => {
    const { folder, importAll } = await makeAdoption(SERVED);
    const { report } = await importAll('--branch', 'adopt');
    const ids = git(folder, 'log', '--format=%H', '--reverse', 'main..adopt').split('\n');
    expect(report.committed).toEqual({ commit: ids[2], branch: 'adopt' });
    expect(report.commits).toEqual([
      { commit: ids[0], subject: SUBJECTS[0], paths: [GREETING, REFUND] },
      { commit: ids[1], subject: SUBJECTS[1], paths: [GREETING] },
      { commit: ids[2], subject: SUBJECTS[2], paths: [GREETING, REFUND, SAME] },
    ]);
  });

  test('import --branch lists its commits and says that the pull request must be merged with a merge commit', async () => {
    const { folder, ids, run: runHere } = await makeAdoption(SERVED);
    const { stdout, stderr } = await runHere(['import', ...ids, '--branch', 'adopt', '--quiet']);
    const [first, second, last] = git(folder, 'log', '--format=%h', '--abbrev=12', '--reverse', 'main..').split('\n');
    expect(stderr).toBe('You are now on the branch adopt. To go back, run: git checkout -\n');
    expect(stdout).toBe(`3 files written.
committed ${first}: ${SUBJECTS[0]} (2 files)
committed ${second}: ${SUBJECTS[1]} (1 file)
committed ${last}: ${SUBJECTS[2]} (3 files)
Committed ${last} on adopt. Next: push the branch and open a pull request. Merge it with a merge commit. A squash merge would lose the text in the earlier commits.
`);
  });

  test('import --commit makes only one commit if every environment serves the text of the new file', async () => {
    const { ids, run: runHere, subjects } = await makeAdoption({ same: SERVED['same'] ?? {} });
    const { stdout } = await runHere(['import', ...ids, '--commit', '--quiet']);
    expect(subjects()).toEqual(['Import 1 prompt']);
    expect(stdout).not.toContain('merge commit');
  });

  test('import --commit makes a separate commit for a version that differs from the new file only in metadata', async () => {
    const { folder, service, importAll, subjects } = await makeAdoption({ greeting: { production: 'One.' } });
    const draft = { content: 'One.', metadata: { model: 'gpt-5' } };
    const versionId = service.store.createVersion('prm_greeting', draft)?.id ?? '';
    service.store.setActive('prm_greeting', { environment: 'staging', versionId });
    await importAll('--commit');
    expect(subjects()).toEqual(['Import prompts as production serves them', 'Import 1 prompt']);
    expect(readAt(folder, 'HEAD~1', GREETING)).not.toContain('metadata');
    expect(readAt(folder, 'HEAD', GREETING)).toContain('metadata:\n  model: gpt-5\n');
  });

  test('import --commit --dry-run shows the planned commits and writes nothing', async () => {
    const { folder, ids, importAll, run: runHere, subjects } = await makeAdoption(SERVED);
    const { report } = await importAll('--commit', '--dry-run');
    expect(report).not.toHaveProperty('committed');
    expect(report.commits).toEqual([
      { commit: null, subject: SUBJECTS[0], paths: [GREETING, REFUND] },
      { commit: null, subject: SUBJECTS[1], paths: [GREETING] },
      { commit: null, subject: SUBJECTS[2], paths: [GREETING, REFUND, SAME] },
    ]);
    const words = ['import', ...ids, '--branch', 'adopt', '--dry-run'];
    expect((await runHere([...words, '--quiet'])).stdout).toBe(`3 files to write.
to commit: ${SUBJECTS[0]} (2 files)
to commit: ${SUBJECTS[1]} (1 file)
to commit: ${SUBJECTS[2]} (3 files)
`);
    expect((await runHere([...words, '--format', 'markdown'])).stdout).toContain(
      '#### Commits\n\n- to commit: `Import prompts as production serves them` (2 files)\n',
    );
    expect((await runHere([...words, '--format', 'html'])).stdout).toContain(
      `<p>to commit: ${SUBJECTS[2]} (3 files)</p>`,
    );
    expect([subjects(), existsSync(join(folder, 'prompts')), git(folder, 'branch', '--list', 'adopt')]).toEqual([
      [],
      false,
      '',
    ]);
  });

  test('import --commit leaves unrelated edits and staged files unchanged', async () => {
    const { folder, importAll, subjects } = await makeAdoption(SERVED);
    writeFiles(folder, { 'staged.txt': 'Staged.' });
    git(folder, 'add', 'staged.txt');
    writeFiles(folder, { 'promptsync.yaml': `${STAGES}# edited\n` });
    const before = git(folder, 'status', '--short');
    expect((await importAll('--commit')).exitCode).toBe(0);
    expect(subjects()).toEqual(SUBJECTS);
    expect(git(folder, 'status', '--short')).toBe(before);
  });

  test('import --branch makes no commit if every prompt already has a file', async () => {
    const { importAll, subjects } = await makeAdoption(SERVED);
    await importAll('--commit');
    const { exitCode, report } = await importAll('--branch', 'again');
    expect({ exitCode, commits: report.commits }).toEqual({ exitCode: 0, commits: undefined });
    expect(subjects()).toEqual(SUBJECTS);
  });

  test('import --commit works in a subfolder of a repository that has no commits yet', async () => {
    const { folder, ids, service } = await makeAdoption(SERVED);
    git(folder, 'update-ref', '-d', 'HEAD');
    git(folder, 'rm', '--quiet', '--cached', 'promptsync.yaml');
    writeFiles(folder, { 'team/promptsync.yaml': STAGES });
    expect(await run(join(folder, 'team'), ['import', ...ids, '--commit'], service)).toMatchObject({ exitCode: 0 });
    expect(git(folder, 'log', '--format=%s', '--reverse').split('\n')).toEqual(SUBJECTS);
    expect(filesAt(folder, 'HEAD')).toEqual([GREETING, REFUND, SAME].map((path) => `team/${path}`));
  });

  test('import --branch does not suggest going back if the previous branch has no commits', async () => {
    const { folder, ids, run: runHere } = await makeAdoption(SERVED);
    git(folder, 'update-ref', '-d', 'HEAD');
    const { stderr } = await runHere(['import', ...ids, '--branch', 'adopt', '--quiet']);
    expect(stderr).toBe('You are now on the branch adopt.\n');
  });

  test.each<[string, readonly string[], string]>([
    ['Outside a repository, import --commit sends no request and writes nothing', ['--commit'], 'git/needs-repository'],
    [
      'Outside a repository, import --branch sends no request and writes nothing',
      ['--branch', 'a'],
      'git/needs-repository',
    ],
  ])('%s', async (_, flags, code) => {
    const { ids, service } = await makeAdoption(SERVED);
    const folder = makeWorkspace({ 'promptsync.yaml': STAGES });
    const ran = await run(folder, ['import', ...ids, ...flags], service);
    expect(ran.exitCode).toBe(1);
    expect(ran.stdout).toContain(code);
    expect(service.requests).toEqual([]);
    expect(existsSync(join(folder, 'prompts'))).toBe(false);
  });

  test('import --branch sends no request if the branch already exists', async () => {
    const { folder, importAll, service } = await makeAdoption(SERVED);
    git(folder, 'branch', 'adopt');
    const { exitCode, report } = await importAll('--branch', 'adopt');
    expect({ exitCode, problems: report.problems.map(({ code }) => code) }).toEqual({
      exitCode: 1,
      problems: ['git/branch'],
    });
    expect(service.requests).toEqual([]);
  });

  test('import --commit blocks a prompt whose file has staged changes', async () => {
    const { folder, importAll } = await makeAdoption(SERVED);
    await importAll('--commit');
    git(folder, 'rm', '--quiet', GREETING);
    const { exitCode, report } = await importAll('--commit');
    expect(exitCode).toBe(3);
    expect(report.prompts.find(({ key }) => key === 'greeting')).toMatchObject({
      status: 'blocked',
      problems: [{ code: 'guard/uncommitted-edit' }],
    });
    expect(git(folder, 'status', '--short')).toBe(`D  ${GREETING}`);
  });

  test('import --commit --dry-run blocks a prompt whose file has staged changes', async () => {
    const { folder, importAll } = await makeAdoption(SERVED);
    await importAll('--commit');
    git(folder, 'rm', '--quiet', GREETING);
    const { exitCode, report } = await importAll('--commit', '--dry-run');
    expect(exitCode).toBe(3);
    expect(report).not.toHaveProperty('commits');
    expect(report.prompts.find(({ key }) => key === 'greeting')).toMatchObject({ status: 'blocked' });
  });
});

describe('a failure of import --commit', () => {
  const hook = (folder: string, script: string, name = 'pre-commit'): void => {
    writeFiles(folder, { [`.git/hooks/${name}`]: `#!/bin/sh\n${script}\n` });
    chmodSync(join(folder, `.git/hooks/${name}`), 0o755);
  };
  const isLast = 'git diff --cached --name-only | grep -q same';

  test.each<[string, (folder: string) => void, RegExp]>([
    [
      'import --commit leaves no commit behind if a hook rejects its first commit',
      (folder) => hook(folder, 'echo "not on Fridays" >&2; exit 1'),
      /not on Fridays/,
    ],
    [
      'import --commit leaves none of its commits behind if a hook rejects the last of them',
      (folder) => hook(folder, `if ${isLast}; then echo "not on Fridays" >&2; exit 1; fi`),
      /not on Fridays/,
    ],
    [
      'import --commit leaves no commit behind if a hook changes a committed file',
      (folder) => hook(folder, `if ${isLast}; then echo added >> ${REFUND}; git add ${REFUND}; fi`),
      /the text of prompts\/refund\.md in the commit differs .*changes the file\.$/,
    ],
    [
      'import --commit leaves no commit behind if git cannot sign a commit',
      (folder) => configure(folder, { 'commit.gpgSign': 'true', 'gpg.program': '/bin/false' }),
      /failed to sign/,
    ],
    [
      'import --commit leaves no commit behind if git ignores one of the new files',
      (folder) => writeFiles(folder, { '.git/info/exclude': 'refund.md\n' }),
      /ignored/,
    ],
  ])('%s', async (_, prepare, reason) => {
    const { folder, importAll, subjects, read } = await makeAdoption(SERVED);
    writeFiles(folder, { 'staged.txt': 'Staged.' });
    git(folder, 'add', 'staged.txt');
    const head = git(folder, 'rev-parse', 'HEAD');
    prepare(folder);
    const { exitCode, report } = await importAll('--commit');
    expect(exitCode).toBe(4);
    expect(report.problems).toMatchObject([{ code: 'git/not-committed', message: expect.stringMatching(reason) }]);
    expect(report).not.toHaveProperty('committed');
    expect(report).not.toHaveProperty('commits');
    expect([git(folder, 'rev-parse', 'HEAD'), subjects()]).toEqual([head, []]);
    expect(git(folder, 'diff', '--cached', '--name-only')).toBe('staged.txt');
    const texts = [GREETING, REFUND, SAME].map((path) => textOf(read(path)));
    expect(texts).toEqual(['Two.', 'Refund!', 'Same.']);
    expect(read(GREETING)).toContain('staging: latest\n');
  });

  test('If import --commit fails in a repository without commits, the repository still has no commits', async () => {
    const { folder, importAll } = await makeAdoption(SERVED);
    git(folder, 'update-ref', '-d', 'HEAD');
    hook(folder, `if ${isLast}; then exit 1; fi`);
    expect((await importAll('--commit')).exitCode).toBe(4);
    expect(() => git(folder, 'rev-parse', '--verify', 'HEAD')).toThrow(/single revision/);
    expect(git(folder, 'status', '--short', '--untracked-files=all').split('\n')).toEqual([
      'A  promptsync.yaml',
      ...[GREETING, REFUND, SAME].map((path) => `?? ${path}`),
    ]);
  });

  test('If import --commit fails, it does not remove a commit that somebody else made after its commits', async () => {
    const { folder, importAll, subjects, read } = await makeAdoption(SERVED);
    const addCommit = 'git update-ref HEAD $(git commit-tree HEAD^{tree} -p HEAD -m Other)';
    hook(folder, `if ${isLast}; then ${addCommit}; echo "not on Fridays" >&2; exit 1; fi`);
    const { exitCode, report } = await importAll('--commit');
    expect(exitCode).toBe(4);
    expect(report.problems[0]?.message).toMatch(/not on Fridays\. The branch still has the earlier commits: .*HEAD/);
    expect(subjects()).toEqual([...SUBJECTS.slice(0, 2), 'Other']);
    expect(textOf(read(GREETING))).toBe('Two.');
  });

  test('If import --commit fails, it does not remove a commit that somebody else made between two of its commits', async () => {
    const { folder, importAll, subjects } = await makeAdoption(SERVED);
    const addOnce = '[ -e .git/done ] || git update-ref HEAD $(git commit-tree HEAD^{tree} -p HEAD -m Other)';
    hook(folder, `${addOnce}; touch .git/done`, 'post-commit');
    hook(folder, `if ${isLast}; then echo "not on Fridays" >&2; exit 1; fi`);
    const { exitCode, report } = await importAll('--commit');
    expect(exitCode).toBe(4);
    expect(report.problems[0]?.message).toMatch(/not on Fridays\. The branch still has the earlier commits: .*someone/);
    expect(subjects()).toEqual([SUBJECTS[0], 'Other', SUBJECTS[1]]);
    expect(git(folder, 'diff', '--cached', '--name-only')).toBe('');
  });

  test('import --commit keeps an edit that somebody else makes to a new file between two commits', async () => {
    const { folder, importAll, subjects, read } = await makeAdoption(SERVED);
    hook(folder, `[ -e .git/done ] || echo Edited > ${SAME}; touch .git/done`, 'post-commit');
    const { exitCode, report } = await importAll('--commit');
    expect(exitCode).toBe(4);
    expect(report.problems[0]?.message).toMatch(/prompts\/same\.md: The file changed/);
    expect(subjects()).toEqual([]);
    expect([read(SAME), textOf(read(GREETING))]).toEqual(['Edited\n', 'Two.']);
  });

  test('If import --commit fails only because the git index is locked, the error does not claim that commits were left behind', async () => {
    const { folder, importAll, subjects } = await makeAdoption(SERVED);
    hook(folder, 'touch .git/index.lock', 'post-commit');
    const { exitCode, report } = await importAll('--commit');
    expect(exitCode).toBe(4);
    expect(report.problems[0]?.message.match(/index\.lock/g)).toHaveLength(1);
    expect(report.problems[0]?.message).not.toContain('earlier commits');
    expect(subjects()).toEqual([]);
  });

  test('import --commit leaves no commit behind if a signal interrupts it between two commits', async () => {
    const { folder, ids, run: runHere, subjects } = await makeAdoption(SERVED);
    hook(folder, 'touch .git/started; until [ -e .git/go ]; do sleep 0.02; done');
    let interrupt = (): void => {};
    const running = runHere(['import', ...ids, '--commit'], { onSignal: (signal) => (interrupt = signal) });
    await expect.poll(() => existsSync(join(folder, '.git/started')), { timeout: 20_000 }).toBe(true);
    interrupt();
    writeFiles(folder, { '.git/go': '' });
    expect((await running).exitCode).toBe(130);
    expect(subjects()).toEqual([]);
    expect(git(folder, 'diff', '--cached', '--name-only')).toBe('');
  });
});
