import { describe, expect, test } from 'vitest';
import type { Plan } from '../../src/domain/plan.ts';
import { parseMaxChanges } from '../../src/domain/policy.ts';
import { guard, type Guards } from '../../src/planning/guard.ts';
import { deepFreeze, file, makePlan, observation, observed, planLines, rules, version } from './support.ts';

const none: Guards = { onDrift: 'overwrite', maxChanges: null, expectedPlan: null, uncommitted: new Set() };

/** A plan of so many prompts of which the first ones change; p1 is first. */
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
  test.each(rows)('%s of %i prompts with %i changing: allowed is %s', (max, prompts, changing, allowed) => {
    const plan = planOf(prompts, changing);
    const refused = guard(plan, { ...none, maxChanges: parseMaxChanges(max) });
    const blocked = refused.prompts.filter(({ status }) => status === 'blocked');
    expect(blocked).toHaveLength(allowed ? 0 : changing);
    expect(statuses(refused).slice(changing)).toStrictEqual(statuses(plan).slice(changing));
  });

  test('is a part of all prompts, also of those that were not looked at', () => {
    const refused = guard(planOf(4, 2), { ...none, maxChanges: parseMaxChanges('25%'), notLookedAt: 4 });
    expect(statuses(refused)).toStrictEqual(['pending', 'pending', 'unchanged', 'unchanged']);
  });

  test('counts a prompt whose pins are still to be looked for', () => {
    const wanted = file({ text: 'Hello', pins: { production: 5 } });
    const found = observed({
      active: { production: version(1, 'Hello'), promptsync: version(1, 'Hello') },
      prompt: { latestVersionId: 'ver_5' },
    });
    const plan = makePlan([wanted], observation(found), rules());
    expect(plan.prompts.flatMap(planLines)).toStrictEqual(['blocked: pin/unknown-number', 'find: 5']);
    const [prompt] = guard(plan, { ...none, maxChanges: { kind: 'count', count: 0 } }).prompts;
    expect(planLines(prompt!)).toStrictEqual(['blocked: pin/unknown-number', 'blocked: guard/max-changes']);
  });
});

describe('The expected plan', () => {
  test('lets itself through', () => {
    const plan = planOf(2, 1);
    expect(guard(plan, { ...none, expectedPlan: plan.digest })).toStrictEqual(plan);
  });

  test('refuses every prompt that would change by another plan, and no unchanged one', () => {
    const refused = guard(planOf(3, 2), { ...none, expectedPlan: planOf(3, 1).digest });
    expect(statuses(refused)).toStrictEqual(['blocked', 'blocked', 'unchanged']);
    expect(refused.prompts[0]?.problems.map(({ code }) => code)).toStrictEqual(['guard/stale-plan']);
  });

  test('has nothing to refuse where nothing would be done', () => {
    const plan = planOf(2, 0);
    expect(guard(plan, { ...none, expectedPlan: 'sha256:other' })).toStrictEqual(plan);
  });

  test('does not look for what was blocked when it was reviewed', () => {
    const found = observed({ active: { production: null, promptsync: null }, prompt: { latestVersionId: 'ver_5' } });
    const plan = makePlan([file({ pins: { production: 5 } })], observation(found), rules());
    expect(plan.prompts[0]?.finds).toStrictEqual([{ kind: 'number', number: 5 }]);
    const [prompt] = guard(plan, { ...none, expectedPlan: plan.digest }).prompts;
    expect(prompt).toMatchObject({ status: 'blocked', finds: [] });
    expect(guard(plan, none)).toStrictEqual(plan);
  });

  test('still looks before an id goes live that was reviewed', () => {
    const found = observed({ active: { production: null, promptsync: version(1, 'Hello') } });
    const plan = makePlan([file({ pins: { production: 'version:theirs' } })], observation(found), rules());
    expect(guard(plan, { ...none, expectedPlan: plan.digest })).toStrictEqual(plan);
    expect(plan.prompts[0]?.finds).toStrictEqual([{ kind: 'version', id: 'theirs' }]);
  });
});

describe('Uncommitted files', () => {
  test('are refused alone, and only where they would be written from', () => {
    const refused = guard(planOf(3, 2), { ...none, uncommitted: new Set([pathOf(1), pathOf(3)]) });
    expect(statuses(refused)).toStrictEqual(['blocked', 'pending', 'unchanged']);
    expect(refused.prompts[0]?.problems).toMatchObject([{ code: 'guard/uncommitted', path: pathOf(1) }]);
  });

  test('are not looked at either: looking writes', () => {
    const found = observed({ active: { production: null, promptsync: version(1, 'Hello') } });
    const plan = makePlan([file({ pins: { production: 'version:theirs' } })], observation(found), rules());
    const [prompt] = guard(plan, { ...none, uncommitted: new Set(['prompts/a.md']) }).prompts;
    expect(planLines(prompt!)).toStrictEqual(['production: none → theirs', 'blocked: guard/uncommitted']);
  });
});

describe('A refused plan', () => {
  test('keeps its changes and its digest, so that one can see what was refused', () => {
    const plan = planOf(2, 2);
    const refused = guard(plan, { ...none, maxChanges: { kind: 'count', count: 0 } });
    expect(refused.digest).toBe(plan.digest);
    expect(refused.prompts.map(({ changes }) => changes)).toStrictEqual(plan.prompts.map(({ changes }) => changes));
  });

  test('names all guards that refuse it, after what blocked it before', () => {
    const found = observed({ active: { staging: version(1, 'Hello') } });
    const wanted = file({ text: 'Hi', pins: { staging: 'latest' } });
    const plan = makePlan([wanted], observation(found), rules({ latestForbidden: ['staging'] }));
    const guards = {
      onDrift: 'overwrite',
      maxChanges: { kind: 'count', count: 0 },
      expectedPlan: 'x',
      uncommitted: new Set(['prompts/a.md']),
    } as const;
    expect(guard(plan, guards).prompts[0]?.problems.map(({ code }) => code)).toStrictEqual([
      'guard/latest-not-allowed',
      'guard/max-changes',
      'guard/stale-plan',
      'guard/uncommitted',
    ]);
  });

  test('leaves a prompt that could not be observed failed', () => {
    const plan = makePlan([file({ pins: { staging: 'latest' } })], observation(), rules());
    expect(guard(plan, { ...none, expectedPlan: 'x', uncommitted: new Set(['prompts/a.md']) })).toStrictEqual(plan);
  });
});
