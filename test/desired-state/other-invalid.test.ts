import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commitAll, git, makeRepository, makeWorkspace, writeFiles } from '../support/folder.ts';
import { summarizeRun } from '../support/promotion.ts';
import { CONFIG, promptText, workspaceFiles } from '../support/prompts.ts';
import { run, runJson } from '../support/run.ts';
import { startTestService } from '../support/service.ts';

const REFUND = 'prompts/refund.md';
const PARTS = { text: 'One.', pins: { staging: 'latest' } } as const;
const CONFLICT = '<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> other\n';
/** Conflict markers in the text. promptsync can still read the id and the key. */
const BROKEN_TEXT = promptText('refund', { ...PARTS, text: CONFLICT });
/** Conflict markers in the front matter. promptsync can read neither the id nor the key. */
const BROKEN_FRONT_MATTER = promptText('refund', PARTS).replace('---\n', `---\n${CONFLICT}`);
const OTHERS = 'prompt/others-invalid';

/** Makes a synced workspace with the prompts `greeting` and `refund`. */
async function makeScene(makeFolder: typeof makeRepository = makeWorkspace, config = CONFIG) {
  const folder = makeFolder(workspaceFiles({ greeting: PARTS, refund: PARTS }, config));
  const service = await startTestService(['greeting', 'refund']);
  const words = { environment: service.environment };
  expect((await run(folder, ['sync', '--yes'], words)).exitCode).toBe(0);
  return {
    folder,
    service,
    write: (source: string, path = REFUND): void => writeFiles(folder, { [path]: source }),
    run: (...command: readonly string[]) => run(folder, command, words),
    runJson: (...command: readonly string[]) => runJson(folder, command, words),
  };
}

describe('a command that is given keys runs even if the files of other prompts have errors', () => {
  test.each<[string, ...string[]]>([
    ['plan'],
    ['sync', '--yes'],
    ['validate'],
    ['status'],
    ['history'],
    ['pull'],
    ['promote', '--from', 'staging', '--to', 'production', '--dry-run'],
    ['rollback', '--environment', 'staging', '--to', '1', '--dry-run'],
  ])(
    'promptsync %s ignores errors in files that are not selected and shows one warning about them',
    async (name, ...flags) => {
      const scene = await makeScene();
      const before = await scene.runJson(name, 'greeting', ...flags);
      expect(before.exitCode).toBe(0);
      scene.write(BROKEN_FRONT_MATTER);
      scene.write('no front matter', 'prompts/third.md');
      const after = await scene.runJson(name, 'greeting', ...flags);
      expect(summarizeRun(after)).toBe(`${summarizeRun(before)}, ${OTHERS}`);
      expect(after.report.problems.at(-1)?.message).toContain('2 prompt files have errors.');
    },
  );

  test('promptsync bundle ignores errors in files that are not selected', async () => {
    const scene = await makeScene();
    const bundle = () => scene.run('bundle', 'greeting', '--environment', 'staging');
    const before = await bundle();
    scene.write(BROKEN_FRONT_MATTER);
    expect(await bundle()).toMatchObject({
      exitCode: 0,
      stdout: before.stdout,
      stderr: expect.stringContaining(OTHERS),
    });
  });

  test.each(['prompts', 'prompts/', 'prompts/*.md', '*', '.'])(
    'the selector %s also selects files whose keys promptsync cannot read',
    async (selector) => {
      const scene = await makeScene();
      scene.write(BROKEN_FRONT_MATTER);
      scene.write(BROKEN_TEXT.replaceAll('refund', 'third'), 'prompts/third.md');
      const { report } = await scene.runJson('validate', selector);
      expect(report.problems.map(({ path }) => path)).toEqual([REFUND, 'prompts/third.md']);
    },
  );

  test.each(['refund', REFUND, 'prompts/', '*', 'ref*'])(
    'plan fails and lists only the errors of the invalid file if the selector %s matches that file',
    async (selector) => {
      const scene = await makeScene();
      scene.write(BROKEN_TEXT);
      expect(summarizeRun(await scene.runJson('plan', selector))).toContain('exit 1');
      const { report } = await scene.runJson('plan', selector);
      expect(report.problems.map(({ code }) => code)).toEqual(['prompt/conflict-markers']);
    },
  );

  test('plan without keys fails if any prompt file has errors', async () => {
    const scene = await makeScene();
    scene.write(BROKEN_FRONT_MATTER);
    const { report, exitCode } = await scene.runJson('plan');
    expect({ exitCode, codes: report.problems.map(({ code }) => code) }).toEqual({
      exitCode: 1,
      codes: ['prompt/conflict-markers'],
    });
  });

  test('the error for an unknown key lists the files with errors, because one of them may have that key', async () => {
    const scene = await makeScene();
    scene.write(BROKEN_FRONT_MATTER);
    const { report, exitCode } = await scene.runJson('plan', 'refund');
    expect(exitCode).toBe(1);
    expect(report.problems.map(({ code }) => code)).toEqual(['usage/nothing-selected', OTHERS]);
    expect(report.problems[0]?.message).toBe(`No prompt matches "refund". These files have errors: ${REFUND}.`);
  });

  test('plan fails if the selected file has the same id as a file that is not selected', async () => {
    const scene = await makeScene();
    scene.write(promptText('greeting', { ...PARTS, key: 'copy' }), 'prompts/copy.md');
    const shared = await scene.runJson('plan', 'greeting');
    expect(shared.exitCode).toBe(1);
    expect(shared.report.problems.map(({ code }) => code)).toEqual(['prompt/duplicate-id']);
    expect(summarizeRun(await scene.runJson('plan', 'refund'))).toBe(`exit 0, refund unchanged, ${OTHERS}`);
  });

  test('plan with a key fails if the configuration has an error', async () => {
    const scene = await makeScene();
    writeFiles(scene.folder, { 'promptsync.yaml': `${CONFIG}on_drift: sometimes\n` });
    expect((await scene.runJson('plan', 'greeting')).exitCode).toBe(1);
  });

  test('plan with a key ignores the error about a symbolic link in the prompts folder', async () => {
    const scene = await makeScene();
    symlinkSync('greeting.md', join(scene.folder, 'prompts/link.md'));
    expect(summarizeRun(await scene.runJson('plan', 'greeting'))).toBe(`exit 0, greeting unchanged, ${OTHERS}`);
  });
});

describe('a prompt whose file has errors', () => {
  test.each<[string, readonly string[]]>([
    ['plan does not report a prompt as no longer managed if its file has errors', ['plan', '*re*']],
    [
      'plan --base does not report a prompt as no longer managed if its file has errors',
      ['plan', '*re*', '--base', 'HEAD'],
    ],
  ])('%s', async (_, words) => {
    const scene = await makeScene(makeRepository);
    scene.write(BROKEN_FRONT_MATTER);
    const inSync = `exit 0, greeting unchanged, ${OTHERS}`;
    expect(summarizeRun(await scene.runJson(...words))).toBe(inSync);
    git(scene.folder, 'rm', '--quiet', '--force', REFUND);
    expect(summarizeRun(await scene.runJson(...words))).toContain('prompt/gone');
  });

  test('plan reports a deleted file even if another file was already invalid at the base', async () => {
    const scene = await makeScene(makeRepository);
    scene.write(BROKEN_FRONT_MATTER, 'prompts/broken.md');
    commitAll(scene.folder, 'Add an invalid file');
    git(scene.folder, 'rm', '--quiet', REFUND);
    expect(summarizeRun(await scene.runJson('plan', '*re*'))).toContain('prompt/gone');
  });
});
