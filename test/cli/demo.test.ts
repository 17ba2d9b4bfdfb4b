import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { runDemo } from '../../src/cli/run-demo.ts';
import { type ProcessInterface, makeSafeProcess, type Main } from '../../src/cli/process-interface.ts';

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
