import { describe, expect, test } from 'vitest';
import { git, makeWorkspace } from '../support/folder.ts';
import { makePromotionScene, summarizeRun, type SceneOptions } from '../support/promotion.ts';
import { makeStages } from '../support/several-services.ts';

const TO_PRODUCTION = ['promote', 'greeting', '--to', 'production'] as const;
const APPLIED = 'exit 0, greeting applied';

/** Makes no git repository, for tests that do not need one. */
const outsideGit: SceneOptions = { makeFolder: makeWorkspace };

describe('the promotion of an older version', () => {
  test.each<[string, { serves?: number; pin?: string | number; text?: string; said: string }]>([
    [
      'promote does not edit a file if production serves a newer version than staging',
      { serves: 3, pin: 1, said: '"production" serves v3, which is newer than v2 that "staging" serves.' },
    ],
    [
      'promote does not edit a file that pins production to a newer version than staging serves',
      { serves: 1, pin: 3, said: 'The file pins "production" to v3, which is newer than v2 that "staging" serves.' },
    ],
    [
      'promote does not edit a file that pins production to latest if latest is newer than the version in staging',
      { pin: 'latest', text: 'Three.', said: 'The file pins "production" to v3, ' },
    ],
    [
      'promote does not edit a file that pins production to a version that does not exist yet',
      {
        serves: 1,
        pin: 'latest',
        text: 'Four.',
        said: 'The file pins "production" to a version that does not exist yet, ',
      },
    ],
  ])('%s', async (_, { serves, pin, text = 'Two {{a}}.', said }) => {
    const scene = await makePromotionScene({ text, pins: { staging: 2, production: pin ?? 1 } }, outsideGit);
    scene.make(['One.', 'Two {{a}}.', 'Three.']);
    scene.activate('staging', 2);
    if (serves !== undefined) scene.activate('production', serves);
    const before = scene.read();
    const ran = await scene.runJson(...TO_PRODUCTION);
    expect(summarizeRun(ran)).toBe('exit 0, greeting unchanged promote/older');
    expect(ran.report.prompts[0]?.problems[0]?.message).toContain(said);
    expect(scene.read()).toBe(before);
    expect(summarizeRun(await scene.runJson(...TO_PRODUCTION, '--allow-older'))).toBe(APPLIED);
    expect(scene.read()).toContain('"production":2');
  });

  test('promote suggests a pull if a sync would replace the newer version in production', async () => {
    const scene = await makePromotionScene({ text: 'Two.', pins: { staging: 2, production: 1 } }, outsideGit);
    scene.make(['One.', 'Two.', 'Three.']);
    scene.activate('staging', 2);
    scene.activate('production', 3);
    const { report } = await scene.runJson(...TO_PRODUCTION);
    expect(report.prompts[0]?.problems).toMatchObject([
      { code: 'promote/older', hint: expect.stringContaining('promptsync pull greeting') },
    ]);
  });

  test('promote suggests syncing staging first if production is ahead because the staging pin is not synced yet', async () => {
    const scene = await makePromotionScene({ text: 'Four.', pins: { staging: 4, production: 3 } }, outsideGit);
    scene.make(['One.', 'Two.', 'Three.', 'Four.']);
    scene.activate('staging', 2);
    scene.activate('production', 3);
    const { report } = await scene.runJson(...TO_PRODUCTION);
    expect(report.prompts[0]?.problems).toMatchObject([
      { code: 'promote/older', hint: expect.stringContaining('promptsync sync --environment staging') },
    ]);
  });

  test('promote --all skips only the prompts that are newer in production than in staging', async () => {
    const pinned = { text: 'Two.', pins: { staging: 2, production: 1 } };
    const scene = await makePromotionScene(pinned, { ...outsideGit, others: { refund: pinned } });
    for (const [id, production] of [['greeting', 1] as const, ['refund', 3] as const]) {
      scene.make(['One.', 'Two.', 'Three.'], id);
      scene.activate('staging', 2, id);
      scene.activate('production', production, id);
    }
    const ran = await scene.runJson('promote', '--all', '--to', 'production');
    expect(summarizeRun(ran)).toBe(`${APPLIED}, refund unchanged promote/older`);
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

test.each<[string, string | number, string]>([
  ['The hint for a refused pin to a newer version contains a promote command that succeeds', 3, 'Two {{a}}.'],
  [
    'The hint for a refused pin to a version that does not exist yet contains a promote command that succeeds',
    'latest',
    'Four.',
  ],
])('%s', async (_, pin, text) => {
  const scene = await makePromotionScene({ text, pins: { production: pin } }, outsideGit);
  scene.make(['One.', 'Two {{a}}.', 'Three.']);
  scene.activate('staging', 2);
  scene.activate('production', 1);
  const refused = await scene.runJson('plan');
  expect(summarizeRun(refused)).toBe('exit 3, greeting blocked guard/promotion-order');
  const hint = refused.report.prompts[0]?.problems[0]?.hint ?? '';
  const words = /: `promptsync (.*)`$/.exec(hint)?.[1]?.split(' ') ?? [];
  expect(summarizeRun(await scene.runJson(...words))).toBe(APPLIED);
});

test('promote marks a prompt as new in production only if production does not serve it yet', async () => {
  const pinned = { text: 'Two.', pins: { staging: 'latest', production: 1 } };
  const unpinned = { text: 'Two.', pins: { staging: 'latest' } };
  const scene = await makePromotionScene(unpinned, { ...outsideGit, others: { refund: unpinned, summary: pinned } });
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
  const { report } = await scene.runJson(...words);
  const active = report.prompts.map(({ edits: [edit] = [] }) => (edit?.kind === 'set-pin' ? edit.active : undefined));
  expect(active).toMatchObject([null, { version_number: 1 }, { version_number: 1 }]);
});
