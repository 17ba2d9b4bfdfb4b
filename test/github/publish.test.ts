import { describe, expect, test } from 'vitest';
import { annotate, annotateRun } from '../../src/github/publish.ts';
import type { ReportProblem } from '../../src/report/schema.ts';
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
    expect(lines.map((line) => line.split(':')[0])).toEqual([
      ...Array.from({ length: 9 }, () => 'error'),
      ...Array.from({ length: 10 }, () => 'warning'),
    ]);
    expect(lines.at(-1)).toBe('warning: 2 more warnings: see the summary of the run.');
  });

  test('show equal problems once', () => {
    const one = problemOfKind('error', { path: 'a.md', line: 3 });
    expect(annotated(Array.from({ length: 20 }, () => ({ ...one })))).toHaveLength(1);
    expect(annotated([one, { ...one, line: 4 }])).toHaveLength(2);
  });

  test('of nothing are none', () => {
    expect(annotated([])).toEqual([]);
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
