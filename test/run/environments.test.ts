import { describe, expect, test } from 'vitest';
import { makePromotionScene, PROMOTION, summarizeRun, type Scene } from '../support/promotion.ts';
import { CONFIG } from '../support/prompts.ts';
import { runJson } from '../support/run.ts';

const BOTH = { text: 'Two.', pins: { staging: 'latest', production: 'latest' } };
const UNRANKED = `${CONFIG}environments: { staging: {}, production: {} }\n`;

/** Makes a prompt whose first text both environments serve, and whose second text is committed but not synced. */
async function makeEditedScene(config = UNRANKED): Promise<Scene> {
  const scene = await makePromotionScene({ ...BOTH, text: 'One.' }, { config });
  for (const environment of ['staging', 'production']) {
    expect((await scene.run('sync', '--yes', '-e', environment)).exitCode).toBe(0);
  }
  scene.commit({ ...BOTH, name: 'Renamed' });
  scene.service.requests.splice(0);
  return scene;
}

const only = (...environments: readonly string[]): readonly string[] =>
  environments.flatMap((environment) => ['--environment', environment]);

describe('sync --environment', () => {
  test("sync --environment writes only that environment's changes, and the next job writes the rest", async () => {
    const { service, run, runJson } = await makeEditedScene();
    expect(summarizeRun(await runJson('sync', '--yes', ...only('staging')))).toBe('exit 0, greeting applied');
    expect(service.takeWrites()).toEqual([
      'POST prm_greeting versions',
      'set-active prm_greeting promptsync',
      'set-active prm_greeting staging',
    ]);
    expect((await run('sync', '--yes', ...only('production'))).exitCode).toBe(0);
    expect(service.takeWrites()).toEqual([
      'PATCH prm_greeting {"name":"Renamed"}',
      'set-active prm_greeting production',
    ]);
    expect((await runJson('plan')).report.summary).toMatchObject({ unchanged: 1 });
  });

  test('sync --environment stores the same version record as a sync of all environments', async () => {
    const records = [];
    for (const flags of [[], only('staging')]) {
      const { service, run } = await makeEditedScene();
      expect((await run('sync', '--yes', ...flags)).exitCode).toBe(0);
      const record = service.store.readPrompt('prm_greeting', 'staging')?.active_version?.metadata_?.['promptsync'];
      const { operation: _, ...rest } = Object(record);
      records.push(maskIds(rest));
    }
    expect(records[1]).toEqual(records[0]);
  });

  test('The job for staging and the job for production each apply their part of the same commit', async () => {
    const { serves, run, runJson } = await makeEditedScene(PROMOTION);
    const early = await runJson('sync', '--yes', ...only('production'));
    expect(summarizeRun(early)).toBe('exit 3, greeting blocked guard/promotion-order');
    expect((await run('sync', '--yes', ...only('staging'))).exitCode).toBe(0);
    expect([serves('staging'), serves('production')]).toEqual(['v2', 'v1']);
    expect((await run('sync', '--yes', ...only('production'))).exitCode).toBe(0);
    expect(serves('production')).toBe('v2');
  });

  test('--expect-plan accepts the digest of a plan for the same environments', async () => {
    const { runJson } = await makeEditedScene();
    const digest = async (...flags: readonly string[]) => `${(await runJson('plan', ...flags)).report.plan_digest}`;
    const staging = await digest(...only('staging'));
    expect(staging).not.toBe(await digest());
    expect(await digest(...only('staging', 'production'))).toBe(await digest());
    const whole = ['sync', '--yes', '--expect-plan', staging];
    expect(summarizeRun(await runJson(...whole))).toContain('guard/stale-plan');
    expect(summarizeRun(await runJson(...whole, ...only('staging')))).toBe('exit 0, greeting applied');
  });

  test('--max-changes counts only the prompts that change in the selected environments', async () => {
    const others = { farewell: { text: 'Bye.', pins: { production: 'latest' } } };
    const scene = await makePromotionScene({ text: 'One.', pins: { staging: 'latest' } }, { config: UNRANKED, others });
    const plan = (...flags: readonly string[]) => scene.runJson('plan', '--max-changes', '1', ...flags);
    expect(summarizeRun(await plan())).toContain('guard/max-changes');
    expect(summarizeRun(await plan(...only('production')))).toBe('exit 0, farewell pending, greeting unchanged');
  });
});

