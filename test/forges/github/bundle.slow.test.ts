import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { ACTION } from '../../support/action.ts';
import { childEnvironment } from '../../support/cli.ts';
import { makeFolder } from '../../support/folder.ts';
import { greets, makeTeam } from './team.ts';

test('The bundled action applies the prompts, and prints notices if it cannot write its outputs and its summary', async () => {
  const { service, pushMain, runPush } = await makeTeam({ greeting: {} });
  const environment = { GITHUB_STEP_SUMMARY: '/nowhere/summary', RUNNER_TEMP: '/dev/null/temp' };
  const ran = await runPush(pushMain(greets('Other')), { environment, bundled: true });
  expect(ran).toMatchObject({ exitCode: 0, outputs: { 'failure-reason': '', changes: 'true' } });
  expect(ran.stdout).toMatch(/^::notice title=action\/not-told::promptsync could not write the outputs/m);
  expect(ran.stdout).toMatch(/^::notice title=action\/not-told::promptsync could not write the summary/m);
  expect(service.takeWrites()).toHaveLength(3);
});

test('The bundled action fails with one annotation if its working folder was deleted', async () => {
  const script = 'mkdir gone; cd gone; rmdir ../gone; "$0" "$1"; echo "code $?"';
  const { stdout, stderr } = await promisify(execFile)('bash', ['-c', script, process.execPath, ACTION], {
    cwd: makeFolder(),
    env: childEnvironment(),
  });
  expect(stdout).toMatch(/^::error title=usage\/no-current-folder::.*\ncode 1\n$/);
  expect(stderr).not.toContain('    at ');
});
