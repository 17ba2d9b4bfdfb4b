import { expect, test } from 'vitest';
import { commitAll, git, makeRepository, writeFiles } from '../support/folder.ts';
import { makePromotionScene } from '../support/promotion.ts';
import { promptText, workspaceFiles } from '../support/prompts.ts';
import { runJson } from '../support/run.ts';
import { startTestService } from '../support/service.ts';

const BASE = ['--base', 'HEAD~1', '--on-drift', 'fail'];

test('in a sparse checkout, plan reports only deleted prompts as gone', async () => {
  const names = ['moved', 'kept', 'deleted'];
  const library = names.map((name) => [`prompts/library/${name}.md`, promptText(name)]);
  const folder = makeRepository({ ...workspaceFiles({ greeting: {} }), ...Object.fromEntries(library) });
  const service = await startTestService(['greeting', ...names]);
  git(folder, 'switch', '--quiet', '--create', 'topic');
  git(folder, 'rm', '--quiet', 'prompts/library/deleted.md');
  git(folder, 'mv', 'prompts/library/moved.md', 'prompts/library/new.md');
  commitAll(folder, 'Delete one prompt and move another');
  git(folder, 'sparse-checkout', 'set', '--no-cone', '/*', '!/prompts/library/');
  writeFiles(folder, { 'promptsync.yaml': `branch: main\n${workspaceFiles({})['promptsync.yaml']}` });
  commitAll(folder, 'Name the branch');
  for (const base of [['--base', 'main'], []]) {
    const { report } = await runJson(folder, ['plan', ...base], service);
    expect(report.problems).toMatchObject([{ code: 'prompt/gone', path: 'prompts/library/deleted.md' }]);
  }
});

test('sync applies a repaired prompt file even if the file was invalid at the base commit', async () => {
  const { folder, commit, runJson: json, serves } = await makePromotionScene({ text: 'A' });
  await json('sync', '--yes');
  writeFiles(folder, { 'prompts/greeting.md': '---\nnot: [valid\n---\n\nA\n' });
  commitAll(folder, 'Break it');
  expect(await json('sync', '--yes')).toMatchObject({ exitCode: 1 });
  commit({ text: 'B' });
  const { exitCode, report } = await json('sync', '--yes', ...BASE);
  expect([exitCode, serves('staging')]).toEqual([0, 'v2']);
  expect(report).toMatchObject({
    problems: [{ code: 'git/base-invalid' }],
    prompts: [{ status: 'applied', drift: [] }],
  });
});
