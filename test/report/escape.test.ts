import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { showHidden } from '../../src/domain/text.ts';
import { escapeForRunner, escapeLine, renderJson } from '../../src/report/escape.ts';
import { renderProblem } from '../../src/report/problems.ts';
import { renderStatus } from '../../src/report/status.ts';
import { renderSummary } from '../../src/report/summary.ts';
import { renderText } from '../../src/report/text.ts';
import { styleFor } from '../../src/report/style.ts';
import { commandsIn, HOSTILE, INVISIBLE } from './corpus.ts';
import { anyText, reportOf } from './support.ts';
import { parseReport } from '../support/run.ts';

const hostile = Object.entries(HOSTILE);

/** Every text output of a report that holds the text wherever it can. */
function outputsOf(text: string, colour = false): readonly string[] {
  const report = reportOf(text);
  const style = styleFor({ colour });
  return [
    renderText(report, { colour, quiet: false }),
    renderText(report, { colour, quiet: true }),
    renderStatus(reportOf(text, 'status'), { colour, quiet: false }),
    `${renderSummary(report, style)}\n`,
    ...report.problems.map((problem) => `${renderProblem(problem, style)}\n`),
  ];
}

const TAB_IN_DIFF = /^ {6}[-+ ].*$/gm;

describe('in the terminal', () => {
  test.each(hostile)('%s is shown and does nothing', (_, text) => {
    for (const output of outputsOf(text)) expect(output.replaceAll(TAB_IN_DIFF, withoutTabs)).not.toMatch(INVISIBLE);
  });

  test('whatever a text holds, no control character but LF comes out, and tabs within diffs', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        for (const output of outputsOf(text))
          expect(output.replaceAll(TAB_IN_DIFF, withoutTabs)).not.toMatch(INVISIBLE);
      }),
      { numRuns: 150 },
    );
  });

  test('whatever a text holds, colour adds colours and nothing else', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(outputsOf(text, true).map((output) => output.replaceAll(/\u001b\[\d+m/g, ''))).toEqual(outputsOf(text));
      }),
      { numRuns: 100 },
    );
  });

  test('a line stays a line, and a text keeps its line feeds and tabs', () => {
    expect(escapeLine('a\nb\tc\rd')).toBe('a\\u{a}b\\u{9}c\\u{d}d');
    expect(showHidden('a\nb\tc\rd\u001b')).toBe('a\nb\tc\\u{d}d\\u{1b}');
  });

  test('a text without anything hidden stays as it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-ascii' }), (text) => {
        expect(escapeLine(text)).toBe(text);
      }),
    );
  });
});

function withoutTabs(line: string): string {
  return line.replaceAll('\t', ' ');
}

describe("in a GitHub runner's log", () => {
  test.each(hostile)('%s is no command', (_, text) => {
    for (const colour of [false, true]) {
      for (const output of outputsOf(text, colour)) expect(commandsIn(escapeForRunner(output))).toEqual([]);
    }
  });

  test('whatever a text holds, no line of any output is a command', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        for (const output of outputsOf(text)) expect(commandsIn(escapeForRunner(output))).toEqual([]);
        expect(commandsIn(renderJson(reportOf(text)))).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });

  test.each([
    ['::error::x', '\\u{3a}:error::x'],
    ['  ::error::x', '  \\u{3a}:error::x'],
    ['a\n\n \t::error::x', 'a\n\n \t\\u{3a}:error::x'],
    [':::', '\\u{3a}::'],
    ['a ::error::x', 'a ::error::x'],
    [': :', ': :'],
    ['a ##[error]x', 'a ##\\u{5b}error]x'],
    ['###[error]x', '###\\u{5b}error]x'],
    ['# [x] #[y]', '# [x] #[y]'],
  ])('%j becomes %j', (output, expected) => {
    expect(escapeForRunner(output)).toBe(expected);
  });
});

describe('in JSON', () => {
  test.each(hostile)('%s is equal after parsing, and nothing of it is seen or a command before', (_, text) => {
    const json = renderJson(reportOf(text));
    expect(parseReport(json)).toEqual(reportOf(text));
    expect(json).not.toContain('##[');
    expect(commandsIn(json)).toEqual([]);
    expect(json.replaceAll('\n', '')).not.toMatch(INVISIBLE);
  });

  test('whatever a text holds, it is equal after parsing', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(parseReport(renderJson(reportOf(text)))).toEqual(reportOf(text));
      }),
      { numRuns: 200 },
    );
  });
});
