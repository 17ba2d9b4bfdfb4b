import { describe, expect, test } from 'vitest';
import { makeProblem } from '../../src/problem.ts';
import { renderHtml } from '../../src/report/html/page.ts';
import { listTraits } from '../../src/report/html/prompt.ts';
import { makeMatrixCell, listEnvironments } from '../../src/report/status.ts';
import type { Report, ReportPrompt } from '../../src/report/schema.ts';
import { promptOf, ref, reportOf, setActive } from './support.ts';

const [v1, v2] = [ref(1), ref(2)];

const row = { environment: 'staging', pin: '2', active: v1, wanted: v1, in_sync: true } as const;
const move = setActive({ before: v1, after: v2 });
const drift = {
  environment: 'staging',
  kind: 'outside',
  restores: false,
  expected: v2,
  observed: { ...v1, made_by: 'outside' },
} as const;
const pinned = { kind: 'set-pin', environment: 'staging', before: null, after: '2' } as const;

describe('cellOf', () => {
  test.each<[string, Partial<ReportPrompt>, object]>([
    ['makeMatrixCell describes an environment without a pin as unpinned', {}, { kind: 'unpinned' }],
    [
      'makeMatrixCell shows the version of an environment in sync',
      { environments: [row] },
      { kind: 'in-sync', now: 'v1' },
    ],
    [
      'makeMatrixCell shows the version before and after a change',
      { environments: [row], changes: [move] },
      { kind: 'change', now: 'v1', next: 'v2' },
    ],
    [
      'makeMatrixCell shows a change even without a row for its environment',
      { changes: [move] },
      { kind: 'change', now: 'v1', next: 'v2' },
    ],
    ['makeMatrixCell shows the edit of a pin', { edits: [pinned] }, { kind: 'pin', now: '', next: '2' }],
    [
      'makeMatrixCell includes the drift of an environment',
      { environments: [row], drift: [drift] },
      { kind: 'in-sync', drift },
    ],
    [
      'makeMatrixCell describes a pin to an unknown version as unresolved',
      { status: 'blocked', environments: [{ ...row, wanted: null, in_sync: false }] },
      { kind: 'unresolved', now: 'v1', next: '2?' },
    ],
    [
      'makeMatrixCell describes an environment that differs from its pin without a change',
      { environments: [{ ...row, wanted: v2, in_sync: false }] },
      { kind: 'differs', now: 'v1', next: 'v2' },
    ],
    [
      'makeMatrixCell describes an environment of a failed prompt as unread',
      { status: 'failed', environments: [{ ...row, active: null, wanted: null, in_sync: false }] },
      { kind: 'unread' },
    ],
  ])('%s', (_, parts, cell) => {
    expect(makeMatrixCell(promptOf(parts), 'staging')).toMatchObject(cell);
  });
});

test('environmentsOf uses the order of the prompt with the most environments', () => {
  const rows = (...names: readonly string[]) => ({
    environments: names.map((environment) => ({ ...row, environment })),
  });
  const prompts = [
    rows('production'),
    rows('dev', 'staging', 'production'),
    { edits: [{ ...pinned, environment: 'qa' }] },
  ];
  expect(listEnvironments(reportOf(prompts.map(promptOf)))).toEqual(['dev', 'staging', 'production', 'qa']);
});

describe('traitsOf', () => {
  test.each<[string, Partial<ReportPrompt>, Report['mode'], readonly string[]]>([
    ['listTraits assigns no filter to an unchanged prompt', { environments: [row] }, 'dry-run', []],
    [
      'listTraits assigns a changed prompt to the filters review and changed',
      { status: 'pending', changes: [move] },
      'dry-run',
      ['review', 'changed'],
    ],
    [
      'listTraits assigns an edited prompt to the filters review and changed',
      { status: 'applied', edits: [pinned] },
      'promote',
      ['review', 'changed'],
    ],
    [
      'listTraits assigns a drifted prompt to the filters review and drift',
      { drift: [drift] },
      'dry-run',
      ['review', 'drift'],
    ],
    [
      'listTraits assigns a prompt that differs from its pins to the filter drift',
      { environments: [{ ...row, in_sync: false }] },
      'history',
      ['review', 'drift'],
    ],
    [
      'listTraits assigns a blocked prompt to the filters review and blocked',
      { status: 'blocked', changes: [move] },
      'dry-run',
      ['review', 'changed', 'blocked'],
    ],
    [
      'listTraits assigns a failed prompt to the filters review and failed',
      { status: 'failed' },
      'apply',
      ['review', 'failed'],
    ],
    [
      'listTraits assigns a prompt that was not attempted to the filter failed',
      { status: 'not_attempted' },
      'apply',
      ['review', 'failed'],
    ],
    ['listTraits assigns no filter to a validated prompt', { status: 'not_attempted' }, 'validate', []],
  ])('%s', (_, parts, mode, traits) => {
    expect(listTraits(promptOf(parts), mode)).toEqual(traits);
  });

  test('listTraits assigns a prompt with a warning to the filter review', () => {
    const problem = { code: 'x', severity: 'warning', message: 'm', hint: 'h' } as const;
    expect(listTraits(promptOf({ problems: [problem] }), 'dry-run')).toEqual(['review']);
  });
});

describe('the status of a prompt on an HTML page', () => {
  test.each<[string, Partial<ReportPrompt>, Report['mode'], string]>([
    ['An HTML page shows a validated prompt as checked', { status: 'not_attempted' }, 'validate', 'checked'],
    [
      'An HTML page shows a prompt that a run did not reach as not attempted',
      { status: 'not_attempted' },
      'apply',
      'not attempted',
    ],
    [
      'An HTML page shows a history prompt in sync as pinned',
      { history: { versions: [] }, environments: [row] },
      'history',
      'as pinned',
    ],
    [
      'An HTML page shows a history prompt out of sync as not as pinned',
      { history: { versions: [] }, environments: [{ ...row, in_sync: false }] },
      ...(['history', 'not as pinned'] as const),
    ],
    ['An HTML page shows a blocked prompt as blocked', { status: 'blocked' }, 'dry-run', 'blocked'],
  ])('%s', (_, parts, mode, word) => {
    expect(renderHtml(reportOf([promptOf(parts)], { mode }), 'x')).toContain(`"status"><b>${word}</b>`);
  });
});

test('An HTML page starts with its errors and ends with its warnings', () => {
  const problems = [
    makeProblem('git/shallow', { of: 'drift' }),
    makeProblem('service/not-asked', { reason: 'there is no key' }),
    makeProblem('usage/nothing-named'),
  ];
  const html = renderHtml(reportOf([promptOf()], { problems }), 'x');
  const places = ['nothing-named', 'not-asked', 'class="matrix', 'shallow'].map((word) => html.indexOf(word));
  expect(places).not.toContain(-1);
  expect(Math.max(places[0]!, places[1]!)).toBeLessThan(places[2]!);
  expect(places[2]).toBeLessThan(places[3]!);
});
