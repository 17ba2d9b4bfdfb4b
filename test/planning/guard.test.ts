import { describe, expect, test } from 'vitest';
import type { Plan } from '../../src/domain/plan.ts';
import { parseMaxChanges } from '../../src/domain/policy.ts';
import { guardPlan, type GuardSettings } from '../../src/planning/guard-plan.ts';
import {
  deepFreeze,
  file,
  makePlan,
  observation,
  observed,
  parseFile,
  parseRules,
  parseService,
  planLines,
  rules,
  version,
} from './support.ts';

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

/** Plans one prompt from `FILE | SERVICE | RULES`, in the notation of `support.ts`. */
function planRow(row: string): Plan {
  const [wanted = '', service = '', given = ''] = row.split(' | ');
  return makePlan([file(parseFile(wanted))], observation(observed(parseService(service))), rules(parseRules(given)));
}

function pathOf(number: number): string {
  return `prompts/${String(number).padStart(3, '0')}.md`;
}

function statuses({ prompts }: Plan): readonly string[] {
  return prompts.map(({ status }) => status);
}

describe('max_changes', () => {
  test.each([
    ['2', 4, 2, true],
    ['2', 4, 3, false],
    ['25%', 4, 2, false],
  ])(
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
    const plan = planRow('production=5 | production=1:Hello promptsync=1:Hello latest=ver_5');
    expect(plan.prompts.flatMap(planLines)).toStrictEqual(['blocked: pin/unknown-number', 'find: 5']);
    const [prompt] = guardPlan(plan, { ...none, maxChanges: { kind: 'count', count: 0 } }).prompts;
    expect(planLines(prompt!)).toStrictEqual(['blocked: pin/unknown-number', 'blocked: guard/max-changes']);
  });
});

describe('the guard --expect-plan', () => {
  test('The --expect-plan guard accepts the expected digest, also shortened to 12 digits but not to 11 digits', () => {
    const plan = planOf(1, 1);
    const guardWith = (length: number) =>
      statuses(guardPlan(plan, { ...none, expectedPlan: plan.digest.slice(0, length) }));
    expect(guardWith(plan.digest.length)).toStrictEqual(['pending']);
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
    const plan = planRow('production=5 | production=- promptsync=- latest=ver_5');
    expect(plan.prompts[0]?.pinsToFind).toStrictEqual([{ kind: 'number', number: 5 }]);
    const [prompt] = guardPlan(plan, { ...none, expectedPlan: plan.digest }).prompts;
    expect(prompt).toMatchObject({ status: 'blocked', pinsToFind: [] });
    expect(guardPlan(plan, none)).toStrictEqual(plan);
  });

  test('promptsync probes a pinned version id that is part of the reviewed plan, unless the file is uncommitted', () => {
    const plan = planRow('production=version:theirs | production=- promptsync=1:Hello latest=theirs');
    expect(guardPlan(plan, { ...none, expectedPlan: plan.digest })).toStrictEqual(plan);
    expect(plan.prompts[0]?.pinsToFind).toStrictEqual([{ kind: 'version', id: 'theirs' }]);
    const [prompt] = guardPlan(plan, { ...none, uncommitted: new Set(['prompts/a.md']) }).prompts;
    expect(planLines(prompt!)).toStrictEqual(['production: none → theirs', 'blocked: guard/uncommitted']);
  });
});

test('The guard against uncommitted files blocks only those uncommitted prompts that the plan changes', () => {
  const refused = guardPlan(planOf(3, 2), { ...none, uncommitted: new Set([pathOf(1), pathOf(3)]) });
  expect(statuses(refused)).toStrictEqual(['blocked', 'pending', 'unchanged']);
  expect(refused.prompts[0]?.problems).toMatchObject([{ code: 'guard/uncommitted', path: pathOf(1) }]);
});

describe('a refused plan', () => {
  test('If a guard refuses a plan, the refused plan still contains the planned changes and has the same digest', () => {
    const plan = planOf(2, 2);
    const refused = guardPlan(plan, { ...none, maxChanges: { kind: 'count', count: 0 } });
    expect(refused.digest).toBe(plan.digest);
    expect(refused.prompts.map(({ changes }) => changes)).toStrictEqual(plan.prompts.map(({ changes }) => changes));
  });

  test('A refused prompt reports one problem for each guard that refuses it', () => {
    const plan = planRow('Hi staging=latest | staging=1:Hello | closed=staging');
    const maxChanges = { kind: 'count', count: 0 } as const;
    const guards = { ...none, maxChanges, expectedPlan: 'x', uncommitted: new Set(['prompts/a.md']) };
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
