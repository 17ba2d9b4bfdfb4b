import { expect, test } from 'vitest';
import { makeProblem } from '../../../src/problem.ts';
import { escapeForRunner } from '../../../src/report/escape.ts';
import { renderJunit } from '../../../src/report/formats/junit.ts';
import { HOSTILE } from '../corpus.ts';
import { anyText, hostileReports, promptOf, reportOf, testTexts } from '../support.ts';
import { readJunit } from './read-junit.ts';

// The recorded reports show the cases of each kind of prompt and problem.

test('A JUnit report lists a problem in a prompt file under the test case of that prompt', () => {
  const pin = { ...makeProblem('usage/invalid', { reason: 'Odd pin.' }), path: 'a.md', line: 4, column: 12 };
  const cases = readJunit(renderJunit(reportOf([promptOf({ key: 'a' })], { problems: [pin] }), 'plan'));
  expect(cases).toMatchObject([{ name: 'a.md', failure: expect.stringMatching(/^a\.md:4:12: /) }]);
});

test('Test cases in a JUnit report have unique names, even for prompts without a file', () => {
  const prompts = [promptOf({ key: 'a\u200b' }), promptOf({ key: 'a\\u{200b}' }), promptOf({ key: 'x', path: '' })];
  expect(readJunit(renderJunit(reportOf(prompts), 'plan'))).toMatchObject([
    { name: 'a\\u{200b}.md', file: 'a\\u{200b}.md' },
    { name: 'a\\u{200b}.md (case 2)' },
    { name: 'x', file: null },
  ]);
});

testTexts('JUnit stays valid XML with unique case names for', HOSTILE, anyText, (text) => {
  const all = hostileReports(text).map((report) => readJunit(escapeForRunner(renderJunit(report, 'plan'))));
  const twice = all.map((cases) => cases.length - new Set(cases.map(({ name }) => name)).size);
  return { found: twice, wanted: all.map(() => 0) };
});
