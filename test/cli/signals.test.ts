import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { KILLED, startCli } from '../support/cli.ts';
import { makeWorkspace } from '../support/folder.ts';
import { startFrontFor, type FrontRequest } from '../support/front.ts';
import { workspaceFiles } from '../support/prompts.ts';
import { parseReport, run } from '../support/run.ts';
import { startTestService } from '../support/service.ts';

const IDS = ['a', 'b', 'c'];
const CONFIG = 'concurrency: 1\n';

/** Starts a service that delays its answer to the first matching request until `release` is called. */
async function makeSlow(isSlow: (request: FrontRequest) => boolean) {
  const service = await startTestService(IDS);
  const arrived = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const { environment, ...front } = await startFrontFor(service, async (request) => {
    if (isSlow(request)) {
      arrived.resolve();
      await released.promise;
    }
    return null;
  });
  return { front, environment, arrived: arrived.promise, release: released.resolve };
}

/** Reads from a pipe and returns the number of bytes, or 0 if the pipe is empty. */
function tryRead(pipe: number, bytes: Buffer): number {
  try {
    return readSync(pipe, bytes);
  } catch {
    return 0;
  }
}

const isCreate = ({ method, path }: FrontRequest) => method === 'POST' && path.endsWith('/versions');
const makeFiles = () => makeWorkspace(workspaceFiles({ a: {}, b: {}, c: {} }, CONFIG));

/** Runs a command in this process, and interrupts it while it waits for the first answer of the service. */
async function runInterrupted(words: readonly string[]) {
  const { front, environment, arrived, release } = await makeSlow(({ method }) => method === 'GET');
  let interrupt = (): void => {};
  const ran = run(makeFiles(), words, { environment, onSignal: (signal) => (interrupt = signal) });
  await arrived;
  interrupt();
  release();
  return { ...(await ran), writes: front.takeWrites() };
}

describe('a signal during a slow sync', () => {
  test.each<NodeJS.Signals>(['SIGINT', 'SIGTERM'])(
    '%s during a sync finishes the call in flight and starts no other call',
    async (signal) => {
      const { front, environment, arrived, release } = await makeSlow(isCreate);
      const words = ['sync', '--yes', '--format', 'json'];
      const { child, written, ended } = startCli(makeFiles(), words, { environment });
      await arrived;
      child.kill(signal);
      await expect.poll(() => written.stderr).toContain('Interrupted');
      const before = front.requests.length;
      release();
      const { exitCode, stdout } = await ended;
      expect(exitCode).toBe(130);
      expect(front.requests).toHaveLength(before);
      expect(parseReport(stdout).summary).toMatchObject({ create_version: 1, set_active: 0, not_attempted: 2 });
    },
  );

  test.each(['plan', 'history'])('%s prints a single line if a signal interrupts it', async (command) => {
    const { exitCode, stdout, stderr } = await runInterrupted([command]);
    expect([exitCode, stdout, stderr.trim()]).toStrictEqual([130, 'Interrupted. promptsync made no changes.\n', '']);
  });

  test('a second signal ends a run that is writing its report to a pipe without a reader', async () => {
    const { environment } = await startTestService(IDS);
    const text = 'A line that is longer than most.\n'.repeat(2_000);
    const folder = makeWorkspace(workspaceFiles({ a: { text }, b: { text }, c: { text } }));
    const pipe = join(folder, 'out.pipe');
    execFileSync('mkfifo', [pipe]);
    const opened = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
    onTestFinished(() => closeSync(opened));
    const words = ['plan', '--format', 'json', '--output', 'out.pipe'];
    const { child, ended } = startCli(folder, words, { environment });
    // The report is larger than the pipe, so after its first byte, promptsync waits for a reader.
    const firstByte = Buffer.alloc(1);
    await expect.poll(() => tryRead(opened, firstByte), { timeout: 30_000 }).toBe(1);
    child.kill('SIGINT');
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({ exitCode: KILLED, stdout: '' });
  });

  test('sync exits with 130 and writes nothing if a signal arrives while it reads the service', async () => {
    const { exitCode, stdout, writes } = await runInterrupted(['sync', '--yes', '--format', 'json']);
    const { summary, prompts } = parseReport(stdout);
    expect({ exitCode, writes, failed: summary.failed }).toEqual({ exitCode: 130, writes: [], failed: 0 });
    expect(prompts.map(({ status }) => status)).toContain('not_attempted');
  });
});
