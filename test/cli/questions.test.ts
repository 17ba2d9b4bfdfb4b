import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { makeFolder } from '../support/folder.ts';
import { parseReport, run } from '../support/run.ts';
import { makeStage } from './stage.ts';

const QUESTION = 'Apply these changes? [y/N] ';

describe('the question of a sync, on a terminal', () => {
  const terminal = { terminal: true } as const;

  test.each([
    ['y\n', true],
    [' YES \n', true],
    ['y', true],
    ['\n', false],
    ['yes please\n', false],
    ['no\ny\n', false],
    ['', false],
  ])('the answer %j', async (input, applied) => {
    const { service, promptsync } = await makeStage();
    const { exitCode, stdout, stderr } = await promptsync('sync --no-color', { ...terminal, input });
    expect(stderr).toContain('+ create version');
    expect(stderr).toContain('+Text of greeting.');
    expect(stderr.endsWith(input === '' ? `${QUESTION}\n` : QUESTION)).toBe(true);
    expect(service.takeWrites().length > 0).toBe(applied);
    expect(exitCode).toBe(applied ? 0 : 1);
    expect(stdout).toContain(applied ? 'created version' : 'the question was not answered with yes');
  });

  test.each([
    ['the report repeats no diff', 'sync', false],
    ['a page has them all the same, with the versions that were made', 'sync --format html', true],
    ['Markdown has them too', 'sync --format markdown', true],
  ])('after it %s', async (_, line, repeated) => {
    const { promptsync } = await makeStage();
    const { stdout } = await promptsync(line, { ...terminal, input: 'y\n' });
    expect(stdout.includes('Text of greeting.')).toBe(repeated);
    if (repeated) expect(stdout).toMatch(/nothing → v1|\+\+\+ staging: v1/);
  });

  test('in JSON the question is on standard error as well, and who declines gets a report', async () => {
    const { promptsync } = await makeStage();
    const { stdout, stderr } = await promptsync('sync --format json', { ...terminal, input: 'n\n' });
    const report = parseReport(stdout);
    expect(stderr.endsWith(QUESTION)).toBe(true);
    expect(report).toMatchObject({ mode: 'apply', plan_digest: null, problems: [{ code: 'usage/declined' }] });
    expect(report.prompts).toMatchObject([{ status: 'not_attempted' }]);
  });

  test('Ctrl-C at the question is an interruption', async () => {
    const { service, promptsync } = await makeStage();
    let interrupt = (): void => {};
    const { exitCode } = await promptsync('sync', {
      ...terminal,
      input: new PassThrough(),
      onSignal: (signal) => (interrupt = signal),
      onError: (text) => text.endsWith(QUESTION) && interrupt(),
    });
    expect(exitCode).toBe(130);
    expect(service.takeWrites()).toEqual([]);
  });

  test('nothing is asked where it was answered, and where nothing would be written', async () => {
    const { promptsync } = await makeStage();
    const none = expect.not.stringContaining('?');
    expect((await promptsync('sync --max-changes 0', terminal)).stderr).toEqual(none);
    const environment = { CI: 'true' };
    expect(await promptsync('sync', { ...terminal, environment })).toMatchObject({ exitCode: 0, stderr: none });
    expect(await promptsync('sync', terminal)).toMatchObject({ exitCode: 0, stderr: '' });
  });
});

describe('the question of a sync, without a terminal', () => {
  test.each<[string, string, Readonly<Record<string, string>>, number]>([
    ['a sync needs a yes', 'sync', {}, 1],
    ['--yes is one', 'sync --yes', {}, 0],
    ['CI=true is one', 'sync', { CI: 'true' }, 0],
    ['CI=1 is none', 'sync', { CI: '1' }, 1],
    ['a dry run needs none', 'sync --dry-run', {}, 0],
  ])('%s', async (_, line, environment, exitCode) => {
    const { service, promptsync } = await makeStage();
    expect(await promptsync(line, { environment })).toMatchObject({ exitCode });
    if (exitCode === 1) expect(service.requests).toEqual([]);
  });
});

type Answer = readonly [question: string, typed: string];

/** Types the answers, each as soon as its question is drawn, and resolves to what came of it. */
async function typing(folder: string, answers: readonly Answer[], environment = {}) {
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
  return run(folder, ['init', '--no-color'], { terminal: true, input, onError, environment });
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
    ['Which CI', '\u0015none\r'],
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
  const { exitCode, stdout } = await typing(makeFolder(), [['Where', '\u0003']], { CI });
  expect(stdout).toContain(asks ? '[usage/cancelled]' : '[init/service-needed]');
  expect(exitCode).toBe(asks ? 130 : 1);
});
