import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commitAll, type Files, initRepository, writeFiles } from '../support/folder.ts';
import { promptText, type PromptParts } from '../support/prompts.ts';
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
  test('A command warns only about the selected prompts', async () => {
    const { promptsync } = await makeHidden();
    for (const [line, names] of [
      ['plan', ['greeting', 'refund']],
      ['validate --only pla*', []],
      ['status --only plain --only refund', ['refund']],
    ] as const) {
      expect([line, warnedOf((await promptsync(line)).stderr)]).toEqual([line, names]);
    }
  });

  test('import shows warnings only for the imported prompts', async () => {
    const { service, promptsync } = await makeHidden();
    service.store.registerPrompt({ id: 'prm_new', projectId: 'project', key: 'new', name: 'New' });
    const { id } = service.store.createVersion('prm_new', { content: 'x\u200by' })!;
    service.store.setActive('prm_new', { environment: 'staging', versionId: id });
    const { stderr } = await promptsync('import prm_new --environment staging --dir prompts --dry-run');
    expect(warnedOf(stderr)).toEqual(['new']);
  });
});

describe('accept_warnings', () => {
  test('accept_warnings hides the warnings that it lists, in a prompt file for that file and in the configuration for all', async () => {
    const cases: readonly (readonly [PromptParts, string, readonly string[]])[] = [
      [{ accept_warnings: [CODE] }, '', ['refund']],
      [{}, `accept_warnings: [${CODE}]`, []],
      [{ accept_warnings: ['prompt/gone'] }, 'accept_warnings: [git/shallow]', ['greeting', 'refund']],
    ];
    const { folder, promptsync } = await makeHidden();
    for (const [parts, setting, names] of cases) {
      const config = `prompts: ["prompts/**/*.md"]\n${setting}\n`;
      writeFiles(folder, { 'promptsync.yaml': config, ...greeting({ ...HIDDEN, ...parts }) });
      expect([setting, warnedOf((await promptsync('plan')).stderr)]).toEqual([setting, names]);
    }
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
      'plan --base shows a warning about a new prompt even if it replaces a prompt whose file accepted that warning',
      [greeting(ACCEPTS), ''],
      [greeting({ ...HIDDEN, ...ACCEPTS }, 'prompts/greeting.md', 'other'), ''],
      ['greeting'],
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
  ])('%s', async (_, base, head, names) => {
    const { promptsync } = await makeReviewed(base, head);
    expect(warnedOf((await promptsync('plan --offline --base HEAD^')).stderr)).toEqual(names);
  });

  test('plan --base warns about conflict markers instead of rejecting them if the prompt file accepts them at HEAD but not at the base', async () => {
    const marked = greeting({ text: 'a\n<<<<<<< SEARCH\nb', accept_warnings: ['prompt/conflict-markers'] });
    const { promptsync } = await makeReviewed([plain, ''], [marked, '']);
    const reviewed = await promptsync('plan --offline --base HEAD^');
    expect({ ...reviewed, warned: warnedOf(reviewed.stderr) }).toMatchObject({ exitCode: 0, warned: ['greeting'] });
    expect(await promptsync('validate')).toMatchObject({ exitCode: 0, stderr: '' });
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

test('sync shows each warning once between the plan and the confirmation', async () => {
  const { promptsync } = await makeHidden();
  const { stderr, exitCode } = await promptsync('sync --no-color', { terminal: true, input: 'y\n' });
  expect(exitCode).toBe(0);
  expect(warnedOf(stderr)).toEqual(['greeting', 'refund']);
  expect(stderr.indexOf('warning')).toBeGreaterThan(stderr.indexOf('+ create version'));
  expect(stderr.lastIndexOf('warning')).toBeLessThan(stderr.indexOf('Apply?'));
});
