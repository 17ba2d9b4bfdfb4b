import { expect, test } from 'vitest';
import { git } from '../support/folder.ts';
import { makeStages, pinsIn } from '../support/several-services.ts';
import { summarizeRun } from '../support/promotion.ts';
import { changeService } from '../support/service.ts';

const STAGED = { text: 'One.', pins: { staging: 'latest' } } as const;
const IN_SYNC = 'exit 0, greeting unchanged';
const OUT_OF_ORDER = 'exit 3, greeting blocked guard/promotion-order';
const NOT_ASKED = 'pin/source-not-asked';
const APPLIED = `exit 0, greeting applied ${NOT_ASKED}`;
const PROMOTE = ['promote', 'greeting', '--to', 'production'] as const;

/** Makes two stages in which staging serves the text of the file. */
async function makeStaged() {
  const scene = await makeStages({ greeting: STAGED });
  await scene.sync('staging');
  return {
    ...scene,
    first: git(scene.folder, 'rev-parse', 'HEAD'),
    summarize: async (...words: readonly string[]) => summarizeRun(await scene.json('production', ...words)),
    pin: (text: string, production: string | number) => scene.commit({ text, pins: { staging: 'latest', production } }),
    edit: (environment: string, text: string) =>
      changeService(scene.services.production.baseUrl, 'greeting', environment, text, 'sk-production-0123456789'),
  };
}

test('Two configurations share the prompt files, and each one reads and writes only the environments of its own service', async () => {
  const { sync, json, serves, services, summarize, first, pin, edit, read, commitEdits } = await makeStaged();
  const environments = services.staging.requests.flatMap(({ path }) => /environment=([^&]*)/.exec(path)?.[1] ?? []);
  expect(new Set(environments)).toEqual(new Set(['staging', 'promptsync']));
  services.production.store.createVersion('prm_greeting', { content: 'Made by hand.' });
  // No environment of this service is pinned to latest, so it needs neither the text of the file nor a baseline.
  const plan = await json('production', 'plan');
  expect(summarizeRun(plan)).toBe(IN_SYNC);
  expect(plan.report.summary).toMatchObject({ baselines: 0, create_version: 0 });
  expect(await summarize('sync', '--yes')).toBe(IN_SYNC);
  expect(services.production.takeWrites()).toEqual([]);

  // A promotion pins the commit, without a request to the service of the source environment.
  services.staging.requests.length = 0;
  expect(await summarize(...PROMOTE)).toBe(APPLIED);
  expect(pinsIn(read())).toEqual(['staging: latest', `production: git:${first}`]);
  commitEdits();
  services.production.takeWrites();
  expect(summarizeRun(await sync('production'))).toBe(APPLIED);
  expect(services.production.takeWrites()).toContain('POST prm_greeting versions');
  expect(services.staging.requests).toEqual([]);
  expect(serves('production', 'production')).toBe('One.');

  pin('Two.', `git:${first}`);
  expect(await summarize('plan', '--exit-code')).toBe(IN_SYNC);
  await edit('production', 'Hacked.');
  await edit('staging', 'Kept.');
  const drifted = await json('production', 'plan', '--base', 'HEAD');
  expect(drifted.report.prompts[0]?.drift).toMatchObject([{ environment: 'production', kind: 'outside' }]);
  await sync('production');
  expect(serves('production', 'production')).toBe('One.');
  expect(serves('production', 'staging')).toBe('Kept.');
});

test('Every command refuses an environment that another configuration manages, before any request', async () => {
  const { run, services } = await makeStages({ greeting: STAGED });
  for (const words of [
    ...['plan', 'history', 'pull', 'bundle'].map((command) => [command, '--environment', 'staging']),
    ['rollback', 'greeting', '--environment', 'staging'],
    ['promote', 'greeting', '--from', 'production', '--to', 'staging'],
    ['new', 'other', '--environment', 'staging'],
  ]) {
    const { exitCode, stdout, stderr } = await run('production', ...words);
    expect([words, exitCode]).toEqual([words, 1]);
    expect(stdout + stderr).toMatch(/is set to "staging", which another configuration manages.*--config/s);
  }
  expect(services.production.requests).toEqual([]);
});

test('promote resolves the pin of a source environment of another configuration, and blocks the prompt if it cannot', async () => {
  const { json, folder, summarize, commit, read, first } = await makeStaged();
  git(folder, 'tag', 'v1');
  commit({ text: 'Two.', pins: { staging: 'git:v1' } });
  expect(await summarize(...PROMOTE, '--from', 'staging')).toContain('exit 0');
  expect(pinsIn(read())).toEqual(['staging: git:v1', `production: git:${first}`]);
  const explain = async (code: string) => {
    const promoted = await json('production', ...PROMOTE);
    expect(summarizeRun(promoted)).toBe(`exit 3, greeting blocked ${code}`);
    return promoted.report.prompts[0]?.problems[0]?.message;
  };
  commit({ text: 'One.', pins: { staging: 7 } });
  expect(await explain('promote/source-unclear')).toContain('"staging" is pinned to `7`');
  commit({ text: 'One.', pins: {} });
  expect(await explain('promote/source-unclear')).toContain('is not pinned in the file');

  // A commit that is not on the live branch yet cannot be pinned.
  git(folder, 'remote', 'add', 'origin', folder);
  git(folder, 'fetch', '--quiet', 'origin');
  git(folder, 'symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/main');
  git(folder, 'switch', '--quiet', '--create', 'feature');
  commit({ ...STAGED, text: 'Three.' });
  expect(await explain('pin/not-in-git')).toContain('the text that the file pins in "staging" (latest)');
});

test('sync refuses a version that no earlier commit pinned in the source environment of another configuration, but not the next commit', async () => {
  const { commit, json, folder, services, summarize, pin } = await makeStaged();
  const head = () => git(folder, 'rev-parse', 'HEAD');
  commit({ text: 'Two.', pins: { production: `git:${head()}` } });
  pin('Two.', `git:${head()}`);
  const refused = await json('production', 'sync', '--yes');
  expect(summarizeRun(refused)).toBe(`${OUT_OF_ORDER} ${NOT_ASKED}`);
  expect(refused.report.prompts[0]?.problems[0]?.message).toContain(
    'an earlier commit must already have pinned "staging"',
  );
  expect(services.production.takeWrites()).toEqual([]);
  pin('Three.', 'git:HEAD');
  expect(await summarize('plan')).toContain('guard/promotion-order');
  pin('Three.', `git:${head()}`);
  expect(await summarize('plan')).toBe(`exit 0, greeting pending ${NOT_ASKED}`);

  // The change summary of the new version is the subject of the commit that introduced the text.
  commit({ text: 'Four.', pins: { staging: 'latest' } });
  git(folder, 'commit', '--quiet', '--amend', '--message', 'Soften the tone');
  pin('Five.', `git:${head()}`);
  const { report } = await json('production', 'plan');
  expect(report.prompts[0]?.changes[0]).toMatchObject({ kind: 'create-version', change_summary: 'Soften the tone' });
});

test('sync refuses a version that was neither imported nor served in the source environment, even if the service has no ledger', async () => {
  const { services, pin, summarize } = await makeStaged();
  const { store } = services.production;
  const made = ['Live.', 'Draft.'].map((content) => store.createVersion('prm_greeting', { content }));
  store.setActive('prm_greeting', { environment: 'production', versionId: made[0]!.id });
  pin('One.', 1);
  expect(await summarize('plan')).toBe(IN_SYNC);
  pin('One.', `version:${made[1]?.id}`);
  expect(await summarize('plan')).toContain('guard/promotion-order');
});
