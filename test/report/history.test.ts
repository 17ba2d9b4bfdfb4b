import { describe, expect, test } from 'vitest';
import { renderHistory } from '../../src/report/history.ts';
import type { ReportPrompt } from '../../src/report/schema.ts';
import { DIGEST, promptOf, reportOf } from './support.ts';

type Told = NonNullable<ReportPrompt['history']>['versions'][number];

describe('The text of a history', () => {
  const commit = { commit: '9f2c1ab04d3e'.padEnd(40, '0'), author: 'Ada', date: '2026-01-02T03:04:05+01:00' };
  const told = (parts: Partial<Told>): Told => ({
    ...{ id: 'ver_1', version_number: 1, digest: DIGEST, made_by: 'git', ...commit, subject: 'First' },
    ...{ active_in: [], pinned: [], ...parts },
  });
  const textOf = (parts: Partial<ReportPrompt>, quiet = false) =>
    renderHistory(reportOf([promptOf(parts)], { mode: 'history' }), { colour: false, quiet });
  const rowsOf = (...versions: readonly Told[]) => textOf({ history: { versions } }).split('\n').slice(2, -3);

  test.each<[string, Partial<Told>, string]>([
    ['a commit', {}, 'v1       2026-01-02 02:04  9f2c1ab04d3e  Ada     First'],
    ['with its pull request', { pull_request: '#7' }, 'v1       2026-01-02 02:04  9f2c1ab04d3e  Ada     First (#7)'],
    [
      'named once',
      { subject: 'A (#7)', pull_request: '#7' },
      'v1       2026-01-02 02:04  9f2c1ab04d3e  Ada     A (#7)',
    ],
    ['without a subject', { subject: '' }, 'v1       2026-01-02 02:04  9f2c1ab04d3e  Ada'],
    [
      'an hour of another day',
      { date: '2026-01-02T23:30:00-02:00' },
      'v1       2026-01-03 01:30  9f2c1ab04d3e  Ada     First',
    ],
    ['a date that is none', { date: 'soon' }, 'v1                   9f2c1ab04d3e  Ada     First'],
  ])('of %s', (_, parts, expected) => {
    expect(rowsOf(told(parts))).toEqual([expected]);
  });

  test('has a table of where a version is and was', () => {
    const time = { environment: 'production', from: { ...commit, subject: 'Promote' }, until: null, served: true };
    const lines = rowsOf(told({ active_in: ['production', 'qa'], pinned: [{ ...time, served: false }, time] }));
    expect(lines).toEqual([
      'v1       2026-01-02 02:04  9f2c1ab04d3e  Ada     First',
      'version  environment  pinned (UTC)                   commit        subject',
      'v1       production   2026-01-02 02:04 → now         9f2c1ab04d3e  Promote',
      'v1       qa           active now',
      'v1       production   2026-01-02 02:04 → not served  9f2c1ab04d3e  Promote',
    ]);
  });

  test('says that no version is known', () => {
    expect(textOf({ history: { versions: [] } })).toBe('k/1  k/1.md\n\n1 prompt, 0 known versions.\n');
  });

  test('is the last line alone when it shall be quiet', () => {
    expect(textOf({ history: { versions: [told({})] } }, true)).toBe('1 prompt, 1 known version.\n');
  });
});
