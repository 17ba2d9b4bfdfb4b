import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeHttpLimits, openGit } from '../../src/git/run-git.ts';
import { openRemote, openRemoteGit } from '../../src/git/open-remote.ts';
import { getErrorMessage } from '../../src/problem.ts';
import { checkOut } from '../forges/github/team.ts';
import { commitAll, git, makeFolder, makeRepository, writeFiles } from '../support/folder.ts';
import { listen } from '../support/front.ts';
import { configure, open, startAt, UNUSUAL_SETTINGS } from './support.ts';

/** Makes a bare repository `origin`, and a working copy `desk` that has pushed two commits to it. */
function makeRemoteSetup() {
  const desk = makeRepository({ 'a.md': '1' });
  const first = git(desk, 'rev-parse', 'HEAD');
  writeFiles(desk, { 'a.md': '2' });
  const second = commitAll(desk, 'Second');
  const origin = join(makeFolder(), 'origin.git');
  git(desk, 'init', '--quiet', '--bare', '--initial-branch', 'main', origin);
  git(origin, 'config', 'uploadpack.allowAnySHA1InWant', 'true');
  git(desk, 'remote', 'add', 'origin', `file://${origin}`);
  git(desk, 'push', '--quiet', 'origin', 'main');
  return { origin, desk, first, second };
}

describe('readTip', () => {
  test.each<[string, string | null]>([
    ['readTip returns the tip of a branch on the remote', 'main'],
    ['readTip returns the tip of a remote branch whose name looks like a full ref', 'refs/heads/größe'],
    ['readTip returns the tip of the default branch on the remote', null],
  ])('%s', async (_, branch) => {
    const { desk, second } = makeRemoteSetup();
    git(desk, 'push', '--quiet', 'origin', `main:refs/heads/${branch ?? 'x/HEAD'}`);
    configure(desk, UNUSUAL_SETTINGS);
    expect(await openRemote(startAt(desk)).readTip(branch)).toEqual({
      ...{ remote: 'origin', branch: branch ?? 'main', commit: second },
    });
  });

  const NO_BRANCHES = [
    ...['nope', '*', 'mai?', 'main^{commit}', 'main~1', 'main main', 'main\n', 'main\0', '', '-x', '--heads', 'größe'],
    ...['--upload-pack=touch touched', '--exec=touch touched', '-c core.sshCommand=touch', '$(touch x)', '; touch x'],
  ];
  test('readTip reports a failure for a missing, invalid or malicious branch name and does not execute code from that name', async () => {
    const { desk } = makeRemoteSetup();
    const { readTip: tipOf } = openRemote(startAt(desk));
    await Promise.all(NO_BRANCHES.map((branch) => expect(tipOf(branch)).rejects.toThrow('git failed: ')));
    expect(readdirSync(desk).toSorted()).toEqual(['.git', 'a.md']);
  });

  test('readTip fails without a password prompt and hides the username in the URL if the remote requires a password', async () => {
    const refusingServer = createServer((_, response) =>
      response.writeHead(401, { 'www-authenticate': 'Basic' }).end(),
    );
    const { desk } = makeRemoteSetup();
    const url = await listen(refusingServer);
    git(desk, 'remote', 'set-url', 'origin', url.replace('//', '//t0ken@'));
    const failureMessage = await openRemote(startAt(desk)).readTip('main').catch(getErrorMessage);
    expect(failureMessage).toContain(`'${url}': terminal prompts disabled`);
  });
});

/** Returns everything in a clone that a fetch could change, except for objects. */
function stateOf(folder: string): readonly unknown[] {
  const refs = git(folder, 'for-each-ref');
  const full = git(folder, 'rev-parse', '--is-shallow-repository') === 'false';
  return [refs, readdirSync(join(folder, '.git')).filter((name) => !/^(index|shallow)$/.test(name)), full];
}

test.each<[string, readonly string[]]>([
  ['fetchTip fetches the branch tip into a full clone without changing any ref or making the clone shallow', []],
  ['fetchTip fetches the branch tip into a shallow clone without changing any ref', ['--depth', '1']],
])('%s', async (_, words) => {
  const { origin, desk } = makeRemoteSetup();
  git(desk, 'push', '--quiet', 'origin', 'main:gone');
  const clone = join(makeFolder(), 'clone');
  git(desk, 'clone', '--quiet', '--no-single-branch', ...words, `file://${origin}`, clone);
  configure(clone, { 'fetch.prune': 'true', 'fetch.pruneTags': 'true', 'remote.origin.tagOpt': '--tags' });
  git(clone, 'tag', 'mine');
  git(desk, 'push', '--quiet', 'origin', ':gone');
  for (const text of ['3', '4']) {
    writeFiles(desk, { 'a.md': text });
    git(desk, 'tag', `theirs-${text}`, commitAll(desk, text));
  }
  git(desk, 'push', '--quiet', '--tags', 'origin', 'main');
  const [before, remote] = [stateOf(clone), openRemote(startAt(clone))];
  const tip = (await remote.readTip(null))!;
  await remote.fetchTip(tip, words.length > 0);
  expect(stateOf(clone)).toEqual(before);
  expect(git(clone, 'show', `${tip.commit}:a.md`)).toBe('4');
});

test('fetchHistory turns a shallow clone into a full clone without changing the files or HEAD', async () => {
  const { origin, first, second } = makeRemoteSetup();
  const clone = checkOut(origin, second, 1);
  writeFiles(clone, { 'a.md': 'edited', 'untracked.md': '1' });
  expect(await (await open(clone)).resolveRef(`${second}^`)).toBeNull();
  await openRemote(startAt(clone)).fetchHistory();
  const repository = await open(clone);
  expect(repository.isShallow).toBe(false);
  expect(await repository.resolveRef(`${second}^`)).toBe(first);
  expect([repository.head, git(clone, 'status', '--porcelain')]).toEqual([second, ' M a.md\n?? untracked.md']);
});

describe('a remote that accepts connections and never answers', () => {
  test('a git command over HTTP fails and closes its connection', async () => {
    const { desk } = makeRemoteSetup();
    const { promise: hungUp, resolve: reportHangUp } = Promise.withResolvers<void>();
    const silent = await listen(createServer(({ socket }) => void socket.on('close', () => reportHangUp())));
    git(desk, 'remote', 'set-url', 'origin', `${silent}/origin.git`);
    const { run } = openGit(startAt(desk), { config: [...makeHttpLimits(1)] });
    await expect(run('ls-remote', '--', 'origin')).rejects.toThrow(/unable to access/);
    await hungUp;
  });

  test('a git command over ssh fails although ssh keeps the pipes open', async () => {
    const { desk } = makeRemoteSetup();
    const folder = makeFolder();
    const pidFile = join(folder, 'pid');
    writeFiles(folder, { 'ssh.sh': `trap '' INT TERM\necho $$ > '${pidFile}'\nexec sleep 60\n` });
    git(desk, 'remote', 'set-url', 'origin', 'git@127.0.0.1:origin.git');
    git(desk, 'config', 'core.sshCommand', `sh '${join(folder, 'ssh.sh')}'`);
    const { run } = openRemoteGit(startAt(desk), 1000);
    await expect(run('ls-remote', '--', 'origin')).rejects.toThrow(/the remote did not respond in time/);
    if (existsSync(pidFile)) process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGKILL');
  });
});
