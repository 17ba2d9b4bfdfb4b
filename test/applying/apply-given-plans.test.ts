import { expect, test } from 'vitest';
import { applyPlan } from '../../src/applying/apply-plan.ts';
import type { ObservedPrompt } from '../../src/domain/observed-prompt.ts';
import type { Change, PromptPlan } from '../../src/domain/plan.ts';
import { makeFourCallProvider } from '../../src/providers/four-call/provider.ts';
import { makeReadRequest } from '../../src/observing/observe-prompts.ts';
import { inMemoryBackend } from '../doubles/backends.ts';
import { recordCalls } from '../doubles/record-calls.ts';
import { file, observed, planPrompt, rules } from '../planning/support.ts';
import { formatOutcome } from './support.ts';

const refuseCall = () => {
  throw new Error('The test does not expect this call.');
};

/** Applies plans that promptsync did not make, as a program that uses the library can do. */
async function apply(prompts: readonly PromptPlan[]) {
  const service = recordCalls(inMemoryBackend());
  const system = { newOperation: refuseCall, textAt: refuseCall, sleep: refuseCall };
  const provider = makeFourCallProvider({ ...system, service });
  const outcomes = await applyPlan({ prompts, digest: 'not looked at' }, provider, {
    getReadRequest: (plan) => makeReadRequest(plan.file, rules()),
    planAgain: async (plan, seen: ObservedPrompt) => ({ ...plan, observed: seen }),
    ...{ isReviewed: false, concurrency: 1, pause: refuseCall, stop: new AbortController().signal },
  });
  const writes = service.lines.filter((line) => !line.startsWith('read '));
  return { writes, outcomes: outcomes.map(formatOutcome), problems: outcomes.flatMap((one) => one.problems) };
}

const whole = planPrompt(file({ pins: { staging: 'latest' } }), observed({ active: { staging: null } }), rules());
const toUnknown: Change = {
  ...{ kind: 'set-active', environment: 'staging', before: null },
  after: { id: 'x', number: null },
};

test.each<[string, readonly Change[], string]>([
  [
    'applyPlan marks a prompt as failed if its plan activates a new version without creating it',
    whole.changes.filter(({ kind }) => kind === 'set-active'),
    'the version to activate was not created',
  ],
  [
    'applyPlan marks a prompt as failed if its plan activates a version that is unknown to promptsync',
    [toUnknown],
    'the version to activate is not known',
  ],
])('%s', async (_, changes, reason) => {
  const { writes, outcomes, problems } = await apply([{ ...whole, changes }]);
  expect([writes, outcomes]).toStrictEqual([[], ['failed: not_made internal/unexpected']]);
  expect(problems[0]?.message).toContain(reason);
});
