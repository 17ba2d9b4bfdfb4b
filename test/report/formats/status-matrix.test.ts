import { describe, expect, test } from 'vitest';
import { makeProblem } from '../../../src/problem.ts';
import { renderHtml } from '../../../src/report/formats/html-page.ts';
import { listTraits } from '../../../src/report/formats/html-prompt.ts';
import { listEnvironments, makeMatrixCell } from '../../../src/report/formats/status-matrix.ts';
import type { Report, ReportDrift, ReportPrompt } from '../../../src/report/schema/report-schema.ts';
import { promptOf, ref, reportOf, setActive } from '../support.ts';
import { REPORTS } from './recorded-reports.ts';

const [v1, v2] = [ref(1), ref(2)] as const;
const row = { environment: 'staging', pin: '2', active: v1, wanted: v1, in_sync: true } as const;
const move = setActive({ before: v1, after: v2 });
const drift: ReportDrift = {
  ...{ environment: 'staging', kind: 'outside', restores: false, expected: v2 },
  observed: { ...v1, made_by: 'outside' },
};
const pinned = { kind: 'set-pin', environment: 'staging', before: null, after: '2' } as const;
const only = (parts: Partial<NonNullable<ReportPrompt['environments']>[number]>) => {
  return { environments: [{ ...row, ...parts }] };
};

// The recorded status shows the other cells.
test.each<[string, Partial<ReportPrompt>, object]>([
  [
    'makeMatrixCell recognizes a planned change',
    { environments: [row], changes: [move] },
    { kind: 'change', now: 'v1', next: 'v2' },
  ],
  ['makeMatrixCell recognizes an edited pin', { edits: [pinned] }, { kind: 'pin', now: '', next: '2' }],
  ['makeMatrixCell recognizes drift', { environments: [row], drift: [drift] }, { kind: 'in-sync', drift }],
  [
    'makeMatrixCell recognizes a difference without a planned change',
    only({ wanted: v2, in_sync: false }),
    { kind: 'differs', now: 'v1', next: 'v2' },
  ],
])('%s', (_, parts, cell) => {
  expect(makeMatrixCell(promptOf(parts), 'staging')).toMatchObject(cell);
});

describe('listEnvironments', () => {
  test('listEnvironments uses the order of the prompt that has the most environments', () => {
    const rows = (...names: readonly string[]) => ({
      environments: names.map((environment) => ({ ...row, environment })),
    });
    const edits = [{ ...pinned, environment: 'qa' }];
    const prompts = [rows('production'), rows('dev', 'staging', 'production'), { edits }].map(promptOf);
    expect(listEnvironments(reportOf(prompts))).toEqual(['dev', 'staging', 'production', 'qa']);
  });

  test('listEnvironments lists all configured environments unless the report covers only selected ones', () => {
    const configured = { promotion_order: ['dev', 'staging', 'production'] };
    const prompts = [promptOf({ environments: [row] })];
    expect(listEnvironments(reportOf(prompts, configured))).toEqual(['dev', 'staging', 'production']);
    expect(listEnvironments(reportOf(prompts, { ...configured, environments: ['staging'] }))).toEqual(['staging']);
  });
});

describe('listTraits', () => {
  const warning = { code: 'x', severity: 'warning', message: 'm', hint: 'h' } as const;

  test.each<[string, Partial<ReportPrompt>, Report['mode'], readonly string[]]>([
    [
      'listTraits returns the filters of an unchanged prompt with a warning',
      { problems: [warning] },
      'dry-run',
      ['review'],
    ],
    [
      'listTraits returns the filters of a prompt with an edited pin',
      { status: 'applied', edits: [pinned] },
      'promote',
      ['review', 'changed'],
    ],
    ['listTraits returns the filters of a drifted prompt', { drift: [drift] }, 'dry-run', ['review', 'drift']],
    [
      'listTraits returns the filters of a prompt that does not match its pins',
      only({ in_sync: false }),
      'history',
      ['review', 'drift'],
    ],
    [
      'listTraits returns the filters of a blocked change',
      { status: 'blocked', changes: [move] },
      'dry-run',
      ['review', 'changed', 'blocked'],
    ],
    [
      'listTraits returns the filters of a prompt that was not attempted',
      { status: 'not_attempted' },
      'apply',
      ['review', 'failed'],
    ],
    ['listTraits returns the filters of a validated prompt', { status: 'not_attempted' }, 'validate', []],
  ])('%s', (_, parts, mode, traits) => {
    expect(listTraits(promptOf(parts), mode)).toEqual(traits);
  });
});

describe('an HTML report', () => {
  const history = { history: { versions: [] } };

  test.each<[string, Partial<ReportPrompt>, Report['mode']]>([
    ['checked', { status: 'not_attempted' }, 'validate'],
    ['as pinned', { ...history, environments: [row] }, 'history'],
    ['not as pinned', { ...history, ...only({ in_sync: false }) }, 'history'],
    ['blocked', { status: 'blocked' }, 'dry-run'],
  ])('An HTML report shows the status of a prompt as "%s"', (word, parts, mode) => {
    expect(renderHtml(reportOf([promptOf(parts)], { mode }), 'x')).toContain(`"status"><b>${word}</b>`);
  });

  test('An HTML report lists the prompts of a status in the same order as the recorded text', () => {
    const keys = renderHtml(REPORTS['status']!, 'status').matchAll(/<details id="prompt:([a-z-]+)"/g);
    const order = ['unread', 'skipped', 'blocked', 'changed', 'first', 'lost', 'waiting', 'in-sync'];
    expect(Array.from(keys, ([, key]) => key)).toEqual(order);
  });

  test('An HTML report shows an error above the status matrix and a warning about a shallow clone below it', () => {
    const problems = [
      makeProblem('git/shallow', { of: 'drift' }),
      makeProblem('service/not-asked', { reason: 'there is no key' }),
      makeProblem('usage/nothing-named'),
    ];
    expect(renderHtml(reportOf([promptOf()], { problems }), 'x')).toMatch(
      /not-asked[^]*nothing-named[^]*class="matrix[^]*shallow/,
    );
  });
});
