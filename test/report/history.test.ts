import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { escapeForRunner, renderJson } from '../../src/report/escape.ts';
import { renderHistory } from '../../src/report/history.ts';
import { renderMarkdown } from '../../src/report/markdown.ts';
import type { Report, ReportPrompt } from '../../src/report/schema.ts';
import { commandsIn, HOSTILE, INVISIBLE } from './corpus.ts';
import { anyMarkdown, NASTY } from './nasty-markdown.ts';
import { anyText, DIGEST, NO_SUMMARY } from './support.ts';
import { expectInert } from '../support/markdown.ts';
import { parseReport } from '../support/run.ts';

type Told = NonNullable<ReportPrompt['history']>['versions'][number];

function reportOf(prompts: readonly Partial<ReportPrompt>[], text = 'k'): Report {
  const own = { path: text, id: text, key: text, status: 'unchanged', changes: [], drift: [], problems: [] } as const;
  return {
    ...{ schema_version: 1, mode: 'history', service: text, commit: text, plan_digest: null, problems: [] },
    ...{ summary: NO_SUMMARY, prompts: prompts.map((prompt) => ({ ...own, ...prompt })) },
  };
}

/** A report in which every field that can hold somebody's text holds this one. */
function hostileReport(text: string): Report {
  const commit = { commit: text, author: text, date: text, subject: text, pull_request: text };
  const made = { ...commit, id: text, version_number: 3, digest: DIGEST, path: text };
  const ref = { id: text, version_number: null };
  const row = { environment: text, pin: text, active: ref };
  const environments = [
    { ...row, wanted: null, in_sync: false },
    { ...row, environment: `${text}2`, wanted: ref, in_sync: false },
  ];
  const times = (['now', 'open', 'ended'] as const).map((kind) => {
    const until = kind === 'ended' ? commit : null;
    return { environment: text, from: commit, until, served: kind === 'now' };
  });
  const version: Told = { ...made, made_by: 'git', active_in: [text, `${text}2`], pinned: times };
  const outside: Told = { ...version, made_by: 'outside', active_in: [`${text}3`], pinned: [] };
  const lineage = { environment: text, serves: { ...made, made_by: 'git' as const }, pinned: commit };
  return reportOf(
    [
      { environments, history: { versions: [version, outside] } },
      { environments, lineage },
      { lineage: { ...lineage, serves: null, pinned: null } },
      { environments, lineage: { ...lineage, serves: { ...made, made_by: 'outside' }, pinned: null } },
    ],
    text,
  );
}

const page = (report: Report) => {
  const none = { folder: null, commit: null, runUrl: null, limit: null };
  return renderMarkdown(report, { ...none, title: 'history' }).text;
};

function unsafeLines(text: string): readonly string[] {
  const report = hostileReport(text);
  const shown = escapeForRunner(renderHistory(report, { colour: false, quiet: false }));
  const json = renderJson(report);
  expect(parseReport(json)).toEqual(report);
  return [...commandsIn(shown), ...commandsIn(json), ...shown.split('\n').filter((line) => INVISIBLE.test(line))];
}

describe('whatever strangers have written is data', () => {
  test.each(Object.entries(HOSTILE))('in the terminal and in JSON: %s', (_, text) => {
    expect(unsafeLines(text)).toEqual([]);
  });

  test('in the terminal and in JSON: any text, and it adds no line', () => {
    const lines = (text: string) =>
      renderHistory(hostileReport(text), { colour: false, quiet: false }).split('\n').length;
    fc.assert(
      fc.property(anyText, (text) => {
        expect(unsafeLines(text)).toEqual([]);
        expect(lines(text)).toBe(lines(text === '' ? '' : 'text'));
      }),
      { numRuns: 100 },
    );
  });

  test.each(Object.entries(NASTY))('on a page: %s', (_, text) => {
    const shown = page(hostileReport(text));
    expectInert(shown);
    expect(shown.match(/^#### /gm)).toHaveLength(4);
  });

  test('on a page: any text', () => {
    fc.assert(
      fc.property(anyMarkdown, (text) => {
        const shown = page(hostileReport(text));
        expectInert(shown);
        expect(shown.match(/^#### /gm)).toHaveLength(4);
      }),
      { numRuns: 40 },
    );
  });
});

describe('the text', () => {
  const commit = { commit: '9f2c1ab04d3e'.padEnd(40, '0'), author: 'Ada', date: '2026-01-02T03:04:05+01:00' };
  const told = (parts: Partial<Told>): Told => ({
    ...{ id: 'ver_1', version_number: 1, digest: DIGEST, made_by: 'git', ...commit, subject: 'First' },
    ...{ active_in: [], pinned: [], ...parts },
  });
  const textOf = (prompt: Partial<ReportPrompt>) => renderHistory(reportOf([prompt]), { colour: false, quiet: false });
  const rowsOf = (...versions: readonly Told[]) => textOf({ history: { versions } }).split('\n').slice(2, -3);

  test.each<[string, Partial<Told>, string]>([
    ['a commit', {}, 'v1       2026-01-02  9f2c1ab04d3e  Ada     First'],
    ['with its pull request', { pull_request: '#7' }, 'v1       2026-01-02  9f2c1ab04d3e  Ada     First (#7)'],
    ['named once', { subject: 'A (#7)', pull_request: '#7' }, 'v1       2026-01-02  9f2c1ab04d3e  Ada     A (#7)'],
    ['without a subject', { subject: '' }, 'v1       2026-01-02  9f2c1ab04d3e  Ada'],
    ['a date that is none', { date: 'soon' }, 'v1             9f2c1ab04d3e  Ada     First'],
  ])('of %s', (_, parts, expected) => {
    expect(rowsOf(told(parts))).toEqual([expected]);
  });

  test('has a table of where a version is and was', () => {
    const time = { environment: 'production', from: { ...commit, subject: 'Promote' }, until: null, served: true };
    const lines = rowsOf(told({ active_in: ['production', 'qa'], pinned: [{ ...time, served: false }, time] }));
    expect(lines).toEqual([
      'v1       2026-01-02  9f2c1ab04d3e  Ada     First',
      'version  environment  pinned                   commit        subject',
      'v1       production   2026-01-02 → now         9f2c1ab04d3e  Promote',
      'v1       qa           active now',
      'v1       production   2026-01-02 → not served  9f2c1ab04d3e  Promote',
    ]);
  });

  test('says that no version is known', () => {
    expect(textOf({ history: { versions: [] } })).toBe('k  k\n\n1 prompt, 0 known versions.\n');
  });

  test('is the last line alone when it shall be quiet', () => {
    const report = reportOf([{ history: { versions: [told({})] } }]);
    expect(renderHistory(report, { colour: false, quiet: true })).toBe('1 prompt, 1 known version.\n');
  });

  test('has nothing more in colour but colours', () => {
    const report = hostileReport('text');
    const coloured = renderHistory(report, { colour: true, quiet: false });
    expect(coloured.replaceAll(/\u001b\[\d+m/g, '')).toBe(renderHistory(report, { colour: false, quiet: false }));
  });
});
