import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { makeFolder, makeWorkspace } from '../support/folder.ts';
import { workspaceFiles } from '../support/prompts.ts';
import { run, runJson, type RunOptions } from '../support/run.ts';
import { startTestService, type TestService } from '../support/service.ts';

const QUESTION = 'Apply these changes? [y/N] ';

async function makeStage(): Promise<{ folder: string; service: TestService }> {
  const folder = makeWorkspace(workspaceFiles({ greeting: {} }));
  return { folder, service: await startTestService(['greeting']) };
}

describe('the question of a sync, on a terminal', () => {
  test.each([
    ['y\n', true],
    ['yes\n', true],
    [' YES \n', true],
    ['y', true],
    ['n\n', false],
    ['\n', false],
    ['yes please\n', false],
    ['no\ny\n', false],
    ['', false],
  ])('the answer %j', async (input, applied) => {
    const { folder, service } = await makeStage();
    const { exitCode, stdout, stderr } = await run(folder, ['sync', '--no-color'], {
      ...service,
      input,
      terminal: true,
    });
    expect(stderr).toContain('+ create version');
    expect(stderr).toContain('+Text of greeting.');
    expect(stderr.endsWith(input === '' ? `${QUESTION}\n` : QUESTION)).toBe(true);
    expect(service.takeWrites().length > 0).toBe(applied);
    expect(exitCode).toBe(applied ? 0 : 1);
    expect(stdout).toContain(applied ? 'created version' : 'the question was not answered with yes');
  });

  test('after the question the report repeats no diff', async () => {
    const { folder, service } = await makeStage();
    const { stdout } = await run(folder, ['sync'], { ...service, input: 'y\n', terminal: true });
    expect(stdout).not.toContain('Text of greeting.');
  });

  test.each([
    ['a page', ['--format', 'html']],
    ['Markdown', ['--format', 'markdown']],
  ])('but %s has them all the same, with the versions that were made', async (_, words) => {
    const { folder, service } = await makeStage();
    const { stdout } = await run(folder, ['sync', ...words], { ...service, input: 'y\n', terminal: true });
    expect(stdout).toContain('Text of greeting.');
    expect(stdout).toMatch(/nothing → v1|\+\+\+ staging: v1/);
  });

  test('in JSON the question is on standard error as well, and who declines gets a report', async () => {
    const { folder, service } = await makeStage();
    const { report, stderr } = await runJson(folder, ['sync'], { ...service, input: 'n\n', terminal: true });
    expect(stderr.endsWith(QUESTION)).toBe(true);
    expect(report).toMatchObject({ mode: 'apply', plan_digest: null, problems: [{ code: 'usage/declined' }] });
    expect(report.prompts).toMatchObject([{ status: 'not_attempted' }]);
  });

  test('Ctrl-C at the question is an interruption', async () => {
    const { folder, service } = await makeStage();
    let interrupt = (): void => {};
    const { exitCode } = await run(folder, ['sync'], {
      ...service,
      terminal: true,
      input: new PassThrough(),
      onSignal: (signal) => (interrupt = signal),
      onError: (text) => text.endsWith(QUESTION) && interrupt(),
    });
    expect(exitCode).toBe(130);
    expect(service.takeWrites()).toEqual([]);
  });

  test.each<[string, readonly string[], Partial<RunOptions>]>([
    ['with --yes', ['--yes'], {}],
    ['with CI=true', [], { environment: { CI: 'true' } }],
  ])('nothing is asked %s', async (_, words, { environment }) => {
    const { folder, service } = await makeStage();
    const options = { environment: { ...service.environment, ...environment }, terminal: true };
    const { exitCode, stderr } = await run(folder, ['sync', ...words], options);
    expect(exitCode).toBe(0);
    expect(stderr).not.toContain('?');
  });

  test('nothing is asked where nothing would be written', async () => {
    const { folder, service } = await makeStage();
    await run(folder, ['sync', '--yes'], service);
    const { exitCode, stderr } = await run(folder, ['sync'], { ...service, terminal: true });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const refused = await run(folder, ['sync', '--max-changes', '0'], { ...service, terminal: true });
    expect(refused.stderr).toBe('');
  });
});

describe('the question of a sync, without a terminal', () => {
  test.each<[string, readonly string[], Readonly<Record<string, string>>, number]>([
    ['a sync needs a yes', [], {}, 1],
    ['--yes is one', ['--yes'], {}, 0],
    ['CI=true is one', [], { CI: 'true' }, 0],
    ['CI=1 is none', [], { CI: '1' }, 1],
    ['a dry run needs none', ['--dry-run'], {}, 0],
  ])('%s', async (_, words, variables, exitCode) => {
    const { folder, service } = await makeStage();
    const environment = { ...service.environment, ...variables };
    expect(await run(folder, ['sync', ...words], { environment })).toMatchObject({ exitCode });
    if (exitCode === 1) expect(service.requests).toEqual([]);
  });
});

type Answer = readonly [question: string, typed: string];

/** Types the answers, each as soon as its question is drawn, and resolves to what came of it. */
async function typing(folder: string, answers: readonly Answer[]) {
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
  return run(folder, ['init', '--no-color'], { terminal: true, input, onError });
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
