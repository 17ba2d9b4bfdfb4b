import { describe, expect, test } from 'vitest';
import { makeProblem } from '../../src/problem.ts';
import { escapeForRunner } from '../../src/report/escape.ts';
import { renderJunit } from '../../src/report/junit.ts';
import type { Report } from '../../src/report/schema.ts';
import { HOSTILE } from './corpus.ts';
import { type Case, readJunit } from './read-junit.ts';
import { anyText, hostileReports, promptOf, reportOf, testTexts } from './support.ts';

const BAD = makeProblem('prompt/missing-id', {}, { path: 'bad.md', line: 2, column: 1 });
const DOWN = makeProblem('service/unreachable', { origin: 'https://x', reason: 'refused' });
const HIDDEN = makeProblem('prompt/hidden-character', { character: 'x', count: 1 });
const PIN = { ...makeProblem('usage/invalid', { reason: 'Odd pin.' }), path: 'a.md', line: 4, column: 12 };

describe('a test case', () => {
  const prompt = (key: string, parts: object = {}) => promptOf({ key, path: `${key}.md`, ...parts });
  const rows: readonly (readonly [name: string, Report, readonly Partial<Case>[]])[] = [
    [
      'is each prompt, by its path; what is in sync, pending or applied passes, with warnings too',
      reportOf([
        prompt('a'),
        prompt('b', { status: 'pending', problems: [HIDDEN] }),
        prompt('c', { status: 'applied' }),
      ]),
      ['a.md', 'b.md', 'c.md'].map((name) => ({ name, file: name, failure: null })),
    ],
    [
      'fails where the prompt is refused, with place and hint',
      reportOf([prompt('a', { status: 'blocked', problems: [PIN] }), prompt('b', { status: 'not_attempted' })]),
      [
        { name: 'a.md', failure: 'a.md:4:12: error: Odd pin. [usage/invalid]\n  See promptsync --help.\na: blocked' },
        { name: 'b.md', failure: 'b: not attempted' },
      ],
    ],
    [
      'is each file that is not valid as well, by its path',
      reportOf([prompt('a')], { mode: 'validate', problems: [BAD, { ...BAD, line: 9 }] }),
      [
        { name: 'a.md', failure: null },
        { name: 'bad.md', file: 'bad.md', failure: expect.stringMatching(/^bad\.md:2:1: [^]*\nbad\.md:9:1: /) },
      ],
    ],
    [
      'passes where the prompt was only looked at',
      reportOf([prompt('a', { status: 'not_attempted' })], { mode: 'validate' }),
      [{ name: 'a.md', failure: null }],
    ],
    [
      'is what stopped the run, by its code',
      reportOf([], { problems: [makeProblem('config/missing-service'), DOWN] }),
      [
        { name: 'config/missing-service', file: null, failure: expect.stringContaining('No service is configured.') },
        { name: 'service/unreachable', file: null },
      ],
    ],
    [
      'is what no prompt could be observed for, beside each prompt',
      reportOf(['a', 'b'].map((key) => prompt(key, { status: 'failed', problems: [DOWN] }))),
      [
        { name: 'a.md', failure: expect.stringMatching(/^a\.md: error: [^]*\na: failed$/) },
        { name: 'b.md' },
        { name: 'service/unreachable', failure: expect.stringMatching(/^error: /) },
      ],
    ],
    [
      'of a file of the run that has a prompt as well is that of the prompt',
      reportOf([prompt('a')], { problems: [PIN] }),
      [{ name: 'a.md', failure: expect.stringMatching(/^a\.md:4:12: /) }],
    ],
    [
      'has a name of its own where others are called the same, and the key where no file is known',
      reportOf([prompt('a\u200b'), prompt('a\\u{200b}'), prompt('x', { path: '' })]),
      [{ name: 'a\\u{200b}.md', file: 'a\\u{200b}.md' }, { name: 'a\\u{200b}.md (case 2)' }, { name: 'x', file: null }],
    ],
  ];
  test.each(rows)('%s', (_, report, cases) => {
    expect(readJunit(renderJunit(report, 'plan'))).toMatchObject(cases);
  });
});

describe('whatever a text holds, it is XML, also in a log, and no two cases have one name', () => {
  testTexts(HOSTILE, anyText, (text) => {
    const all = hostileReports(text).map((report) => readJunit(escapeForRunner(renderJunit(report, 'plan'))));
    const twice = all.map((cases) => cases.length - new Set(cases.map(({ name }) => name)).size);
    return { found: twice, wanted: all.map(() => 0) };
  });
});

test('has at most 30 MB, and 1 MB of a case, and says what it leaves out; every case stays', () => {
  const problemsOf = (count: number) =>
    Array.from({ length: count }, (_, index) =>
      makeProblem('usage/invalid', { reason: `${index} <ü${'x'.repeat(9000)}` }),
    );
  const names = Array.from({ length: 40 }, (_, index) => `k/${index}`);
  const report = reportOf(names.map((key, index) => promptOf({ key, problems: problemsOf(index === 0 ? 200 : 90) })));
  const xml = renderJunit(report, 'plan');
  expect(Buffer.byteLength(xml)).toBeLessThan(30_000_000);
  expect(Buffer.byteLength(xml)).toBeGreaterThan(29_900_000);
  const failures = readJunit(xml).map(({ name, failure }) => [name, failure?.split('error: ').length, failure]);
  const leftOut = expect.stringMatching(/What else is wrong does not fit: .*$/);
  expect(failures[0]).toEqual(['k/0.md', 111, leftOut]);
  expect(failures[1]).toEqual(['k/1.md', 91, expect.not.stringMatching(/does not fit/)]);
  expect(failures[39]).toEqual(['k/39.md', 1, leftOut]);
  expect(failures.slice(40)).toEqual([['usage/invalid', 1, leftOut]]);
});
