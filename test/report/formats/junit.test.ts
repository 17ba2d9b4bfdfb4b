import { describe, expect, test } from 'vitest';
import { makeProblem } from '../../../src/problem.ts';
import { escapeForRunner } from '../../../src/report/escape.ts';
import { renderJunit } from '../../../src/report/formats/junit.ts';
import type { Report } from '../../../src/report/schema/report-schema.ts';
import { HOSTILE } from '../corpus.ts';
import { type Case, readJunit } from './read-junit.ts';
import { anyText, hostileReports, promptOf, reportOf, testTexts } from '../support.ts';

const BAD = makeProblem('prompt/missing-id', {}, { path: 'bad.md', line: 2, column: 1 });
const DOWN = makeProblem('service/unreachable', { origin: 'https://x', reason: 'refused' });
const HIDDEN = makeProblem('prompt/hidden-character', { character: 'x', count: 1 });
const PIN = { ...makeProblem('usage/invalid', { reason: 'Odd pin.' }), path: 'a.md', line: 4, column: 12 };

describe('renderJunit', () => {
  const prompt = (key: string, parts: object = {}) => promptOf({ key, path: `${key}.md`, ...parts });
  const rows: readonly (readonly [name: string, Report, readonly Partial<Case>[]])[] = [
    [
      'A JUnit report contains a passing test case for each prompt without an error',
      reportOf([
        prompt('a'),
        prompt('b', { status: 'pending', problems: [HIDDEN] }),
        prompt('c', { status: 'applied' }),
      ]),
      ['a.md', 'b.md', 'c.md'].map((name) => ({ name, file: name, failure: null })),
    ],
    [
      'For a refused prompt, a JUnit report contains a failing test case with the location and a hint',
      reportOf([prompt('a', { status: 'blocked', problems: [PIN] }), prompt('b', { status: 'not_attempted' })]),
      [
        {
          name: 'a.md',
          failure: 'a.md:4:12: error: Odd pin. [usage/invalid]\n  For help, run the command with `--help`.\na: blocked',
        },
        { name: 'b.md', failure: 'b: not attempted' },
      ],
    ],
    [
      'A JUnit report contains a failing test case for each invalid file',
      reportOf([prompt('a')], { mode: 'validate', problems: [BAD, { ...BAD, line: 9 }] }),
      [
        { name: 'a.md', failure: null },
        { name: 'bad.md', file: 'bad.md', failure: expect.stringMatching(/^bad\.md:2:1: [^]*\nbad\.md:9:1: /) },
      ],
    ],
    [
      'A JUnit report contains a passing test case for a prompt that was only validated',
      reportOf([prompt('a', { status: 'not_attempted' })], { mode: 'validate' }),
      [{ name: 'a.md', failure: null }],
    ],
    [
      'A JUnit report contains a failing test case for each problem that stopped the run',
      reportOf([], {
        problems: [
          makeProblem('config/missing-service', { variables: ['PROMPTSYNC_BASE_URL'], suggestedUrl: null }),
          DOWN,
        ],
      }),
      [
        { name: 'config/missing-service', file: null, failure: expect.stringContaining('No service is configured.') },
        { name: 'service/unreachable', file: null },
      ],
    ],
    [
      'A JUnit report contains an additional test case for a problem that affects all prompts',
      reportOf(['a', 'b'].map((key) => prompt(key, { status: 'failed', problems: [DOWN] }))),
      [
        { name: 'a.md', failure: expect.stringMatching(/^a\.md: error: [^]*\na: failed$/) },
        { name: 'b.md' },
        { name: 'service/unreachable', failure: expect.stringMatching(/^error: /) },
      ],
    ],
    [
      'A JUnit report lists a problem in a prompt file under the test case of that prompt',
      reportOf([prompt('a')], { problems: [PIN] }),
      [{ name: 'a.md', failure: expect.stringMatching(/^a\.md:4:12: /) }],
    ],
    [
      'Test cases in a JUnit report have unique names, even for prompts without a file',
      reportOf([prompt('a\u200b'), prompt('a\\u{200b}'), prompt('x', { path: '' })]),
      [{ name: 'a\\u{200b}.md', file: 'a\\u{200b}.md' }, { name: 'a\\u{200b}.md (case 2)' }, { name: 'x', file: null }],
    ],
  ];
  test.each(rows)('%s', (_, report, cases) => {
    expect(readJunit(renderJunit(report, 'plan'))).toMatchObject(cases);
  });
});

describe('renderJunit with hostile texts', () => {
  testTexts('JUnit stays valid XML with unique case names for', HOSTILE, anyText, (text) => {
    const all = hostileReports(text).map((report) => readJunit(escapeForRunner(renderJunit(report, 'plan'))));
    const twice = all.map((cases) => cases.length - new Set(cases.map(({ name }) => name)).size);
    return { found: twice, wanted: all.map(() => 0) };
  });
});
