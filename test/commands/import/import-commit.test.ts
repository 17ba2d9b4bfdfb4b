import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { addHook, git, makeWorkspace, writeFiles } from '../../support/folder.ts';
import { run, runJson, type Reported } from '../../support/run.ts';
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
] as const;
const PATHS = [[GREETING, REFUND], [GREETING], [GREETING, REFUND, SAME]];

const codes = ({ report }: Reported) => report.problems.map(({ code }) => code);
const filesAt = (folder: string, commit: string) =>
  git(folder, 'show', '--format=', '--name-only', commit).split('\n').toSorted();

test('import --branch commits the texts of other environments first and the final prompt files last, and leaves other edits alone', async () => {
  const { folder, importAll, idIn, read, service } = await makeAdoption(SERVED);
  git(folder, 'branch', 'taken');
  const taken = await importAll('--branch', 'taken');
  expect([taken.exitCode, codes(taken)]).toEqual([1, ['git/branch']]);
  expect(service.requests).toEqual([]);
  writeFiles(folder, { 'staged.txt': 'Staged.' });
  git(folder, 'add', 'staged.txt');
  writeFiles(folder, { 'promptsync.yaml': `${STAGES}# edited\n` });
  const before = git(folder, 'status', '--short');
  const { exitCode, report } = await importAll('--branch', 'adopt');
  expect(exitCode).toBe(0);
  const ids = git(folder, 'log', '--format=%H', '--reverse', 'main..adopt').split('\n');
  expect(report.committed).toEqual({ commit: ids[2], branch: 'adopt' });
  expect(report.commits).toEqual(
    ids.map((commit, index) => ({ commit, subject: SUBJECTS[index], paths: PATHS[index] })),
  );
  expect(ids.map((commit) => filesAt(folder, commit))).toEqual(PATHS);
  expect(readAt(folder, 'HEAD~2', GREETING)).toContain(`  staging: version:${idIn('greeting', 'staging')}  # 3\n`);
  const texts = ['HEAD~2', 'HEAD~1', 'HEAD'].map((commit) => textOf(readAt(folder, commit, GREETING)));
  expect(texts).toEqual(['One.', 'One and a half.', 'Two.']);
  expect(read(GREETING)).toContain('staging: latest\n');
  expect(git(folder, 'status', '--short')).toBe(before);
  const again = await importAll('--branch', 'again');
  expect({ exitCode: again.exitCode, commits: again.report.commits }).toEqual({ exitCode: 0, commits: undefined });
  git(folder, 'rm', '--quiet', GREETING);
  const blocked = await importAll('--commit', '--dry-run');
  expect(blocked.report.prompts.find(({ key }) => key === 'greeting')).toMatchObject({
    status: 'blocked',
    problems: [{ code: 'guard/uncommitted-edit' }],
  });
});

test('import --commit shows the planned commits on a dry run, and also commits in a subfolder of a repository that has no commits yet', async () => {
  const { folder: root, ids, service } = await makeAdoption(SERVED);
  git(root, 'update-ref', '-d', 'HEAD');
  git(root, 'rm', '--quiet', '--cached', 'promptsync.yaml');
  const folder = join(root, 'team');
  writeFiles(folder, { 'promptsync.yaml': STAGES });
  const importAll = (...flags: readonly string[]) => run(folder, ['import', ...ids, ...flags], service);
  const planned = `to commit: ${SUBJECTS[0]} (2 files)
to commit: ${SUBJECTS[1]} (1 file)
to commit: ${SUBJECTS[2]} (3 files)
`;
  expect((await importAll('--branch', 'adopt', '--dry-run', '--quiet')).stdout).toBe(`3 files to write.\n${planned}`);
  expect((await importAll('--commit', '--dry-run', '--format', 'markdown')).stdout).toContain(
    '#### Commits\n\n- to commit: `Import prompts as production serves them` (2 files)\n',
  );
  expect((await importAll('--commit', '--dry-run', '--format', 'html')).stdout).toContain(
    `<p>to commit: ${SUBJECTS[2]} (3 files)</p>`,
  );
  expect([existsSync(join(folder, 'prompts')), git(root, 'branch', '--list', 'adopt')]).toEqual([false, '']);
  const { stdout, stderr } = await importAll('--branch', 'adopt', '--quiet');
  // There is nothing to go back to.
  expect(stderr).toBe('You are now on the branch adopt.\n');
  const [first, second, last] = git(root, 'log', '--format=%h', '--abbrev=12', '--reverse').split('\n');
  expect(stdout).toBe(`3 files written.
committed ${first}: ${SUBJECTS[0]} (2 files)
committed ${second}: ${SUBJECTS[1]} (1 file)
committed ${last}: ${SUBJECTS[2]} (3 files)
Committed ${last} on adopt. Next: push the branch and open a pull request. Merge it with a merge commit. A squash merge would lose the text in the earlier commits.
`);
  expect(filesAt(root, 'HEAD')).toEqual([GREETING, REFUND, SAME].map((path) => `team/${path}`));
});

test('import --branch makes one commit if all environments serve the same text, and does not mention a merge commit', async () => {
  const { run: runHere, subjects } = await makeAdoption({ same: SERVED['same']! });
  const { stdout, stderr } = await runHere(['import', 'prm_same', '--branch', 'same', '--quiet']);
  expect(subjects()).toEqual(['Import 1 prompt']);
  expect(stderr).toContain('To go back, run: git checkout -');
  expect(stdout).not.toContain('merge commit');
});

test('import --commit sends no request outside a repository, and leaves only the new files behind if a hook rejects its last commit', async () => {
  const { folder, ids, importAll, read, service } = await makeAdoption(SERVED);
  const outside = makeWorkspace({ 'promptsync.yaml': STAGES });
  const refused = await runJson(outside, ['import', ...ids, '--commit'], service);
  expect([refused.exitCode, codes(refused)]).toEqual([1, ['git/needs-repository']]);
  expect(service.requests).toEqual([]);
  const script = 'if git diff --cached --name-only | grep -q same; then echo "not on Fridays" >&2; exit 1; fi';
  addHook(folder, script);
  const { exitCode, report } = await importAll('--commit');
  expect(exitCode).toBe(4);
  const message = expect.stringContaining('not on Fridays');
  expect(report.problems).toMatchObject([{ code: 'git/not-committed', message }]);
  expect(report).not.toHaveProperty('commits');
  expect([GREETING, REFUND, SAME].map((path) => textOf(read(path)))).toEqual(['Two.', 'Refund!', 'Same.']);
});
