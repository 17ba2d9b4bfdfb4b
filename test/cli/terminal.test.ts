import { pathToFileURL } from 'node:url';
import stringWidth from 'fast-string-width';
import { describe, expect, test } from 'vitest';
import { wantsColour } from '../../src/cli/terminal.ts';
import { runCli } from '../support/cli.ts';
import { makeWorkspace, writeFiles } from '../support/folder.ts';
import { workspaceFiles } from '../support/prompts.ts';
import { run, type RunOptions } from '../support/run.ts';
import { KEY, startTestService, type TestService } from '../support/service.ts';

const LONG =
  'You answer questions about orders, refunds and 配送状況 in one short sentence that a customer understands. ';
const OWN = /\u001b\[\d+m|\u001b\]8;;[!-~]*\u001b\\/g;

/** A prompt that is in sync, and then changed: one word of a long line, and many further lines. */
async function makeStage(lines = 1): Promise<{ folder: string; service: TestService }> {
  const service = await startTestService(['greeting']);
  const folder = makeWorkspace(workspaceFiles({ greeting: { text: LONG.repeat(7).trim() } }));
  await run(folder, ['sync', '--yes'], service);
  const further = Array.from({ length: lines }, (_, index) => `Line ${index + 1}.`).join('\n');
  writeFiles(
    folder,
    workspaceFiles({ greeting: { text: `${LONG.repeat(7).trim().replace('refunds', 'returns')}\n${further}` } }),
  );
  return { folder, service };
}

function widest(text: string): number {
  const lines = text
    .replaceAll(OWN, '')
    .split('\n')
    .filter((line) => !line.trim().startsWith('sha256:'));
  return Math.max(...lines.map((line) => stringWidth(line)));
}

describe('The width of the terminal', () => {
  test.each([
    ['plan', 80],
    ['plan', 120],
    ['plan', 40],
    ['status', 40],
    ['validate', 40],
  ])('%s is no wider than it: %i', async (command, columns) => {
    const { folder, service } = await makeStage();
    const { stdout } = await run(folder, [command], { ...service, terminal: true, columns });
    expect(widest(stdout)).toBeLessThanOrEqual(columns);
  });

  test('the changed word of a long line is seen, with what is beside it', async () => {
    const { folder, service } = await makeStage();
    const { stdout } = await run(folder, ['plan', '--no-color'], { ...service, terminal: true, columns: 60 });
    const text = stdout.replaceAll(/ *\n +/g, ' ');
    expect(text).toContain('-You answer questions about orders, refunds and 配送状況 in one short sentenc … e that');
    expect(text).toContain('+You answer questions about orders, returns and 配送状況 in one short sentenc … e that');
    const coloured = await run(folder, ['plan'], { ...service, terminal: true, columns: 60 });
    expect(coloured.stdout).toContain('\u001b[7mreturns\u001b[27m');
  });

  test('is that of standard error for the plan before the question, and for warnings', async () => {
    const { folder, service } = await makeStage();
    writeFiles(folder, workspaceFiles({ greeting: { text: `${LONG}\u200b` } }));
    const { stderr } = await run(folder, ['sync'], { ...service, input: 'n\n', terminal: true, columns: 50 });
    expect(stderr).toContain('Apply these changes?');
    expect(stderr).toContain('warning');
    // What is typed, and the end of its line, the terminal shows.
    expect(widest(stderr.replace('[y/N] ', '[y/N]\n'))).toBeLessThanOrEqual(50);
  });

  test.each<[string, RunOptions]>([
    ['no terminal', { columns: 40 }],
    ['a terminal that does not tell', { terminal: true }],
    ['a terminal of no columns', { terminal: true, columns: 0 }],
  ])('of %s cuts and wraps nothing', async (_, options) => {
    const { folder, service } = await makeStage();
    const { stdout } = await run(folder, ['plan', '--no-color'], { ...service, ...options });
    expect(stdout).toContain(`\n      -${LONG.repeat(7).trim()}\n`);
  });

  test('is nothing to a file, JSON and Markdown', async () => {
    const { folder, service } = await makeStage();
    for (const format of ['json', 'markdown']) {
      const words = ['plan', '--format', format];
      const { stdout } = await run(folder, words, { ...service, terminal: true, columns: 40, hyperlinks: true });
      expect(stdout).toBe((await run(folder, words, service)).stdout);
    }
  });
});

