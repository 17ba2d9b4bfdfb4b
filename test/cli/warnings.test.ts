import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commitAll, type Files, initRepository, writeFiles } from '../support/folder.ts';
import { promptText, type PromptParts } from '../support/prompts.ts';
import { parseReport } from '../support/run.ts';
import { makeStage, type Stage } from './stage.ts';

const CODE = 'prompt/hidden-character';
const HIDDEN = { text: 'a\u200bb' };

/** Returns the names of the prompts whose files have a warning on standard error. */
function warnedOf(stderr: string): readonly string[] {
  // Two files with the same kind of warning are a list below it.
  const places = stderr.matchAll(/^(?: {2})?prompts\/(\w+)\.md:\d+:\d+(?:: .*warning.*)?$/gm);
  return [...places].map(([, name = '']) => name);
}

/** Makes two prompts with a hidden character each, and one without. */
function makeHidden(greeting: PromptParts = {}): Promise<Stage> {
  return makeStage({ greeting: { ...HIDDEN, ...greeting }, refund: HIDDEN, plain: {} });
}

describe('the prompts that warnings are about', () => {
  test.each([
    { line: 'plan', names: ['greeting', 'refund'] },
    { line: 'plan --only greeting', names: ['greeting'] },
    { line: 'validate --only pla*', names: [] },
    { line: 'history refund', names: ['refund'] },
    { line: 'status --only plain --only refund', names: ['refund'] },
  ])('promptsync $line warns only about the selected prompts', async ({ line, names }) => {
    const { promptsync } = await makeHidden();
    expect(warnedOf((await promptsync(line)).stderr)).toEqual(names);
  });

  test('plan --changed-since does not warn about prompts that it skips', async () => {
    const { folder, promptsync } = await makeHidden();
    initRepository(folder);
    commitAll(folder, 'First prompts');
    writeFiles(folder, { 'prompts/refund.md': promptText('refund', { text: 'c\u200bd' }) });
    expect(warnedOf((await promptsync('plan --changed-since HEAD')).stderr)).toEqual(['refund']);
  });

  test('import shows warnings only for imported prompts but stops if any prompt file is invalid', async () => {
    const { folder, service, promptsync } = await makeHidden();
    service.store.registerPrompt({ id: 'prm_new', projectId: 'project', key: 'new', name: 'New' });
    const { id } = service.store.createVersion('prm_new', { content: 'x\u200by' })!;
    service.store.setActive('prm_new', { environment: 'staging', versionId: id });
    const words = 'import prm_new --environment staging --dir prompts';
    expect(warnedOf((await promptsync(`${words} --dry-run`)).stderr)).toEqual(['new']);
    writeFiles(folder, { 'prompts/broken.md': 'no front matter' });
    expect((await promptsync(words)).stdout).toContain('[prompt/no-front-matter]');
  });
});

describe('accept_warnings', () => {
  test.each<[string, Parameters<typeof makeHidden>[0], string, readonly string[]]>([
    [
      'a warning listed in accept_warnings of a prompt file is hidden only for that file',
      { accept_warnings: [CODE] },
      '',
      ['refund'],
    ],
    [
      'a warning listed in accept_warnings of the configuration is hidden for every file',
      {},
      `accept_warnings: [${CODE}]`,
      [],
    ],
    [
      'accept_warnings does not hide kinds of warnings that it does not list',
      { accept_warnings: ['prompt/gone'] },
      'accept_warnings: [git/shallow]',
      ['greeting', 'refund'],
    ],
  ])('%s', async (_, greeting, setting, names) => {
    const { folder, promptsync } = await makeHidden(greeting);
    writeFiles(folder, { 'promptsync.yaml': `prompts: ["prompts/**/*.md"]\n${setting}\n` });
    const { stdout, stderr } = await promptsync('plan --format json');
    expect(warnedOf(stderr)).toEqual(names);
    expect(parseReport(stdout).problems.map(({ path }) => path)).toEqual(names.map((name) => `prompts/${name}.md`));
    expect(warnedOf((await promptsync('validate')).stderr)).toEqual(names);
  });

  test('accept_warnings can hide the git/uncommitted warning but not the config/drift-needs-base warning', async () => {
    const { folder, promptsync } = await makeStage();
    const codes = ['git/uncommitted', 'config/drift-needs-base'];
    writeFiles(folder, { 'promptsync.yaml': `prompts: ["prompts/**/*.md"]\naccept_warnings: [${codes.join(', ')}]\n` });
    writeFiles(folder, { 'prompts/greeting.md': promptText('greeting', { text: 'Edited' }) });
    expect((await promptsync('plan --on-drift fail')).stderr).not.toContain('git/uncommitted');
    rmSync(join(folder, '.git'), { recursive: true });
    expect((await promptsync('plan --on-drift fail')).stderr).toContain('config/drift-needs-base');
  });
});

