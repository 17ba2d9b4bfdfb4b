import { describe, expect, test } from 'vitest';
import { renderHistory } from '../../../src/report/formats/render-history.ts';
import type { ReportPrompt } from '../../../src/report/schema/report-schema.ts';
import { DIGEST, promptOf, reportOf } from '../support.ts';

type HistoryVersion = NonNullable<ReportPrompt['history']>['versions'][number];

describe('renderHistory', () => {
  const commit = { commit: '9f2c1ab04d3e'.padEnd(40, '0'), author: 'Ada', date: '2026-01-02T03:04:05+01:00' };
  const makeVersion = (parts: Partial<HistoryVersion>): HistoryVersion => ({
    ...{ id: 'ver_1', version_number: 1, digest: DIGEST, made_by: 'git', ...commit, subject: 'First' },
    ...{ active_in: [], pinned: [], ...parts },
  });
  const textOf = (parts: Partial<ReportPrompt>, quiet = false) =>
    renderHistory(reportOf([promptOf(parts)], { mode: 'history' }), { colour: false, quiet });
  const rowsOf = (...versions: readonly HistoryVersion[]) => textOf({ history: { versions } }).split('\n').slice(2, -3);

  test.each<[string, Partial<HistoryVersion>, string]>([
    ['renderHistory shows the commit of a version', {}, 'v1       2026-01-02 02:04  9f2c1ab04d3e  Ada     First'],
    [
      'renderHistory shows the pull request of a version',
      { pull_request: '#7' },
      'v1       2026-01-02 02:04  9f2c1ab04d3e  Ada     First (#7)',
    ],
    [
      'renderHistory does not repeat the pull request number if the commit subject contains it',
      { subject: 'A (#7)', pull_request: '#7' },
      'v1       2026-01-02 02:04  9f2c1ab04d3e  Ada     A (#7)',
    ],
    [
      'renderHistory leaves the subject blank if a commit has no subject',
      { subject: '' },
      'v1       2026-01-02 02:04  9f2c1ab04d3e  Ada',
    ],
    [
      'renderHistory converts dates to UTC',
      { date: '2026-01-02T23:30:00-02:00' },
      'v1       2026-01-03 01:30  9f2c1ab04d3e  Ada     First',
    ],
    [
      'renderHistory leaves an invalid date blank',
      { date: 'soon' },
      'v1                   9f2c1ab04d3e  Ada     First',
    ],
  ])('%s', (_, parts, expected) => {
    expect(rowsOf(makeVersion(parts))).toEqual([expected]);
  });

  test('renderHistory shows where a version is active and when it was pinned', () => {
    const time = { environment: 'production', from: { ...commit, subject: 'Promote' }, until: null, served: true };
    const lines = rowsOf(makeVersion({ active_in: ['production', 'qa'], pinned: [{ ...time, served: false }, time] }));
    expect(lines).toEqual([
      'v1       2026-01-02 02:04  9f2c1ab04d3e  Ada     First',
      'version  environment  pinned (UTC)                       commit        subject',
      'v1       production   2026-01-02 02:04 → now             9f2c1ab04d3e  Promote',
      'v1       qa           active now',
      'v1       production   2026-01-02 02:04 → not served now  9f2c1ab04d3e  Promote',
    ]);
  });

  test('renderHistory shows zero known versions for a prompt without versions', () => {
    expect(textOf({ history: { versions: [] } })).toBe('k/1  k/1.md\n\n1 prompt, 0 known versions.\n');
  });

  test('renderHistory shows only the summary in quiet mode', () => {
    expect(textOf({ history: { versions: [makeVersion({})] } }, true)).toBe('1 prompt, 1 known version.\n');
  });
});
