import { describe, expect, test } from 'vitest';
import { applyPlan } from '../../src/applying/apply-plan.ts';
import type { ApplyDependencies } from '../../src/applying/deps.ts';
import type { Change, PromptPlan } from '../../src/domain/plan.ts';
import { makePlan, planPrompt } from '../../src/planning/make-plan.ts';
import { inMemoryBackend } from '../doubles/backends.ts';
import { recorded } from '../doubles/recorded.ts';
import { file, observation, observed, rules, version } from '../planning/support.ts';
import { outcomeLine } from './support.ts';

const staging = { staging: 'latest' };

const never = () => {
  throw new Error('There is nothing to ask.');
};

/** Applies prompts' plans as a program that uses the library may give them, with nobody to tell. */
async function apply(prompts: readonly PromptPlan[], parts: Partial<ApplyDependencies> = {}) {
  const service = recorded(inMemoryBackend());
  const asked = { newOperation: never, observe: never, replan: never, digestAt: never, sleep: never };
  const outcomes = await applyPlan(
    { prompts, digest: 'not looked at' },
    {
      ...{ service, trackingEnvironment: 'promptsync', concurrency: 1, stop: new AbortController().signal },
      ...{ ...asked, ...parts },
    },
  );
  return {
    lines: service.lines,
    outcomes: outcomes.map(outcomeLine),
    problems: outcomes.flatMap((one) => one.problems),
  };
}

test('A plan that has nothing to write is applied without a call', async () => {
  const found = observed({ active: { staging: version(1, 'Hello') } });
  const files = [
    file({ pins: staging }),
    file({ id: 'p2', path: 'prompts/b.md', pins: { staging: 'git:gone' } }),
    file({ id: 'p3', path: 'prompts/c.md' }),
  ];
  const seen = observation(found, { ...found, prompt: { ...found.prompt, id: 'p2' } });
  expect(await apply(makePlan(files, seen, rules()).prompts)).toMatchObject({
    lines: [],
    outcomes: ['unchanged:', 'blocked: pin/unknown-ref', 'failed: internal/unexpected'],
  });
});

describe('A plan that does not hold together fails, and says in what', () => {
  const found = observed({ active: { staging: null } });
  const whole = planPrompt(file({ pins: staging }), found, rules());
  const same: Partial<ApplyDependencies> = { observe: async () => found, replan: async (plan) => plan };

  test.each([
    ['with changes', { ...whole, observed: null }],
    ['with a look', { ...whole, observed: null, lookups: ['ver_1'] }],
  ])('it comes from no observation: %s', async (_, plan) => {
    const { lines, outcomes, problems } = await apply([plan], same);
    expect([lines, outcomes]).toStrictEqual([[], ['failed: not_made not_made internal/unexpected']]);
    expect(problems[0]?.message).toBe('promptsync met an error of its own: nothing was observed');
  });

  test('it sets a version that it does not make', async () => {
    const changes = whole.changes.filter(({ kind }) => kind === 'set-active');
    const { lines, outcomes, problems } = await apply([{ ...whole, changes }], same);
    expect([lines, outcomes]).toStrictEqual([[], ['failed: not_made internal/unexpected']]);
    expect(problems[0]?.message).toBe(
      'Setting "staging": promptsync met an error of its own: a planned version was not made',
    );
  });

  test('it sets a version that nobody has looked at', async () => {
    const change: Change = {
      kind: 'set-active',
      environment: 'staging',
      before: null,
      after: { id: 'x', number: null },
    };
    const { lines, outcomes, problems } = await apply([{ ...whole, changes: [change] }], same);
    expect([lines, outcomes]).toStrictEqual([[], ['failed: not_made internal/unexpected']]);
    expect(problems[0]?.message).toContain('was not looked at');
  });
});
