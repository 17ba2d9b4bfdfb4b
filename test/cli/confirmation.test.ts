import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { makeWorkspace } from '../support/folder.ts';
import { workspaceFiles } from '../support/prompts.ts';
import { run, runJson, type RunOptions } from '../support/run.ts';
import { startTestService, type TestService } from '../support/service.ts';

const QUESTION = 'Apply these changes? [y/N] ';

async function makeStage(): Promise<{ folder: string; service: TestService }> {
  const folder = makeWorkspace(workspaceFiles({ greeting: {} }));
  return { folder, service: await startTestService(['greeting']) };
}

describe('on a terminal', () => {
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

describe('without a terminal', () => {
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
