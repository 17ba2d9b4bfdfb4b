import { describe, expect, test } from 'vitest';
import type { Plan } from '../../src/domain/plan.ts';
import { parseMaxChanges } from '../../src/domain/policy.ts';
import { guardPlan, type GuardSettings } from '../../src/planning/guard-plan.ts';
import { deepFreeze, file, makePlan, observation, observed, planLines, rules, version } from './support.ts';

const none: GuardSettings = { onDrift: 'overwrite', maxChanges: null, expectedPlan: null, uncommitted: new Set() };

/** Makes a plan of prompts p1, p2, …, of which the first ones change. */
function planOf(prompts: number, changing: number): Plan {
  const ids = Array.from({ length: prompts }, (_, index) => `p${index + 1}`);
  const files = ids.map((id, index) => ({
    ...file({ text: index < changing ? 'New' : 'Hello', pins: { staging: 'latest' } }),
    id,
    path: pathOf(index + 1),
  }));
  const found = ids.map((id) => observed({ active: { staging: version(1, 'Hello') }, prompt: { id } }));
  return deepFreeze(makePlan(files, observation(...found), rules()));
}

function pathOf(number: number): string {
  return `prompts/${String(number).padStart(3, '0')}.md`;
}

function statuses({ prompts }: Plan): readonly string[] {
  return prompts.map(({ status }) => status);
}

describe('max_changes', () => {
  const rows: readonly (readonly [max: string, prompts: number, changing: number, allowed: boolean])[] = [
    ['0', 4, 1, false],
    ['2', 4, 2, true],
    ['2', 4, 3, false],
    ['25%', 4, 1, true],
    ['25%', 4, 2, false],
    ['1%', 100, 2, false],
    ['100%', 3, 3, true],
  ];
  test.each(rows)(
    'If max_changes is %s and the plan has %i prompts, the guard accepts %i changed prompts: %s',
    (max, prompts, changing, allowed) => {
      const plan = planOf(prompts, changing);
      const refused = guardPlan(plan, { ...none, maxChanges: parseMaxChanges(max) });
      const blocked = refused.prompts.filter(({ status }) => status === 'blocked');
      expect(blocked).toHaveLength(allowed ? 0 : changing);
      expect(statuses(refused).slice(changing)).toStrictEqual(statuses(plan).slice(changing));
    },
  );

  test('A max_changes percentage is based on all selected prompts, including those that promptsync did not observe', () => {
    const refused = guardPlan(planOf(4, 2), { ...none, maxChanges: parseMaxChanges('25%'), notLookedAt: 4 });
    expect(statuses(refused)).toStrictEqual(['pending', 'pending', 'unchanged', 'unchanged']);
  });

  test('The max_changes guard counts a prompt as changed if promptsync must still probe for its pinned version', () => {
    const wanted = file({ text: 'Hello', pins: { production: 5 } });
    const found = observed({
      active: { production: version(1, 'Hello'), promptsync: version(1, 'Hello') },
      prompt: { latestVersionId: 'ver_5' },
    });
    const plan = makePlan([wanted], observation(found), rules());
    expect(plan.prompts.flatMap(planLines)).toStrictEqual(['blocked: pin/unknown-number', 'find: 5']);
    const [prompt] = guardPlan(plan, { ...none, maxChanges: { kind: 'count', count: 0 } }).prompts;
    expect(planLines(prompt!)).toStrictEqual(['blocked: pin/unknown-number', 'blocked: guard/max-changes']);
  });
});

