import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { usesColor } from '../../src/cli/terminal.ts';
import { makeWorkspace, writeFiles } from '../support/folder.ts';
import { workspaceFiles } from '../support/prompts.ts';
import { run, type RunOptions } from '../support/run.ts';
import { makeStage, type Stage } from './stage.ts';

const LONG =
  'You answer questions about orders, refunds and 配送状況 in one short sentence that a customer understands. ';

/** Syncs a prompt, and then changes one word of a long line and appends a line. */
async function makeChange(): Promise<Stage> {
  const text = LONG.repeat(7).trim();
  const stage = await makeStage({ greeting: { text } });
  await stage.promptsync('sync --yes');
  const changed = `${text.replace('refunds', 'returns')}\nLine 1.`;
  writeFiles(stage.folder, workspaceFiles({ greeting: { text: changed } }));
  return stage;
}

describe('the width of the terminal', () => {
  test('plan on a narrow terminal shows a changed word with the words around it', async () => {
    const { promptsync } = await makeChange();
    const screen = { terminal: true, columns: 60 };
    const text = (await promptsync('plan --no-color', screen)).stdout.replaceAll(/ *\n +/g, ' ');
    expect(text).toContain('-You answer questions about orders, refunds and 配送状況 in one short … that');
    expect(text).toContain('+You answer questions about orders, returns and 配送状況 in one short … that');
    expect((await promptsync('plan', screen)).stdout).toContain('\u001b[7mreturns\u001b[27m');
  });

  test('plan neither truncates nor wraps lines without a terminal of known width', async () => {
    const { promptsync } = await makeChange();
    for (const options of [{ columns: 40 }, { terminal: true }, { terminal: true, columns: 0 }]) {
      const { stdout } = await promptsync('plan --no-color', options);
      expect(stdout).toContain(`\n      -${LONG.repeat(7).trim()}\n`);
    }
  });
});

test('terminal settings do not affect JSON output, Markdown output or output files', async () => {
  const { folder, promptsync } = await makeChange();
  const screen = { terminal: true, columns: 40, hyperlinks: true };
  for (const line of ['plan --format json', 'plan --format markdown']) {
    expect((await promptsync(line, screen)).stdout).toBe((await promptsync(line)).stdout);
  }
  await promptsync('plan --output one.txt', screen);
  await promptsync('plan --output other.txt');
  const [one, other] = ['one.txt', 'other.txt'].map((name) => readFileSync(join(folder, name), 'utf8'));
  expect(one).toBe(other);
});

describe('links on a terminal', () => {
  const screen = { terminal: true, columns: 80, hyperlinks: true } as const;
  const linkTo = (url: string) => `\u001b]8;;${url}\u001b\\`;

  test('plan output links to the prompt file and the service, and validate output links to the prompt file', async () => {
    const { folder, service, promptsync } = await makeStage({ greeting: { text: 'hid\u200bden' } });
    const file = linkTo(`${pathToFileURL(folder).href}/prompts/greeting.md`);
    const plan = await promptsync('plan', screen);
    expect(plan.stdout).toContain(file);
    expect(plan.stdout).toContain(linkTo(`${service.baseUrl}/`));
    expect(plan.stderr).toContain(file);
    writeFiles(folder, { 'prompts/greeting.md': 'none' });
    expect((await promptsync('validate', screen)).stdout).toContain(file);
  });

  test.each<[string, RunOptions, boolean]>([
    ['validate prints no links if NO_COLOR is set', { ...screen, environment: { NO_COLOR: '1' } }, false],
    [
      'validate prints links on a terminal if FORCE_HYPERLINK is set, even if NO_COLOR is set too',
      { ...screen, environment: { NO_COLOR: '1', FORCE_HYPERLINK: '1' } },
      true,
    ],
    [
      'validate prints no links outside a terminal, even if FORCE_COLOR and FORCE_HYPERLINK are set',
      { hyperlinks: true, environment: { FORCE_COLOR: '1', FORCE_HYPERLINK: '1', TERM_PROGRAM: 'ghostty' } },
      false,
    ],
    ['validate prints no links on a terminal that does not support them', { ...screen, hyperlinks: false }, false],
  ])('%s', async (_, options, expected) => {
    const folder = makeWorkspace({ ...workspaceFiles({}), 'prompts/greeting.md': 'none' });
    expect((await run(folder, ['validate'], options)).stdout.includes('\u001b]8')).toBe(expected);
  });
});

describe('progress on a terminal', () => {
  async function progressOf(line: string, options: RunOptions) {
    const { promptsync } = await makeStage({ a: {}, b: {}, c: {}, d: {} });
    let now = Date.UTC(2026, 0, 2);
    return promptsync(line, { now: () => (now += 300), ...options });
  }

  test('plan draws its progress on a terminal and clears it before any other output', async () => {
    let screen = '';
    const write = (text: string) => void (screen += text);
    const drawing = { terminal: true, columns: 80, onOutput: write, onError: write };
    await progressOf('plan --verbose --no-color', drawing);
    expect(screen).toContain('Observing 1 of 4 prompts');
    expect(screen).toMatch(/GET .* ms\n/);
    expect(screen).toContain('Plan: ');
    for (const line of screen.split('\n'))
      expect(line).toMatch(/^(Observing [^\u001b\r]+\r\u001b\[2K)*(?!Observing)[^\r]*$/);
  });

  test('plan shows no progress with --quiet, without a terminal, or if the terminal cannot clear a line', async () => {
    expect((await progressOf('plan', {})).stderr).toBe('');
    expect((await progressOf('plan --quiet', { terminal: true })).stderr).toBe('');
    expect((await progressOf('plan', { terminal: true, environment: { TERM: 'dumb' } })).stderr).toBe('');
  });
});

test.each<[string, boolean, Readonly<Record<string, string>>, boolean, boolean]>([
  ['usesColor enables colors on a terminal', true, {}, true, true],
  ['usesColor disables colors without a terminal', false, {}, true, false],
  ['--no-color overrides FORCE_COLOR', true, { FORCE_COLOR: '1' }, false, false],
  ['an empty NO_COLOR does not disable colors', true, { NO_COLOR: '' }, true, true],
  ['NO_COLOR overrides FORCE_COLOR', true, { NO_COLOR: '1', FORCE_COLOR: '1' }, true, false],
  ['FORCE_COLOR=3 enables colors without a terminal', false, { FORCE_COLOR: '3' }, true, true],
  ['FORCE_COLOR=0 disables colors on a terminal', true, { FORCE_COLOR: '0' }, true, false],
  ['FORCE_COLOR=false disables colors on a terminal', true, { FORCE_COLOR: 'false' }, true, false],
  ['TERM=dumb disables colors on a terminal', true, { TERM: 'dumb' }, true, false],
])('%s', (_, isTTY, environment, color, expected) => {
  expect(usesColor({ color }, { environment }, { isTTY })).toBe(expected);
});
