import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { baseOf, openWhole, pathsFromRoot } from '../../src/github/checkout.ts';
import { parseEvent } from '../../src/github/event.ts';
import { commitAll, git, initRepository, makeFolder, makeRepository, makeWorkspace } from '../support/folder.ts';
import { makeWorld } from '../support/world.ts';
import { open, startAt } from '../git/support.ts';
import { pullEvent, pushEvent, scheduleEvent } from './support.ts';
import { checkOut } from './team.ts';

/** A change that began at the first commit, main that went on to a second one, and the merge of both. */
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

describe('the commit to compare with', () => {
  const pull = ({ change, main }: Commits) => parseEvent('pull_request', '', pullEvent(7, change, main));
  const push = (before: Name) => (commits: Commits) =>
    parseEvent('push', '', pushEvent(commits.merge, commits[before]));
  const other = () => parseEvent('schedule', '', scheduleEvent());

  test.each<[string, (commits: Commits) => ReturnType<typeof other>, Name, Name | undefined]>([
    ['of a pull request, merged for a try: its first parent', pull, 'merge', 'main'],
    ['of its branch: where it began', pull, 'change', 'first'],
    [
      'of a pull request whose base is not there: the base, for somebody to miss it',
      ({ change, missing }) => parseEvent('pull_request', '', pullEvent(7, change, missing)),
      ...(['change', 'missing'] as const),
    ],
    ['of a push: the commit before it', push('first'), 'merge', 'first'],
    ['of a push that made its branch: the first parent', push('none'), 'merge', 'main'],
    ['of a forced push, whose commit before is gone: the first parent', push('missing'), 'merge', 'main'],
    ['of anything else: the first parent', other, 'change', 'early'],
    ['of the very first commit: none', other, 'first', undefined],
  ])('%s', async (_, eventOf, at, expected) => {
    const { folder, commits } = makeHistory();
    git(folder, 'checkout', '--quiet', '--detach', commits[at]);
    const base = await baseOf(eventOf(commits), await open(folder));
    expect(base).toBe(expected === undefined ? undefined : commits[expected]);
  });

  test.each<[string, Name, Name]>([
    ['a commit before its head', 'early', 'change'],
    ['its base', 'main', 'change'],
    ['a merge of another head', 'merge', 'early'],
  ])('is none where not the pull request is checked out, but %s', async (_, at, head) => {
    const { folder, commits } = makeHistory();
    git(folder, 'checkout', '--quiet', '--detach', commits[at]);
    const event = parseEvent('pull_request', '', pullEvent(7, commits[head], commits.main));
    const refusal = baseOf(event, await open(folder));
    const [found, wanted] = [commits[at].slice(0, 12), commits[head].slice(0, 12)];
    await expect(refusal).rejects.toThrow(new RegExp(`\\(${found}\\) .* #7 \\(${wanted}\\)`));
  });

  test('of a repository without a commit is none', async () => {
    const folder = makeFolder();
    initRepository(folder);
    expect(await baseOf(other(), await open(folder))).toBeUndefined();
  });
});

const openWholeAt = (folder: string) => openWhole({ world: makeWorld(folder), git: startAt(folder) });

describe('a repository with its whole history', () => {
  test.each([0, 1, 2])('is there after a checkout with a depth of %i', async (depth) => {
    const { folder, commits } = makeHistory();
    const repository = await openWholeAt(checkOut(folder, commits.merge, depth));
    expect(repository.shallow).toBe(false);
    expect(await repository.mergeBase(commits.main, commits.change)).toBe(commits.first);
  });

  test('is opened as it is where the rest cannot be fetched', async () => {
    const { folder, commits } = makeHistory();
    const clone = checkOut(folder, commits.merge, 1);
    git(clone, 'remote', 'set-url', 'origin', `file://${join(folder, 'nowhere')}`);
    const repository = await openWholeAt(clone);
    expect([repository.head, repository.shallow]).toEqual([commits.merge, true]);
  });
});

describe('a path from the root of the repository', () => {
  const files = { '.git/HEAD': '', 'promptsync.yaml': '', 'team/ws/promptsync.yaml': '', 'team/ws/my.yaml': '' };
  test.each<[string, string, string, string, string]>([
    ['at the root', '.', '', 'prompts/a.md', 'prompts/a.md'],
    ['below it', 'team/ws', '', 'prompts/a.md', 'team/ws/prompts/a.md'],
    ['the configuration itself', 'team/ws', '', 'promptsync.yaml', 'team/ws/promptsync.yaml'],
    ['a folder without a configuration', 'team', '', 'prompts/a.md', 'team/prompts/a.md'],
    ['a configuration that was named', '.', 'team/ws/my.yaml', 'prompts/a.md', 'team/ws/prompts/a.md'],
    ['by its name', '.', 'team/ws/my.yaml', 'team/ws/my.yaml', 'team/ws/my.yaml'],
    ['by its name from a folder', 'team', 'ws/my.yaml', 'ws/my.yaml', 'team/ws/my.yaml'],
    ['outside of the configuration’s folder', 'team/ws', '', '../../a.md', 'a.md'],
    ['with odd characters', '.', '', 'prompts/ü #[1].md', 'prompts/ü #[1].md'],
  ])('%s', (_, at, config, path, expected) => {
    const folder = join(makeWorkspace({ ...files, 'team/ws/prompts/.keep': '' }), at);
    expect(pathsFromRoot(folder, config || undefined)(path)).toBe(expected);
  });
});
