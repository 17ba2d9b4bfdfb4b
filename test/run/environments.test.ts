import { describe, expect, test } from 'vitest';
import { makePromotionScene, PROMOTION, summarizeRun } from '../support/promotion.ts';
import { CONFIG } from '../support/prompts.ts';
import { runJson } from '../support/run.ts';

const BOTH = { text: 'Two.', pins: { staging: 'latest', production: 'latest' } };
const UNRANKED = `${CONFIG}environments: { staging: {}, production: {} }\n`;
const APPLIED = 'exit 0, greeting applied';

/** Makes a prompt whose first text both environments serve, and whose second text is committed but not synced. */
async function makeEditedScene(config = UNRANKED) {
  const scene = await makePromotionScene({ ...BOTH, text: 'One.' }, { config });
  for (const environment of ['staging', 'production']) {
    expect((await scene.run('sync', '--yes', '-e', environment)).exitCode).toBe(0);
  }
  scene.commit({ ...BOTH, name: 'Renamed' });
  scene.service.requests.splice(0);
  return { ...scene, summarize: async (...words: readonly string[]) => summarizeRun(await scene.runJson(...words)) };
}

const only = (...environments: readonly string[]): readonly string[] =>
  environments.flatMap((environment) => ['--environment', environment]);

describe('sync --environment', () => {
  test('The job for staging and the job for production each apply their part of the same commit', async () => {
    const { service, serves, summarize } = await makeEditedScene(PROMOTION);
    const sync = (environment: string) => summarize('sync', '--yes', ...only(environment));
    expect(await sync('production')).toBe('exit 3, greeting blocked guard/promotion-order');
    expect(service.takeWrites()).toEqual([]);
    expect(await sync('staging')).toBe(APPLIED);
    expect(service.takeWrites()).toEqual([
      'POST prm_greeting versions',
      'set-active prm_greeting promptsync',
      'set-active prm_greeting staging',
    ]);
    expect([serves('staging'), serves('production')]).toEqual(['v2', 'v1']);
    expect(await sync('production')).toBe(APPLIED);
    expect(service.takeWrites()).toEqual([
      'PATCH prm_greeting {"name":"Renamed"}',
      'set-active prm_greeting production',
    ]);
    expect(await summarize('plan')).toBe('exit 0, greeting unchanged');
  });

  test('sync --environment stores the same version record as a sync of all environments, and accepts the digest of its own plan', async () => {
    const records = [];
    for (const flags of [[], only('staging')]) {
      const { service, summarize, runJson: json } = await makeEditedScene();
      const digest = async (...words: readonly string[]) => `${(await json('plan', ...words)).report.plan_digest}`;
      const words = ['sync', '--yes', '--expect-plan', await digest(...flags)];
      if (flags.length > 0) {
        expect(await summarize(...words)).toContain('guard/stale-plan');
        expect(await digest(...only('staging', 'production'))).toBe(await digest());
      }
      expect(await summarize(...words, ...flags)).toBe(APPLIED);
      const record = service.store.readPrompt('prm_greeting', 'staging')?.active_version?.metadata_?.['promptsync'];
      const { operation: _, ...rest } = Object(record);
      // The service makes up the ids of versions.
      records.push(JSON.parse(JSON.stringify(rest).replaceAll(/ver_[\w-]+/g, 'ver')));
    }
    expect(records[1]).toEqual(records[0]);
  });

  test('The ledger keeps the versions of one environment if only the job for the other environment creates a version', async () => {
    const { make, activate, commit, serves, ...scene } = await makePromotionScene(BOTH, { config: UNRANKED });
    make(Array.from({ length: 23 }, (_, index) => `Text ${index + 1}.`));
    activate('staging', 23);
    activate('production', 1);
    commit({ text: 'New.', pins: { staging: 'latest', production: 3 } });
    for (const environment of ['staging', 'production']) {
      expect(summarizeRun(await scene.runJson('sync', '--yes', ...only(environment)))).toBe(APPLIED);
    }
    expect([serves('staging'), serves('production')]).toEqual(['v24', 'v3']);
  });

  test('A version that somebody created before the first sync stays known, even if only the production job creates a version', async () => {
    const pins = { staging: 2, production: 'latest' };
    const scene = await makePromotionScene({ text: 'New.', pins }, { config: UNRANKED });
    const { store } = scene.service;
    for (const [environment, content] of Object.entries({ staging: 'A.', production: 'B.' })) {
      const { id } = store.createVersion('prm_greeting', { content })!;
      store.setActive('prm_greeting', { environment, versionId: id });
    }
    for (const environment of ['staging', 'production']) {
      expect(summarizeRun(await scene.runJson('sync', '--yes', ...only(environment)))).toBe(APPLIED);
    }
    scene.commit({ text: 'New.', pins: { staging: 1, production: 'latest' } });
    expect(summarizeRun(await scene.runJson('sync', '--yes'))).toBe(APPLIED);
    expect(scene.serves('staging')).toBe('v1');
  });
});

