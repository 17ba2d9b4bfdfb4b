import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { chooseBase, openFullRepository, makeRootPathConverter } from '../../../src/forges/github/checkout.ts';
import { parseEvent } from '../../../src/forges/github/action-event.ts';
import { commitAll, git, initRepository, makeFolder, makeRepository, makeWorkspace } from '../../support/folder.ts';
import { makeSystem } from '../../support/system.ts';
import { open, startAt } from '../../git/support.ts';
import { pullEvent, pushEvent, scheduleEvent } from './support.ts';
import { checkOut } from './team.ts';

/** Makes a branch from the first commit of main, a second commit on main, and the merge of both. */
function makeHistory() {
  const folder = makeRepository({ 'a.md': '1' });
  const first = git(folder, 'rev-parse', 'HEAD');
  git(folder, 'switch', '--quiet', '--create', 'change');
  const early = commitAll(folder, 'Early');
  const change = commitAll(folder, 'Change');
  git(folder, 'switch', '--quiet', 'main');
  const main = commitAll(folder, 'Main');
  git(folder, 'merge', '--quiet', '--no-ff', '--message', 'Merge', 'change');
  const merge = git(folder, 'rev-parse', 'HEAD');
  git(folder, 'config', 'uploadpack.allowAnySHA1InWant', 'true');
  return { folder, commits: { first, early, change, main, merge, missing: 'd'.repeat(40), none: '0'.repeat(40) } };
}

type Commits = ReturnType<typeof makeHistory>['commits'];
type Name = keyof Commits;

describe('chooseBase', () => {
  const pull = ({ change, main }: Commits) => parseEvent('pull_request', '', pullEvent(7, change, main));
  const push = (before: Name) => (commits: Commits) =>
    parseEvent('push', '', pushEvent(commits.merge, commits[before]));
  const other = () => parseEvent('schedule', '', scheduleEvent());

  test.each<[string, (commits: Commits) => ReturnType<typeof other>, Name, Name | undefined]>([
    ['chooseBase returns the first parent of the test merge commit for a pull request', pull, 'merge', 'main'],
    ['chooseBase returns the merge base if the head branch of a pull request is checked out', pull, 'change', 'first'],
    [
      'chooseBase returns the base commit of a pull request even if that commit is missing from the clone',
      ({ change, missing }) => parseEvent('pull_request', '', pullEvent(7, change, missing)),
      ...(['change', 'missing'] as const),
    ],
    ['chooseBase returns the previous branch tip for a push', push('first'), 'merge', 'first'],
    ['chooseBase returns the first parent for a push that creates a branch', push('none'), 'merge', 'main'],
    [
      'chooseBase returns the first parent for a force push if the previous commit is missing',
      push('missing'),
      'merge',
      'main',
    ],
    ['chooseBase returns the first parent for a scheduled run', other, 'change', 'early'],
    ['chooseBase returns undefined if the first commit of a repository is checked out', other, 'first', undefined],
  ])('%s', async (_, eventOf, at, expected) => {
    const { folder, commits } = makeHistory();
    git(folder, 'checkout', '--quiet', '--detach', commits[at]);
    const base = await chooseBase(eventOf(commits), await open(folder));
    expect(base).toBe(expected === undefined ? undefined : commits[expected]);
  });

  test.each<[string, Name, Name]>([
    ['chooseBase rejects a checkout of a commit that precedes the pull request head', 'early', 'change'],
    ['chooseBase rejects a checkout of the base branch for a pull request event', 'main', 'change'],
    [
      'chooseBase rejects a checked-out merge commit that does not merge the head of the pull request',
      'merge',
      'early',
    ],
  ])('%s', async (_, at, head) => {
    const { folder, commits } = makeHistory();
    git(folder, 'checkout', '--quiet', '--detach', commits[at]);
    const event = parseEvent('pull_request', '', pullEvent(7, commits[head], commits.main));
    const refusal = chooseBase(event, await open(folder));
    const [found, wanted] = [commits[at].slice(0, 12), commits[head].slice(0, 12)];
    await expect(refusal).rejects.toThrow(new RegExp(`\\(${found}\\) .* #7 \\(${wanted}\\)`));
  });

  test('chooseBase returns undefined in a repository without commits', async () => {
    const folder = makeFolder();
    initRepository(folder);
    expect(await chooseBase(other(), await open(folder))).toBeUndefined();
  });
});

const openWholeAt = (folder: string) => openFullRepository({ system: makeSystem(folder), git: startAt(folder) });

describe('openFullRepository', () => {
  test.each([0, 1, 2])('openFullRepository loads the full history after a checkout with depth %i', async (depth) => {
    const { folder, commits } = makeHistory();
    const repository = await openWholeAt(checkOut(folder, commits.merge, depth));
    expect(repository.isShallow).toBe(false);
    expect(await repository.findMergeBase(commits.main, commits.change)).toBe(commits.first);
  });

  test('openFullRepository opens a shallow clone if the missing history cannot be fetched', async () => {
    const { folder, commits } = makeHistory();
    const clone = checkOut(folder, commits.merge, 1);
    git(clone, 'remote', 'set-url', 'origin', `file://${join(folder, 'nowhere')}`);
    const repository = await openWholeAt(clone);
    expect([repository.head, repository.isShallow]).toEqual([commits.merge, true]);
  });
});

describe('makeRootPathConverter', () => {
  const files = { '.git/HEAD': '', 'promptsync.yaml': '', 'team/ws/promptsync.yaml': '', 'team/ws/my.yaml': '' };
  test.each<[string, string, string, string, string]>([
    ['makeRootPathConverter returns a path in the root folder unchanged', '.', '', 'prompts/a.md', 'prompts/a.md'],
    [
      'makeRootPathConverter prepends the working directory to a prompt path',
      'team/ws',
      '',
      'prompts/a.md',
      'team/ws/prompts/a.md',
    ],
    [
      'makeRootPathConverter prepends the working directory to the configuration path',
      'team/ws',
      '',
      'promptsync.yaml',
      'team/ws/promptsync.yaml',
    ],
    [
      'makeRootPathConverter prepends the working directory even if that directory has no configuration file',
      'team',
      '',
      'prompts/a.md',
      'team/prompts/a.md',
    ],
    [
      'makeRootPathConverter resolves a prompt path against the folder of the given configuration file',
      '.',
      'team/ws/my.yaml',
      'prompts/a.md',
      'team/ws/prompts/a.md',
    ],
    [
      'makeRootPathConverter returns the path of the given configuration file unchanged',
      '.',
      'team/ws/my.yaml',
      'team/ws/my.yaml',
      'team/ws/my.yaml',
    ],
    [
      'makeRootPathConverter resolves the given configuration file against the working directory',
      'team',
      'ws/my.yaml',
      'ws/my.yaml',
      'team/ws/my.yaml',
    ],
    [
      'makeRootPathConverter resolves a path that points outside the configuration folder',
      'team/ws',
      '',
      '../../a.md',
      'a.md',
    ],
    [
      'makeRootPathConverter returns special characters in a path unchanged',
      '.',
      '',
      'prompts/ü #[1].md',
      'prompts/ü #[1].md',
    ],
  ])('%s', (_, at, config, path, expected) => {
    const folder = join(makeWorkspace({ ...files, 'team/ws/prompts/.keep': '' }), at);
    expect(makeRootPathConverter(folder, config || undefined)(path)).toBe(expected);
  });
});
