import { describe, expect, test } from 'vitest';
import { makeProblem } from '../../../src/problem.ts';
import { renderHtml } from '../../../src/report/formats/html-page.ts';
import { listTraits } from '../../../src/report/formats/html-prompt.ts';
import { makeMatrixCell, listEnvironments } from '../../../src/report/formats/status-matrix.ts';
import type { Report, ReportPrompt } from '../../../src/report/schema/report-schema.ts';
import { promptOf, ref, reportOf, setActive } from '../support.ts';

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

describe('makeMatrixCell', () => {
  test.each<[string, Partial<ReportPrompt>, object]>([
    ['makeMatrixCell describes an environment without a pin as unpinned', {}, { kind: 'unpinned' }],
    [
      'makeMatrixCell shows the active version if an environment is in sync',
      { environments: [row] },
      { kind: 'in-sync', now: 'v1' },
    ],
    [
      'makeMatrixCell shows the versions before and after a planned change',
      { environments: [row], changes: [move] },
      { kind: 'change', now: 'v1', next: 'v2' },
    ],
    [
      'makeMatrixCell shows a change even if the report does not list the environment',
      { changes: [move] },
      { kind: 'change', now: 'v1', next: 'v2' },
    ],
    ['makeMatrixCell shows the new value of an edited pin', { edits: [pinned] }, { kind: 'pin', now: '', next: '2' }],
    [
      'makeMatrixCell includes the drift of an environment in its result',
      { environments: [row], drift: [drift] },
      { kind: 'in-sync', drift },
    ],
    [
      'makeMatrixCell describes a pin to an unknown version as unresolved',
      { status: 'blocked', environments: [{ ...row, wanted: null, in_sync: false }] },
      { kind: 'unresolved', now: 'v1', next: '2?' },
    ],
    [
      'makeMatrixCell reports a difference if an environment does not match its pin but no change is planned',
      { environments: [{ ...row, wanted: v2, in_sync: false }] },
      { kind: 'differs', now: 'v1', next: 'v2' },
    ],
    [
      'makeMatrixCell describes an environment as unread if promptsync failed to read the prompt',
      { status: 'failed', environments: [{ ...row, active: null, wanted: null, in_sync: false }] },
      { kind: 'unread' },
    ],
  ])('%s', (_, parts, cell) => {
    expect(makeMatrixCell(promptOf(parts), 'staging')).toMatchObject(cell);
  });
});

test('listEnvironments lists environments in the same order as the prompt that has the most environments', () => {
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

test('listEnvironments lists all configured environments unless the report covers only selected ones', () => {
  const configured = { promotion_order: ['dev', 'staging', 'production'] };
  const prompts = [promptOf({ environments: [row] })];
  expect(listEnvironments(reportOf(prompts, configured))).toEqual(['dev', 'staging', 'production']);
  expect(listEnvironments(reportOf(prompts, { ...configured, environments: ['staging'] }))).toEqual(['staging']);
});

describe('listTraits', () => {
  test.each<[string, Partial<ReportPrompt>, Report['mode'], readonly string[]]>([
    ['listTraits assigns no filters to an unchanged prompt', { environments: [row] }, 'dry-run', []],
    [
      'listTraits assigns the review and changed filters to a changed prompt',
      { status: 'pending', changes: [move] },
      'dry-run',
      ['review', 'changed'],
    ],
    [
      'listTraits assigns the review and changed filters to a prompt with an edited pin',
      { status: 'applied', edits: [pinned] },
      'promote',
      ['review', 'changed'],
    ],
    [
      'listTraits assigns the review and drift filters to a drifted prompt',
      { drift: [drift] },
      'dry-run',
      ['review', 'drift'],
    ],
    [
      'listTraits assigns the review and drift filters to a prompt that does not match its pins',
      { environments: [{ ...row, in_sync: false }] },
      'history',
      ['review', 'drift'],
    ],
    [
      'listTraits assigns the review, changed, and blocked filters to a blocked prompt with planned changes',
      { status: 'blocked', changes: [move] },
      'dry-run',
      ['review', 'changed', 'blocked'],
    ],
    [
      'listTraits assigns the review and failed filters to a failed prompt',
      { status: 'failed' },
      'apply',
      ['review', 'failed'],
    ],
    [
      'listTraits assigns the review and failed filters to a prompt that was not attempted',
      { status: 'not_attempted' },
      'apply',
      ['review', 'failed'],
    ],
    ['listTraits assigns no filters to a validated prompt', { status: 'not_attempted' }, 'validate', []],
  ])('%s', (_, parts, mode, traits) => {
    expect(listTraits(promptOf(parts), mode)).toEqual(traits);
  });

  test('listTraits assigns only the review filter to an unchanged prompt with a warning', () => {
    const problem = { code: 'x', severity: 'warning', message: 'm', hint: 'h' } as const;
    expect(listTraits(promptOf({ problems: [problem] }), 'dry-run')).toEqual(['review']);
  });
});

describe('the status of a prompt on an HTML page', () => {
  test.each<[string, Partial<ReportPrompt>, Report['mode'], string]>([
    ['An HTML report shows a validated prompt as checked', { status: 'not_attempted' }, 'validate', 'checked'],
    [
      'An HTML report shows a prompt as not attempted if the run did not reach it',
      { status: 'not_attempted' },
      'apply',
      'not attempted',
    ],
    [
      'An HTML history report shows that a prompt matches its pins if its environment is in sync',
      { history: { versions: [] }, environments: [row] },
      'history',
      'as pinned',
    ],
    [
      'An HTML history report shows that a prompt does not match its pins if its environment is out of sync',
      { history: { versions: [] }, environments: [{ ...row, in_sync: false }] },
      ...(['history', 'not as pinned'] as const),
    ],
    ['An HTML report shows a blocked prompt as blocked', { status: 'blocked' }, 'dry-run', 'blocked'],
  ])('%s', (_, parts, mode, word) => {
    expect(renderHtml(reportOf([promptOf(parts)], { mode }), 'x')).toContain(`"status"><b>${word}</b>`);
  });
});

test('An HTML report shows an error above the status matrix and a warning about a shallow clone below it', () => {
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
