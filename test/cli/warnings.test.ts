import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commitAll, type Files, initRepository, writeFiles } from '../support/folder.ts';
import { promptText, type PromptParts } from '../support/prompts.ts';
import { parseReport } from '../support/run.ts';
import { makeStage, type Stage } from './stage.ts';

const CODE = 'prompt/hidden-character';
const HIDDEN = { text: 'a\u200bb' };

/** Which prompts' files are warned of, by their names. */
function warnedOf(stderr: string): readonly string[] {
  return [...stderr.matchAll(/^prompts\/(\w+)\.md:\d+:\d+: .*warning/gm)].map(([, name = '']) => name);
}

/** Two prompts with a hidden character each, and one without. */
function makeHidden(greeting: PromptParts = {}): Promise<Stage> {
  return makeStage({ greeting: { ...HIDDEN, ...greeting }, refund: HIDDEN, plain: {} });
}

describe('Warnings speak of the prompts that a command is about', () => {
  test.each([
    ['plan', ['greeting', 'refund']],
    ['plan --only greeting', ['greeting']],
    ['validate --only pla*', []],
    ['history refund', ['refund']],
    ['status --only plain --only refund', ['refund']],
  ])('%s', async (line, names) => {
    const { promptsync } = await makeHidden();
    expect(warnedOf((await promptsync(line)).stderr)).toEqual(names);
  });

  test('and not of those that --changed-since leaves out', async () => {
    const { folder, promptsync } = await makeHidden();
    initRepository(folder);
    commitAll(folder, 'First prompts');
    writeFiles(folder, { 'prompts/refund.md': promptText('refund', { text: 'c\u200bd' }) });
    expect(warnedOf((await promptsync('plan --changed-since HEAD')).stderr)).toEqual(['refund']);
  });

  test('an import speaks of what it imports, and an error in any file stops it', async () => {
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

describe('A kind of warning that is accepted is not shown', () => {
  test.each<[string, Parameters<typeof makeHidden>[0], string, readonly string[]]>([
    ['of the file that says so', { accept_warnings: [CODE] }, '', ['refund']],
    ['of any, where the configuration says so', {}, `accept_warnings: [${CODE}]`, []],
    [
      'where it is that kind',
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

  test('of what comes of the service as well; what a run says of itself is shown all the same', async () => {
    const { folder, promptsync } = await makeStage();
    const codes = ['git/uncommitted', 'config/drift-needs-base'];
    writeFiles(folder, { 'promptsync.yaml': `prompts: ["prompts/**/*.md"]\naccept_warnings: [${codes.join(', ')}]\n` });
    initRepository(folder);
    const { stderr } = await promptsync('plan --on-drift fail');
    expect(codes.map((code) => stderr.includes(code))).toEqual([false, true]);
  });
});

/** A commit with one set of files and a commit with another one; a file that the second set lacks is gone. */
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

describe('A review applies accept_warnings as its base has it:', () => {
  const plain = greeting({});
  test.each<[string, readonly [Files, string], readonly [Files, string], readonly string[]]>([
    [
      'a changed file cannot silence its own warning',
      [plain, ''],
      [greeting({ ...HIDDEN, ...ACCEPTS }), ''],
      ['greeting'],
    ],
    ['a changed configuration cannot silence a warning', [plain, ''], [greeting(HIDDEN), EVERYWHERE], ['greeting']],
    [
      'a new file cannot silence its own warning',
      [plain, ''],
      [{ ...plain, ...greeting({ ...HIDDEN, ...ACCEPTS }, 'prompts/other.md', 'other') }, ''],
      ['other'],
    ],
    [
      'another prompt at the path of a file that accepts a warning cannot silence its own',
      [greeting(ACCEPTS), ''],
      [greeting({ ...HIDDEN, ...ACCEPTS }, 'prompts/greeting.md', 'other'), ''],
      ['greeting'],
    ],
    ['a warning that the file of the base accepts stays silent', [greeting(ACCEPTS), ''], [greeting(HIDDEN), ''], []],
    [
      'a warning that the file of the base accepts stays silent after a move',
      [greeting(ACCEPTS), ''],
      [greeting(HIDDEN, 'prompts/moved.md'), ''],
      [],
    ],
    [
      'a warning that the configuration of the base accepts stays silent',
      [plain, EVERYWHERE],
      [{ ...greeting(HIDDEN), ...greeting(HIDDEN, 'prompts/other.md', 'other') }, 'concurrency: 2'],
      [],
    ],
    [
      'a file that is as the base has it keeps its acceptance',
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

  test('a plan without a base applies accept_warnings as the files have it', async () => {
    const { promptsync } = await makeReviewed([plain, ''], [greeting({ ...HIDDEN, ...ACCEPTS }), '']);
    expect(warnedOf((await promptsync('plan')).stderr)).toEqual([]);
  });

  test('a configuration that is not valid in the base accepts what it names all the same', async () => {
    const { promptsync } = await makeReviewed([plain, `${EVERYWHERE}\nunknown: true`], [greeting(HIDDEN), '']);
    expect(warnedOf((await promptsync('plan --base HEAD^')).stderr)).toEqual([]);
  });

  test('a review that an invalid file stops silences nothing', async () => {
    const broken = { 'prompts/broken.md': 'no front matter' };
    const head = { ...greeting({ ...HIDDEN, ...ACCEPTS }), ...broken };
    const { promptsync } = await makeReviewed([plain, ''], [head, EVERYWHERE]);
    const { stderr, stdout } = await promptsync('plan --base HEAD^ --format json');
    expect(warnedOf(stderr)).toEqual(['greeting']);
    expect(parseReport(stdout).problems.map(({ code }) => code)).toContain('prompt/no-front-matter');
  });

  test('the deletion of a file is silent only if the file of the base accepts that', async () => {
    const gone = (accepted: readonly string[]) =>
      makeReviewed(
        [{ ...plain, ...greeting({ accept_warnings: accepted }, 'prompts/other.md', 'other') }, ''],
        [plain, ''],
      );
    expect((await (await gone([])).promptsync('plan --base HEAD^')).stderr).toContain('[prompt/gone]');
    expect((await (await gone(['prompt/gone'])).promptsync('plan --base HEAD^')).stderr).not.toContain('[prompt/gone]');
  });
});

describe('Warnings on a terminal', () => {
  const terminal = { terminal: true, input: 'y\n' } as const;

  test('are shown before the question, and not again after it', async () => {
    const { promptsync } = await makeHidden();
    const { stderr, exitCode } = await promptsync('sync --no-color', terminal);
    expect(exitCode).toBe(0);
    expect(warnedOf(stderr)).toEqual(['greeting', 'refund']);
    expect(stderr.indexOf('warning')).toBeGreaterThan(stderr.indexOf('+ create version'));
    expect(stderr.lastIndexOf('warning')).toBeLessThan(stderr.indexOf('Apply these changes?'));
  });

  test('have a colour, unless nobody wants any', async () => {
    const { promptsync } = await makeHidden();
    expect((await promptsync('plan', terminal)).stderr).toContain('\u001b[33mwarning\u001b[39m');
    expect((await promptsync('plan --no-color', terminal)).stderr).not.toContain('\u001b');
    expect((await promptsync('plan')).stderr).not.toContain('\u001b');
  });
});
