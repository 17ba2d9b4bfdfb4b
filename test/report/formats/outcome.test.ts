import { describe, expect, test } from 'vitest';
import { chooseFailureReason, type FailureReason } from '../../../src/report/formats/outcome-title.ts';
import type { ReportProblem, ReportPrompt } from '../../../src/report/schema/report-schema.ts';

/** An error, or a warning if its code begins with `warning/` or is `guard/overtaken`. */
function makeProblemWithCode(code: string): ReportProblem {
  const severity = code.startsWith('warning/') || code === 'guard/overtaken' ? 'warning' : 'error';
  return { code, severity, message: 'It happened.', hint: 'What to do.' };
}

function makePrompt(status: ReportPrompt['status'], ...codes: readonly string[]): ReportPrompt {
  const problems = codes.map(makeProblemWithCode);
  return { path: 'prompts/a.md', id: 'prm_a', key: 'a', type: 'text', status, changes: [], drift: [], problems };
}

const APPLIED = makePrompt('applied');
const FAILED = makePrompt('failed');
const DRIFTED = makePrompt('blocked', 'guard/drift');

describe('chooseFailureReason', () => {
  test.each<[string, readonly ReportPrompt[], readonly string[], FailureReason]>([
    ['chooseFailureReason returns no reason if everything was applied', [APPLIED], [], ''],
    ['chooseFailureReason returns no reason if a plan has pending changes', [makePrompt('pending')], [], ''],
    [
      'chooseFailureReason reports invalid files if there are errors but no prompts',
      [],
      ['prompt/invalid-field'],
      'invalid',
    ],
    [
      'chooseFailureReason reports a failure if an error affects the whole run, even if every prompt was applied',
      [APPLIED],
      ['pull/not-committed'],
      'failed',
    ],
    ['chooseFailureReason reports a failure if a prompt failed', [FAILED], [], 'failed'],
    [
      'chooseFailureReason reports a failure if a prompt was not attempted',
      [makePrompt('not_attempted')],
      [],
      'failed',
    ],
    [
      'chooseFailureReason reports a failure if one prompt failed and another is blocked',
      [DRIFTED, FAILED],
      [],
      'failed',
    ],
    ['chooseFailureReason reports drift if a prompt is blocked only because of drift', [DRIFTED, APPLIED], [], 'drift'],
    [
      'chooseFailureReason reports a refusal if drift blocks one prompt and another guard blocks a second prompt',
      [DRIFTED, makePrompt('blocked', 'guard/max-changes')],
      [],
      'refused',
    ],
    [
      'chooseFailureReason reports a refusal if drift and another guard block the same prompt',
      [makePrompt('blocked', 'guard/drift', 'guard/max-changes')],
      [],
      'refused',
    ],
    [
      'chooseFailureReason reports a refusal if a pin cannot be resolved',
      [makePrompt('blocked', 'pin/unresolvable')],
      [],
      'refused',
    ],
    [
      'chooseFailureReason reports a superseded run if the branch has a newer commit',
      [makePrompt('blocked', 'guard/superseded')],
      [],
      'superseded',
    ],
    [
      'chooseFailureReason reports a superseded run if the branch has a newer commit, even if drift blocks another prompt',
      [DRIFTED, makePrompt('blocked', 'guard/superseded')],
      [],
      'superseded',
    ],
    ['chooseFailureReason reports a refusal if a guard refuses the whole run', [], ['guard/expected-plan'], 'refused'],
    [
      'chooseFailureReason ignores warnings about a blocked prompt',
      [makePrompt('blocked', 'guard/drift', 'warning/any')],
      [],
      'drift',
    ],
    [
      'chooseFailureReason returns no reason if a newer commit appeared during a successful apply',
      [APPLIED],
      ['guard/overtaken'],
      '',
    ],
    [
      'chooseFailureReason reports a failure if a newer commit appeared during an apply in which a prompt failed',
      [APPLIED, FAILED],
      ['guard/overtaken'],
      'failed',
    ],
  ])('%s', (_, prompts, codes, expected) => {
    expect(chooseFailureReason({ prompts, problems: codes.map(makeProblemWithCode) })).toBe(expected);
  });
});
