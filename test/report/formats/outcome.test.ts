import { expect, test } from 'vitest';
import { chooseFailureReason, type FailureReason } from '../../../src/report/formats/outcome-title.ts';
import type { ReportProblem, ReportPrompt } from '../../../src/report/schema/report-schema.ts';
import { promptOf } from '../support.ts';

const problemOf = (code: string, severity: ReportProblem['severity'] = 'error'): ReportProblem => {
  return { code, severity, message: 'It happened.', hint: 'What to do.' };
};
const newerCommit = problemOf('guard/overtaken', 'warning');
const drift = problemOf('guard/drift');
const otherGuard = problemOf('guard/placeholder-id');

const make = (status: ReportPrompt['status'], ...problems: readonly ReportProblem[]) => promptOf({ status, problems });

const APPLIED = make('applied');
const DRIFTED = make('blocked', drift);

test.each<[string, readonly ReportPrompt[], readonly ReportProblem[], FailureReason]>([
  [
    'chooseFailureReason returns no reason if a newer commit appeared during a successful apply',
    [APPLIED],
    [newerCommit],
    '',
  ],
  [
    'chooseFailureReason returns invalid files if there are errors but no prompts',
    [],
    [problemOf('prompt/invalid-field')],
    'invalid',
  ],
  [
    'chooseFailureReason returns a failure if an error affects the whole run, even if all was applied',
    [APPLIED],
    [problemOf('git/failed')],
    'failed',
  ],
  ['chooseFailureReason returns a failure if a prompt was not attempted', [make('not_attempted')], [], 'failed'],
  [
    'chooseFailureReason returns a failure if one prompt failed and another is blocked',
    [DRIFTED, make('failed')],
    [],
    'failed',
  ],
  [
    'chooseFailureReason returns drift if a drifted prompt also has a warning',
    [make('blocked', drift, newerCommit), APPLIED],
    [],
    'drift',
  ],
  [
    'chooseFailureReason returns a refusal if drift and another guard block the same prompt',
    [make('blocked', drift, otherGuard)],
    [],
    'refused',
  ],
  ['chooseFailureReason returns a refusal if a guard refuses the whole run', [], [otherGuard], 'refused'],
  [
    'chooseFailureReason returns a superseded run even if drift blocks another prompt',
    [DRIFTED, make('blocked', problemOf('guard/superseded'))],
    [],
    'superseded',
  ],
])('%s', (_, prompts, problems, expected) => {
  expect(chooseFailureReason({ prompts, problems })).toBe(expected);
});