describe('A long diff', () => {
  test('is folded, on a terminal or not', async () => {
    const { folder, service } = await makeStage(60);
    for (const options of [{}, { terminal: true, columns: 100 }]) {
      const folded = await run(folder, ['plan', '--no-color'], { ...service, ...options });
      expect(folded.stdout).toMatch(/^ {6}… \d+ more lines \(--format html shows all\)$/m);
      expect(folded.stdout).not.toContain('+Line 60.');
    }
  });
});

describe('Links', () => {
  const stage = { terminal: true, columns: 80, hyperlinks: true } as const;
  const linkOf = (folder: string) => `\u001b]8;;${pathToFileURL(folder).href}/prompts/greeting.md\u001b\\`;

  test('lead from a title to the file, and to the service', async () => {
    const { folder, service } = await makeStage();
    const { stdout } = await run(folder, ['plan'], { ...service, ...stage });
    expect(stdout).toContain(linkOf(folder));
    expect(stdout).toContain(`\u001b]8;;${service.baseUrl}/\u001b\\`);
  });

  test('lead from a problem to the file', async () => {
    const folder = makeWorkspace({ ...workspaceFiles({ greeting: {} }), 'prompts/greeting.md': 'none' });
    expect((await run(folder, ['validate'], stage)).stdout).toContain(linkOf(folder));
  });

  test('lead from a warning to the file', async () => {
    const folder = makeWorkspace(workspaceFiles({ greeting: { text: 'hid\u200bden' } }));
    expect((await run(folder, ['validate'], stage)).stderr).toContain(linkOf(folder));
  });

  test('are in the plan before the question as well', async () => {
    const { folder, service } = await makeStage();
    const { stderr } = await run(folder, ['sync'], { ...service, ...stage, input: 'n\n' });
    expect(stderr).toContain(linkOf(folder));
  });

  test.each<[string, readonly string[], RunOptions, boolean]>([
    ['with --no-color', ['--no-color'], stage, false],
    ['with NO_COLOR', [], { ...stage, environment: { NO_COLOR: '1' } }, false],
    ['with NO_COLOR and FORCE_HYPERLINK', [], { ...stage, environment: { NO_COLOR: '1', FORCE_HYPERLINK: '1' } }, true],
    ['off a terminal', [], { ...stage, terminal: false }, false],
    ['off a terminal with FORCE_COLOR', [], { ...stage, terminal: false, environment: { FORCE_COLOR: '1' } }, false],
    ['on a terminal that takes none', [], { ...stage, hyperlinks: false }, false],
  ])('%s', async (_, words, options, expected) => {
    const folder = makeWorkspace({ ...workspaceFiles({ greeting: {} }), 'prompts/greeting.md': 'none' });
    const { stdout } = await run(folder, ['validate', ...words], options);
    expect(stdout.includes('\u001b]8')).toBe(expected);
  });

  test('of the process itself are in no pipe, whatever is forced', async () => {
    const folder = makeWorkspace({ ...workspaceFiles({ greeting: {} }), 'prompts/greeting.md': 'none' });
    const environment = { FORCE_HYPERLINK: '1', FORCE_COLOR: '1', TERM_PROGRAM: 'ghostty' };
    const { stdout, stderr } = await runCli(folder, ['validate'], { environment });
    expect(stdout).toContain('prompts/greeting.md');
    expect(stdout + stderr).not.toContain('\u001b]');
  });
});

