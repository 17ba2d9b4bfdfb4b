import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { childEnvironment, CLI } from '../support/cli.ts';
import { makeWorkspace } from '../support/folder.ts';
import { promptText, workspaceFiles } from '../support/prompts.ts';

const execute = promisify(execFile);

/** Runs a line of bash in which `promptsync` is the command line; the exit codes of a pipe's parts go to `codes`. */
async function bash(folder: string, line: string) {
  const script = `promptsync() { "${process.execPath}" "${CLI}" "$@"; }\n${line}; echo "codes \${PIPESTATUS[*]}"`;
  return execute('bash', ['-c', script], { cwd: folder, env: childEnvironment() });
}

test('a reader that goes away early is no error, on standard output and on standard error', async () => {
  const prompts = Object.fromEntries(
    Array.from({ length: 300 }, (_, index) => [`p${index}`, { text: 'A long line.\n'.repeat(50) + index }]),
  );
  const folder = makeWorkspace(workspaceFiles(prompts, 'service: { embedded: ":memory:" }\n'));
  const out = await bash(folder, 'promptsync plan --format json | head -1');
  expect(out).toEqual({ stdout: '{\ncodes 0 0\n', stderr: '' });
  const err = await bash(folder, '{ promptsync plan --verbose 2>&1 >/dev/null; } | head -1');
  expect(err.stdout).toMatch(/^GET \/v1\/\S+ 200 \d+ ms\ncodes 0 0\n$/);
  expect(err.stderr).toBe('');
});

test('standard input that is closed or empty is no answer', async () => {
  const folder = makeWorkspace({
    'promptsync.yaml': 'service: { embedded: ":memory:" }\n',
    'prompts/a.md': promptText('a'),
  });
  const { stdout } = await bash(folder, 'promptsync sync <&-');
  expect(stdout).toContain('there is no terminal to ask on');
  expect(stdout).toContain('codes 1');
});
