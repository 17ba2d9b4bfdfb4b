import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeRollbackBranchName, readRollbackSteps } from '../../../src/commands/rollback/rollback-branch.ts';
import type { FileEdit } from '../../../src/domain/edits.ts';
import type { Repository } from '../../../src/git/open-repository.ts';
import { parseConfig } from '../../../src/workspace/load-config.ts';
import { parseValidFile } from '../../workspace/support.ts';
import { configure, initRepository, makeFolder } from '../../support/folder.ts';
import { CONFIG, promptText } from '../../support/prompts.ts';

test.each<[string, readonly string[], readonly string[], string]>([
  ['A rollback branch contains the first key that the user typed', ['b', 'a'], ['a', 'b'], 'rollback-production-b'],
  ['A rollback branch contains the first key that a pattern selects', ['*'], ['a', 'b'], 'rollback-production-a'],
  ['A rollback branch contains hyphens for special characters', ['a/ö v'], ['a/ö v'], 'rollback-production-a---v'],
])('%s', (_, selectors, keys, branch) => {
  const files = keys.map((key) => parseValidFile(promptText('x', { key })));
  expect(makeRollbackBranchName('production', selectors, files)).toBe(branch);
});

describe('the steps after rollback --now', () => {
  const BRANCH = 'rollback-production-greeting';
  const COMMITTED = `Committed ${'a'.repeat(12)} on ${BRANCH}. To go back, run: git checkout -`;
  const PUSH = `Next: git push -u origin ${BRANCH}`;
  const GH = 'Next: gh pr create --fill --base main';
  const GLAB = 'Next: glab mr create --fill --target-branch main';
  const OPEN = 'Next: open a pull request from this branch.';
  const UNMERGED = 'The branch also contains your earlier commits that are not on main yet.';
  const UNDOES = 'If main is synced before this branch is merged, the sync undoes the rollback.';

  type Scene = {
    readonly url?: string;
    readonly isMerged?: boolean;
    readonly before?: string | null;
    readonly isCommitted?: boolean;
  };

  /** Reads the steps in a repository whose live branch is main. */
  async function readSteps({ url, isMerged = true, before = '4', isCommitted = true }: Scene) {
    const folder = makeFolder();
    initRepository(folder);
    if (url !== undefined) configure(folder, { 'remote.origin.url': url });
    const file = join(folder, 'promptsync.yaml');
    const { config } = parseConfig(CONFIG, { file, shownPath: file, root: folder, environment: {} });
    const repository = {
      head: 'b'.repeat(40),
      findKnownTip: async () => ({ branch: 'main', commit: 'c'.repeat(40) }),
      isSameOrAncestor: async () => isMerged,
    } as unknown as Repository;
    const edit: FileEdit = { kind: 'set-pin', environment: 'production', before, after: '2' };
    const committed = isCommitted ? { commit: 'a'.repeat(40), branch: BRANCH } : null;
    return readRollbackSteps(committed, [edit], { config: config!, repository });
  }

  const GITHUB = 'https://github.com/acme/prompts.git';
  const GITLAB = 'git@gitlab.acme.example:acme/prompts.git';
  const OTHER = 'https://github@example.com/acme/gitlab.git';
  const unneeded = expect.stringMatching(/^promptsync made no commit.*pins on main differ.*git pull/);

  test.each<[string, Scene, readonly unknown[]]>([
    ['rollback --now names the gh command on GitHub', { url: GITHUB }, [COMMITTED, PUSH, GH, UNDOES]],
    ['rollback --now names the glab command on GitLab', { url: GITLAB }, [COMMITTED, PUSH, GLAB, UNDOES]],
    ['rollback --now names no command on other hosts', { url: OTHER }, [COMMITTED, PUSH, OPEN, UNDOES]],
    ['rollback --now names no push without a remote', {}, [COMMITTED, UNDOES]],
    ['rollback --now names earlier commits that are not merged', { isMerged: false }, [COMMITTED, UNMERGED, UNDOES]],
    ['rollback --now names no sync that undoes it if the file had no pin', { before: null }, [COMMITTED]],
    ['rollback --now names the reason if it made no commit', { isCommitted: false }, [unneeded]],
  ])('%s', async (_, scene, steps) => {
    expect(await readSteps(scene)).toEqual(steps);
  });
});