describe('two jobs for different environments', () => {
  test('The ledger keeps the version that production is pinned to after the staging job creates a new version', async () => {
    const { make, activate, commit, serves, runJson } = await makePromotionScene(BOTH, { config: UNRANKED });
    make(Array.from({ length: 23 }, (_, index) => `Text ${index + 1}.`));
    activate('staging', 23);
    activate('production', 1);
    commit({ text: 'New.', pins: { staging: 'latest', production: 3 } });
    for (const environment of ['staging', 'production']) {
      expect(summarizeRun(await runJson('sync', '--yes', ...only(environment)))).toBe('exit 0, greeting applied');
    }
    expect([serves('staging'), serves('production')]).toEqual(['v24', 'v3']);
  });

  test('A version that somebody created before the first sync stays known, even if only the production job creates a version', async () => {
    const pins = { staging: 2, production: 'latest' };
    const { service, commit, serves, runJson } = await makePromotionScene({ text: 'New.', pins }, { config: UNRANKED });
    for (const [environment, text] of [
      ['staging', 'A.'],
      ['production', 'B.'],
    ] as const) {
      const { id } = service.store.createVersion('prm_greeting', { content: text })!;
      service.store.setActive('prm_greeting', { environment, versionId: id });
    }
    for (const environment of ['staging', 'production']) {
      expect(summarizeRun(await runJson('sync', '--yes', ...only(environment)))).toBe('exit 0, greeting applied');
    }
    commit({ text: 'New.', pins: { staging: 1, production: 'latest' } });
    expect(summarizeRun(await runJson('sync', '--yes'))).toBe('exit 0, greeting applied');
    expect(serves('staging')).toBe('v1');
  });
});

describe('the report of a run with --environment', () => {
  test.each<[string, readonly string[]]>([
    ['The report lists the selected environments even if the run has no API key', ['plan']],
    [
      'The report lists the selected environments even if git does not have the base commit',
      ['plan', '--base', 'nowhere'],
    ],
    ["The report lists the run's environments even if a sync stops because it needs a confirmation", ['sync']],
  ])('%s', async (_, words) => {
    const { folder, service } = await makeEditedScene();
    const isKeyless = words.length === 1 && words[0] === 'plan';
    const environment = { ...service.environment, ...(isKeyless && { PROMPTSYNC_API_KEY: '' }) };
    const { exitCode, report } = await runJson(folder, [...words, ...only('production')], { environment });
    expect(exitCode).toBe(1);
    expect(report.environments).toEqual(['production']);
  });

  test.each(['plan', 'status'])('%s lists only the selected environments, in promotion order', async (command) => {
    const { runJson } = await makeEditedScene();
    const { report } = await runJson(command, ...only('production'));
    expect(report.environments).toEqual(['production']);
    expect(report.prompts[0]?.environments?.map(({ environment }) => environment)).toEqual(['production']);
    const both = await runJson(command, ...only('production', 'staging'));
    expect(both.report.environments).toEqual(['staging', 'production']);
  });

  test('The report omits the list of environments if it covers all of them', async () => {
    const { runJson } = await makeEditedScene();
    expect((await runJson('plan')).report).not.toHaveProperty('environments');
  });

  test('status lists only promotions to the selected environments', async () => {
    const pins = { staging: 'latest', production: 1 };
    const { commit, run, runJson } = await makePromotionScene({ text: 'One.', pins: { staging: 'latest' } });
    await run('sync', '--yes');
    commit({ text: 'Two.', pins });
    await run('sync', '--yes');
    const readWaiting = async (environment: string) =>
      (await runJson('status', ...only(environment))).report.prompts[0]?.waiting?.map((one) => one.environment);
    expect([await readWaiting('staging'), await readWaiting('production')]).toEqual([[], ['production']]);
  });

  test.each(['text', 'markdown', 'html'])('The %s report says which environments it covers', async (format) => {
    const { run } = await makeEditedScene();
    const { stdout } = await run('plan', ...only('production'), '--format', format);
    expect(stdout.replaceAll('`', '')).toMatch(/covers only production|environments covered.*production/s);
  });

  test.each(['text', 'markdown'])(
    'The %s report does not say which environments it covers if an error stopped the command',
    async (format) => {
      const { run } = await makeEditedScene();
      const { stdout } = await run('plan', ...only('prod'), '--format', format);
      expect(stdout).not.toContain('covers only');
    },
  );
});

describe('an unknown environment', () => {
  test.each(['plan', 'sync --yes', 'status'])(
    '%s refuses an unknown environment before any request',
    async (command) => {
      const { service, runJson } = await makeEditedScene();
      const { exitCode, report } = await runJson(...command.split(' '), ...only('prodution', 'staging'));
      expect(exitCode).toBe(1);
      expect(report.problems).toMatchObject([
        { code: 'usage/unknown-environment', hint: expect.stringContaining('production') },
      ]);
      expect(service.requests).toEqual([]);
    },
  );

  test('If the configuration lists no environments, the known environments are the names in pins', async () => {
    const { runJson } = await makePromotionScene(
      { text: 'One.', pins: { dev: 'latest', live: 'latest' } },
      { config: CONFIG },
    );
    expect((await runJson('plan', ...only('live'))).report.environments).toEqual(['live']);
    expect(summarizeRun(await runJson('plan', ...only('staging')))).toContain('usage/unknown-environment');
  });
});

/** Replaces the ids of versions, because the service makes them up. */
function maskIds(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll(/ver_[\w-]+/g, 'ver'));
}
