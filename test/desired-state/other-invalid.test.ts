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
async function makeScene(makeFolder: typeof makeRepository = makeWorkspace) {
  const folder = makeFolder(workspaceFiles({ greeting: PARTS, refund: PARTS }));
  const service = await startTestService(['greeting', 'refund']);
  expect((await run(folder, ['sync', '--yes'], service)).exitCode).toBe(0);
  return {
    folder,
    write: (source: string, path = REFUND): void => writeFiles(folder, { [path]: source }),
    run: (...command: readonly string[]) => run(folder, command, service),
    runJson: (...command: readonly string[]) => runJson(folder, command, service),
  };
}

describe('a command that is given keys runs even if the files of other prompts have errors', () => {
  test('every command ignores errors in files that are not selected and shows one warning about them', async () => {
    const scene = await makeScene();
    const commands = [
      ...[['plan'], ['sync', '--yes'], ['validate'], ['status'], ['history'], ['pull']],
      ['promote', '--from', 'staging', '--to', 'production', '--dry-run'],
      ['rollback', '--environment', 'staging', '--to', '1', '--dry-run'],
    ].map(([name = '', ...flags]) => [name, 'greeting', ...flags]);
    const bundle = ['bundle', 'greeting', '--environment', 'staging'];
    const before: string[] = [];
    for (const command of commands) before.push(summarizeRun(await scene.runJson(...command)));
    const { stdout } = await scene.run(...bundle);
    scene.write(BROKEN_FRONT_MATTER);
    scene.write('no front matter', 'prompts/third.md');
    for (const [index, command] of commands.entries()) {
      const after = await scene.runJson(...command);
      expect([command, after.exitCode]).toEqual([command, 0]);
      expect([command, summarizeRun(after)]).toEqual([command, `${before[index]}, ${OTHERS}`]);
      expect(after.report.problems.at(-1)?.message).toContain('2 prompt files have errors.');
    }
    const warning = expect.stringContaining(OTHERS);
    expect(await scene.run(...bundle)).toEqual({ exitCode: 0, stdout, stderr: warning });
  });

  test('a selector also selects files whose keys promptsync cannot read, and then only their errors are listed', async () => {
    const { write, runJson: json } = await makeScene();
    const plan = async (...selectors: readonly string[]) => {
      const { report, exitCode } = await json('plan', ...selectors);
      expect([selectors, exitCode]).toEqual([selectors, 1]);
      return report.problems.map(({ code, path }) => `${code} ${path ?? ''}`);
    };
    write(BROKEN_TEXT);
    for (const selector of ['refund', REFUND, 'ref*']) {
      expect(await plan(selector)).toEqual([`prompt/conflict-markers ${REFUND}`]);
    }
    write(BROKEN_FRONT_MATTER);
    write(BROKEN_TEXT.replaceAll('refund', 'third'), 'prompts/third.md');
    const both = [`prompt/conflict-markers ${REFUND}`, 'prompt/conflict-markers prompts/third.md'];
    for (const selectors of [['prompts'], ['prompts/'], ['prompts/*.md'], ['*'], ['.'], []]) {
      expect(await plan(...selectors)).toEqual(both);
    }
    // One of the files with errors may have the unknown key.
    const { report } = await json('plan', 'refund');
    expect(report.problems.map(({ code }) => code)).toEqual(['usage/nothing-selected', OTHERS]);
    expect(report.problems[0]?.message).toBe(
      `No prompt matches "refund". These files have errors: ${REFUND}, prompts/third.md.`,
    );
  });

  test('plan with a key fails if the selected file has the id of another one, or if the configuration has an error', async () => {
    const scene = await makeScene();
    // The error about a symbolic link is no error of the selected file.
    symlinkSync('greeting.md', join(scene.folder, 'prompts/link.md'));
    expect(summarizeRun(await scene.runJson('plan', 'greeting'))).toBe(`exit 0, greeting unchanged, ${OTHERS}`);
    scene.write(promptText('greeting', { ...PARTS, key: 'copy' }), 'prompts/copy.md');
    expect(summarizeRun(await scene.runJson('plan', 'greeting'))).toBe(`exit 1, ${OTHERS}, prompt/duplicate-id`);
    expect(summarizeRun(await scene.runJson('plan', 'refund'))).toBe(`exit 0, refund unchanged, ${OTHERS}`);
    writeFiles(scene.folder, { 'promptsync.yaml': `${CONFIG}on_drift: sometimes\n` });
    expect((await scene.runJson('plan', 'refund')).exitCode).toBe(1);
  });
});

test('plan does not report a prompt as no longer managed if its file has errors, but still reports other deleted files', async () => {
  const scene = await makeScene(makeRepository);
  const plan = async (...words: readonly string[]) => summarizeRun(await scene.runJson('plan', '*re*', ...words));
  const inSync = `exit 0, greeting unchanged, ${OTHERS}`;
  scene.write(BROKEN_FRONT_MATTER);
  expect([await plan(), await plan('--base', 'HEAD')]).toEqual([inSync, inSync]);
  scene.write(promptText('refund', PARTS));
  scene.write(BROKEN_FRONT_MATTER, 'prompts/broken.md');
  commitAll(scene.folder, 'Add an invalid file');
  git(scene.folder, 'rm', '--quiet', '--force', REFUND);
  expect(await plan()).toContain('prompt/gone');
  expect(await plan('--base', 'HEAD')).toContain('prompt/gone');
});
