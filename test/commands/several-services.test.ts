import { describe, expect, test } from 'vitest';
import { git, writeFiles } from '../support/folder.ts';
import { makeStages, pinsIn } from '../support/several-services.ts';
import { summarizeRun } from '../support/promotion.ts';
import { changeService } from '../support/service.ts';

const STAGED = { text: 'One.', pins: { staging: 'latest' } } as const;
const IN_SYNC = 'exit 0, greeting unchanged';
const OUT_OF_ORDER = 'exit 3, greeting blocked guard/promotion-order';
const NOT_ASKED = 'pin/source-not-asked';
const PROMOTE = ['promote', 'greeting', '--to', 'production'] as const;

/** Makes two stages in which staging serves the text of the file. */
async function makeStaged() {
  const scene = await makeStages({ greeting: STAGED });
  await scene.sync('staging');
  return scene;
}

/** Makes two stages in which production serves the text `One.`, pinned to its commit. */
async function makePromoted() {
  const scene = await makeStaged();
  const first = git(scene.folder, 'rev-parse', 'HEAD');
  scene.commit({ ...STAGED, pins: { staging: 'latest', production: `git:${first}` } });
  await scene.sync('production');
  scene.services.production.requests.length = 0;
  return { ...scene, first };
}

describe('a configuration with other_environments', () => {
  test('sync reads only the environments of its own configuration', async () => {
    const { sync, services } = await makeStages({
      greeting: { pins: { staging: 'latest', production: 'git:HEAD' }, text: 'One.' },
    });
    expect(summarizeRun(await sync('staging'))).toBe('exit 0, greeting applied');
    const environments = services.staging.requests.flatMap(({ path }) => /environment=([^&]*)/.exec(path)?.[1] ?? []);
    expect(new Set(environments)).toEqual(new Set(['staging', 'promptsync']));
    expect(services.production.requests).toEqual([]);
  });

  test('sync stores neither the text of the file nor a baseline in a service without an environment that is pinned to latest', async () => {
    const { json, services } = await makeStages({ greeting: STAGED });
    services.production.store.createVersion('prm_greeting', { content: 'Made by hand.' });
    const plan = await json('production', 'plan');
    expect(summarizeRun(plan)).toBe(IN_SYNC);
    expect(plan.report.summary).toMatchObject({ baselines: 0, create_version: 0 });
    expect(summarizeRun(await json('production', 'sync', '--yes'))).toBe(IN_SYNC);
    expect(services.production.takeWrites()).toEqual([]);
  });

  test('the ledger starts with the first version that promptsync creates, even if someone created versions by hand before', async () => {
    const { sync, json, serves, services, commit, folder } = await makeStages({ greeting: STAGED });
    services.production.store.createVersion('prm_greeting', { content: 'Made by hand.' });
    await sync('staging');
    const first = git(folder, 'rev-parse', 'HEAD');
    commit({ ...STAGED, pins: { staging: 'latest', production: `git:${first}` } });
    expect(summarizeRun(await sync('production'))).toBe(`exit 0, greeting applied ${NOT_ASKED}`);
    expect(services.production.takeWrites()).toEqual([
      'set-active prm_greeting promptsync-look',
      'POST prm_greeting versions',
      'set-active prm_greeting promptsync',
      'set-active prm_greeting production',
    ]);
    expect(serves('production', 'production')).toBe('One.');
    expect(summarizeRun(await json('production', 'plan'))).toBe(IN_SYNC);
    const { report } = await json('production', 'history', 'greeting');
    const made = report.prompts[0]?.history?.versions.map(({ version_number: number, made_by: by }) => [number, by]);
    expect(made).toEqual([
      [2, 'git'],
      [1, 'before-adoption'],
    ]);
  });

  test('the change summary of a version for a git: pin is the subject of the last commit to the file', async () => {
    const { sync, json, folder, commit, write } = await makeStages({ greeting: STAGED });
    write({ ...STAGED, text: 'Two.' });
    git(folder, 'commit', '--quiet', '--all', '--message', 'Soften the tone');
    const second = git(folder, 'rev-parse', 'HEAD');
    await sync('staging');
    commit({ text: 'Three.', pins: { staging: 'latest', production: `git:${second}` } });
    const { report } = await json('production', 'plan');
    expect(report.prompts[0]?.changes[0]).toMatchObject({
      kind: 'create-version',
      change_summary: 'Soften the tone',
    });
  });

  test('an edit of the text changes nothing in a service whose environments do not follow the text', async () => {
    const { json, commit, first } = await makePromoted();
    commit({ text: 'Two.', pins: { staging: 'latest', production: `git:${first}` } });
    expect(summarizeRun(await json('production', 'plan', '--exit-code'))).toBe(IN_SYNC);
  });

  test('a sync restores an environment of its own and leaves the environments of other configurations alone', async () => {
    const { services, sync, serves, json } = await makePromoted();
    await changeService(services.production.baseUrl, 'greeting', 'production', 'Hacked.', 'sk-production-0123456789');
    await changeService(services.production.baseUrl, 'greeting', 'staging', 'Kept.', 'sk-production-0123456789');
    const { report } = await json('production', 'plan', '--base', 'HEAD');
    expect(report.prompts[0]?.drift).toMatchObject([{ environment: 'production', kind: 'outside' }]);
    await sync('production');
    expect(serves('production', 'production')).toBe('One.');
    expect(serves('production', 'staging')).toBe('Kept.');
  });

  test('history leaves out the pins of environments that another configuration manages', async () => {
    const { json } = await makePromoted();
    const { report } = await json('staging', 'history', 'greeting');
    const pinned = report.prompts[0]?.history?.versions.flatMap((version) => version.pinned);
    expect(pinned?.map(({ environment }) => environment)).toEqual(['staging']);
  });

  test.each([
    [
      'plan --environment refuses an environment that another configuration manages, before any request',
      ['plan', '--environment', 'staging'],
    ],
    [
      'history --environment refuses an environment that another configuration manages, before any request',
      ['history', '--environment', 'staging'],
    ],
    [
      'pull --environment refuses an environment that another configuration manages, before any request',
      ['pull', '--environment', 'staging'],
    ],
    [
      'rollback --environment refuses an environment that another configuration manages, before any request',
      ['rollback', 'greeting', '--environment', 'staging'],
    ],
    [
      'promote --to refuses an environment that another configuration manages, before any request',
      ['promote', 'greeting', '--from', 'production', '--to', 'staging'],
    ],
    [
      'bundle --environment refuses an environment that another configuration manages, before any request',
      ['bundle', '--environment', 'staging'],
    ],
    [
      'new --environment refuses an environment that another configuration manages, before any request',
      ['new', 'other', '--environment', 'staging'],
    ],
  ])('%s', async (_, words) => {
    const { run, services } = await makeStages({ greeting: STAGED });
    const { exitCode, stdout, stderr } = await run('production', ...words);
    expect(exitCode).toBe(1);
    expect(stdout + stderr).toMatch(/is set to "staging", which another configuration manages.*--config/s);
    expect(services.production.requests).toEqual([]);
  });

  test('without `environments`, a command still refuses the environments of another configuration', async () => {
    const { folder, run } = await makeStages({ greeting: STAGED });
    writeFiles(folder, { 'free.yaml': 'other_environments: [staging]\nservice: { embedded: .promptsync/free.db }\n' });
    const { exitCode, stderr, stdout } = await run('free', 'rollback', 'greeting', '--environment', 'staging');
    expect(exitCode).toBe(1);
    expect(stdout + stderr).toContain('which another configuration manages');
  });
});

