import { describe, expect, test } from 'vitest';
import { makeReport } from '../../../src/report/make-report.ts';
import { makeRunWithoutPlan } from '../../../src/run/command-result.ts';
import { NO_ACCEPTED_WARNINGS } from '../../../src/domain/accepted-warnings.ts';
import type { ActionMode } from '../../../src/forges/github/action-event.ts';
import { annotateProblems, annotateWholeRun } from '../../../src/forges/github/annotate-problems.ts';
import { countDifferingPrompts, chooseActionFailure } from '../../../src/forges/github/publish-run.ts';
import { makeProblem } from '../../../src/problem.ts';
import type { FailureReason } from '../../../src/report/formats/outcome-title.ts';
import type { Report, ReportProblem, ReportPrompt } from '../../../src/report/schema/report-schema.ts';
import { makeRunner, problemOfKind } from './support.ts';

describe('annotateProblems', () => {
  const many = (severity: ReportProblem['severity'], count: number): readonly ReportProblem[] =>
    Array.from({ length: count }, (_, n) => problemOfKind(severity, { message: `${severity} ${n + 1}.` }));
  const annotated = (problems: readonly ReportProblem[]): readonly string[] => {
    const runner = makeRunner();
    annotateProblems(problems, (path) => `root/${path}`, runner);
    return runner.annotations.map(({ kind, text }) => `${kind}: ${text}`);
  };

  test.each<[number, string | undefined]>([
    [9, undefined],
    [10, 'error: 1 more error: see the run summary.'],
    [12, 'error: 3 more errors: see the run summary.'],
  ])('annotateProblems shows nine of %i errors and states how many more there are, if any', (count, more) => {
    const lines = annotated(many('error', count));
    expect(lines.slice(0, 9)).toEqual(many('error', 9).map(({ message }) => `error: ${message} What to do.`));
    expect(lines.slice(9)).toEqual(more === undefined ? [] : [more]);
  });

  test('annotateProblems limits errors and warnings separately and lists errors first', () => {
    const lines = annotated([...many('warning', 11), ...many('error', 9)]);
    expect(lines.map((line) => line.split(':')[0]).join(' ')).toMatch(/^(error ){9}(warning ?){10}$/);
    expect(lines.at(-1)).toBe('warning: 2 more warnings: see the run summary.');
  });

  test('annotateProblems reports identical problems only once', () => {
    const one = problemOfKind('error', { path: 'a.md', line: 3 });
    expect(annotated(Array.from({ length: 20 }, () => ({ ...one })))).toHaveLength(1);
    expect(annotated([one, { ...one, line: 4 }])).toHaveLength(2);
  });

  test.each<[string, Partial<ReportProblem>, object]>([
    ['annotateProblems gives the annotation of a problem no place', {}, {}],
    ['annotateProblems gives the annotation of a problem its file', { path: 'a.md' }, { file: 'root/a.md' }],
    [
      'annotateProblems gives the annotation of a problem its line',
      { path: 'a.md', line: 3 },
      { file: 'root/a.md', startLine: 3 },
    ],
    [
      'annotateProblems gives the annotation of a problem its column',
      { path: 'a.md', line: 3, column: 5 },
      { file: 'root/a.md', startLine: 3, startColumn: 5 },
    ],
    [
      'annotateProblems gives the annotation of a problem a file with escaped characters',
      { path: 'a\u202e.md' },
      { file: 'root/a\\u{202e}.md' },
    ],
  ])('%s', (_, parts, place) => {
    const runner = makeRunner();
    annotateProblems([problemOfKind('error', parts)], (path) => `root/${path}`, runner);
    expect(runner.annotations.map((one) => one.place)).toEqual([{ title: 'prompt/any', ...place }]);
  });

  test.each<[string, message: string, expected: string]>([
    ['annotateProblems and annotateWholeRun escape a workflow command', '::error::x', '\\u{3a}:error::x'],
    ['annotateProblems and annotateWholeRun escape an indented workflow command', '  ::error::x', '  \\u{3a}:error::x'],
    [
      'annotateProblems and annotateWholeRun escape a workflow command in the legacy syntax',
      'a ##[error]x',
      'a ##\\u{5b}error]x',
    ],
    [
      'annotateProblems and annotateWholeRun escape CRLF before a workflow command',
      'a\r\n::error::x',
      'a\\u{d}\\u{a}::error::x',
    ],
    [
      'annotateProblems and annotateWholeRun escape hidden and control characters',
      'a\u202eb\u0000',
      'a\\u{202e}b\\u{0}',
    ],
  ])('%s', (_, message, expected) => {
    const runner = makeRunner();
    const problem = problemOfKind('error', { message });
    annotateProblems([problem], (path) => path, runner);
    annotateWholeRun('notice', problem, runner);
    expect(runner.annotations.map(({ kind, text }) => [kind, text])).toEqual([
      ['error', `${expected} What to do.`],
      ['notice', `${expected} What to do.`],
    ]);
  });
});

type Status = ReportPrompt['status'];

function promptOf(status: Status): ReportPrompt {
  return { path: 'prompts/a.md', id: 'prm_a', key: 'a', type: 'text', status, changes: [], drift: [], problems: [] };
}

test.each<[ActionMode, exitCode: number, Status, FailureReason]>([
  ['sync', 0, 'applied', ''],
  ['plan', 0, 'pending', ''],
  ['drift', 0, 'pending', 'drift'],
  ['drift', 0, 'unchanged', ''],
  ['drift', 4, 'failed', 'failed'],
  ['sync', 130, 'applied', 'failed'],
])(
  'In the mode %s, with exit code %i and the status %s, chooseActionFailure returns %j',
  (mode, exitCode, status, reason) => {
    expect(chooseActionFailure(mode, { exitCode }, reportOf([promptOf(status)]))).toBe(reason);
  },
);

test('The notice about a check that could not be written asks for a GitHub App token if the token belongs to a user', () => {
  const evidence = { what: 'check', reason: 'You must authenticate via a GitHub App.', forbidden: true };
  expect(makeProblem('action/not-told', evidence).hint).toContain('Set `github-token` to a GitHub App token');
});

test('countDifferingPrompts counts only pending and blocked prompts', () => {
  const all = ['unchanged', 'pending', 'blocked', 'failed', 'applied', 'not_attempted'] as const;
  const differ = all.filter((status) => countDifferingPrompts(reportOf([promptOf('unchanged'), promptOf(status)])) > 0);
  expect(differ).toEqual(['pending', 'blocked']);
});

function reportOf(prompts: readonly ReportPrompt[]): Report {
  return {
    ...makeReport(
      makeRunWithoutPlan('apply', { config: null, files: [], acceptedWarnings: NO_ACCEPTED_WARNINGS, problems: [] }),
    ),
    prompts,
  };
}
