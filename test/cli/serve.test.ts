import { describe, expect, test } from 'vitest';
import { servicePaths } from '../../src/providers/four-call/api-shapes.ts';
import { startServe } from '../support/cli.ts';
import { makeWorkspace, writeFiles } from '../support/folder.ts';
import { promptText, workspaceFiles } from '../support/prompts.ts';
import { run, type Ran } from '../support/run.ts';
import { KEY, startTestService } from '../support/service.ts';

/** Runs serve in this process until it has answered one request. Returns its output and the status of the answer. */
async function runServe(
  folder: string,
  words: readonly string[],
  options: { readonly environment?: Readonly<Record<string, string>>; readonly apiKey?: string } = {},
): Promise<Ran & { readonly status: number }> {
  const { environment = {}, apiKey = 'embedded' } = options;
  let stop = (): void => {};
  const answered = Promise.withResolvers<number>();
  const ran = await run(folder, ['serve', '--port', '0', ...words], {
    environment,
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

  test('serve registers the prompts of the workspace that --seed names, keeps them in its database, and suggests --seed without them', async () => {
    const folder = workspace();
    const none = await runServe(folder, []);
    expect(none).toMatchObject({ exitCode: 0, status: 404, stdout: expect.stringContaining('Registered prompts: 0.') });
    expect(none.stdout).toContain('use --seed');
    for (const words of [['--seed', '.'], ['--seed', 'promptsync.yaml'], []]) {
      const ran = await runServe(folder, words);
      expect(ran).toMatchObject({
        exitCode: 0,
        status: 200,
        stdout: expect.stringContaining('Registered prompts: 2.'),
      });
    }
    const unregistered = { 'prompts/a.md': promptText('a').replace('prm_a', 'replace_me') };
    const { stdout } = await runServe(makeWorkspace({ ...workspaceFiles({}), ...unregistered }), ['--seed']);
    expect(stdout).toContain('Registered prompts: 0.');
    expect(stdout).not.toContain('use --seed');
  });

  test.each([
    ['--seed', 'nowhere', 'config/unreadable'],
    ['--seed', 'bad', 'prompt/missing-id'],
    ['--db', 'promptsync.yaml', 'usage/cannot-serve'],
  ])('serve %s %s fails with the problem %s', async (flag, path, code) => {
    const folder = workspace();
    writeFiles(folder, { 'bad/promptsync.yaml': '', 'bad/prompts/a.md': '---\nkey: a\nname: a\n---\na\n' });
    const ran = await run(folder, ['serve', '--port', '0', flag, path]);
    expect(ran).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining(`[${code}]`) });
  });

  test('serve reports an error if the port is already in use', async () => {
    const { port } = new URL((await startTestService([])).baseUrl);
    const ran = await run(workspace(), ['serve', '--port', port]);
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

  test('serve --db keeps its data even if its process is killed, and exits with 0 on SIGTERM', async () => {
    const folder = workspace();
    const words = ['--db', 'service.db', '--seed'];
    const first = await startServe(folder, words);
    const environment = { PROMPTSYNC_BASE_URL: first.baseUrl, PROMPTSYNC_API_KEY: KEY };
    expect(await run(folder, ['sync', '--yes'], { environment })).toMatchObject({ exitCode: 0 });
    await first.end('SIGKILL');
    const second = await startServe(folder, words);
    const again = { ...environment, PROMPTSYNC_BASE_URL: second.baseUrl };
    expect(await run(folder, ['sync', '--yes'], { environment: again })).toMatchObject({
      stdout: 'nothing to do: 2 prompts in sync.\n',
    });
    expect(await second.end('SIGTERM')).toBe(0);
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
