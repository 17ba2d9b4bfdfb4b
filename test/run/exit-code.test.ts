import { expect, test } from 'vitest';
import { chooseExitCode } from '../../src/run/exit-code.ts';
import type { CommandRun } from '../../src/run/command-result.ts';
import { NO_ACCEPTED_WARNINGS } from '../../src/domain/accepted-warnings.ts';
import { computeContentDigest } from '../../src/domain/content.ts';
import type { PromptOutcome, PromptPlan } from '../../src/domain/plan.ts';
import { DEFAULT_WORDS } from '../../src/service-words.ts';
import { makeProblem } from '../../src/problem.ts';
import { file, observed } from '../planning/support.ts';

function planned(status: PromptPlan['status'], isObserved = true): PromptPlan {
  const nothing = { changes: [], drift: [], annotations: [], problems: [], pinsToFind: [], pinnedVersions: [] };
  return { ...nothing, file: file(), observed: isObserved ? observed() : null, status };
}

const unobserved = planned('failed', false);

function dryRun(...prompts: readonly PromptPlan[]): CommandRun {
  const plan = { prompts, digest: computeContentDigest('') };
  const none = {
    ...{ folder: null, service: null, commit: null, baseName: null, liveBranch: null },
    ...{ vocabulary: DEFAULT_WORDS, acceptedWarnings: NO_ACCEPTED_WARNINGS, files: [], problems: [] },
  };
  return { ...none, mode: 'dry-run', plan, outcomes: null };
}

function applied(...outcomes: readonly (readonly [PromptPlan, PromptOutcome['status']])[]): CommandRun {
  return {
    ...dryRun(...outcomes.map(([plan]) => plan)),
    mode: 'apply',
    outcomes: outcomes.map(([plan, status]) => ({ plan, status, changes: [], problems: [] })),
  };
}

function withProblem(
  run: CommandRun,
  problem = makeProblem('config/missing-service', { variables: ['PROMPTSYNC_BASE_URL'], suggestedUrl: null }),
): CommandRun {
  return { ...run, problems: [problem] };
}

const withoutPlan: CommandRun = { ...dryRun(), plan: null };
const warning = makeProblem('prompt/hidden-character', { character: 'x', count: 1 });
const pending = planned('pending');
const unchanged = planned('unchanged');
const reportPending: Parameters<typeof chooseExitCode>[1] = { reportPending: true };
const interrupted: Parameters<typeof chooseExitCode>[1] = { interrupted: true };

const cases: readonly (readonly [title: string, number, CommandRun, Parameters<typeof chooseExitCode>[1]?])[] = [
  ['the exit code is 0 if there is nothing to do', 0, dryRun(planned('unchanged')), reportPending],
  ['the exit code is 0 if a command needs no plan and reports no errors', 0, withoutPlan],
  ['the exit code is 0 if there are only warnings', 0, withProblem(dryRun(planned('unchanged')), warning)],
  ['the exit code for pending changes is 0 without --exit-code', 0, dryRun(pending)],
  ['the exit code for pending changes is 2 with --exit-code', 2, dryRun(pending, planned('unchanged')), reportPending],
  ['the exit code is 0 if every change was applied', 0, applied([pending, 'applied'], [unchanged, 'unchanged'])],
  ['the exit code is 1 for invalid files or an invalid configuration', 1, withProblem(withoutPlan)],
  ['the exit code is 1 if a dry run could not read any prompt from the service', 1, dryRun(unobserved, unobserved)],
  ['the exit code is 3 if a guard blocked a prompt', 3, dryRun(planned('blocked'))],
  [
    'the exit code is 3 if a guard blocked one prompt but another prompt was applied',
    3,
    applied([pending, 'applied'], [pending, 'blocked']),
  ],
  ['the exit code is 4 if one of several prompts could not be read from the service', 4, dryRun(unobserved, unchanged)],
  [
    'the exit code is 4 if one prompt failed and another was applied',
    4,
    applied([pending, 'failed'], [pending, 'applied']),
  ],
  ['the exit code is 4 if the only prompt was read but could not be applied', 4, applied([pending, 'failed'])],
  ['the exit code is 0 if the only prompt was not attempted without an error', 0, applied([pending, 'not_attempted'])],
  ['exit code 4 takes precedence over exit code 3', 4, dryRun(unobserved, planned('blocked'))],
  ['exit code 3 takes precedence over exit code 1', 3, withProblem(dryRun(planned('blocked')))],
  ['exit code 1 takes precedence over exit code 2', 1, withProblem(dryRun(pending)), reportPending],
  [
    'the exit code is 130 after an interrupt if no prompt failed',
    130,
    applied([pending, 'not_attempted']),
    interrupted,
  ],
  ['the exit code is 130 after an interrupt even if a prompt failed', 130, applied([pending, 'failed']), interrupted],
  ['the exit code is 130 if an interrupt arrives before any prompt is read', 130, dryRun(unobserved), interrupted],
];

test.for(cases)('%s', ([, code, run, conditions = {}]) => {
  expect(chooseExitCode(run, conditions)).toBe(code);
});
