import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { servicePaths } from '../../src/providers/four-call/api-shapes.ts';
import { runCli, startServe } from '../support/cli.ts';
import { makeWorkspace } from '../support/folder.ts';
import { promptText, workspaceFiles } from '../support/prompts.ts';
import { run, type Ran } from '../support/run.ts';
import { KEY } from '../support/service.ts';

/** Runs serve in this process until it has answered one request. Returns its output and the status of the answer. */
async function runServe(
  folder: string,
  words: readonly string[],
  options: { readonly environment?: Readonly<Record<string, string>>; readonly apiKey?: string } = {},
): Promise<Ran & { readonly status: number }> {
  const { environment, apiKey = 'embedded' } = options;
  let stop = (): void => {};
  const answered = Promise.withResolvers<number>();
  const ran = await run(folder, ['serve', '--port', '0', ...words], {
    ...(environment === undefined ? {} : { environment }),
    onSignal: (signal) => (stop = signal),
    onOutput: (text) => {
      const url = /http:\S+(?=;)/.exec(text)?.[0] ?? '';
      void fetch(url + servicePaths.prompt('prm_greeting'), { headers: { 'x-api-key': apiKey } }).then((answer) => {
        answered.resolve(answer.status);
        stop();
      });
    },
  });
  return { ...ran, status: await answered.promise };
}

const workspace = () => makeWorkspace(workspaceFiles({ greeting: {}, refund: {} }));

