import { describe, expect, test } from 'vitest';
import { startStory, type Story } from './support.ts';

type Guarded = {
  readonly words?: readonly string[];
  readonly config?: string;
  readonly before?: (story: Story) => void;
  readonly pins?: Readonly<Record<string, string | number>>;
  readonly code: string;
};

const guards: readonly [string, Guarded][] = [
  [
    'plan and sync both refuse drift with --on-drift fail',
    {
      words: ['--base', 'HEAD~1', '--on-drift', 'fail'],
      before: ({ activate, draft }) => activate('staging', draft('Theirs.')),
      code: 'guard/drift',
    },
  ],
  [
    'plan and sync both refuse more changes than max_changes allows',
    { config: 'max_changes: 0\n', code: 'guard/max-changes' },
  ],
  [
    'plan and sync both refuse more changes than --max-changes allows',
    { words: ['--max-changes', '0%'], code: 'guard/max-changes' },
  ],
  [
    'plan and sync both refuse a plan whose digest differs from --expect-plan',
    { words: ['--expect-plan', `sha256:${'0'.repeat(64)}`], code: 'guard/stale-plan' },
  ],
  [
    'plan and sync both refuse a pin to an unknown version number',
    { pins: { staging: 99 }, code: 'pin/unknown-number' },
  ],
  [
    'plan and sync both refuse a pin to an unknown git ref',
    { pins: { staging: 'git:nowhere' }, code: 'pin/unknown-ref' },
  ],
  [
    'plan and sync both refuse a latest pin in an environment with allow_latest: false',
    {
      config: 'environments: { staging: {}, production: { allow_latest: false } }\n',
      pins: { staging: 'latest', production: 'latest' },
      code: 'guard/latest-not-allowed',
    },
  ],
  [
    'plan and sync both reject a pin to HEAD in an environment with allow_latest: false',
    {
      config: 'environments: { staging: {}, production: { allow_latest: false } }\n',
      pins: { staging: 'latest', production: 'git:HEAD' },
      code: 'guard/latest-not-allowed',
    },
  ],
];

describe('guards', () => {
  test.each(guards)('%s', async (_, { words = [], config = '', before, pins, code }) => {
    const story = await startStory({ text: 'A' }, { config });
    await story.sync('--max-changes', '100%');
    before?.(story);
    story.edit({ text: 'B', ...(pins && { pins }) });
    story.service.takeWrites();
    const [dry, wet] = [await story.plan(...words), await story.sync(...words)];
    for (const { exitCode, report } of [dry, wet]) {
      expect(exitCode).toBe(3);
      expect(report.prompts.map(({ status }) => status)).toEqual(['blocked']);
      expect(report.prompts[0]!.problems.map((problem) => problem.code)).toContain(code);
      expect(report.prompts[0]!.problems[0]!.hint).not.toBe('');
    }
    expect(dry.report.plan_digest).toBe(wet.report.plan_digest);
    expect(story.service.takeWrites()).toEqual([]);
  });
});
