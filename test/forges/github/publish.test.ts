import { describe, expect, test } from 'vitest';
import type { ActionMode } from '../../../src/forges/github/action-event.ts';
import { annotateProblems, annotateWholeRun } from '../../../src/forges/github/annotate-problems.ts';
import { countDifferingPrompts, chooseActionFailure } from '../../../src/forges/github/publish-run.ts';
import { makeProblem } from '../../../src/problem.ts';
import type { FailureReason } from '../../../src/report/formats/outcome-title.ts';
import type { ReportProblem, ReportPrompt } from '../../../src/report/schema/report-schema.ts';
import { promptOf, reportOf } from '../../report/support.ts';
import { makeRunner, problemOfKind } from './support.ts';

describe('annotateProblems', () => {
  const many = (severity: ReportProblem['severity'], count: number): readonly ReportProblem[] =>
    Array.from({ length: count }, (_, n) => problemOfKind(severity, { message: `${severity} ${n + 1}.` }));
  const annotated = (problems: readonly ReportProblem[]): readonly string[] => {
    const runner = makeRunner();
    annotateProblems(problems, (path) => `root/${path}`, runner);
    return runner.annotations.map(({ kind, text }) => `${kind}: ${text}`);
  };

  test('annotateProblems shows nine errors, then nine warnings and how many more warnings there are', () => {
    const shown = [...many('error', 9), ...many('warning', 9)];
    expect(annotated([...many('warning', 11), ...many('error', 9)])).toEqual([
      ...shown.map(({ severity, message }) => `${severity}: ${message} What to do.`),
      'warning: 2 more warnings: see the run summary.',
    ]);
  });

  test('annotateProblems reports identical problems only once', () => {
    const one = problemOfKind('error', { path: 'a.md', line: 3 });
    expect(annotated(Array.from({ length: 20 }, () => ({ ...one })))).toHaveLength(1);
    expect(annotated([one, { ...one, line: 4 }])).toHaveLength(2);
  });

  test.each<[string, Partial<ReportProblem>, object]>([
    ['annotateProblems gives the annotation of a problem no place', {}, {}],
    [
      'annotateProblems gives the annotation of a problem its file, line and column',
      { path: 'a.md', line: 3, column: 5 },
      { file: 'root/a.md', startLine: 3, startColumn: 5 },
    ],
    [
      'annotateProblems escapes hidden characters in the file of an annotation',
      { path: 'a\u202e.md' },
      { file: 'root/a\\u{202e}.md' },
    ],
  ])('%s', (_, parts, place) => {
    const runner = makeRunner();
    annotateProblems([problemOfKind('error', parts)], (path) => `root/${path}`, runner);
    expect(runner.annotations.map((one) => one.place)).toEqual([{ title: 'prompt/any', ...place }]);
  });

  test('annotateProblems and annotateWholeRun escape workflow commands, line breaks and hidden characters', () => {
    const runner = makeRunner();
    const problem = problemOfKind('error', { message: '::error::x\r\n##[error]\u202ey' });
    annotateProblems([problem], (path) => path, runner);
    annotateWholeRun('notice', problem, runner);
    const text = '\\u{3a}:error::x\\u{d}\\u{a}##\\u{5b}error]\\u{202e}y What to do.';
    expect(runner.annotations).toMatchObject([
      { kind: 'error', text },
      { kind: 'notice', text },
    ]);
  });
});

test.each<[ActionMode, exitCode: number, ReportPrompt['status'], FailureReason]>([
  ['sync', 0, 'applied', ''],
  ['plan', 0, 'pending', ''],
  ['drift', 0, 'pending', 'drift'],
  ['drift', 0, 'unchanged', ''],
  ['drift', 4, 'failed', 'failed'],
  ['sync', 130, 'applied', 'failed'],
])(
  'In the mode %s, with exit code %i and the status %s, chooseActionFailure returns %j',
  (mode, exitCode, status, reason) => {
    expect(chooseActionFailure(mode, { exitCode }, reportOf([promptOf({ status })]))).toBe(reason);
  },
);

test('The notice about a check that could not be written asks for a GitHub App token if the token belongs to a user', () => {
  const evidence = { what: 'check', reason: 'You must authenticate via a GitHub App.', forbidden: true };
  expect(makeProblem('action/not-told', evidence).hint).toContain('Set `github-token` to a GitHub App token');
});

test('countDifferingPrompts counts only pending and blocked prompts', () => {
  const all = ['unchanged', 'pending', 'blocked', 'failed', 'applied', 'not_attempted'] as const;
  const differ = all.filter((status) => countDifferingPrompts(reportOf([promptOf(), promptOf({ status })])) > 0);
  expect(differ).toEqual(['pending', 'blocked']);
});