/** Makes a base commit and a head commit, each with exactly these prompt files and this setting. */
async function makeReviewed(base: readonly [Files, string], head: readonly [Files, string]): Promise<Stage> {
  const stage = await makeStage({ greeting: {}, other: {} });
  const { folder } = stage;
  rmSync(join(folder, 'prompts'), { recursive: true });
  const write = ([files, setting]: readonly [Files, string]) =>
    writeFiles(folder, { ...files, 'promptsync.yaml': `prompts: ["prompts/**/*.md"]\n${setting}\n` });
  write(base);
  initRepository(folder);
  commitAll(folder, 'Base');
  rmSync(join(folder, 'prompts'), { recursive: true });
  write(head);
  commitAll(folder, 'Head');
  return stage;
}

function greeting(parts: PromptParts, path = 'prompts/greeting.md', id = 'greeting'): Files {
  return { [path]: promptText(id, parts) };
}

const ACCEPTS: PromptParts = { accept_warnings: [CODE] };
const EVERYWHERE = `accept_warnings: [${CODE}]`;

describe('accept_warnings in a review', () => {
  const plain = greeting({});
  test.each<[string, readonly [Files, string], readonly [Files, string], readonly string[]]>([
    [
      'plan --base shows a warning if accept_warnings lists it only in the HEAD version of the prompt file',
      [plain, ''],
      [greeting({ ...HIDDEN, ...ACCEPTS }), ''],
      ['greeting'],
    ],
    [
      'plan --base shows a warning if accept_warnings lists it only in the HEAD version of the configuration',
      [plain, ''],
      [greeting(HIDDEN), EVERYWHERE],
      ['greeting'],
    ],
    [
      'plan --base shows a warning about a new prompt file even if accept_warnings in that file lists the warning',
      [plain, ''],
      [{ ...plain, ...greeting({ ...HIDDEN, ...ACCEPTS }, 'prompts/other.md', 'other') }, ''],
      ['other'],
    ],
    [
      'plan --base shows a warning about a new prompt even if it replaces a prompt whose file accepted that warning',
      [greeting(ACCEPTS), ''],
      [greeting({ ...HIDDEN, ...ACCEPTS }, 'prompts/greeting.md', 'other'), ''],
      ['greeting'],
    ],
    [
      'plan --base hides a warning if accept_warnings in the prompt file lists it at the base commit',
      [greeting(ACCEPTS), ''],
      [greeting(HIDDEN), ''],
      [],
    ],
    [
      'plan --base hides a warning that a prompt file accepts at the base commit even if the file has moved since then',
      [greeting(ACCEPTS), ''],
      [greeting(HIDDEN, 'prompts/moved.md'), ''],
      [],
    ],
    [
      'plan --base hides a warning if accept_warnings in the configuration lists it at the base commit',
      [plain, EVERYWHERE],
      [{ ...greeting(HIDDEN), ...greeting(HIDDEN, 'prompts/other.md', 'other') }, 'concurrency: 2'],
      [],
    ],
    [
      'plan --base hides the accepted warnings of a prompt file that has not changed since the base commit',
      [greeting({ ...HIDDEN, ...ACCEPTS }), ''],
      [{ ...greeting({ ...HIDDEN, ...ACCEPTS }), ...greeting({}, 'prompts/other.md', 'other') }, ''],
      [],
    ],
  ])('%s', async (_, base, head, names) => {
    const { promptsync } = await makeReviewed(base, head);
    for (const line of ['plan --base HEAD^', 'plan --offline --base HEAD^', 'sync --dry-run --base HEAD^']) {
      expect(warnedOf((await promptsync(line)).stderr)).toEqual(names);
    }
  });

  test('plan --base warns about conflict markers instead of rejecting them if the prompt file accepts them at HEAD but not at the base', async () => {
    const marked = greeting({ text: 'a\n<<<<<<< SEARCH\nb', accept_warnings: ['prompt/conflict-markers'] });
    const { promptsync } = await makeReviewed([plain, ''], [marked, '']);
    const reviewed = await promptsync('plan --offline --base HEAD^');
    expect({ ...reviewed, warned: warnedOf(reviewed.stderr) }).toMatchObject({ exitCode: 0, warned: ['greeting'] });
    expect(await promptsync('validate')).toMatchObject({ exitCode: 0, stderr: '' });
  });

  test('plan without --base applies accept_warnings from the current files', async () => {
    const { promptsync } = await makeReviewed([plain, ''], [greeting({ ...HIDDEN, ...ACCEPTS }), '']);
    expect(warnedOf((await promptsync('plan')).stderr)).toEqual([]);
  });

  test('plan --base applies accept_warnings from the configuration at the base commit even if that configuration is invalid', async () => {
    const { promptsync } = await makeReviewed([plain, `${EVERYWHERE}\nunknown: true`], [greeting(HIDDEN), '']);
    expect(warnedOf((await promptsync('plan --base HEAD^')).stderr)).toEqual([]);
  });

  test('plan --base shows a warning that only HEAD accepts, even if an invalid prompt file stops the plan', async () => {
    const broken = { 'prompts/broken.md': 'no front matter' };
    const head = { ...greeting({ ...HIDDEN, ...ACCEPTS }), ...broken };
    const { promptsync } = await makeReviewed([plain, ''], [head, EVERYWHERE]);
    const { stderr, stdout } = await promptsync('plan --base HEAD^ --format json');
    expect(warnedOf(stderr)).toEqual(['greeting']);
    expect(parseReport(stdout).problems.map(({ code }) => code)).toContain('prompt/no-front-matter');
  });

  test('plan --base hides the warning about a deleted prompt file if that file accepted the warning at the base commit', async () => {
    const gone = (accepted: readonly string[]) =>
      makeReviewed(
        [{ ...plain, ...greeting({ accept_warnings: accepted }, 'prompts/other.md', 'other') }, ''],
        [plain, ''],
      );
    expect((await (await gone([])).promptsync('plan --base HEAD^')).stderr).toContain('[prompt/gone]');
    expect((await (await gone(['prompt/gone'])).promptsync('plan --base HEAD^')).stderr).not.toContain('[prompt/gone]');
  });
});

/** Matches an escape sequence that sets a color. */
const COLOR = /\u001b\[[\d;]*m/;

describe('warnings on a terminal', () => {
  const terminal = { terminal: true, input: 'y\n' } as const;

  test('sync shows each warning once between the plan and the confirmation', async () => {
    const { promptsync } = await makeHidden();
    const { stderr, exitCode } = await promptsync('sync --no-color', terminal);
    expect(exitCode).toBe(0);
    expect(warnedOf(stderr)).toEqual(['greeting', 'refund']);
    expect(stderr.indexOf('warning')).toBeGreaterThan(stderr.indexOf('+ create version'));
    expect(stderr.lastIndexOf('warning')).toBeLessThan(stderr.indexOf('Apply?'));
  });

  test('plan colors warnings on a terminal unless --no-color is given', async () => {
    const { promptsync } = await makeHidden();
    expect((await promptsync('plan', terminal)).stderr).toContain('\u001b[33mwarning\u001b[39m');
    // A slow run also draws and erases a progress line, which is not a color.
    expect((await promptsync('plan --no-color', terminal)).stderr).not.toMatch(COLOR);
    expect((await promptsync('plan')).stderr).not.toMatch(COLOR);
  });
});
