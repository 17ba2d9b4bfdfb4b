import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openRemote } from '../../src/git/remote.ts';
import { ProblemError, problemOf } from '../../src/problem.ts';
import { commitAll, git, initRepository, makeFolder, makeRepository, writeFiles } from '../support/folder.ts';
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
  test.each<[string, string]>([
    ['of a branch', 'refs/heads/main'],
    ['of a branch that is called like a ref', 'refs/heads/refs/heads/größe'],
    ['of what a pull request is merged to for a try', 'refs/pull/7/merge'],
    ['of a tag', 'refs/tags/v1'],
    ['of a tag of a tag', 'refs/tags/tag-of-tag'],
  ])('%s is a commit', async (_, ref) => {
    const { desk, second } = makeScene();
    git(desk, 'tag', 'v1');
    git(desk, 'tag', '--annotate', '--message', 'm', 'v1-annotated');
    git(desk, 'tag', '--annotate', '--message', 'm', 'tag-of-tag', 'v1-annotated');
    git(desk, 'push', '--quiet', '--tags', 'origin');
    if (!ref.startsWith('refs/tags/')) git(desk, 'push', '--quiet', 'origin', `+main:${ref}`);
    configure(desk, UNUSUAL_SETTINGS);
    expect(await openRemote(startAt(desk)).tipOf(ref)).toBe(second);
  });

  test('is the remote’s of now, not what the clone knows', async () => {
    const { origin, desk, first, second } = makeScene();
    const clone = checkOutShallow(origin, first);
    expect(await openRemote(startAt(clone)).tipOf('refs/heads/main')).toBe(second);
    const third = commitAll(desk, 'Third');
    git(desk, 'push', '--quiet', 'origin', 'main');
    expect(await openRemote(startAt(clone)).tipOf('refs/heads/main')).toBe(third);
  });

  const NO_REFS = [
    ...['refs/heads/nope', 'main', 'refs/heads/*', 'refs/heads/mai?', 'refs/heads/main^{commit}', 'refs/heads/main~1'],
    ...['refs/heads/main main', 'refs/heads/main\n', 'refs/heads/main\0', '', '-x', '--heads', '$(touch touched)'],
    ...['--upload-pack=touch touched', '--exec=touch touched', '-c core.sshCommand=touch', '; touch touched', 'größe'],
  ];
  test('there is none of what is no ref, and nothing comes of asking for it', async () => {
    const { desk } = makeScene();
    const { tipOf } = openRemote(startAt(desk));
    const ends = await Promise.all(NO_REFS.map((ref) => endOf(tipOf(ref))));
    expect(new Set(ends)).toEqual(new Set([null, 'git/failed']));
    expect(readdirSync(desk).toSorted()).toEqual(['.git', 'a.md']);
  });
});

describe('a remote that does not answer is a problem', () => {
  test.each<[string, (scene: Scene) => void]>([
    ['because it is gone', ({ origin }) => rmSync(origin, { recursive: true })],
    ['because it is no repository', ({ origin }) => rmSync(join(origin, 'HEAD'))],
    ['because there is none', ({ desk }) => void git(desk, 'remote', 'remove', 'origin')],
  ])('%s', async (_, change) => {
    const scene = makeScene();
    const clone = checkOutShallow(scene.origin, scene.second);
    change({ ...scene, desk: clone });
    expect(await endOf(openRemote(startAt(clone)).tipOf('refs/heads/main'))).toBe('git/failed');
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
    expect(await (await open(clone)).descendantsOf(second, [third])).toEqual([third]);
  });
});
