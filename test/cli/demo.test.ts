import { chmodSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runDemo } from '../../src/cli/demo.ts';
import { type Host, makeSafe, type Main } from '../../src/cli/host.ts';
import { childEnvironment, CLI, startNode, type CliOptions } from '../support/cli.ts';
import { makeFolder, makeWorkspace } from '../support/folder.ts';
import { run } from '../support/run.ts';

const SOURCE = join(import.meta.dirname, '../../src/cli.ts');

type Options = CliOptions & { readonly script?: string; readonly words?: readonly string[] };

/** The demo in a process of its own: how it ended, what is left of its folders, and of what it was started in. */
async function demo({ script = CLI, words = [], environment, onOutput }: Options = {}) {
  const [cwd, TMPDIR] = [makeFolder(), makeFolder()];
  const variables = childEnvironment({ HOME: makeFolder(), TMPDIR, ...environment });
  const ran = await startNode(script, ['demo', ...words], { cwd, environment: variables, onOutput }).ended;
  const left = readdirSync(TMPDIR).filter((name) => name.startsWith('promptsync-'));
  return { ...ran, left: left.map((name) => join(TMPDIR, name)), beside: readdirSync(cwd) };
}

describe('the demo ends with 0, writes nothing to standard error and leaves nothing behind:', () => {
  // What asked beyond this machine, or the user's own service, would find nobody.
  const nowhere = 'http://127.0.0.1:1';
  const others = {
    ...{ HTTP_PROXY: nowhere, HTTPS_PROXY: nowhere, GIT_DIR: '/nowhere' },
    ...{ PROMPTSYNC_BASE_URL: nowhere, PROMPTSYNC_API_KEY: 'psk_of_my_own_service' },
  };

  /** A home whose git signs with a program that fails, and runs a hook that refuses. */
  const home = (): string => {
    const hooks = makeWorkspace({ 'pre-commit': '#!/bin/sh\nexit 1\n' });
    chmodSync(join(hooks, 'pre-commit'), 0o755);
    const settings = `[commit]\ngpgSign = true\n[gpg]\nprogram = false\n[core]\nhooksPath = ${hooks}\n`;
    return makeWorkspace({ '.gitconfig': settings });
  };

  test.each<[string, () => Options]>([
    ['from source, with an empty home', () => ({ script: SOURCE })],
    [
      "bundled, with no way out, the user's own service and repository, and a git that signs and has a hook",
      () => ({ environment: { ...others, HOME: home() } }),
    ],
  ])('%s', async (_, how) => {
    const ran = await demo(how());
    expect(ran).toMatchObject({ exitCode: 0, stderr: '', left: [], beside: [] });
    expect(ran.stdout).toMatch(/1 prompt has drifted[\s\S]*nothing to do: 1 prompt in sync\./);
  });
});

test('with --keep it leaves the repository, says where, and one can go on there', async () => {
  const { stdout, left } = await demo({ words: ['--keep'] });
  expect(stdout).toContain(`It stays in ${left[0]}`);
  expect(await run(left[0]!, ['plan'])).toMatchObject({ exitCode: 0, stdout: 'nothing to do: 1 prompt in sync.\n' });
});

test('without git it says so', async () => {
  const ran = await demo({ environment: { PATH: makeFolder() } });
  expect(ran).toMatchObject({ exitCode: 1, left: [], stdout: expect.stringContaining('no program git in PATH') });
});

test.each<NodeJS.Signals>(['SIGINT', 'SIGTERM'])('%s ends it with 130, and nothing is left', async (signal) => {
  const onOutput: Options['onOutput'] = (child, { stdout }) =>
    void (stdout.includes('$ promptsync sync') && child.kill(signal));
  expect(await demo({ onOutput })).toMatchObject({ exitCode: 130, left: [] });
});

describe('its commands:', () => {
  /** The demo with another one in place of all of them; how it ended, and where that was run. */
  async function withCommand(main: Main, more: Partial<Host> = {}) {
    let folder = '';
    const host = { arguments: [], environment: {}, output: { write: () => {} }, errors: { write: () => {} }, ...more };
    const seen: Main = (given) => {
      folder = given.workingDirectory;
      return main(given);
    };
    const whole = { onSignal: () => {}, ...host } as unknown as Host;
    const ended = await runDemo({ keep: false }, makeSafe(whole), seen).catch((error: unknown) => error);
    return { ended, folder };
  }

  test('one that ends otherwise than it should ends the demo, which names it', async () => {
    const { ended, folder } = await withCommand(async () => 3);
    const message = expect.stringMatching(/`promptsync init .*` ended with 3/);
    expect(ended).toMatchObject({ problem: { code: 'internal/unexpected', message } });
    expect(existsSync(folder)).toBe(false);
  });

  test('during one that goes on, a second signal ends the process, and nothing is left by then', async () => {
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
    const onSignal: Host['onSignal'] = (handle) => (signal = handle);
    const { ended } = await withCommand(main, { onSignal, exit: (code) => seen.push(code) });
    expect([ended, ...seen]).toEqual([130, 'interrupted', true, 130, false]);
  });
});
