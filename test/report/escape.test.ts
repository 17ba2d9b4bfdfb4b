import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { escapeForRunner, escapeLine, renderJson } from '../../src/report/escape.ts';
import { renderHistory } from '../../src/report/formats/render-history.ts';
import { renderProblem, renderWarnings } from '../../src/report/problem-list.ts';
import { renderStatus } from '../../src/report/formats/status-matrix.ts';
import { renderText } from '../../src/report/formats/terminal-text.ts';
import { makeOutputStyle } from '../../src/report/output-style.ts';
import { commandsIn, HOSTILE_TOGETHER, INVISIBLE } from './corpus.ts';
import { runs } from '../support/seed.ts';
import { anyText, hostileReports, testTexts } from './support.ts';
import { ReportShape } from '../../src/report/schema/report-schema.ts';

/** Returns all text outputs of reports that contain the text in every possible field. */
function outputsOf(text: string, colour = false): readonly string[] {
  const [quiet, shown] = [true, false].map((quiet) => ({ colour, quiet }));
  return hostileReports(text).flatMap((report) => [
    renderText(report, shown!),
    renderText(report, quiet!),
    renderStatus(report, shown!),
    renderHistory(report, shown!),
    ...report.problems.map((problem) => `${renderProblem(problem, makeOutputStyle({ colour }))}\n`),
    ...renderWarnings(report, undefined, makeOutputStyle({ colour })),
  ]);
}

describe('terminal output', () => {
  // Only diffs may contain tabs.
  testTexts('Terminal output contains no invisible characters for', HOSTILE_TOGETHER, anyText, (text) => {
    const outputs = outputsOf(text).map((output) =>
      output.replaceAll(/^ {6}[-+ ].*$/gm, (line) => line.replaceAll('\t', ' ')),
    );
    return { found: outputs.filter((output) => INVISIBLE.test(output)), wanted: [] };
  });

  test('Colored terminal output differs from plain output only in color codes', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(outputsOf(text, true).map((output) => output.replaceAll(/\u001b\[\d+m/g, ''))).toEqual(outputsOf(text));
      }),
      { numRuns: runs(60) },
    );
  });

  test('Hostile text never adds a line to the history report', () => {
    const lines = (text: string) =>
      hostileReports(text).map((one) => renderHistory(one, { colour: false, quiet: false }).split('\n').length);
    fc.assert(
      fc.property(anyText, (text) => {
        expect(lines(text)).toEqual(lines(text === '' ? '' : 'text'));
      }),
      { numRuns: runs(100) },
    );
  });

  test('escapeLine escapes line feeds, tabs and carriage returns', () => {
    expect(escapeLine('a\nb\tc\rd')).toBe('a\\u{a}b\\u{9}c\\u{d}d');
  });

  test('escapeLine does not change text without hidden characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-ascii' }), (text) => {
        expect(escapeLine(text)).toBe(text);
      }),
    );
  });
});

testTexts('No line of any output is a runner command for', HOSTILE_TOGETHER, anyText, (text) => {
  const outputs = [...outputsOf(text), ...outputsOf(text, true)].map(escapeForRunner);
  return { found: [...outputs, ...hostileReports(text).map(renderJson)].flatMap(commandsIn), wanted: [] };
});

test.each([
  ['escapeForRunner escapes a command at the start', '::error::x', '\\u{3a}:error::x'],
  ['escapeForRunner escapes a command after blanks in any line', 'a\n\n \t::error::x', 'a\n\n \t\\u{3a}:error::x'],
  ['escapeForRunner keeps colons within a line', 'a ::error::x', 'a ::error::x'],
  ['escapeForRunner keeps a single colon at the start', ': :', ': :'],
  ['escapeForRunner escapes an old-style command anywhere in a line', 'a ###[error]x', 'a ###\\u{5b}error]x'],
  ['escapeForRunner keeps brackets after a single hash', '# [x] #[y]', '# [x] #[y]'],
])('%s', (_, output, expected) => {
  expect(escapeForRunner(output)).toBe(expected);
});

testTexts('renderJson hides nothing and changes nothing after parsing for', HOSTILE_TOGETHER, anyText, (text) => {
  const reports = hostileReports(text);
  const texts = reports.map(renderJson);
  const hidden = texts.filter((json) => INVISIBLE.test(json.replaceAll('\n', '')));
  const valid = texts.map((json) => ReportShape.parse(JSON.parse(json)).mode);
  const found = { hidden, valid, same: texts.map((json) => JSON.stringify(JSON.parse(json))) };
  const modes = reports.map(({ mode }) => mode);
  return { found, wanted: { hidden: [], valid: modes, same: reports.map((report) => JSON.stringify(report)) } };
});
