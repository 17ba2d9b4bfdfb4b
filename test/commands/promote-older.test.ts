import { describe, expect, test } from 'vitest';
import { git } from '../support/folder.ts';
import { makePromotionScene, OUTSIDE_GIT, summarizeRun } from '../support/promotion.ts';
import { makeStages } from '../support/several-services.ts';

const TO_PRODUCTION = ['promote', 'greeting', '--to', 'production'] as const;
const APPLIED = 'exit 0, greeting applied';

describe('the promotion of an older version', () => {
  test('promote does not edit a file that serves or pins a newer version in production, unless --allow-older is given', async () => {
    const scene = await makePromotionScene({}, OUTSIDE_GIT);
    scene.make(['One.', 'Two {{a}}.', 'Three.', 'Four.']);
    scene.activate('staging', 2);
    for (const [serves, pin, text, message, hint] of [
      // A sync would replace the newer version in production.
      [3, 1, 'Two {{a}}.', '"production" serves v3, which is newer than v2 that "staging"', 'promptsync pull greeting'],
      [1, 3, 'Two {{a}}.', 'The file pins "production" to v3, which is newer than v2 that "staging" serves.', ''],
      [1, 'latest', 'Three.', 'The file pins "production" to v3, ', ''],
      [1, 'latest', 'Five.', 'The file pins "production" to a version that does not exist yet, ', ''],
    ] as const) {
      scene.activate('production', serves);
      scene.write({ text, pins: { staging: 2, production: pin } });
      const before = scene.read();
      const ran = await scene.runJson(...TO_PRODUCTION);
      expect([message, summarizeRun(ran)]).toEqual([message, 'exit 0, greeting unchanged promote/older']);
      expect(ran.report.prompts[0]?.problems).toMatchObject([
        { message: expect.stringContaining(message), hint: expect.stringContaining(hint) },
      ]);
      expect(scene.read()).toBe(before);
      expect(summarizeRun(await scene.runJson(...TO_PRODUCTION, '--allow-older'))).toBe(APPLIED);
      expect(scene.read()).toContain('"production":2');
    }
    // Production is ahead only because the pin of staging is not synced yet.
    scene.activate('production', 3);
    scene.write({ text: 'Four.', pins: { staging: 4, production: 3 } });
    const { report } = await scene.runJson(...TO_PRODUCTION);
    expect(report.prompts[0]?.problems).toMatchObject([
      { code: 'promote/older', hint: expect.stringContaining('promptsync sync --environment staging') },
    ]);
  });

  test('promote does not edit a file if production is ahead of a staging pin that another configuration manages', async () => {
    const scene = await makeStages({ greeting: { text: 'One.', pins: { staging: 'latest' } } });
    const first = git(scene.folder, 'rev-parse', 'HEAD');
    scene.commit({ text: 'One.', pins: { staging: 'latest', production: `git:${first}` } });
    await scene.sync('staging');
    await scene.sync('production');
    const second = scene.commit({ text: 'Two.', pins: { staging: 'latest', production: `git:${first}` } });
    await scene.sync('staging');
    const pins = { staging: `git:${first}`, production: `git:${second}` };
    scene.commit({ text: 'Two.', pins: { ...pins, staging: 'latest' } });
    await scene.sync('production');
    scene.commit({ text: 'Two.', pins });
    const kept = await scene.json('production', ...TO_PRODUCTION);
    expect(summarizeRun(kept)).toBe('exit 0, greeting unchanged promote/older pin/source-not-asked');
    const said = '"production" serves v2, which is newer than v1 to which the file pins "staging".';
    expect(kept.report.prompts[0]?.problems[0]?.message).toContain(said);
    expect(summarizeRun(await scene.json('production', ...TO_PRODUCTION, '--allow-older'))).toContain(APPLIED);
  });
});

test('promote marks a prompt as new in production only if production does not serve it yet', async () => {
  const pinned = { text: 'Two.', pins: { staging: 'latest', production: 1 } };
  const unpinned = { text: 'Two.', pins: { staging: 'latest' } };
  const scene = await makePromotionScene(unpinned, { ...OUTSIDE_GIT, others: { refund: unpinned, summary: pinned } });
  for (const id of ['greeting', 'refund', 'summary']) {
    scene.make(['One.', 'Two.'], id);
    scene.activate('staging', 2, id);
  }
  scene.activate('production', 1, 'refund');
  scene.activate('production', 1, 'summary');
  const words = ['promote', '--all', '--to', 'production', '--dry-run'];
  const { stdout } = await scene.run(...words);
  const edits = stdout.split('\n').filter((line) => line.includes(' production: ') && line.includes(' → '));
  expect(edits).toEqual([
    '  + production: none → 2 (new in production)',
    '  + production: none → 2',
    '  ~ production: 1 → 2',
  ]);
});
