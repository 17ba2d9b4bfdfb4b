import { describe, expect, test } from 'vitest';
import { chooseFailureReason, type FailureReason } from '../../../src/report/formats/outcome-title.ts';
import type { ReportProblem, ReportPrompt } from '../../../src/report/schema/report-schema.ts';
import { promptOf } from '../support.ts';

/** An error, or a warning if its code begins with `warning/` or is `guard/overtaken`. */
function makeProblemWithCode(code: string): ReportProblem {
  const severity = code.startsWith('warning/') || code === 'guard/overtaken' ? 'warning' : 'error';
  return { code, severity, message: 'It happened.', hint: 'What to do.' };
}

const make = (status: ReportPrompt['status'], ...codes: readonly string[]) =>
  promptOf({ status, problems: codes.map(makeProblemWithCode) });

const APPLIED = make('applied');
const FAILED = make('failed');
const DRIFTED = make('blocked', 'guard/drift');

describe('chooseFailureReason', () => {
  test.each<[string, readonly ReportPrompt[], readonly string[], FailureReason]>([
    ['chooseFailureReason returns no reason if everything was applied', [APPLIED], [], ''],
    ['chooseFailureReason returns no reason if a plan has pending changes', [make('pending')], [], ''],
    [
      'chooseFailureReason returns no reason if a newer commit appeared during a successful apply',
      [APPLIED],
      ['guard/overtaken'],
      '',
    ],
    [
      'chooseFailureReason returns invalid files if there are errors but no prompts',
      [],
      ['prompt/invalid-field'],
      'invalid',
    ],
    [
      'chooseFailureReason returns a failure if an error affects the whole run, even if all was applied',
      [APPLIED],
      ['git/failed'],
      'failed',
    ],
    ['chooseFailureReason returns a failure if a prompt failed', [FAILED], [], 'failed'],
    ['chooseFailureReason returns a failure if a prompt was not attempted', [make('not_attempted')], [], 'failed'],
    [
      'chooseFailureReason returns a failure if one prompt failed and another is blocked',
      [DRIFTED, FAILED],
      [],
      'failed',
    ],
    [
      'chooseFailureReason returns a failure if a prompt failed and a newer commit appeared',
      [APPLIED, FAILED],
      ['guard/overtaken'],
      'failed',
    ],
    ['chooseFailureReason returns drift if a prompt is blocked only because of drift', [DRIFTED, APPLIED], [], 'drift'],
    [
      'chooseFailureReason returns drift if a drifted prompt also has a warning',
      [make('blocked', 'guard/drift', 'warning/any')],
      [],
      'drift',
    ],
    [
      'chooseFailureReason returns a refusal if another guard blocks a second prompt',
      [DRIFTED, make('blocked', 'guard/x')],
      [],
      'refused',
    ],
    [
      'chooseFailureReason returns a refusal if drift and a guard block the same prompt',
      [make('blocked', 'guard/drift', 'guard/x')],
      [],
      'refused',
    ],
    [
      'chooseFailureReason returns a refusal if a pin cannot be resolved',
      [make('blocked', 'pin/unresolvable')],
      [],
      'refused',
    ],
    ['chooseFailureReason returns a refusal if a guard refuses the whole run', [], ['guard/expected-plan'], 'refused'],
    [
      'chooseFailureReason returns a superseded run if the branch has a newer commit',
      [make('blocked', 'guard/superseded')],
      [],
      'superseded',
    ],
    [
      'chooseFailureReason returns a superseded run even if drift blocks another',
      [DRIFTED, make('blocked', 'guard/superseded')],
      [],
      'superseded',
    ],
  ])('%s', (_, prompts, codes, expected) => {
    expect(chooseFailureReason({ prompts, problems: codes.map(makeProblemWithCode) })).toBe(expected);
  });
});
