import { describe, expect, test } from 'vitest';
import { makeProblem } from '../../src/problem.ts';
import { renderHtml } from '../../src/report/html/page.ts';
import { traitsOf } from '../../src/report/html/prompt.ts';
import { cellOf, environmentsOf } from '../../src/report/status.ts';
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

describe('A cell of the matrix says', () => {
  test.each<[string, Partial<ReportPrompt>, object]>([
    ['that the file does not pin the environment', {}, { kind: 'unpinned' }],
    ['what stays', { environments: [row] }, { kind: 'in-sync', now: 'v1' }],
    ['what changes', { environments: [row], changes: [move] }, { kind: 'change', now: 'v1', next: 'v2' }],
    ['what changes, where no row tells of it', { changes: [move] }, { kind: 'change', now: 'v1', next: 'v2' }],
    ['what becomes of a pin', { edits: [pinned] }, { kind: 'pin', now: '', next: '2' }],
    ['that there is drift', { environments: [row], drift: [drift] }, { kind: 'in-sync', drift }],
    [
      'that a pin means no version that is known',
      { status: 'blocked', environments: [{ ...row, wanted: null, in_sync: false }] },
      { kind: 'unresolved', now: 'v1', next: '2?' },
    ],
    [
      'that it is not as pinned, where no change was asked for',
      { environments: [{ ...row, wanted: v2, in_sync: false }] },
      { kind: 'differs', now: 'v1', next: 'v2' },
    ],
    [
      'that it is not known',
      { status: 'failed', environments: [{ ...row, active: null, wanted: null, in_sync: false }] },
      { kind: 'unread' },
    ],
  ])('%s', (_, parts, cell) => {
    expect(cellOf(promptOf(parts), 'staging')).toMatchObject(cell);
  });
});

test('environments come in the order of the prompt that has most of them, then those of others', () => {
  const rows = (...names: readonly string[]) => ({
    environments: names.map((environment) => ({ ...row, environment })),
  });
  const prompts = [
    rows('production'),
    rows('dev', 'staging', 'production'),
    { edits: [{ ...pinned, environment: 'qa' }] },
  ];
  expect(environmentsOf(reportOf(prompts.map(promptOf)))).toEqual(['dev', 'staging', 'production', 'qa']);
});

describe('The filters of a page find', () => {
  test.each<[string, Partial<ReportPrompt>, Report['mode'], readonly string[]]>([
    ['nothing in a prompt that stays', { environments: [row] }, 'dry-run', []],
    ['a change', { status: 'pending', changes: [move] }, 'dry-run', ['review', 'changed']],
    ['an edit', { status: 'applied', edits: [pinned] }, 'promote', ['review', 'changed']],
    ['drift', { drift: [drift] }, 'dry-run', ['review', 'drift']],
    ['what is not as pinned', { environments: [{ ...row, in_sync: false }] }, 'history', ['review', 'drift']],
    ['what is blocked', { status: 'blocked', changes: [move] }, 'dry-run', ['review', 'changed', 'blocked']],
    ['what failed', { status: 'failed' }, 'apply', ['review', 'failed']],
    ['what was not attempted', { status: 'not_attempted' }, 'apply', ['review', 'failed']],
    ['nothing in what a validation has read', { status: 'not_attempted' }, 'validate', []],
  ])('%s', (_, parts, mode, traits) => {
    expect(traitsOf(promptOf(parts), mode)).toEqual(traits);
  });

  test('a prompt that is only warned of', () => {
    const problem = { code: 'x', severity: 'warning', message: 'm', hint: 'h' } as const;
    expect(traitsOf(promptOf({ problems: [problem] }), 'dry-run')).toEqual(['review']);
  });
});

describe('The row of a page says', () => {
  test.each<[string, Partial<ReportPrompt>, Report['mode'], string]>([
    ['that a validation has read it', { status: 'not_attempted' }, 'validate', 'checked'],
    ['that a run did not come to it', { status: 'not_attempted' }, 'apply', 'not attempted'],
    ['that all is as pinned', { history: { versions: [] }, environments: [row] }, 'history', 'as pinned'],
    [
      'that something is not',
      { history: { versions: [] }, environments: [{ ...row, in_sync: false }] },
      ...(['history', 'not as pinned'] as const),
    ],
    ['what it is', { status: 'blocked' }, 'dry-run', 'blocked'],
  ])('%s', (_, parts, mode, word) => {
    expect(renderHtml(reportOf([promptOf(parts)], { mode }), 'x')).toContain(`"status"><b>${word}</b>`);
  });
});

test('a page begins with what its report stands on, and ends with warnings', () => {
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
