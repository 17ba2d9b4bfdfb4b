import { describe, expect, test } from 'vitest';
import { applyPlan } from '../../src/applying/apply-plan.ts';
import type { Observed } from '../../src/domain/observed.ts';
import type { Change, PromptPlan } from '../../src/domain/plan.ts';
import { ledgerProvider } from '../../src/ledger/provider.ts';
import { wantedOf } from '../../src/observing/observe.ts';
import { inMemoryBackend } from '../doubles/backends.ts';
import { recorded } from '../doubles/recorded.ts';
import { file, makePlan, observation, observed, planPrompt, rules, TRACKING, version } from '../planning/support.ts';
import { outcomeLine } from './support.ts';

const staging = { staging: 'latest' };

const never = () => {
  throw new Error('There is nothing to ask.');
};

/** Applies prompts' plans as a program that uses the library may give them. */
async function apply(prompts: readonly PromptPlan[]) {
  const service = recorded(inMemoryBackend());
  const world = { trackingEnvironment: TRACKING, newOperation: never, textAt: never, sleep: never };
  const provider = ledgerProvider({ ...world, service });
  const outcomes = await applyPlan({ prompts, digest: 'not looked at' }, provider, {
    wantedFor: (plan) => wantedOf(plan.file, rules()),
    planAgain: async (plan, seen: Observed) => ({ ...plan, observed: seen }),
    ...{ isReviewed: false, concurrency: 1, stop: new AbortController().signal },
  });
  const writes = service.lines.filter((line) => !line.startsWith('read '));
  return { writes, outcomes: outcomes.map(outcomeLine), problems: outcomes.flatMap((one) => one.problems) };
}

test('A plan that has nothing to write is applied without a call', async () => {
  const found = observed({ active: { staging: version(1, 'Hello') } });
  const files = [
    file({ pins: staging }),
    file({ id: 'p2', path: 'prompts/b.md', pins: { staging: 'git:gone' } }),
    file({ id: 'p3', path: 'prompts/c.md' }),
  ];
  const seen = observation(found, { ...found, fields: { ...found.fields!, id: 'p2' } });
  expect(await apply(makePlan(files, seen, rules()).prompts)).toMatchObject({
    writes: [],
    outcomes: ['unchanged:', 'blocked: pin/unknown-ref', 'failed: internal/unexpected'],
  });
});

describe('A plan that does not hold together fails, and says in what', () => {
  const whole = planPrompt(file({ pins: staging }), observed({ active: { staging: null } }), rules());
  const toUnknown: Change = {
    ...{ kind: 'set-active', environment: 'staging', before: null },
    after: { id: 'x', number: null },
  };

  test.each<[string, readonly Change[], string]>([
    [
      'it sets a version that it does not make',
      whole.changes.filter(({ kind }) => kind === 'set-active'),
      'a planned version was not made',
    ],
    ['it sets a version that nobody has looked at', [toUnknown], 'a version that nobody has looked at was to go live'],
  ])('%s', async (_, changes, reason) => {
    const { writes, outcomes, problems } = await apply([{ ...whole, changes }]);
    expect([writes, outcomes]).toStrictEqual([[], ['failed: not_made internal/unexpected']]);
    expect(problems[0]?.message).toContain(reason);
  });
});