describe('a promotion from an environment of another configuration', () => {
  test('promote pins the commit to which the pin of the source environment resolves, without a request to the other service', async () => {
    const { json, read, services, folder, commitEdits, sync, serves } = await makeStaged();
    services.staging.requests.length = 0;
    const first = git(folder, 'rev-parse', 'HEAD');
    const promoted = await json('production', ...PROMOTE);
    expect(summarizeRun(promoted)).toBe(`exit 0, greeting applied ${NOT_ASKED}`);
    expect(pinsIn(read())).toEqual(['staging: latest', `production: git:${first}`]);
    expect(services.staging.requests).toEqual([]);
    commitEdits();
    await sync('production');
    expect(serves('production', 'production')).toBe('One.');
  });

  test('promote resolves a git: pin if another configuration manages the source environment', async () => {
    const { json, read, commit, folder } = await makeStaged();
    const first = git(folder, 'rev-parse', 'HEAD');
    git(folder, 'tag', 'v1');
    commit({ text: 'Two.', pins: { staging: 'git:v1' } });
    expect((await json('production', ...PROMOTE, '--from', 'staging')).exitCode).toBe(0);
    expect(pinsIn(read())).toEqual(['staging: git:v1', `production: git:${first}`]);
  });

  test.each([
    [
      'promote blocks a prompt if the source environment of another configuration is pinned to a version number',
      { staging: 7 },
      '"staging" is pinned to `7`',
    ],
    [
      'promote blocks a prompt if the source environment of another configuration has no pin',
      {},
      'is not pinned in the file',
    ],
  ])('%s', async (_, pins, message) => {
    const scene = await makeStages({ greeting: { text: 'One.' } });
    scene.commit({ text: 'One.', pins });
    const promoted = await scene.json('production', ...PROMOTE);
    expect(summarizeRun(promoted)).toBe('exit 3, greeting blocked promote/source-unclear');
    expect(promoted.report.prompts[0]?.problems[0]?.message).toContain(message);
  });

  test('sync refuses a version that no earlier commit pinned in the source environment of another configuration', async () => {
    const { commit, json, services, folder } = await makeStaged();
    commit({ text: 'Two.', pins: { production: `git:${git(folder, 'rev-parse', 'HEAD')}` } });
    commit({ text: 'Two.', pins: { staging: 'latest', production: `git:${git(folder, 'rev-parse', 'HEAD')}` } });
    const refused = await json('production', 'sync', '--yes');
    expect(summarizeRun(refused)).toBe(`${OUT_OF_ORDER} ${NOT_ASKED}`);
    expect(refused.report.prompts[0]?.problems[0]?.message).toContain(
      'an earlier commit must already have pinned "staging"',
    );
    expect(services.production.takeWrites()).toEqual([]);
  });

  test('sync refuses a commit that changes the source environment and promotes at the same time, but not the next commit', async () => {
    const { commit, json, folder } = await makeStaged();
    commit({ text: 'Two.', pins: { staging: 'latest', production: 'git:HEAD' } });
    const second = git(folder, 'rev-parse', 'HEAD');
    expect(summarizeRun(await json('production', 'plan'))).toContain('guard/promotion-order');
    commit({ text: 'Two.', pins: { staging: 'latest', production: `git:${second}` } });
    expect(summarizeRun(await json('production', 'plan'))).toBe(`exit 0, greeting pending ${NOT_ASKED}`);
  });

  test('promote blocks a prompt if the commit with its text is not on the live branch yet', async () => {
    const { commit, json, folder } = await makeStaged();
    git(folder, 'remote', 'add', 'origin', folder);
    git(folder, 'fetch', '--quiet', 'origin');
    git(folder, 'symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/main');
    git(folder, 'switch', '--quiet', '--create', 'feature');
    commit({ ...STAGED, text: 'Two.' });
    const promoted = await json('production', ...PROMOTE);
    expect(summarizeRun(promoted)).toBe('exit 3, greeting blocked pin/not-in-git');
    expect(promoted.report.prompts[0]?.problems[0]?.message).toContain(
      'the text that the file pins in "staging" (latest)',
    );
  });

  test('sync refuses a version that was neither imported nor served in the source environment, even if the service has no ledger', async () => {
    const { commit, services, json, folder } = await makeStages({ greeting: STAGED });
    const { store } = services.production;
    const made = ['Live.', 'Draft.'].map((content) => store.createVersion('prm_greeting', { content }));
    store.setActive('prm_greeting', { environment: 'production', versionId: made[0]?.id ?? '' });
    commit({ ...STAGED, pins: { staging: 'latest', production: 1 } });
    expect(summarizeRun(await json('production', 'plan'))).toBe(IN_SYNC);
    commit({ ...STAGED, pins: { staging: 'latest', production: `version:${made[1]?.id}` } });
    expect(summarizeRun(await json('production', 'plan'))).toContain('guard/promotion-order');
    expect(git(folder, 'status', '--short')).toBe('');
  });
});
