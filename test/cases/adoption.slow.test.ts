import { expect, test } from 'vitest';
import { commitAll, commitEdits, git, makeRepository, writeFiles } from '../support/folder.ts';
import { makePromotionScene, PATH, PROMOTION, summarizeRun, type Scene } from '../support/promotion.ts';
import { changeOutside, type OutsideChange } from '../commands/pull/pulling.ts';

const APPLIED = 'exit 0, greeting applied';
const UNCHANGED = 'exit 0, greeting unchanged';
const BOTH = ['staging', 'production'];
const SAME: OutsideChange = { content: 'One.', environments: BOTH };
const ROLLBACK = ['rollback', 'greeting', '--environment', 'production', '--to', '1', '--commit'];

/** Makes versions of a prompt in the service, imports the prompt and commits its file. */
async function adopt(versions: readonly OutsideChange[] = [SAME]): Promise<Scene> {
  const scene = await makePromotionScene({}, { makeFolder: () => makeRepository({ 'promptsync.yaml': PROMOTION }) });
  for (const version of versions) changeOutside(scene, version);
  expect(await scene.run('import', 'prm_greeting')).toMatchObject({ exitCode: 0 });
  commitAll(scene.folder, 'Import');
  return scene;
}

const sync = (scene: Scene, ...words: readonly string[]) => scene.runJson('sync', '--yes', ...words);

function edit(scene: Scene, from: string | RegExp, to: string): void {
  writeFiles(scene.folder, { [PATH]: scene.read().replace(from, to) });
  commitEdits(scene.folder, 'Edit');
}

/** Adds a version without promptsync and activates it in all environments. */
function simulateEditInService(scene: Scene): void {
  changeOutside(scene, { content: 'Theirs.', environments: BOTH });
}

/** Syncs, expects that nothing is left to do, and returns the versions that the environments serve. */
async function syncUntilUnchanged(scene: Scene): Promise<string> {
  expect((await sync(scene)).exitCode).toBe(0);
  expect(summarizeRun(await scene.runJson('plan', '--exit-code'))).toBe(UNCHANGED);
  expect(summarizeRun(await sync(scene))).toBe(UNCHANGED);
  return BOTH.map((environment) => scene.serves(environment)).join(' ');
}

test('The first sync of an imported prompt creates one baseline, moves no environment, and keeps a reviewed plan valid', async () => {
  const scene = await adopt();
  edit(scene, 'One.', 'Two.');
  const { report } = await scene.runJson('plan');
  git(scene.folder, 'checkout', '--quiet', 'HEAD~1');
  const { stdout } = await scene.run('plan');
  expect(stdout.match(/baseline: a version for .* records; nothing that is served change/g)).toHaveLength(1);
  const ran = await sync(scene, '--max-changes', '0');
  expect(ran.report.prompts).toMatchObject([
    { status: 'applied', changes: [{ kind: 'create-version', baseline: true, status: 'made' }] },
  ]);
  expect(scene.service.takeWrites()).toEqual(['POST prm_greeting versions', 'set-active prm_greeting promptsync']);
  expect(await syncUntilUnchanged(scene)).toBe('v1 v1');
  git(scene.folder, 'checkout', '--quiet', 'main');
  expect(summarizeRun(await sync(scene, '--expect-plan', report.plan_digest!))).toBe(APPLIED);
});

test('After an edit in the service, git revert and rollback return to the imported version', async () => {
  const scene = await adopt();
  expect(summarizeRun(await sync(scene))).toBe(APPLIED);
  edit(scene, 'One.', 'Two.');
  expect(summarizeRun(await sync(scene))).toBe(APPLIED);
  simulateEditInService(scene);
  git(scene.folder, 'revert', '--no-edit', 'HEAD');
  expect(await syncUntilUnchanged(scene)).toBe('v1 v1');
  simulateEditInService(scene);
  const theirs = scene.service.store.readPrompt('prm_greeting', 'production')?.active_version;
  edit(scene, /production: .*/, `production: version:${theirs?.id}`);
  expect(summarizeRun(await sync(scene))).toBe(APPLIED);
  expect(summarizeRun(await scene.runJson(...ROLLBACK))).toBe(APPLIED);
  expect(scene.read()).toContain('production: 1\n');
});

test('Before the first sync, promote and rollback pin version ids and add the version number as a comment', async () => {
  const scene = await adopt([{ content: 'One.', environments: ['production'] }, { content: 'Two.' }]);
  expect(summarizeRun(await scene.runJson('promote', 'greeting', '--to', 'production', '--commit'))).toBe(APPLIED);
  expect(scene.read()).toMatch(/production: version:\S+ {2}# 2\n/);
  expect(summarizeRun(await scene.runJson(...ROLLBACK))).toBe(APPLIED);
  expect(scene.read()).toMatch(/production: version:\S+ {2}# 1\n/);
});
