import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { chooseBase, openFullRepository, makeRootPathConverter } from '../../../src/forges/github/checkout.ts';
import { parseEvent } from '../../../src/forges/github/action-event.ts';
import { commitAll, configure, git, initRepository, makeFolder, makeWorkspace } from '../../support/folder.ts';
import { makeSystem } from '../../support/system.ts';
import { open, startAt } from '../../git/support.ts';
import { pullEvent, pushEvent, scheduleEvent } from './support.ts';
import { checkOut } from './team.ts';

const { folder, commits } = makeHistory();
type Name = keyof typeof commits;

/**
 * Makes a branch from the first commit of main, a second commit on main, and the merge of both. All tests share this
 * repository, and each of them checks out its own commit.
 */
function makeHistory() {
  const folder = mkdtempSync(join(process.env['TESTS_FOLDER'] ?? tmpdir(), 'history-'));
  initRepository(folder);
  const first = commitAll(folder, 'First');
  git(folder, 'switch', '--quiet', '--create', 'change');
  const early = commitAll(folder, 'Early');
  const change = commitAll(folder, 'Change');
  git(folder, 'switch', '--quiet', 'main');
  const main = commitAll(folder, 'Main');
  git(folder, 'merge', '--quiet', '--no-ff', '--message', 'Merge', 'change');
  const merge = git(folder, 'rev-parse', 'HEAD');
  configure(folder, { 'uploadpack.allowAnySHA1InWant': 'true' });
  return { folder, commits: { first, early, change, main, merge, missing: 'd'.repeat(40) } };
}

async function openAt(name: Name) {
  git(folder, 'checkout', '--quiet', '--detach', commits[name]);
  return open(folder);
}

describe('chooseBase', () => {
  const pull = (head: Name, base: Name) => parseEvent('pull_request', '', pullEvent(7, commits[head], commits[base]));
  const push = (before: Name) => parseEvent('push', '', pushEvent(commits.merge, commits[before]));
  const other = parseEvent('schedule', '', scheduleEvent());
  const own = pull('change', 'main');

  test.each<[string, ReturnType<typeof push>, at: Name, Name | undefined]>([
    ['chooseBase returns the first parent of the test merge of a pull request', own, 'merge', 'main'],
    ['chooseBase returns the merge base if the head of a pull request is checked out', own, 'change', 'first'],
    [
      'chooseBase returns the base of a pull request if the clone lacks that commit',
      pull('change', 'missing'),
      'change',
      'missing',
    ],
    ['chooseBase returns the previous branch tip for a push', push('first'), 'merge', 'first'],
    [
      'chooseBase returns the first parent for a force push if the previous commit is missing',
      push('missing'),
      'merge',
      'main',
    ],
    ['chooseBase returns the first parent for a scheduled run', other, 'change', 'early'],
    ['chooseBase returns undefined if the first commit of a repository is checked out', other, 'first', undefined],
  ])('%s', async (_, event, at, expected) => {
    expect(await chooseBase(event, await openAt(at))).toBe(expected === undefined ? undefined : commits[expected]);
  });

  test.each<[string, Name, Name]>([
    ['chooseBase rejects a checkout of the base branch of a pull request', 'main', 'change'],
    ['chooseBase rejects a checkout of a merge of another commit than the head of the pull request', 'merge', 'early'],
  ])('%s', async (_, at, head) => {
    const refusal = chooseBase(pull(head, 'main'), await openAt(at));
    const [found, wanted] = [commits[at].slice(0, 12), commits[head].slice(0, 12)];
    await expect(refusal).rejects.toThrow(new RegExp(`\\(${found}\\) .* #7 \\(${wanted}\\)`));
  });

  test('chooseBase returns undefined in a repository without commits', async () => {
    const empty = makeFolder();
    initRepository(empty);
    expect(await chooseBase(other, await open(empty))).toBeUndefined();
  });
});

test('openFullRepository loads the missing history of a shallow clone, and opens the clone even if this fails', async () => {
  const openWhole = (at: string) => openFullRepository({ system: makeSystem(at), git: startAt(at) });
  const repository = await openWhole(checkOut(folder, commits.merge, 1));
  expect(repository.isShallow).toBe(false);
  expect(await repository.findMergeBase(commits.main, commits.change)).toBe(commits.first);
  const cutOff = checkOut(folder, commits.merge, 1);
  git(cutOff, 'remote', 'set-url', 'origin', `file://${join(folder, 'nowhere')}`);
  const shallow = await openWhole(cutOff);
  expect([shallow.head, shallow.isShallow]).toEqual([commits.merge, true]);
});

const files = { '.git/HEAD': '', 'promptsync.yaml': '', 'team/ws/promptsync.yaml': '', 'team/ws/my.yaml': '' };
test.each<[at: string, config: string, path: string, string]>([
  ['.', '', 'prompts/a.md', 'prompts/a.md'],
  ['team/ws', '', 'prompts/a.md', 'team/ws/prompts/a.md'],
  ['.', 'team/ws/my.yaml', 'prompts/a.md', 'team/ws/prompts/a.md'],
  ['team', 'ws/my.yaml', 'ws/my.yaml', 'team/ws/my.yaml'],
  ['team/ws', '', '../../a.md', 'a.md'],
])('In the folder %j with the configuration %j, makeRootPathConverter maps %j to %j', (at, config, path, expected) => {
  const folder = join(makeWorkspace({ ...files, 'team/ws/prompts/.keep': '' }), at);
  expect(makeRootPathConverter(folder, config || undefined)(path)).toBe(expected);
});
