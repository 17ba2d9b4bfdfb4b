import { expect, test } from 'vitest';
import { makePromotionScene, PATH, summarizeRun } from '../support/promotion.ts';

const REFUSED = 'exit 3, greeting blocked guard/promotion-order';

/** The text of version 3 with pins for both environments. */
const textThree = (staging: number, production: number) => ({ text: 'Three.', pins: { staging, production } });

// test/planning/promotion.test.ts has the rules of the promotion order. This story shows that all commands obey them.
test('plan, sync and status refuse a promotion of a version that staging does not serve', async () => {
  const scene = await makePromotionScene(textThree(2, 1));
  scene.make(['One.', 'Two.', 'Three.']);
  scene.activate('staging', 2);
  scene.activate('production', 1);
  scene.commit({ ...textThree(2, 3), name: 'Renamed' });
  expect(summarizeRun(await scene.runJson('plan'))).toBe(REFUSED);
  const { report, exitCode } = await scene.runJson('sync', '--yes');
  expect(exitCode).toBe(3);
  expect(report.prompts[0]?.problems).toMatchObject([{ code: 'guard/promotion-order', path: PATH, line: 5 }]);
  const status = await scene.runJson('status');
  expect(summarizeRun(status)).toBe(REFUSED);
  expect(status.report.prompts[0]?.environments).toMatchObject([
    { environment: 'staging', in_sync: true },
    { environment: 'production', in_sync: false },
  ]);
  scene.commit({ ...textThree(2, 3), name: 'Once more' });
  expect(summarizeRun(await scene.runJson('sync', '--yes'))).toBe(REFUSED);
  expect(scene.service.takeWrites()).toEqual([]);
});
