import { expect, test } from 'vitest';
import { commitAll, commitEdits, git, makeRepository, writeFiles } from '../support/folder.ts';
import { handOn, startFront } from '../support/front.ts';
import { makePromotionScene, PATH, PROMOTION, summarizeRun, type Scene } from '../support/promotion.ts';
import { run } from '../support/run.ts';
import { changeOutside, type OutsideChange, pinned } from '../commands/pull/pulling.ts';

const APPLIED = 'exit 0, greeting applied';
const UNCHANGED = 'exit 0, greeting unchanged';
const BOTH = ['staging', 'production'];
const SAME: OutsideChange = { content: 'One.', environments: BOTH };
const DIFFERENT: readonly OutsideChange[] = [{ ...SAME, environments: ['production'] }, { content: 'Two.' }];
const ROLLBACK = ['rollback', 'greeting', '--environment', 'production', '--to', '1', '--commit'];

/** Makes versions of a prompt in the service, imports the prompt and commits its file. */
async function adopt(...versions: readonly OutsideChange[]): Promise<Scene> {
  const scene = await makePromotionScene({}, { makeFolder: () => makeRepository({ 'promptsync.yaml': PROMOTION }) });
  for (const version of versions.length > 0 ? versions : [SAME]) changeOutside(scene, version);
  expect(await scene.run('import', 'prm_greeting')).toMatchObject({ exitCode: 0 });
  commitAll(scene.folder, 'Import');
  return scene;
}

/** Does the same as `adopt` and then runs the first sync. */
async function adoptAndSync(...versions: readonly OutsideChange[]): Promise<Scene> {
  const scene = await adopt(...versions);
  expect(summarizeRun(await sync(scene))).toBe(APPLIED);
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

/** Counts the versions that promptsync created. Foreign versions are not counted, because tests add them without a request. */
function countCreatedVersions({ service: { requests } }: Scene): number {
  return requests.filter(({ method, path }) => method === 'POST' && path.endsWith('/versions')).length;
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
  const scene = await adoptAndSync();
  edit(scene, 'One.', 'Two.');
  expect(summarizeRun(await sync(scene))).toBe(APPLIED);
  simulateEditInService(scene);
  git(scene.folder, 'revert', '--no-edit', 'HEAD');
  expect(await syncUntilUnchanged(scene)).toBe('v1 v1');
  simulateEditInService(scene);
  edit(scene, /production: .*/, `production: ${pinned(scene)}`);
  expect(summarizeRun(await sync(scene))).toBe(APPLIED);
  expect(summarizeRun(await scene.runJson(...ROLLBACK))).toBe(APPLIED);
  expect(scene.read()).toContain('production: 1\n');
});

test('Before the first sync, promote and rollback pin version ids and add the version number as a comment', async () => {
  const scene = await adopt(...DIFFERENT);
  expect(summarizeRun(await scene.runJson('promote', 'greeting', '--to', 'production', '--commit'))).toBe(APPLIED);
  expect(scene.read()).toMatch(/production: version:\S+ {2}# 2\n/);
  expect(summarizeRun(await scene.runJson(...ROLLBACK))).toBe(APPLIED);
  expect(scene.read()).toMatch(/production: version:\S+ {2}# 1\n/);
});

/** Cuts all connections of a sync once it has created the baseline. Then activates the baseline outside promptsync. */
async function syncUntilBaseline({ folder, service }: Scene): Promise<void> {
  let lost = false;
  const front = await startFront({
    target: service.baseUrl,
    answer: async (request) => {
      if (request.method === 'POST' && !lost) await handOn(request, service.baseUrl);
      lost ||= request.method === 'POST';
      if (lost) throw new Error('cut');
      return null;
    },
  });
  const environment = { ...service.environment, PROMPTSYNC_BASE_URL: front.baseUrl };
  expect(await run(folder, ['sync', '--yes'], { environment })).toMatchObject({ exitCode: 4 });
  const { store } = service;
  const versionId = store.readPrompt('prm_greeting')!.latest_version_id!;
  for (const name of BOTH) store.setActive('prm_greeting', { environment: name, versionId });
}

test('promptsync reuses the baseline version of an interrupted sync if the file pins it by number', async () => {
  const scene = await adopt();
  await syncUntilBaseline(scene);
  edit(scene, /production: .*/, 'production: 2');
  expect(await syncUntilUnchanged(scene)).toBe('v2 v2');
  expect(countCreatedVersions(scene)).toBe(1);
});
