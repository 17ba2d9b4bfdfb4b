import { chmodSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeScreen } from '../../src/report/terminal-screen.ts';
import { childEnvironment, CLI, startNode, type CliOptions } from '../support/cli.ts';
import { makeFolder, makeWorkspace } from '../support/folder.ts';
import { run } from '../support/run.ts';

const SOURCE = join(import.meta.dirname, '../../src/cli.ts');

type Options = CliOptions & { readonly script?: string; readonly words?: readonly string[] };

/** Runs the demo in a child process. Returns how it ended and which files it left behind. */
async function runDemoProcess({ script = CLI, words = [], environment, onOutput }: Options = {}) {
  const [cwd, TMPDIR] = [makeFolder(), makeFolder()];
  const variables = childEnvironment({ HOME: makeFolder(), TMPDIR, ...environment });
  const ran = await startNode(script, ['demo', ...words], { cwd, environment: variables, onOutput }).ended;
  const left = readdirSync(TMPDIR).filter((name) => name.startsWith('promptsync-'));
  return { ...ran, left: left.map((name) => join(TMPDIR, name)), beside: readdirSync(cwd) };
}

/** Makes a home folder whose git settings sign with a failing program and run a hook that rejects commits. */
function makeHostileHome(): string {
  const hooks = makeWorkspace({ 'pre-commit': '#!/bin/sh\nexit 1\n' });
  chmodSync(join(hooks, 'pre-commit'), 0o755);
  const settings = `[commit]\ngpgSign = true\n[gpg]\nprogram = false\n[core]\nhooksPath = ${hooks}\n`;
  return makeWorkspace({ '.gitconfig': settings });
}

test('promptsync demo runs from source, ignores the proxy, service and git settings of the user, and leaves no files behind', async () => {
  // Nothing listens at this address, so a request to the network or to the user's service would fail.
  const nowhere = 'http://127.0.0.1:1';
  const environment = {
    ...{ HTTP_PROXY: nowhere, HTTPS_PROXY: nowhere, GIT_DIR: '/nowhere', HOME: makeHostileHome() },
    ...{ PROMPTSYNC_BASE_URL: nowhere, PROMPTSYNC_API_KEY: 'psk_of_my_own_service' },
  };
  const ran = await runDemoProcess({ script: SOURCE, environment });
  expect(ran).toMatchObject({ exitCode: 0, stderr: '', left: [], beside: [] });
  expect(ran.stdout).toMatch(/This run restored v1[\s\S]*nothing to do: 1 prompt in sync\./);
});

test('promptsync demo --keep prints at most 80 rows of 80 columns, and plan succeeds in the repository that it keeps', async () => {
  const { stdout, left } = await runDemoProcess({ words: ['--keep'] });
  const rows = stdout
    .trimEnd()
    .split('\n')
    .flatMap((line) => makeScreen(80).wrap(line, 80, 0));
  expect(rows.length).toBeLessThanOrEqual(80);
  expect(stdout).toContain(`The repository is kept in ${left[0]}`);
  expect(await run(left[0]!, ['plan'])).toMatchObject({ exitCode: 0, stdout: 'nothing to do: 1 prompt in sync.\n' });
});

test('SIGTERM ends the demo with 130 and leaves nothing behind', async () => {
  const onOutput: Options['onOutput'] = (child, { stdout }) =>
    void (!child.killed && stdout.includes('$ promptsync sync') && child.kill('SIGTERM'));
  expect(await runDemoProcess({ onOutput })).toMatchObject({ exitCode: 130, left: [] });
});
