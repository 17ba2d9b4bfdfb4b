import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { childEnvironment, CLI, runCli } from '../support/cli.ts';
import { makeFolder, makeRepository, makeWorkspace } from '../support/folder.ts';
import { workspaceFiles } from '../support/prompts.ts';
import { KEY } from '../support/service.ts';

const execute = promisify(execFile);

/** Runs a line of bash in which `promptsync` is the bundle. Prints the exit codes of a pipeline after `codes`. */
async function bash(folder: string, line: string) {
  const script = `promptsync() { "${process.execPath}" "${CLI}" "$@"; }\n${line}; echo "codes \${PIPESTATUS[*]}"`;
  return execute('bash', ['-c', script], { cwd: folder, env: childEnvironment() });
}

test('promptsync exits normally if the reader of its output closes the pipe early', async () => {
  const prompts = Object.fromEntries(
    Array.from({ length: 300 }, (_, index) => [`p${index}`, { text: 'A long line.\n'.repeat(50) + index }]),
  );
  const folder = makeRepository(workspaceFiles(prompts, 'service: { embedded: ":memory:" }\n'));
  const out = await bash(folder, 'promptsync plan --format json | head -1');
  expect(out).toEqual({ stdout: '{\ncodes 0 0\n', stderr: '' });
  const err = await bash(folder, '{ promptsync plan --verbose 2>&1 >/dev/null; } | head -1');
  expect(err.stdout).toMatch(/^GET \/v1\/\S+ 200 \d+ ms\ncodes 0 0\n$/);
  expect(err.stderr).toBe('');
});

describe.skipIf(!existsSync('/dev/full'))('promptsync does not crash if its output goes to a full disk', () => {
  const files = workspaceFiles({ a: {}, b: { pins: { staging: 7 } } }, 'service: { embedded: ":memory:" }\n');

  test.each([
    ['plan exits with 3 for a blocked prompt even if it cannot write its report because the disk is full', 'plan', 3],
    ['plan exits with 1 if it cannot write a JSON report because the disk is full', 'plan --only a --format json', 1],
  ])('%s', async (_, words, code) => {
    const { stdout, stderr } = await bash(makeWorkspace(files), `promptsync ${words} > /dev/full`);
    expect(stdout).toBe(`codes ${code}\n`);
    expect(stderr).toContain('error: promptsync could not write to standard output (the disk is full, ENOSPC).');
    expect(stderr).not.toContain('    at ');
  });

  test('validate succeeds even if its standard error is redirected to a full disk', async () => {
    const { stdout } = await bash(makeWorkspace(files), 'promptsync validate 2> /dev/full');
    expect(stdout).toMatch(/^2 prompts valid\.\ncodes 0\n$/);
  });
});

// The standard output of a child process of Node is a socket, which no program can open by its path.
test.skipIf(!existsSync('/dev/stdout'))(
  'sync --output /dev/stdout writes the report even if standard output is a socket',
  async () => {
    const folder = makeRepository(workspaceFiles({ a: {} }, 'service: { embedded: ":memory:" }\n'));
    const words = ['sync', '--yes', '--format', 'json', '--output', '/dev/stdout'];
    const { exitCode, stdout } = await runCli(folder, words);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ schema_version: 1 });
  },
);

test("promptsync hides Node's experimental warning if the proxy is a SOCKS proxy", async () => {
  const environment = {
    PROMPTSYNC_BASE_URL: 'http://prompts.invalid',
    PROMPTSYNC_API_KEY: KEY,
    HTTP_PROXY: 'socks5://127.0.0.1:1',
  };
  const folder = makeWorkspace(workspaceFiles({ a: {} }, 'service: { allow_http: true }\n'));
  const { stdout, stderr } = await runCli(folder, ['plan'], { environment });
  expect(stdout).toContain('service/');
  expect(stderr).not.toContain('ExperimentalWarning');
});

test('in a deleted working folder, promptsync prints a single message without a stack trace', async () => {
  const folder = makeFolder();
  const { stdout, stderr } = await bash(folder, 'mkdir gone; cd gone; rmdir ../gone; promptsync plan');
  expect(stdout).toBe('codes 1\n');
  expect(stderr).toContain('[usage/no-current-folder]');
  expect(stderr).not.toContain('    at ');
});
