import { describe, expect, test } from 'vitest';
import type { Observed } from '../../src/domain/observed.ts';
import type { PromptFile } from '../../src/domain/prompt-file.ts';
import { guard } from '../../src/planning/guard.ts';
import { file, makePlan, observation, observed, outside, rules, version } from './support.ts';

const pins = { staging: 'latest', production: 'latest' };
const wanted = file({ description: 'Ours', pins });
const guards = { onDrift: 'fail', maxChanges: null, expectedPlan: null, uncommitted: new Set<string>() } as const;

/** The plan of a prompt whose base is the file itself. */
function planOf(seen: Observed, ancestors: readonly string[] = [], former: readonly PromptFile[] = []) {
  const base = {
    files: new Map([['p1', wanted]]),
    ancestors: new Set(ancestors),
  };
  return makePlan([wanted], observation(seen), rules({ base, formerFields: new Map([['p1', former]]) }));
}

const own = version(1, 'Hello');
const calm = { prompt: { description: 'Ours' } };

describe('Where on_drift is fail', () => {
  const rows: readonly (readonly [string, Observed, string])[] = [
    [
      'one environment',
      observed({ ...calm, active: { staging: own, production: outside(2, 'Theirs') } }),
      '"production" serves v2 (id ver_2)',
    ],
    [
      'several environments',
      observed({ ...calm, active: { staging: outside(3, 'Hi'), production: outside(2, 'Hey'), promptsync: own } }),
      '"staging" serves v3 (id ver_3); "production" serves v2 (id ver_2)',
    ],
    [
      'a field',
      observed({ active: { staging: own, production: own }, prompt: { description: 'Theirs' } }),
      'description is "Theirs"',
    ],
    [
      'both',
      observed({ active: { staging: outside(2, 'Hi'), production: own }, prompt: { description: 'Theirs' } }),
      '"staging" serves v2 (id ver_2); description is "Theirs"',
    ],
    [
      'an environment, but not another one that is merely unfinished',
      observed({ ...calm, active: { staging: outside(2, 'Hi'), production: null } }),
      '"staging" serves v2 (id ver_2)',
    ],
  ];
  test.each(rows)('a prompt is refused that somebody has changed, and what it serves is named: %s', (_, seen, what) => {
    const plan = planOf(seen);
    const [prompt] = guard(plan, guards).prompts;
    expect(prompt).toMatchObject({
      status: 'blocked',
      changes: plan.prompts[0]?.changes,
      drift: plan.prompts[0]?.drift,
    });
    expect(prompt?.problems).toMatchObject([
      {
        code: 'guard/drift',
        path: 'prompts/a.md',
        message: `The service was changed outside of git, and on_drift is \`fail\`: ${what}.`,
      },
    ]);
  });

  test.each([
    ['where nothing has drifted', () => planOf(observed({ ...calm, active: { staging: own, production: own } }))],
    [
      'where a sync was cut short',
      () => planOf(observed({ ...calm, active: { staging: version(2, 'Hi'), production: null } }), ['c2']),
    ],
    [
      'where a field stands as an earlier commit had it that did not have it',
      () => planOf(observed({ active: { staging: own, production: own } }), [], [file()]),
    ],
  ])('a prompt is not refused %s', (_, planned) => {
    const plan = planned();
    expect(guard(plan, guards)).toStrictEqual(plan);
  });
});

test('Where on_drift is overwrite, drift is told and git wins', () => {
  const plan = planOf(observed({ ...calm, active: { staging: outside(2, 'Theirs'), production: own } }));
  expect(plan.prompts[0]?.drift).toHaveLength(1);
  expect(guard(plan, { ...guards, onDrift: 'overwrite' })).toStrictEqual(plan);
});
