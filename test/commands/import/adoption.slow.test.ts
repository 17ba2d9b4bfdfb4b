import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commitAll, git, writeFiles } from '../../support/folder.ts';
import { CONFIG } from '../../support/prompts.ts';
import { makeAdoption, textOf } from './importing.ts';

const PATH = 'prompts/greeting.md';
const TWO_STAGES = `${CONFIG}environments:
  staging: {}
  production: { promote_from: staging, allow_latest: false }
`;
const ONE = 'One.\n\nBody.\n\nEnd of one.';
const TWO = 'Two.\n\nBody.\n\nEnd of two.';
const edit = (text: string) => text.replace('Body.', 'Body of somebody.');

test('After import --commit and the first sync, a promotion and a rollback show both texts, and history marks what was there before', async () => {
  const scene = await makeAdoption({ greeting: { production: ONE, staging: TWO } }, TWO_STAGES);
  const sync = async () => expect(await scene.run(['sync', '--yes'])).toMatchObject({ exitCode: 0 });
  const { json, folder } = scene;
  expect((await scene.importAll('--commit')).exitCode).toBe(0);
  const commit = git(folder, 'rev-parse', 'HEAD~1');
  const adopted = await json('plan');
  expect(adopted.report.prompts[0]?.changes).toMatchObject([{ kind: 'create-version', baseline: true }]);
  await sync();
  expect((await json('promote', 'greeting', '--to', 'production', '--commit')).exitCode).toBe(0);
  await sync();
  const { report } = await json('rollback', 'greeting', '--environment', 'production', '--commit');
  expect(report.prompts[0]?.edits).toMatchObject([
    { kind: 'set-pin', environment: 'production', after: '1', serves: { before_text: TWO, after_text: ONE } },
  ]);
  const plan = await json('plan');
  expect(plan.report.prompts[0]?.changes).toMatchObject([
    { kind: 'set-active', environment: 'production', before_text: TWO, after_text: ONE },
  ]);
  await sync();
  expect(git(folder, 'status', '--short')).toBe('');
  writeFiles(folder, { [PATH]: scene.read(PATH).replace(/production: .*/, `production: git:${commit}`) });
  commitAll(folder, 'Pin the commit that holds the text of production');
  expect((await json('plan', '--exit-code')).report.prompts[0]?.status).toBe('unchanged');
  scene.change('greeting', 'staging', 'Somebody’s.');
  const history = (await json('history', 'greeting')).report.prompts[0]?.history?.versions ?? [];
  expect(history.map(({ version_number: number, made_by: by, baseline }) => [number, by, baseline])).toEqual([
    [4, 'outside', undefined],
    [3, 'git', true],
    [2, 'before-adoption', undefined],
    [1, 'before-adoption', undefined],
  ]);
  const { stdout } = await scene.run(['history', 'greeting']);
  expect(stdout).toMatch(/^v4 +[-\d]{10} [:\d]{5} +created outside git$/m);
  expect(stdout).toMatch(/^v3 baseline .* Import 1 prompt$/m);
  expect(stdout).toMatch(/^v1 .* before adoption$/m);
  const lineage = await scene.run(['history', 'greeting', '--environment', 'production']);
  expect(lineage.stdout).toMatch(/^made .* before adoption$/m);
});

test('Between import --commit and the first sync, pull merges edits from the service with the imported texts as merge bases', async () => {
  const served = { production: ONE, staging: TWO };
  const both = { production: TWO, staging: TWO };
  const names = ['untouched', 'staging', 'production', 'shared', 'changed'] as const;
  const scene = await makeAdoption(
    { untouched: served, staging: served, production: served, shared: both, changed: served },
    TWO_STAGES,
  );
  // pull recognizes the commits of the import even if a hook added a ticket number to their messages.
  writeFiles(scene.folder, { '.git/hooks/commit-msg': '#!/bin/sh\nsed -i.bak "1s/^/ABC-1: /" "$1"\n' });
  chmodSync(join(scene.folder, '.git/hooks/commit-msg'), 0o755);
  await scene.importAll('--commit');
  expect(scene.subjects()[0]).toBe('ABC-1: Import prompts as production serves them');
  const changed = scene.read('prompts/changed.md').replace('End of two.', 'End.');
  writeFiles(scene.folder, { 'prompts/changed.md': changed });
  commitAll(scene.folder, 'Import prompts as I like them');
  scene.change('staging', 'staging', edit(TWO));
  scene.change('production', 'production', edit(ONE));
  scene.change('shared', 'production', edit(TWO));
  scene.change('changed', 'staging', edit(TWO));
  const { exitCode, report } = await scene.json('pull');
  expect(exitCode).toBe(4);
  const statuses = names.map((name) => report.prompts.find(({ key }) => key === name)?.status);
  expect(statuses).toEqual(['unchanged', 'applied', 'applied', 'applied', 'failed']);
  const textIn = (name: string) => textOf(scene.read(`prompts/${name}.md`));
  expect(names.slice(0, 4).map(textIn)).toEqual([TWO, edit(TWO), edit(TWO), edit(TWO)]);
  expect(scene.read('prompts/production.md')).toContain(
    `production: version:${scene.idIn('production', 'production')}`,
  );
  const lines = textIn('changed').split('\n');
  for (const line of ['End.', 'End of two.', 'Body.', 'Body of somebody.']) expect(lines).toContain(line);
});
