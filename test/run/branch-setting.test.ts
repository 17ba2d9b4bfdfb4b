import { describe, expect, test } from 'vitest';
import { git, makeRepository } from '../support/folder.ts';
import { CONFIG, workspaceFiles } from '../support/prompts.ts';
import { runJson } from '../support/run.ts';
import { startTestService } from '../support/service.ts';

describe('the branch setting', () => {
  test.each<[string, readonly string[], string, string | null]>([
    [
      'validate rejects origin/main as the branch if origin/main is a remote-tracking branch',
      [],
      'origin/main',
      'main',
    ],
    [
      'validate rejects the name of a remote-tracking branch even if the name of the branch contains a slash',
      ['origin/team/main'],
      'origin/team/main',
      'team/main',
    ],
    [
      'validate accepts origin/main as the branch if the remote has a branch with that name',
      ['origin/origin/main'],
      'origin/main',
      null,
    ],
    ['validate accepts a branch with a slash in its name', ['origin/release/1'], 'release/1', null],
    ['validate accepts a branch with a slash in its name even if git never fetched the branch', [], 'release/1', null],
  ])('%s', async (_, refs, branch, right) => {
    const folder = makeRepository(workspaceFiles({ greeting: {} }, `${CONFIG}branch: ${branch}\n`));
    git(folder, 'remote', 'add', 'origin', '/nowhere');
    for (const ref of ['origin/main', ...refs]) git(folder, 'update-ref', `refs/remotes/${ref}`, 'HEAD');
    const { exitCode, report } = await runJson(folder, ['validate']);
    expect(exitCode).toBe(right === null ? 0 : 1);
    expect(report.problems.map(({ code, line, message, hint }) => ({ code, line, message, hint }))).toEqual(
      right === null
        ? []
        : [
            {
              code: 'config/invalid-field',
              line: 2,
              message: expect.stringContaining('`branch`'),
              hint: expect.stringContaining(`\`branch: ${right}\``),
            },
          ],
    );
  });

  test('plan stops before it contacts the service if the branch setting names a remote-tracking branch', async () => {
    const folder = makeRepository(workspaceFiles({ greeting: {} }, `${CONFIG}branch: origin/main\n`));
    git(folder, 'remote', 'add', 'origin', '/nowhere');
    git(folder, 'update-ref', 'refs/remotes/origin/main', 'HEAD');
    const service = await startTestService(['greeting']);
    expect(await runJson(folder, ['plan'], service)).toMatchObject({
      exitCode: 1,
      report: { problems: [{ code: 'config/invalid-field' }] },
    });
    expect(service.requests).toEqual([]);
  });
});
