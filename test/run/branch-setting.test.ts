import { expect, test } from 'vitest';
import { git, makeRepository, writeFiles } from '../support/folder.ts';
import { CONFIG, workspaceFiles } from '../support/prompts.ts';
import { runJson } from '../support/run.ts';
import { startTestService } from '../support/service.ts';

test('validate and plan reject a branch setting that names a remote-tracking branch, unless the remote has a branch of this name', async () => {
  const folder = makeRepository(workspaceFiles({ greeting: {} }));
  const service = await startTestService(['greeting']);
  git(folder, 'remote', 'add', 'origin', '/nowhere');
  const track = (branch: string) => git(folder, 'update-ref', `refs/remotes/origin/${branch}`, 'HEAD');
  const validate = async (branch: string, command = 'validate') => {
    writeFiles(folder, { 'promptsync.yaml': `${CONFIG}branch: ${branch}\n` });
    const { report } = await runJson(folder, [command], service);
    return report.problems.map(({ code, line, hint }) => `${code} ${line} ${/`branch: .*`/.exec(hint)?.[0]}`);
  };
  for (const branch of ['main', 'team/main', 'release/1']) track(branch);
  const refusal = (branch: string) => [`config/invalid-field 2 \`branch: ${branch}\` in \`promptsync.yaml\``];
  expect(await validate('origin/main')).toEqual(refusal('main'));
  expect(await validate('origin/team/main')).toEqual(refusal('team/main'));
  expect(await validate('origin/main', 'plan')).toEqual(refusal('main'));
  expect(service.requests).toEqual([]);
  // The names of these branches contain a slash. git never fetched the second one.
  expect(await validate('release/1')).toEqual([]);
  expect(await validate('release/2')).toEqual([]);
  track('origin/main');
  expect(await validate('origin/main')).toEqual([]);
});
