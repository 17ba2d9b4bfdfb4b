import { describe, expect, test } from 'vitest';
import { makeProblem } from '../../src/problem.ts';
import { renderHtml } from '../../src/report/html/page.ts';
import { isInterrupted, problemsIn } from '../../src/report/problems.ts';
import { renderText } from '../../src/report/text.ts';
import type { Report, ReportProblem, ReportPrompt } from '../../src/report/schema.ts';
import { NO_SUMMARY, promptOf as anyPrompt, reportOf as anyReport, setActive } from './support.ts';

const down = makeProblem('service/unexpected-status', { status: 503, said: '' });
const broken = makeProblem('service/unexpected-status', { status: 500, said: '' });
const placed = makeProblem('prompt/missing-id', {}, { path: 'elsewhere.md', line: 2 });

function promptOf(key: string, problems: readonly ReportProblem[], status: ReportPrompt['status'] = 'failed') {
  return anyPrompt({ key, status, changes: [setActive({})], problems });
}

function reportOf(prompts: readonly ReportPrompt[], mode: Report['mode'] = 'apply'): Report {
  return anyReport(prompts, { mode, summary: { ...NO_SUMMARY, prompts: prompts.length, failed: prompts.length } });
}

describe('A problem of a prompt', () => {
  test.each<[string, readonly ReportPrompt[], readonly (string | undefined)[]]>([
    ['says whose it is', [promptOf('a', [down]), promptOf('b', [])], ['a.md']],
    [
      'says whose it is where others have it too',
      [promptOf('a', [down]), promptOf('b', [down]), promptOf('c', [])],
      ['a.md', 'b.md'],
    ],
    ['that all have says it once for all', [promptOf('a', [down]), promptOf('b', [down])], [undefined]],
    ['that all have beside others', [promptOf('a', [down, broken]), promptOf('b', [down])], [undefined, 'a.md']],
    ['of the only prompt is that of the prompt', [promptOf('a', [down])], ['a.md']],
    ['with a place of its own keeps it', [promptOf('a', [placed]), promptOf('b', [])], ['elsewhere.md']],
    ['of a file that is not known has no place', [{ ...promptOf('a', [down]), path: '' }], [undefined]],
  ])('%s', (_, prompts, paths) => {
    expect(problemsIn({ problems: [], prompts }).map(({ path }) => path)).toEqual(paths);
  });

  test('stands with its prompt in a text where others do not have it', () => {
    const two = reportOf([promptOf('a', [down]), promptOf('b', [broken]), promptOf('c', [broken])]);
    const lines = renderText(two, { colour: false, quiet: true }).split('\n');
    expect(lines.flatMap((line) => /^[abc] (?= )|status \d+/.exec(line)?.[0].trim() ?? [])).toEqual([
      'a',
      'status 503',
      'b',
      'status 500',
      'c',
      'status 500',
    ]);
  });

  test('is told once for many in a text where all that change have it', () => {
    const same = reportOf([promptOf('a', [down]), promptOf('b', [down]), { ...promptOf('c', []), changes: [] }]);
    const text = renderText(same, { colour: false, quiet: false });
    expect(text.match(/status 503/g)).toHaveLength(1);
  });
});

const stopped = makeProblem('apply/interrupted');

test('An interruption is told once, however many prompts have it', () => {
  const prompts = ['a', 'b', 'c'].map((one) => promptOf(one, one === 'a' ? [] : [stopped], 'not_attempted'));
  expect(problemsIn({ problems: [], prompts })).toEqual([stopped]);
});

describe('A run that was interrupted', () => {
  const report = reportOf([promptOf('a', [], 'applied'), promptOf('b', [stopped], 'not_attempted')]);

  test('says so first', () => {
    const interrupted = {
      ...report,
      summary: { ...NO_SUMMARY, prompts: 2, set_active: 1, applied: 1, not_attempted: 1 },
    };
    expect(renderText(interrupted, { colour: false, quiet: true })).toContain(
      'Interrupted. Applied: 1 activated, 1 not attempted.',
    );
    expect(isInterrupted(interrupted)).toBe(true);
  });

  test.each(['pull', 'promote', 'rollback', 'import'] as const)('says so first where it edits files: %s', (mode) => {
    const cut = reportOf([promptOf('a', [], 'unchanged'), promptOf('b', [stopped], 'failed')], mode);
    expect(renderText(cut, { colour: false, quiet: true })).toContain('Interrupted. 1 prompt failed, 1 unchanged.');
  });

  test('is not shown as a good outcome on its page', () => {
    const cut = reportOf([promptOf('a', [], 'unchanged'), promptOf('b', [stopped], 'not_attempted')], 'dry-run');
    expect(renderHtml(cut, 'x')).toContain('<p class="outcome bad">Interrupted.');
  });

  test('one that was not does not', () => {
    expect(isInterrupted(reportOf([promptOf('a', [down])]))).toBe(false);
  });
});

test.each<[string, Report['mode'], 'outside' | 'unfinished', string]>([
  ['a plan that would undo it', 'dry-run', 'outside', 'Plan: 1 to activate. 1 prompt has drifted.\n'],
  ['not what no sync has come to', 'dry-run', 'unfinished', 'Plan: 1 to activate.\n'],
  ['nor an apply, which has undone it', 'apply', 'outside', 'Applied: 1 activated.\n'],
])('Drift is told beside the numbers: %s', (_, mode, kind, line) => {
  const drift = [{ field: 'name', kind, restores: false, expected: 'a', observed: 'b' }] as const;
  const prompt = { ...promptOf('a', [], mode === 'apply' ? 'applied' : 'pending'), drift };
  const report = { ...reportOf([prompt], mode), summary: { ...NO_SUMMARY, prompts: 1, set_active: 1 } };
  expect(renderText(report, { colour: false, quiet: true })).toContain(line);
});