describe('serve', () => {
  test('serve prints its address, API key and prompt count, and exits with 0 on a signal', async () => {
    const { exitCode, stdout, stderr, status } = await runServe(workspace(), ['--seed']);
    expect(stdout).toMatch(
      /^The embedded service listens at http:\/\/127\.0\.0\.1:\d+; use it only for trials and tests\.\nAPI key: "embedded"\nRegistered prompts: 2\. Press Ctrl-C to stop the service\.\n$/,
    );
    expect({ exitCode, stderr, status }).toEqual({ exitCode: 0, stderr: '', status: 200 });
  });

  test.each<[string, readonly string[], number, number]>([
    ['serve starts without prompts if --seed is not given', [], 404, 0],
    ['serve --seed registers the prompts of the given workspace folder', ['--seed', '.'], 200, 2],
    [
      'serve --seed registers the prompts of the workspace whose configuration file is given',
      ['--seed', 'promptsync.yaml'],
      200,
      2,
    ],
  ])('%s', async (_, words, status, known) => {
    const ran = await runServe(workspace(), words);
    expect(ran).toMatchObject({
      exitCode: 0,
      status,
      stdout: expect.stringContaining(`Registered prompts: ${known}.`),
    });
  });

  test('serve suggests --seed only if the user did not use it and the service has no prompts', async () => {
    const unregistered = { 'prompts/a.md': promptText('a').replace('prm_a', 'replace_me') };
    const folder = makeWorkspace({ ...workspaceFiles({}), ...unregistered });
    const runs = [await runServe(folder, []), await runServe(folder, ['--seed'])];
    expect(runs.map(({ stdout }) => stdout.includes('use --seed'))).toEqual([true, false]);
  });

  test.each<[string, readonly string[], string]>([
    ['serve --seed rejects a nonexistent workspace', ['--seed', 'nowhere'], 'config/unreadable'],
    ['serve --seed rejects an invalid workspace', ['--seed', 'bad'], 'prompt/missing-id'],
    ['serve --db rejects a file that is not a database', ['--db', 'promptsync.yaml'], 'usage/cannot-serve'],
    ['serve --db rejects a folder', ['--db', 'prompts'], 'usage/cannot-serve'],
  ])('%s', async (_, words, code) => {
    const folder = workspace();
    const bad = makeWorkspace({ 'promptsync.yaml': '', 'prompts/a.md': '---\nkey: a\nname: a\n---\na\n' });
    const ran = await run(folder, ['serve', '--port', '0', ...words.map((word) => (word === 'bad' ? bad : word))]);
    expect(ran).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining(`[${code}]`) });
  });

  test('serve --seed neither registers nor counts a prompt file with a placeholder id', async () => {
    const refund = promptText('refund').replace('prm_refund', 'replace_me');
    const folder = makeWorkspace({ ...workspaceFiles({ greeting: {} }), 'prompts/refund.md': refund });
    const { stdout } = await runServe(folder, ['--seed']);
    expect(stdout).toContain('Registered prompts: 1.');
  });

  test('serve reports an error if the port is already in use', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as AddressInfo;
    const ran = await run(workspace(), ['serve', '--port', String(port)]);
    expect(ran).toMatchObject({ exitCode: 1, stdout: '' });
    expect(ran.stderr).toContain(`(port ${port}: it is already in use, EADDRINUSE)`);
    expect(ran.stderr).toContain('`--db` and `--port`');
  });

  test('serve accepts only the API key from PROMPTSYNC_API_KEY and does not print it', async () => {
    const environment = { PROMPTSYNC_API_KEY: KEY };
    const right = await runServe(workspace(), ['--seed'], { environment, apiKey: KEY });
    expect(right).toMatchObject({
      status: 200,
      stdout: expect.stringContaining('API key: the value of PROMPTSYNC_API_KEY'),
    });
    expect(await runServe(workspace(), ['--seed'], { environment })).toMatchObject({ status: 401 });
  });

  test('serve --db keeps its data across a restart and exits with 0 on SIGTERM or SIGINT', async () => {
    const folder = workspace();
    const words = ['--db', 'service.db', '--seed'];
    const first = await startServe(folder, words);
    const environment = { PROMPTSYNC_BASE_URL: first.baseUrl, PROMPTSYNC_API_KEY: KEY };
    expect(await run(folder, ['sync', '--yes'], { environment })).toMatchObject({ exitCode: 0 });
    expect(await first.end('SIGTERM')).toBe(0);
    expect(await run(folder, ['plan'], { environment })).toMatchObject({ exitCode: 1 });

    const second = await startServe(folder, words);
    const again = { ...environment, PROMPTSYNC_BASE_URL: second.baseUrl };
    expect(await run(folder, ['sync', '--yes'], { environment: again })).toMatchObject({
      stdout: 'nothing to do: 2 prompts in sync.\n',
    });
    expect(await second.end('SIGINT')).toBe(0);
  });

  test('serve --db can reopen its database after the previous serve process was killed', async () => {
    const folder = workspace();
    const first = await startServe(folder, ['--db', 'service.db', '--seed']);
    await first.end('SIGKILL');
    const second = await startServe(folder, ['--db', 'service.db']);
    const answer = await fetch(second.baseUrl + servicePaths.prompt('prm_refund'), { headers: { 'x-api-key': KEY } });
    expect(answer.status).toBe(200);
    await second.end();
  });

  test('serve counts the prompts that its database already has', async () => {
    const folder = workspace();
    await runServe(folder, ['--seed']);
    const { stdout } = await runServe(folder, []);
    expect(stdout).toContain('Registered prompts: 2.');
  });

  test('serve rejects an invalid port', async () => {
    for (const port of ['70000', '-1', '80x', '']) {
      expect(await run(workspace(), ['serve', '--port', port])).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining('Expected 0 to 65535.'),
      });
    }
  });
});

test('sync exits with 1 and reports an error if the configured embedded service cannot start', async () => {
  const folder = makeWorkspace(workspaceFiles({ greeting: {} }, 'service: { embedded: prompts }\n'));
  const { exitCode, stdout } = await runCli(folder, ['sync', '--yes']);
  expect(exitCode).toBe(1);
  expect(stdout).toMatch(/^error: promptsync could not start the embedded service \(.+\)\. \[usage\/cannot-serve\]\n/);
});
