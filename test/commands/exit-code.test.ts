import { describe, expect, test } from 'vitest';
import { exitCodeOf } from '../../src/commands/result.ts';
import { NO_ACCEPTED_WARNINGS } from '../../src/domain/accepted-warnings.ts';
import { contentDigest } from '../../src/domain/digest.ts';
import type { PromptOutcome, PromptPlan } from '../../src/domain/plan.ts';
import { makeProblem } from '../../src/problem.ts';
import type { Run } from '../../src/report/make-report.ts';
import { observed } from '../planning/support.ts';

function planned(status: PromptPlan['status'], isObserved = true): PromptPlan {
  const file = {
    ...{ path: 'a.md', id: 'prm', key: 'key', name: 'Name', pins: [] },
    content: { text: 'a', digest: contentDigest('a') },
  };
  const seen = isObserved ? observed() : null;
  return { file, observed: seen, status, changes: [], drift: [], problems: [], finds: [] };
}

const unobserved = planned('failed', false);

function dryRun(...prompts: readonly PromptPlan[]): Run {
  const plan = { prompts, digest: contentDigest('') };
  const none = { service: null, commit: null, files: [], acceptedWarnings: NO_ACCEPTED_WARNINGS, problems: [] };
  return { ...none, mode: 'dry-run', plan, outcomes: null };
}

function applied(...outcomes: readonly (readonly [PromptPlan, PromptOutcome['status']])[]): Run {
  return {
    ...dryRun(...outcomes.map(([plan]) => plan)),
    mode: 'apply',
    outcomes: outcomes.map(([plan, status]) => ({ plan, status, changes: [], problems: [] })),
  };
}

function withProblem(run: Run, problem = makeProblem('config/missing-service')): Run {
  return { ...run, problems: [problem] };
}

const withoutPlan: Run = { ...dryRun(), plan: null };
const warning = makeProblem('prompt/hidden-character', { character: 'x', count: 1 });
const pending = planned('pending');
const tell: Parameters<typeof exitCodeOf>[1] = { reportPending: true };
const interrupted: Parameters<typeof exitCodeOf>[1] = { interrupted: true };

const cases: readonly (readonly [number, string, Run, Parameters<typeof exitCodeOf>[1]])[] = [
  [0, 'nothing to do', dryRun(planned('unchanged')), tell],
  [0, 'no plan was needed', withoutPlan, {}],
  [0, 'a warning', withProblem(dryRun(planned('unchanged')), warning), {}],
  [0, 'changes are pending', dryRun(pending), {}],
  [2, 'changes are pending, and that is to be told', dryRun(pending, planned('unchanged')), tell],
  [0, 'everything was applied', applied([pending, 'applied'], [planned('unchanged'), 'unchanged']), {}],
  [1, 'invalid files or configuration', withProblem(withoutPlan), {}],
  [1, 'no prompt could be observed', dryRun(unobserved, unobserved), {}],
  [1, 'no prompt could be observed for writing', applied([unobserved, 'failed']), {}],
  [3, 'a guard refused', dryRun(planned('blocked')), {}],
  [3, 'a guard refused one prompt and another was written', applied([pending, 'applied'], [pending, 'blocked']), {}],
  [4, 'one prompt could not be observed', dryRun(unobserved, planned('unchanged')), {}],
  [4, 'one prompt was not wholly written', applied([pending, 'failed'], [pending, 'applied']), {}],
  [4, 'the only prompt was not wholly written', applied([pending, 'failed']), {}],
  [0, 'what was not attempted does not count by itself', applied([pending, 'not_attempted']), {}],
  [4, '4 goes before 3', dryRun(unobserved, planned('blocked')), {}],
  [4, '4 goes before 1', withProblem(dryRun(unobserved, pending)), {}],
  [4, '4 goes before 2', dryRun(unobserved, pending), tell],
  [3, '3 goes before 1', withProblem(dryRun(planned('blocked'))), {}],
  [3, '3 goes before 2', dryRun(planned('blocked'), pending), tell],
  [1, '1 goes before 2', withProblem(dryRun(pending)), tell],
  [130, 'interrupted with nothing else', applied([pending, 'not_attempted']), interrupted],
  [130, 'interrupted after a failure', applied([pending, 'failed']), interrupted],
  [130, 'interrupted before anything was observed', dryRun(unobserved), interrupted],
];

describe('the exit code', () => {
  test.each(cases)('is %i: %s', (code, _, run, conditions) => {
    expect(exitCodeOf(run, conditions)).toBe(code);
  });
});
