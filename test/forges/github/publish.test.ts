import { describe, expect, test } from 'vitest';
import { makeReport } from '../../../src/report/make-report.ts';
import { makeRunWithoutPlan } from '../../../src/run/command-result.ts';
import { NO_ACCEPTED_WARNINGS } from '../../../src/domain/accepted-warnings.ts';
import type { ActionMode } from '../../../src/forges/github/action-event.ts';
import { annotateProblems, annotateWholeRun } from '../../../src/forges/github/annotate-problems.ts';
import { countDifferingPrompts, chooseActionFailure } from '../../../src/forges/github/publish-run.ts';
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
    ['annotateProblems adds no location to the annotation of a problem without a path', {}, { title: 'prompt/any' }],
    [
      'annotateProblems adds the file of a problem to its annotation',
      { path: 'a.md' },
      { title: 'prompt/any', file: 'root/a.md' },
    ],
    [
      'annotateProblems adds the line of a problem to its annotation',
      { path: 'a.md', line: 3 },
      { title: 'prompt/any', file: 'root/a.md', startLine: 3 },
    ],
    [
      'annotateProblems adds the column of a problem to its annotation',
      { path: 'a.md', line: 3, column: 5 },
      { title: 'prompt/any', file: 'root/a.md', startLine: 3, startColumn: 5 },
    ],
    [
      'annotateProblems escapes hidden characters in a path',
      { path: 'a\u202e.md' },
      { title: 'prompt/any', file: 'root/a\\u{202e}.md' },
    ],
  ])('%s', (_, parts, place) => {
    const runner = makeRunner();
    annotateProblems([problemOfKind('error', parts)], (path) => `root/${path}`, runner);
    expect(runner.annotations.map((one) => one.place)).toEqual([place]);
  });

  test.each<[string, message: string, expected: string]>([
    [
      'annotateProblems and annotateWholeRun escape a workflow command in a message',
      '::error::x',
      '\\u{3a}:error::x What to do.',
    ],
    [
      'annotateProblems and annotateWholeRun escape an indented workflow command',
      '  ::error::x',
      '  \\u{3a}:error::x What to do.',
    ],
    [
      'annotateProblems and annotateWholeRun escape a workflow command in the legacy syntax',
      'a ##[error]x',
      'a ##\\u{5b}error]x What to do.',
    ],
    [
      'annotateProblems and annotateWholeRun escape a line feed before a workflow command',
      'a\n::error::x',
      'a\\u{a}::error::x What to do.',
    ],
    [
      'annotateProblems and annotateWholeRun escape CRLF before a workflow command',
      'a\r\n::error::x',
      'a\\u{d}\\u{a}::error::x What to do.',
    ],
    [
      'annotateProblems and annotateWholeRun escape hidden and control characters',
      'a\u202eb\u0000',
      'a\\u{202e}b\\u{0} What to do.',
    ],
  ])('%s', (_, message, expected) => {
    const runner = makeRunner();
    const problem = problemOfKind('error', { message });
    annotateProblems([problem], (path) => path, runner);
    annotateWholeRun('notice', problem, runner);
    expect(runner.annotations.map(({ kind, text }) => [kind, text])).toEqual([
      ['error', expected],
      ['notice', expected],
    ]);
  });
});

type ActionRun = {
  readonly mode: ActionMode;
  readonly exitCode: number;
  /** The statuses of the prompts. */
  readonly statuses: readonly ReportPrompt['status'][];
};

describe('chooseActionFailure', () => {
  test.each<[string, ActionRun, FailureReason]>([
    [
      'chooseActionFailure returns an empty string for a successful sync',
      { mode: 'sync', exitCode: 0, statuses: ['applied'] },
      '',
    ],
    [
      'chooseActionFailure returns an empty string for a plan with changes',
      { mode: 'plan', exitCode: 0, statuses: ['pending'] },
      '',
    ],
    [
      'chooseActionFailure returns drift if a drift check finds changes',
      { mode: 'drift', exitCode: 0, statuses: ['pending'] },
      'drift',
    ],
    [
      'chooseActionFailure returns an empty string for a drift check without changes',
      { mode: 'drift', exitCode: 0, statuses: ['unchanged'] },
      '',
    ],
    [
      'chooseActionFailure returns failed if a prompt fails during a drift check',
      { mode: 'drift', exitCode: 4, statuses: ['failed'] },
      'failed',
    ],
    [
      'chooseActionFailure returns failed if a sync is interrupted after its last write',
      { mode: 'sync', exitCode: 130, statuses: ['applied'] },
      'failed',
    ],
  ])('%s', (_, { mode, exitCode, statuses }, expected) => {
    const prompts = statuses.map((status) => promptOf(status));
    expect(chooseActionFailure(mode, { exitCode }, reportOf(prompts))).toBe(expected);
  });

  test('countDifferingPrompts counts only pending and blocked prompts', () => {
    const all = ['unchanged', 'pending', 'blocked', 'failed', 'applied', 'not_attempted'] as const;
    const differ = all.filter(
      (status) => countDifferingPrompts(reportOf([promptOf('unchanged'), promptOf(status)])) > 0,
    );
    expect(differ).toEqual(['pending', 'blocked']);
  });

  function promptOf(status: ReportPrompt['status']): ReportPrompt {
    return { path: 'prompts/a.md', id: 'prm_a', key: 'a', type: 'text', status, changes: [], drift: [], problems: [] };
  }
});

function reportOf(prompts: readonly ReportPrompt[]): Report {
  return {
    ...makeReport(
      makeRunWithoutPlan('apply', { config: null, files: [], acceptedWarnings: NO_ACCEPTED_WARNINGS, problems: [] }),
    ),
    prompts,
  };
}
