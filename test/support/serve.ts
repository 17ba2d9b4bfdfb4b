import { expect, vi } from 'vitest';
import { startCli } from './cli.ts';
import { KEY } from './service.ts';

export type ServeProcess = {
  readonly baseUrl: string;
  readonly stdout: () => string;
  /** Ends it with a signal, and resolves to its exit code. */
  readonly end: (signal?: NodeJS.Signals) => Promise<number>;
};

/** `promptsync serve` in a process of its own, on a free port unless one is given, accepting the key of the tests. */
export async function startServe(
  folder: string,
  words: readonly string[] = [],
  environment: Readonly<Record<string, string>> = { PROMPTSYNC_API_KEY: KEY },
): Promise<ServeProcess> {
  const { child, written, ended } = startCli(folder, ['serve', '--port', '0', ...words], { environment });
  const baseUrl = await vi.waitFor(
    () => {
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(written.stdout)?.[0];
      if (found === undefined) throw new Error(`not serving yet: ${written.stderr}`);
      return found;
    },
    { timeout: 60_000, interval: 20 },
  );
  const end = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<number> => {
    child.kill(signal);
    const { exitCode, stdout, stderr } = await ended;
    expect(stdout + stderr).not.toContain(KEY);
    return exitCode;
  };
  return { baseUrl, stdout: () => written.stdout, end };
}
