import { expect, test } from 'vitest';
import { makePromotionScene, PROMOTION, summarizeRun } from '../support/promotion.ts';
import { CONFIG } from '../support/prompts.ts';
import { runJson } from '../support/run.ts';

/** The file names the environments in another order than the configuration. */
const BOTH = { text: 'Two.', pins: { production: 'latest', staging: 'latest' } };
const UNRANKED = `${CONFIG}environments: { staging: {}, production: {} }\n`;
const APPLIED = 'exit 0, greeting applied';

/** Makes a prompt whose first text both environments serve, and whose second text is committed but not synced. */
async function makeEditedScene(config = UNRANKED) {
  const scene = await makePromotionScene({ ...BOTH, name: 'Renamed' }, { config });
  scene.make(['One.']);
  for (const environment of ['staging', 'production']) scene.activate(environment, 1);
  return { ...scene, summarize: async (...words: readonly string[]) => summarizeRun(await scene.runJson(...words)) };
}

const only = (...environments: readonly string[]): readonly string[] =>
  environments.flatMap((environment) => ['--environment', environment]);

test('The job for staging and the job for production each apply their part of the same commit', async () => {
  const { service, serves, summarize, runJson: json } = await makeEditedScene(PROMOTION);
  const digest = async (...words: readonly string[]) => `${(await json('plan', ...words)).report.plan_digest}`;
  const sync = (environment: string, ...words: readonly string[]) =>
    summarize('sync', '--yes', ...only(environment), ...words);
  expect(await sync('production')).toBe('exit 3, greeting blocked guard/promotion-order');
  // The digest of a plan is only valid for the same environments.
  const expected = ['--expect-plan', await digest(...only('staging'))];
  expect(await summarize('sync', '--yes', ...expected)).toContain('guard/stale-plan');
  expect(service.takeWrites()).toEqual([]);
  expect(await sync('staging', ...expected)).toBe(APPLIED);
  expect(service.takeWrites()).toEqual([
    'POST prm_greeting versions',
    'set-active prm_greeting promptsync',
    'set-active prm_greeting staging',
  ]);
  expect([serves('staging'), serves('production')]).toEqual(['v2', 'v1']);
  expect(await sync('production')).toBe(APPLIED);
  expect(service.takeWrites()).toEqual(['PATCH prm_greeting {"name":"Renamed"}', 'set-active prm_greeting production']);
  expect(await summarize('plan')).toBe('exit 0, greeting unchanged');
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