test('--max-changes counts only the prompts that change in the selected environments', async () => {
  const others = { farewell: { text: 'Bye.', pins: { production: 'latest' } } };
  const scene = await makePromotionScene({ text: 'One.', pins: { staging: 'latest' } }, { config: UNRANKED, others });
  const plan = (...flags: readonly string[]) => scene.runJson('plan', '--max-changes', '1', ...flags);
  expect(summarizeRun(await plan())).toContain('guard/max-changes');
  expect(summarizeRun(await plan(...only('production')))).toBe('exit 0, farewell pending, greeting unchanged');
});

test('Every report of a run with --environment lists the selected environments, in promotion order', async () => {
  const { folder, service, run, runJson: json } = await makeEditedScene();
  for (const command of ['plan', 'status']) {
    const { report } = await json(command, ...only('production'));
    expect(report.environments).toEqual(['production']);
    expect(report.prompts[0]?.environments?.map(({ environment }) => environment)).toEqual(['production']);
  }
  expect((await json('plan', ...only('production', 'staging'))).report.environments).toEqual(['staging', 'production']);
  expect((await json('plan')).report).not.toHaveProperty('environments');
  for (const format of ['text', 'markdown', 'html']) {
    const { stdout } = await run('plan', ...only('production'), '--format', format);
    expect(stdout.replaceAll('`', '')).toMatch(/covers only production|environments covered.*production/s);
    const failed = await run('plan', ...only('prod'), '--format', format);
    expect(failed.stdout).not.toContain('covers only');
  }
  // Runs that stop early list them, too: without a key, without the base commit, and without a confirmation.
  const keyless = { ...service.environment, PROMPTSYNC_API_KEY: '' };
  for (const [words, environment] of [
    [['plan'], keyless],
    [['plan', '--base', 'nowhere'], service.environment],
    [['sync'], service.environment],
  ] as const) {
    const { exitCode, report } = await runJson(folder, [...words, ...only('production')], { environment });
    expect({ words, exitCode, environments: report.environments }).toEqual({
      ...{ words, exitCode: 1, environments: ['production'] },
    });
  }
});

test('status --environment lists only promotions to the selected environments', async () => {
  const scene = await makePromotionScene({ text: 'Two.', pins: { staging: 'latest', production: 1 } });
  scene.make(['One.', 'Two.']);
  scene.activate('staging', 2);
  scene.activate('production', 1);
  const readWaiting = async (environment: string) =>
    (await scene.runJson('status', ...only(environment))).report.prompts[0]?.waiting?.map((one) => one.environment);
  expect([await readWaiting('staging'), await readWaiting('production')]).toEqual([[], ['production']]);
});

test('A command refuses an unknown environment before any request, and without configured environments only those in pins are known', async () => {
  const pins = { dev: 'latest', live: 'latest' };
  const scene = await makePromotionScene({ text: 'One.', pins }, { config: CONFIG });
  for (const command of ['plan', 'sync --yes', 'status']) {
    const { exitCode, report } = await scene.runJson(...command.split(' '), ...only('lve', 'dev'));
    expect([command, exitCode]).toEqual([command, 1]);
    expect(report.problems).toMatchObject([
      { code: 'usage/unknown-environment', hint: expect.stringContaining('live') },
    ]);
  }
  expect(scene.service.requests).toEqual([]);
  expect((await scene.runJson('plan', ...only('live'))).report.environments).toEqual(['live']);
});
