import { PassThrough } from 'node:stream';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder, makeWorkspace } from '../support/folder.ts';
import { workspaceFiles } from '../support/prompts.ts';
import { run } from '../support/run.ts';
import { startTestService } from '../support/service.ts';

type Answer = readonly [question: string, typed: string];

/** Types the answers, each as soon as its question is drawn, and resolves to what came of it. */
async function typing(folder: string, answers: readonly Answer[], { words = ['init'], environment = {} } = {}) {
  const input = Object.assign(new PassThrough(), { setRawMode: () => {} });
  const open = [...answers];
  let drawn = '';
  const onError = (text: string): void => {
    drawn += text;
    const [question, typed] = open[0] ?? [];
    if (question === undefined || !drawn.includes(question)) return;
    open.shift();
    drawn = '';
    setImmediate(() => input.write(typed));
  };
  return run(folder, [...words, '--no-color'], { terminal: true, input, onError, environment });
}

test('questions are asked on standard error, and the report alone is on standard output', async () => {
  const folder = makeFolder();
  const { exitCode, stdout, stderr } = await typing(folder, [
    ['Where is the prompt service?', 'ftp://x\r'],
    ['its scheme is not https', '\u0015https://prompts.example.com\r'],
    ['Which variable', '\r'],
    ['Which folder', '\r'],
    ['Which environments', '\r'],
    ['Which prompt', '\r'],
    ['Write the workflows', 'n'],
  ]);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^\+ promptsync\.yaml\n/);
  expect(stderr).not.toMatch(/\u001b\[3\d/);
  expect(stdout).not.toContain('Which');
  expect(stderr).toContain('Which folder');
  expect(readFileSync(join(folder, 'promptsync.yaml'), 'utf8')).toContain('base_url: https://prompts.example.com\n');
});

test.each([
  ['Ctrl-C', '\u0003'],
  ['Escape', '\u001b'],
])('%s ends it, and nothing is written', async (_, typed) => {
  const folder = makeFolder();
  const { exitCode, stdout } = await typing(folder, [
    ['Where is the prompt service?', '\r'],
    ['Which folder', typed],
  ]);
  expect(exitCode).toBe(130);
  expect(stdout).toContain('Nothing was written');
  expect(existsSync(join(folder, 'promptsync.yaml'))).toBe(false);
});

test('promote without a prompt asks which ones', async () => {
  const service = await startTestService(['greeting', 'refund']);
  const folder = makeWorkspace(workspaceFiles({ greeting: {}, refund: {} }));
  await run(folder, ['sync', '--yes'], service);
  const words = ['promote', '--from', 'staging', '--to', 'production'];
  const { environment } = service;
  const { exitCode, stdout } = await typing(folder, [['Which prompts', '\u001b[B \r']], { words, environment });
  expect({ exitCode, stdout }).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('1 file edited.') });
  expect(readFileSync(join(folder, 'prompts/refund.md'), 'utf8')).toContain('"production": 1');
  expect(readFileSync(join(folder, 'prompts/greeting.md'), 'utf8')).not.toContain('production');
});

test('a signal at a question is an interruption', async () => {
  let interrupt = (): void => {};
  const { exitCode } = await run(makeFolder(), ['init'], {
    terminal: true,
    input: Object.assign(new PassThrough(), { setRawMode: () => {} }),
    onSignal: (signal) => (interrupt = signal),
    onError: (text) => void (text.includes('Where') && setImmediate(interrupt)),
  });
  expect(exitCode).toBe(130);
});

test.each([
  ['true', false],
  ['1', false],
  ['false', true],
  ['', true],
])('with CI=%j on a terminal it asks: %s', async (CI, asks) => {
  const input = Object.assign(new PassThrough(), { setRawMode: () => {} });
  const onError = (text: string): void => void (text.includes('Where') && setImmediate(() => input.write('\u0003')));
  const given = { terminal: true, input, onError, environment: { CI } };
  const { exitCode, stdout } = await run(makeFolder(), ['init'], given);
  expect(stdout).toContain(asks ? '[usage/cancelled]' : '[init/service-needed]');
  expect(exitCode).toBe(asks ? 130 : 1);
});
