import { expect, test } from 'vitest';
import { addHook, commitAll, writeFiles } from '../../support/folder.ts';
import { CONFIG } from '../../support/prompts.ts';
import { makeAdoption, textOf } from './importing.ts';

const TWO_STAGES = `${CONFIG}environments:
  staging: {}
  production: { promote_from: staging, allow_latest: false }
`;
const ONE = 'One.\n\nBody.\n\nEnd of one.';
const TWO = 'Two.\n\nBody.\n\nEnd of two.';
const edit = (text: string) => text.replace('Body.', 'Body of somebody.');

test('Between import --commit and the first sync, pull merges edits from the service with the imported texts as merge bases', async () => {
  const served = { production: ONE, staging: TWO };
  const both = { production: TWO, staging: TWO };
  const names = ['untouched', 'staging', 'production', 'shared', 'changed'] as const;
  const scene = await makeAdoption(
    { untouched: served, staging: served, production: served, shared: both, changed: served },
    TWO_STAGES,
  );
  // pull recognizes the commits of the import even if a hook added a ticket number to their messages.
  addHook(scene.folder, 'sed -i.bak "1s/^/ABC-1: /" "$1"', 'commit-msg');
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