describe('Progress', () => {
  /** A clock that goes on by 300 ms whenever it is looked at. */
  function slowly(): () => number {
    let now = Date.UTC(2026, 0, 2);
    return () => (now += 300);
  }

  async function progressOf(words: readonly string[], options: RunOptions) {
    const ids = ['a', 'b', 'c', 'd'];
    const service = await startTestService(ids);
    const folder = makeWorkspace(workspaceFiles(Object.fromEntries(ids.map((id) => [id, {}]))));
    const environment = { ...service.environment, ...options.environment };
    return run(folder, ['plan', ...words], { now: slowly(), ...options, environment });
  }

  test('is drawn on a terminal, and gone before anything else', async () => {
    const { stderr } = await progressOf(['--verbose'], { terminal: true, columns: 80 });
    expect(stderr).toContain('Observing 1 of 4 prompts');
    for (const line of stderr.split('\n'))
      expect(line).toMatch(/^(Observing [^\u001b\r]+\r\u001b\[2K)*(GET [^\r\u001b]+ ms)?$/);
  });

  test.each<[string, readonly string[], RunOptions]>([
    ['off a terminal', [], {}],
    ['with --quiet', ['--quiet'], { terminal: true }],
    ['on a terminal that cannot take it back', [], { terminal: true, environment: { TERM: 'dumb' } }],
  ])('is not shown %s', async (_, words, options) => {
    expect((await progressOf(words, options)).stderr).toBe('');
  });
});

test('A key is not torn in two by the end of a row', async () => {
  const service = await startTestService(['greeting']);
  const folder = makeWorkspace(workspaceFiles({ greeting: { text: `Use ${KEY} or${KEY}.`, name: KEY } }));
  for (const columns of [20, 25, 30]) {
    const { stdout } = await run(folder, ['plan'], { ...service, terminal: true, columns });
    expect(stdout.replaceAll(OWN, '').replaceAll(/\s/g, '')).not.toContain(KEY);
  }
});

describe('Colour', () => {
  test.each<[string, boolean, Readonly<Record<string, string>>, boolean, boolean]>([
    ['on a terminal', true, {}, true, true],
    ['elsewhere', false, {}, true, false],
    ['with --no-color', true, {}, false, false],
    ['with --no-color and FORCE_COLOR', true, { FORCE_COLOR: '1' }, false, false],
    ['with NO_COLOR', true, { NO_COLOR: '1' }, true, false],
    ['with an empty NO_COLOR', true, { NO_COLOR: '' }, true, true],
    ['with NO_COLOR and FORCE_COLOR', true, { NO_COLOR: '1', FORCE_COLOR: '1' }, true, false],
    ['elsewhere with FORCE_COLOR', false, { FORCE_COLOR: '1' }, true, true],
    ['elsewhere with FORCE_COLOR=3', false, { FORCE_COLOR: '3' }, true, true],
    ['on a terminal with FORCE_COLOR=0', true, { FORCE_COLOR: '0' }, true, false],
    ['on a terminal with FORCE_COLOR=false', true, { FORCE_COLOR: 'false' }, true, false],
    ['on a terminal that cannot show it', true, { TERM: 'dumb' }, true, false],
  ])('%s', (_, isTTY, environment, color, expected) => {
    expect(wantsColour({ color }, { environment }, { isTTY })).toBe(expected);
  });

  test('is the only difference between a terminal and elsewhere', async () => {
    const folder = makeWorkspace(workspaceFiles({ greeting: { metadata: { a: 1 } } }));
    const service = await startTestService(['greeting']);
    for (const words of [['plan'], ['status'], ['validate']]) {
      const plain = await run(folder, words, service);
      const coloured = await run(folder, words, { ...service, terminal: true });
      expect(plain.stdout).not.toContain('\u001b');
      expect(coloured.stdout).toContain('\u001b[');
      expect(coloured.stdout.replaceAll(/\u001b\[\d+m/g, '')).toBe(plain.stdout);
    }
  });

  test('is in no JSON and in no file', async () => {
    const folder = makeWorkspace(workspaceFiles({ greeting: {} }));
    const service = await startTestService(['greeting']);
    const json = await run(folder, ['plan', '--format', 'json'], { ...service, terminal: true });
    expect(json.stdout).not.toContain('\u001b');
    const toFile = await run(folder, ['plan', '--output', 'out.txt'], { ...service, terminal: true });
    expect(toFile.stderr).not.toContain('\u001b');
  });
});
