import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { makeFolder } from '../support/folder.ts';
import { startFront } from '../support/front.ts';
import { parseReport, run, type RunOptions } from '../support/run.ts';
import { startTestService } from '../support/service.ts';
import { makeStage } from './stage.ts';

const QUESTION = 'Apply? 1 prompt changes in staging. [y/N] ';

describe('the question of sync on a terminal', () => {
  const terminal = { terminal: true } as const;

  test.each([
    [true, ' YES \n'],
    [false, '\n'],
    [false, ''],
  ])('the approval is %s if the user answers the sync confirmation with %j', async (applied, input) => {
    const { service, promptsync } = await makeStage();
    const { exitCode, stdout, stderr } = await promptsync('sync --no-color', { ...terminal, input });
    expect(stderr).toContain('+ create version');
    expect(stderr).toContain('+Text of greeting.');
    expect(stderr.endsWith(input === '' ? `${QUESTION}\n` : QUESTION)).toBe(true);
    expect(service.takeWrites().length > 0).toBe(applied);
    expect(exitCode).toBe(applied ? 0 : 1);
    if (applied) expect(stdout).toContain('created version');
    else expect(stdout).toBe('Nothing was applied.\n');
  });

  test.each([
    ['sync omits the diffs from its final report because the confirmation already showed them', 'sync', false],
    [
      'sync --format markdown includes the diffs and new versions in its report after the user confirms the plan',
      'sync --format markdown',
      true,
    ],
  ])('%s', async (_, line, repeated) => {
    const { promptsync } = await makeStage();
    const { stdout } = await promptsync(line, { ...terminal, input: 'y\n' });
    expect(stdout.includes('Text of greeting.')).toBe(repeated);
    if (repeated) expect(stdout).toMatch(/nothing → `?v1|\+\+\+ staging: v1/);
  });

  test('sync --format json asks for confirmation on standard error and prints a report if the user declines', async () => {
    const { promptsync } = await makeStage();
    const { stdout, stderr } = await promptsync('sync --format json', { ...terminal, input: 'n\n' });
    const report = parseReport(stdout);
    expect(stderr.endsWith(QUESTION)).toBe(true);
    expect(report).toMatchObject({ mode: 'apply', plan_digest: null, problems: [{ code: 'usage/declined' }] });
    expect(report.prompts).toMatchObject([{ status: 'not_attempted' }]);
  });

  test('Ctrl-C at the sync confirmation exits with 130, prints one line and writes nothing', async () => {
    const { service, promptsync } = await makeStage();
    let interrupt = (): void => {};
    const { exitCode, stdout, stderr } = await promptsync('sync', {
      ...terminal,
      input: new PassThrough(),
      onSignal: (signal) => (interrupt = signal),
      onError: (text) => text.endsWith(QUESTION) && interrupt(),
    });
    expect({ exitCode, stdout }).toEqual({ exitCode: 130, stdout: 'Nothing was applied.\n' });
    expect(stderr.endsWith(`${QUESTION}\n`)).toBe(true);
    expect(service.takeWrites()).toEqual([]);
  });

  test('sync on a terminal does not ask for confirmation if CI=true or if there is nothing to write', async () => {
    const { promptsync } = await makeStage();
    const none = expect.not.stringContaining('?');
    expect((await promptsync('sync --max-changes 0', terminal)).stderr).toEqual(none);
    const environment = { CI: 'true' };
    expect(await promptsync('sync', { ...terminal, environment })).toMatchObject({ exitCode: 0, stderr: none });
    expect(await promptsync('sync', terminal)).toMatchObject({ exitCode: 0, stderr: '' });
  });
});

test('sync without a terminal and without --yes fails before it sends a request', async () => {
  const { service, promptsync } = await makeStage();
  expect(await promptsync('sync')).toMatchObject({ exitCode: 1 });
  expect(service.requests).toEqual([]);
});

type Answer = { readonly question: string; readonly typed: string };

/** Runs init and types each answer as soon as its question appears. */
async function answerQuestions(folder: string, answers: readonly Answer[], options: RunOptions = {}) {
  const input = Object.assign(new PassThrough(), { setRawMode: () => {} });
  const open = [...answers];
  let drawn = '';
  const onError = (text: string): void => {
    drawn += text;
    const [answer] = open;
    if (answer === undefined || !drawn.includes(answer.question)) return;
    open.shift();
    drawn = '';
    setImmediate(() => input.write(answer.typed));
  };
  return run(folder, ['init', '--no-color'], { terminal: true, input, onError, ...options });
}

const [UP, DOWN] = ['\u001b[A', '\u001b[B'];

test('init asks its questions on standard error and prints only its report on standard output', async () => {
  const folder = makeFolder();
  const { baseUrl, environment } = await startTestService([]);
  const answers = [
    { question: 'Which service', typed: `${UP}\r` },
    { question: 'What is the address of the prompt service?', typed: 'ftp://x\r' },
    { question: 'it does not begin with', typed: `\u0015${baseUrl}\r` },
    { question: 'Which environment variable', typed: '\r' },
    { question: 'Which folder', typed: '\r' },
    { question: 'Which environments', typed: '\r' },
    { question: 'Which prompt', typed: '\r' },
    { question: 'Which CI', typed: `${DOWN}${DOWN}\r` },
    { question: 'Should pre-commit', typed: '\r' },
  ];
  const { exitCode, stdout, stderr } = await answerQuestions(folder, answers, { environment });
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^\+ promptsync\.yaml\n/);
  expect(stderr).not.toMatch(/\u001b\[3\d/);
  expect(stdout).not.toContain('Which');
  expect(stderr).toContain('Which folder');
  expect(readFileSync(join(folder, 'promptsync.yaml'), 'utf8')).toContain(`base_url: ${baseUrl}\n`);
  expect(existsSync(join(folder, '.github'))).toBe(false);
});

test('In a narrow terminal without color, init shows the choices of a question and marks the selected choice', async () => {
  const answers = [
    { question: 'Langfuse', typed: DOWN },
    { question: '● Langfuse', typed: '\u0003' },
  ];
  const options = { environment: { LANG: 'C.UTF-8' }, columns: 24 };
  const { stderr } = await answerQuestions(makeFolder(), answers, options);
  const lines = stderr.replaceAll(/\u001b\[[0-9;?]*[A-Za-z]/g, '').split('\n');
  expect(lines.some((line) => line.includes('○ Langfuse'))).toBe(true);
  expect(lines.filter((line) => line.length > 24)).toEqual([]);
});

test('If the user presses Ctrl-C while init checks an address, init exits with 130 and writes nothing', async () => {
  const folder = makeFolder();
  let interrupt = (): void => {};
  const front = await startFront({ answer: () => (interrupt(), { status: 401, body: '' }) });
  const answers = [
    { question: 'Which service', typed: `${UP}\r` },
    { question: 'What is the address', typed: `${front.baseUrl}\r` },
  ];
  const { exitCode } = await answerQuestions(folder, answers, { onSignal: (signal) => (interrupt = signal) });
  expect({ exitCode, requests: front.requests.length }).toEqual({ exitCode: 130, requests: 1 });
  expect(existsSync(join(folder, 'promptsync.yaml'))).toBe(false);
});

test('Escape at a question of init exits with 130 and writes nothing', async () => {
  const folder = makeFolder();
  const { exitCode } = await answerQuestions(folder, [
    { question: 'Which service', typed: '\r' },
    { question: 'Which folder', typed: '\u001b' },
  ]);
  expect(exitCode).toBe(130);
  expect(existsSync(join(folder, 'promptsync.yaml'))).toBe(false);
});

test('init on a terminal asks no questions if CI=true, and Ctrl-C at a question exits with 130', async () => {
  const answers = [{ question: 'Which service', typed: '\u0003' }];
  const asking = await answerQuestions(makeFolder(), answers, { environment: { CI: '1' } });
  expect(asking).toMatchObject({ exitCode: 130, stdout: 'Interrupted. promptsync made no changes.\n' });
  const { exitCode, stdout } = await answerQuestions(makeFolder(), answers, { environment: { CI: 'true' } });
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: expect.stringContaining('[init/service-needed]') });
});
