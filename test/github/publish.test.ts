import { describe, expect, test } from 'vitest';
import { notRun } from '../../src/commands/result.ts';
import { NO_ACCEPTED_WARNINGS } from '../../src/domain/accepted-warnings.ts';
import type { Mode } from '../../src/github/event.ts';
import { annotate, annotateRun, differing, failureOf, type FailureReason } from '../../src/github/publish.ts';
import { makeReport } from '../../src/report/make-report.ts';
import type { Report, ReportProblem, ReportPrompt } from '../../src/report/schema.ts';
import { makeRunner, problemOfKind } from './support.ts';

describe('annotations', () => {
  const many = (severity: ReportProblem['severity'], count: number): readonly ReportProblem[] =>
    Array.from({ length: count }, (_, n) => problemOfKind(severity, { message: `${severity} ${n + 1}.` }));
  const annotated = (problems: readonly ReportProblem[]): readonly string[] => {
    const runner = makeRunner();
    annotate(problems, (path) => `root/${path}`, runner);
    return runner.annotations.map(({ kind, text }) => `${kind}: ${text}`);
  };

  test.each<[number, string | undefined]>([
    [9, undefined],
    [10, 'error: 1 more error: see the summary of the run.'],
    [12, 'error: 3 more errors: see the summary of the run.'],
  ])('of %i of a kind nine are shown, and how many more there are', (count, more) => {
    const lines = annotated(many('error', count));
    expect(lines.slice(0, 9)).toEqual(many('error', 9).map(({ message }) => `error: ${message} What to do.`));
    expect(lines.slice(9)).toEqual(more === undefined ? [] : [more]);
  });

  test('count errors and warnings apart, errors first', () => {
    const lines = annotated([...many('warning', 11), ...many('error', 9)]);
    expect(lines.map((line) => line.split(':')[0]).join(' ')).toMatch(/^(error ){9}(warning ?){10}$/);
    expect(lines.at(-1)).toBe('warning: 2 more warnings: see the summary of the run.');
  });

  test('show equal problems once', () => {
    const one = problemOfKind('error', { path: 'a.md', line: 3 });
    expect(annotated(Array.from({ length: 20 }, () => ({ ...one })))).toHaveLength(1);
    expect(annotated([one, { ...one, line: 4 }])).toHaveLength(2);
  });

  test.each<[string, Partial<ReportProblem>, object]>([
    ['without a path', {}, { title: 'prompt/any' }],
    ['with a path', { path: 'a.md' }, { title: 'prompt/any', file: 'root/a.md' }],
    ['with a line', { path: 'a.md', line: 3 }, { title: 'prompt/any', file: 'root/a.md', startLine: 3 }],
    [
      'with a column',
      { path: 'a.md', line: 3, column: 5 },
      { title: 'prompt/any', file: 'root/a.md', startLine: 3, startColumn: 5 },
    ],
    ['with a path that hides something', { path: 'a\u202e.md' }, { title: 'prompt/any', file: 'root/a\\u{202e}.md' }],
  ])('have the place of a problem %s', (_, parts, place) => {
    const runner = makeRunner();
    annotate([problemOfKind('error', parts)], (path) => `root/${path}`, runner);
    expect(runner.annotations.map((one) => one.place)).toEqual([place]);
  });

  test.each<[string, string]>([
    ['::error::x', '\\u{3a}:error::x What to do.'],
    ['  ::error::x', '  \\u{3a}:error::x What to do.'],
    ['a ##[error]x', 'a ##\\u{5b}error]x What to do.'],
    ['a\n::error::x', 'a\\u{a}::error::x What to do.'],
    ['a\r\n::error::x', 'a\\u{d}\\u{a}::error::x What to do.'],
    ['a\u202eb\u0000', 'a\\u{202e}b\\u{0} What to do.'],
  ])('are inert: %j', (message, expected) => {
    const runner = makeRunner();
    const problem = problemOfKind('error', { message });
    annotate([problem], (path) => path, runner);
    annotateRun('notice', problem, runner);
    expect(runner.annotations.map(({ kind, text }) => [kind, text])).toEqual([
      ['error', expected],
      ['notice', expected],
    ]);
  });
});

describe('why a run is no success', () => {
  type Status = ReportPrompt['status'];
  const blocked = (...codes: readonly string[]): ReportPrompt => promptOf('blocked', codes);

  test.each<[string, Mode, number, boolean, readonly ReportPrompt[], FailureReason]>([
    ['all is well', 'sync', 0, true, [promptOf('applied')], ''],
    ['a plan may differ', 'plan', 0, true, [promptOf('pending')], ''],
    ['drift may not', 'drift', 0, true, [promptOf('unchanged'), promptOf('pending')], 'drift'],
    ['no drift', 'drift', 0, true, [promptOf('unchanged')], ''],
    ['it could not begin', 'plan', 1, false, [], 'invalid'],
    ['nothing could be observed', 'sync', 1, true, [promptOf('failed')], 'failed'],
    ['something failed', 'sync', 4, true, [promptOf('failed'), blocked('guard/drift')], 'failed'],
    ['it was interrupted', 'sync', 130, true, [promptOf('not_attempted')], 'failed'],
    ['drift stands in the way', 'sync', 3, true, [blocked('guard/drift'), promptOf('applied')], 'drift'],
    ['so it does on a schedule', 'drift', 3, true, [blocked('guard/drift')], 'drift'],
    ['drift and more', 'sync', 3, true, [blocked('guard/drift'), blocked('guard/max-changes')], 'refused'],
    ['drift and more in one prompt', 'sync', 3, true, [blocked('guard/drift', 'guard/max-changes')], 'refused'],
    ['something else', 'plan', 3, true, [blocked('pin/unresolvable')], 'refused'],
    ['something newer is there', 'sync', 3, true, [blocked('guard/superseded')], 'superseded'],
    ['that goes first', 'sync', 3, true, [blocked('guard/drift'), blocked('guard/superseded')], 'superseded'],
    ['a warning is no reason', 'sync', 3, true, [blocked('guard/drift', 'warning/any')], 'drift'],
    ['what is not blocked is none', 'sync', 3, true, [blocked('guard/drift'), promptOf('failed', ['a/b'])], 'drift'],
  ])('%s', (_, mode, exitCode, planned, prompts, expected) => {
    const nothing = notRun('apply', { files: [], acceptedWarnings: NO_ACCEPTED_WARNINGS, problems: [] });
    const run = planned ? { ...nothing, plan: { prompts: [], digest: '' } } : nothing;
    expect(failureOf(mode, { run, exitCode }, reportOf(prompts))).toBe(expected);
  });

  test('what differs is what the service holds otherwise: pending or blocked', () => {
    const all = ['unchanged', 'pending', 'blocked', 'failed', 'applied', 'not_attempted'] as const;
    const differ = all.filter((status) => differing(reportOf([promptOf('unchanged'), promptOf(status)])) > 0);
    expect(differ).toEqual(['pending', 'blocked']);
  });

  function promptOf(status: Status, codes: readonly string[] = []): ReportPrompt {
    const problems = codes.map((code) => problemOfKind(code.startsWith('warning/') ? 'warning' : 'error', { code }));
    return { path: 'prompts/a.md', id: 'prm_a', key: 'a', status, changes: [], drift: [], problems };
  }
});

function reportOf(prompts: readonly ReportPrompt[]): Report {
  return {
    ...makeReport(notRun('apply', { files: [], acceptedWarnings: NO_ACCEPTED_WARNINGS, problems: [] })),
    prompts,
  };
}
