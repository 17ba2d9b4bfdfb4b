import { readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openRemote } from '../../src/git/remote.ts';
import { messageOf, ProblemError, problemOf } from '../../src/problem.ts';
import { commitAll, git, initRepository, makeFolder, makeRepository, writeFiles } from '../support/folder.ts';
import { listen } from '../support/front.ts';
import { configure, open, startAt, UNUSUAL_SETTINGS } from './support.ts';

type Scene = {
  /** Bare. */
  readonly origin: string;
  /** A clone of it, from which is pushed. */
  readonly desk: string;
  readonly first: string;
  readonly second: string;
};

function makeScene(): Scene {
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

/** What actions/checkout makes: one commit, on no branch. */
function checkOutShallow(origin: string, commit: string): string {
  const folder = makeFolder();
  initRepository(folder);
  git(folder, 'remote', 'add', 'origin', `file://${origin}`);
  git(folder, 'fetch', '--quiet', '--no-tags', '--depth=1', 'origin', commit);
  git(folder, 'checkout', '--quiet', '--detach', commit);
  return folder;
}

/** What a call comes to: its value, or the code of its problem. */
function endOf(call: Promise<unknown>): Promise<unknown> {
  return call.catch((error: unknown) => (error instanceof ProblemError ? problemOf(error).code : error));
}

describe('the tip', () => {
  test.each<[string, string | null]>([
    ['of a branch', 'main'],
    ['of a branch that is called like a ref', 'refs/heads/größe'],
    ['of the default branch', null],
  ])('%s is a commit', async (_, branch) => {
    const { desk, second } = makeScene();
    git(desk, 'push', '--quiet', 'origin', `main:refs/heads/${branch ?? 'x/HEAD'}`);
    configure(desk, UNUSUAL_SETTINGS);
    expect(await openRemote(startAt(desk)).tipOf(branch)).toEqual({
      ...{ remote: 'origin', branch: branch ?? 'main', commit: second },
    });
  });

  test('is the remote’s of now, not what the clone knows', async () => {
    const { origin, desk, first } = makeScene();
    const clone = checkOutShallow(origin, first);
    const third = commitAll(desk, 'Third');
    git(desk, 'push', '--quiet', 'origin', 'main');
    expect(await openRemote(startAt(clone)).tipOf('main')).toMatchObject({ commit: third });
  });

  const NO_BRANCHES = [
    ...['nope', '*', 'mai?', 'main^{commit}', 'main~1', 'main main', 'main\n', 'main\0', '', '-x', '--heads', 'größe'],
    ...['--upload-pack=touch touched', '--exec=touch touched', '-c core.sshCommand=touch', '$(touch x)', '; touch x'],
  ];
  test('there is none of what is no branch, and nothing comes of asking for it', async () => {
    const { desk } = makeScene();
    const { tipOf } = openRemote(startAt(desk));
    const ends = await Promise.all(NO_BRANCHES.map((branch) => endOf(tipOf(branch))));
    expect(new Set(ends)).toEqual(new Set(['git/failed']));
    expect(readdirSync(desk).toSorted()).toEqual(['.git', 'a.md']);
  });

  test('of a remote that wants a password fails at once, and says no name: it may be a token', async () => {
    const refuses = createServer((_, response) => response.writeHead(401, { 'www-authenticate': 'Basic' }).end());
    const { desk } = makeScene();
    const url = await listen(refuses);
    git(desk, 'remote', 'set-url', 'origin', url.replace('//', '//t0ken@'));
    const said = await openRemote(startAt(desk)).tipOf('main').catch(messageOf);
    expect(said).toContain(`'${url}': terminal prompts disabled`);
  });
});

/** What of a clone a fetch may change, besides objects. */
function stateOf(folder: string): readonly unknown[] {
  const refs = git(folder, 'for-each-ref');
  const full = git(folder, 'rev-parse', '--is-shallow-repository') === 'false';
  return [refs, readdirSync(join(folder, '.git')).filter((name) => !/^(index|shallow)$/.test(name)), full];
}

describe('of the tip only the objects are fetched', () => {
  test.each<[string, readonly string[]]>([
    ['into a full clone, which stays full', []],
    ['into one of depth 1', ['--depth', '1']],
  ])('%s', async (_, words) => {
    const { origin, desk } = makeScene();
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
    const tip = (await remote.tipOf(null))!;
    await remote.fetchTip(tip, words.length > 0);
    expect(stateOf(clone)).toEqual(before);
    expect(git(clone, 'show', `${tip.commit}:a.md`)).toBe('4');
  });
});

describe('a remote that does not answer is a problem', () => {
  test.each<[string, (scene: Scene) => void]>([
    ['because it is gone', ({ origin }) => rmSync(origin, { recursive: true })],
    ['because it is no repository', ({ origin }) => rmSync(join(origin, 'HEAD'))],
  ])('%s', async (_, change) => {
    const scene = makeScene();
    const clone = checkOutShallow(scene.origin, scene.second);
    change({ ...scene, desk: clone });
    expect(await endOf(openRemote(startAt(clone)).tipOf('main'))).toBe('git/failed');
    expect(await endOf(openRemote(startAt(clone)).fetchHistory())).toBe('git/failed');
  });
});

describe('the history of a shallow clone', () => {
  test('is fetched, and neither files nor what is checked out change', async () => {
    const { origin, first, second } = makeScene();
    const clone = checkOutShallow(origin, second);
    writeFiles(clone, { 'a.md': 'edited', 'untracked.md': '1' });
    expect(await (await open(clone)).resolveRef(`${second}^`)).toBeNull();
    await openRemote(startAt(clone)).fetchHistory();
    const repository = await open(clone);
    expect(repository.shallow).toBe(false);
    expect(await repository.resolveRef(`${second}^`)).toBe(first);
    expect([repository.head, git(clone, 'status', '--porcelain')]).toEqual([second, ' M a.md\n?? untracked.md']);
  });

  test('of a merge that is on no branch has both parents, and what they began at', async () => {
    const { origin, desk, first, second } = makeScene();
    git(desk, 'switch', '--quiet', '--create', 'change', first);
    const change = commitAll(desk, 'Change');
    git(desk, 'switch', '--quiet', '--detach', second);
    git(desk, 'merge', '--quiet', '--no-ff', '--message', 'Merge', 'change');
    const merge = git(desk, 'rev-parse', 'HEAD');
    git(desk, 'push', '--quiet', 'origin', 'HEAD:refs/pull/7/merge');
    const clone = checkOutShallow(origin, merge);
    await openRemote(startAt(clone)).fetchHistory();
    const repository = await open(clone);
    const parents = [await repository.resolveRef(`${merge}^1`), await repository.resolveRef(`${merge}^2`)];
    expect(parents).toEqual([second, change]);
    expect(await repository.mergeBase(second, change)).toBe(first);
  });

  test('has the branches that came since', async () => {
    const { origin, desk, second } = makeScene();
    const clone = checkOutShallow(origin, second);
    const third = commitAll(desk, 'Third');
    git(desk, 'push', '--quiet', 'origin', 'main');
    await openRemote(startAt(clone)).fetchHistory();
    expect(await (await open(clone)).mergeBase(second, third)).toBe(second);
  });
});
