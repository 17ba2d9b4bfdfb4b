import { describe, expect, test } from 'vitest';
import { commitAll, initRepository, writeFiles } from '../support/folder.ts';
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
function makeHidden(greeting: PromptParts & { readonly accept_warnings?: readonly string[] } = {}): Promise<Stage> {
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
