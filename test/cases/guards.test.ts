import { expect, test } from 'vitest';
import { startStory } from './support.ts';

// Each guard has its own tests in test/planning. This story shows that plan and sync obey the same guards.
test('plan and sync refuse the same drift, the same number of changes and the same pins, and sync writes nothing', async () => {
  const story = await startStory({ text: 'A' }, { config: 'max_changes: 0\n' });
  await story.sync('--max-changes', '100%');
  story.activate('staging', story.draft('Theirs.'));
  story.edit({ text: 'B', pins: { staging: 'latest', production: 'git:nowhere' } });
  story.service.takeWrites();
  const words = ['--base', 'HEAD~1', '--on-drift', 'fail'];
  const [dry, wet] = [await story.plan(...words), await story.sync(...words)];
  for (const { exitCode, report } of [dry, wet]) {
    expect(exitCode).toBe(3);
    expect(report.prompts.map(({ status }) => status)).toEqual(['blocked']);
    const problems = report.prompts[0]!.problems;
    expect(problems.map(({ code }) => code)).toEqual(
      expect.arrayContaining(['pin/unknown-ref', 'guard/drift', 'guard/max-changes']),
    );
    for (const { hint } of problems) expect(hint).not.toBe('');
  }
  expect(dry.report.plan_digest).toBe(wet.report.plan_digest);
  expect(story.service.takeWrites()).toEqual([]);
});