describe('the guard --expect-plan', () => {
  test('The --expect-plan guard accepts a plan with the expected digest', () => {
    const plan = planOf(2, 1);
    expect(guardPlan(plan, { ...none, expectedPlan: plan.digest })).toStrictEqual(plan);
  });

  test('The --expect-plan guard accepts an expected digest shortened to 12 digits but not to 11 digits', () => {
    const plan = planOf(1, 1);
    const guardWith = (length: number) =>
      statuses(guardPlan(plan, { ...none, expectedPlan: plan.digest.slice(0, length) }));
    expect(guardWith('sha256:'.length + 12)).toStrictEqual(['pending']);
    expect(guardWith('sha256:'.length + 11)).toStrictEqual(['blocked']);
  });

  test('If the plan digest differs from the expected digest, the --expect-plan guard blocks only the prompts with changes', () => {
    const refused = guardPlan(planOf(3, 2), { ...none, expectedPlan: planOf(3, 1).digest });
    expect(statuses(refused)).toStrictEqual(['blocked', 'blocked', 'unchanged']);
    expect(refused.prompts[0]?.problems.map(({ code }) => code)).toStrictEqual(['guard/stale-plan']);
  });

  test('The --expect-plan guard accepts a plan without changes even if the plan digest differs from the expected digest', () => {
    const plan = planOf(2, 0);
    expect(guardPlan(plan, { ...none, expectedPlan: 'sha256:other' })).toStrictEqual(plan);
  });

  test('promptsync does not probe for a pinned version number if the reviewed plan blocked that pin', () => {
    const found = observed({ active: { production: null, promptsync: null }, prompt: { latestVersionId: 'ver_5' } });
    const plan = makePlan([file({ pins: { production: 5 } })], observation(found), rules());
    expect(plan.prompts[0]?.pinsToFind).toStrictEqual([{ kind: 'number', number: 5 }]);
    const [prompt] = guardPlan(plan, { ...none, expectedPlan: plan.digest }).prompts;
    expect(prompt).toMatchObject({ status: 'blocked', pinsToFind: [] });
    expect(guardPlan(plan, none)).toStrictEqual(plan);
  });

  test('promptsync probes a pinned version id that is part of the reviewed plan', () => {
    const found = observed({
      prompt: { latestVersionId: 'theirs' },
      active: { production: null, promptsync: version(1, 'Hello') },
    });
    const plan = makePlan([file({ pins: { production: 'version:theirs' } })], observation(found), rules());
    expect(guardPlan(plan, { ...none, expectedPlan: plan.digest })).toStrictEqual(plan);
    expect(plan.prompts[0]?.pinsToFind).toStrictEqual([{ kind: 'version', id: 'theirs' }]);
  });
});

describe('the guard against uncommitted files', () => {
  test('The guard against uncommitted files blocks only those uncommitted prompts that the plan changes', () => {
    const refused = guardPlan(planOf(3, 2), { ...none, uncommitted: new Set([pathOf(1), pathOf(3)]) });
    expect(statuses(refused)).toStrictEqual(['blocked', 'pending', 'unchanged']);
    expect(refused.prompts[0]?.problems).toMatchObject([{ code: 'guard/uncommitted', path: pathOf(1) }]);
  });

  test('promptsync does not probe a version that an uncommitted file pins', () => {
    const found = observed({
      prompt: { latestVersionId: 'theirs' },
      active: { production: null, promptsync: version(1, 'Hello') },
    });
    const plan = makePlan([file({ pins: { production: 'version:theirs' } })], observation(found), rules());
    const [prompt] = guardPlan(plan, { ...none, uncommitted: new Set(['prompts/a.md']) }).prompts;
    expect(planLines(prompt!)).toStrictEqual(['production: none → theirs', 'blocked: guard/uncommitted']);
  });
});

describe('a refused plan', () => {
  test('If a guard refuses a plan, the refused plan still contains the planned changes and has the same digest', () => {
    const plan = planOf(2, 2);
    const refused = guardPlan(plan, { ...none, maxChanges: { kind: 'count', count: 0 } });
    expect(refused.digest).toBe(plan.digest);
    expect(refused.prompts.map(({ changes }) => changes)).toStrictEqual(plan.prompts.map(({ changes }) => changes));
  });

  test('A refused prompt reports one problem for each guard that refuses it', () => {
    const found = observed({ active: { staging: version(1, 'Hello') } });
    const wanted = file({ text: 'Hi', pins: { staging: 'latest' } });
    const plan = makePlan([wanted], observation(found), rules({ environmentsWithoutLatest: ['staging'] }));
    const guards = {
      onDrift: 'overwrite',
      maxChanges: { kind: 'count', count: 0 },
      expectedPlan: 'x',
      uncommitted: new Set(['prompts/a.md']),
    } as const;
    expect(guardPlan(plan, guards).prompts[0]?.problems.map(({ code }) => code)).toStrictEqual([
      'guard/latest-not-allowed',
      'guard/max-changes',
      'guard/stale-plan',
      'guard/uncommitted',
    ]);
  });

  test('The guards do not change the status of a prompt that promptsync failed to observe', () => {
    const plan = makePlan([file({ pins: { staging: 'latest' } })], observation(), rules());
    expect(guardPlan(plan, { ...none, expectedPlan: 'x', uncommitted: new Set(['prompts/a.md']) })).toStrictEqual(plan);
  });
});
