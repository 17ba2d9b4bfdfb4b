import { chmodSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runDemo } from '../../src/cli/run-demo.ts';
import { type ProcessInterface, makeSafeProcess, type Main } from '../../src/cli/process-interface.ts';
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

describe('promptsync demo', () => {
  // Nothing listens at this address, so a request to the network or to the user's service would fail.
  const nowhere = 'http://127.0.0.1:1';
  const others = {
    ...{ HTTP_PROXY: nowhere, HTTPS_PROXY: nowhere, GIT_DIR: '/nowhere' },
    ...{ PROMPTSYNC_BASE_URL: nowhere, PROMPTSYNC_API_KEY: 'psk_of_my_own_service' },
  };

  /** Makes a home folder whose git settings sign with a failing program and run a hook that rejects commits. */
  const home = (): string => {
    const hooks = makeWorkspace({ 'pre-commit': '#!/bin/sh\nexit 1\n' });
    chmodSync(join(hooks, 'pre-commit'), 0o755);
    const settings = `[commit]\ngpgSign = true\n[gpg]\nprogram = false\n[core]\nhooksPath = ${hooks}\n`;
    return makeWorkspace({ '.gitconfig': settings });
  };

  test.each<[string, () => Options]>([
    [
      'promptsync demo succeeds from source with an empty home folder and leaves no files behind',
      () => ({ script: SOURCE }),
    ],
    [
      'promptsync demo ignores the proxy, service and git settings of the user',
      () => ({ environment: { ...others, HOME: home() } }),
    ],
  ])('%s', async (_, how) => {
    const ran = await runDemoProcess(how());
    expect(ran).toMatchObject({ exitCode: 0, stderr: '', left: [], beside: [] });
    expect(ran.stdout).toMatch(/This run restored v1[\s\S]*nothing to do: 1 prompt in sync\./);
  });

  test('promptsync demo fits on two screens: it prints at most 80 rows of 80 columns', async () => {
    const { stdout } = await runDemoProcess();
    const rows = stdout
      .trimEnd()
      .split('\n')
      .flatMap((line) => makeScreen(80).wrap(line, 80, 0));
    expect(rows.length).toBeLessThanOrEqual(80);
  });
});

test('promptsync plan succeeds in the repository that promptsync demo --keep leaves behind', async () => {
  const { stdout, left } = await runDemoProcess({ words: ['--keep'] });
  expect(stdout).toContain(`The repository is kept in ${left[0]}`);
  expect(await run(left[0]!, ['plan'])).toMatchObject({ exitCode: 0, stdout: 'nothing to do: 1 prompt in sync.\n' });
});

test('promptsync demo reports an error if git is not installed', async () => {
  const ran = await runDemoProcess({ environment: { PATH: makeFolder() } });
  expect(ran).toMatchObject({
    exitCode: 1,
    left: [],
    stdout: expect.stringContaining('git is not in PATH'),
  });
});

test.each<NodeJS.Signals>(['SIGINT', 'SIGTERM'])(
  '%s ends the demo with 130 and leaves nothing behind',
  async (signal) => {
    const onOutput: Options['onOutput'] = (child, { stdout }) =>
      void (!child.killed && stdout.includes('$ promptsync sync') && child.kill(signal));
    expect(await runDemoProcess({ onOutput })).toMatchObject({ exitCode: 130, left: [] });
  },
);

describe('the commands of the demo', () => {
  /** Runs the demo with this function instead of its commands. Returns how it ended and its folder. */
  async function withCommand(main: Main, more: Partial<ProcessInterface> = {}) {
    let folder = '';
    const host = { arguments: [], environment: {}, output: { write: () => {} }, errors: { write: () => {} }, ...more };
    const seen: Main = (given) => {
      folder = given.workingDirectory;
      return main(given);
    };
    const whole = { onSignal: () => {}, ...host } as unknown as ProcessInterface;
    const ended = await runDemo({ keep: false }, makeSafeProcess(whole), seen).catch((error: unknown) => error);
    return { ended, folder };
  }

  test('promptsync demo stops and names the failed command if one of its commands returns an unexpected exit code', async () => {
    const { ended, folder } = await withCommand(async () => 3);
    const message = expect.stringMatching(/in the demo, `promptsync init .*` exited with code 3/);
    expect(ended).toMatchObject({ problem: { code: 'internal/unexpected', message } });
    expect(existsSync(folder)).toBe(false);
  });

  test('promptsync demo deletes its folder and exits immediately when it receives a second signal', async () => {
    let signal = (): void => {};
    const seen: unknown[] = [];
    const main: Main = async ({ workingDirectory, onSignal }) => {
      onSignal(() => seen.push('interrupted'));
      signal();
      seen.push(existsSync(workingDirectory));
      signal();
      seen.push(existsSync(workingDirectory));
      return 0;
    };
    const onSignal: ProcessInterface['onSignal'] = (handle) => (signal = handle);
    const { ended } = await withCommand(main, { onSignal, exit: (code) => seen.push(code) });
    expect([ended, ...seen]).toEqual([130, 'interrupted', true, 130, false]);
  });
});
