import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { showHidden } from '../../src/domain/text.ts';
import { escapeForRunner, escapeLine, renderJson } from '../../src/report/escape.ts';
import { renderHistory } from '../../src/report/history.ts';
import { renderProblem } from '../../src/report/problems.ts';
import { renderStatus } from '../../src/report/status.ts';
import { renderText } from '../../src/report/text.ts';
import { styleFor } from '../../src/report/style.ts';
import { commandsIn, HOSTILE, INVISIBLE } from './corpus.ts';
import { anyText, hostileReports, testTexts } from './support.ts';
import { ReportShape } from '../../src/report/schema.ts';

/** Every text output of reports that hold the text wherever they can. */
function outputsOf(text: string, colour = false): readonly string[] {
  const [quiet, shown] = [true, false].map((quiet) => ({ colour, quiet }));
  return hostileReports(text).flatMap((report) => [
    renderText(report, shown!),
    renderText(report, quiet!),
    renderStatus(report, shown!),
    renderHistory(report, shown!),
    ...report.problems.map((problem) => `${renderProblem(problem, styleFor({ colour }))}\n`),
  ]);
}

describe('in the terminal whatever a text holds is shown and does nothing, but for tabs within diffs', () => {
  testTexts(HOSTILE, anyText, (text) => {
    const outputs = outputsOf(text).map((output) => output.replaceAll(/^ {6}[-+ ].*$/gm, withoutTabs));
    return { found: outputs.filter((output) => INVISIBLE.test(output)), wanted: [] };
  });
});

function withoutTabs(line: string): string {
  return line.replaceAll('\t', ' ');
}

describe('in the terminal', () => {
  test('whatever a text holds, colour adds colours and nothing else', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(outputsOf(text, true).map((output) => output.replaceAll(/\u001b\[\d+m/g, ''))).toEqual(outputsOf(text));
      }),
    );
  });

  test('whatever is told of versions, it adds no line', () => {
    const lines = (text: string) =>
      hostileReports(text).map((one) => renderHistory(one, { colour: false, quiet: false }).split('\n').length);
    fc.assert(
      fc.property(anyText, (text) => {
        expect(lines(text)).toEqual(lines(text === '' ? '' : 'text'));
      }),
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

describe("in a GitHub runner's log", () => {
  describe('whatever a text holds, no line of any output is a command', () => {
    testTexts(HOSTILE, anyText, (text) => {
      const outputs = [...outputsOf(text), ...outputsOf(text, true)].map(escapeForRunner);
      return { found: [...outputs, ...hostileReports(text).map(renderJson)].flatMap(commandsIn), wanted: [] };
    });
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

describe('in JSON whatever a text holds is equal after parsing, and nothing hidden of it is there before', () => {
  testTexts(HOSTILE, anyText, (text) => {
    const reports = hostileReports(text);
    const texts = reports.map(renderJson);
    const hidden = texts.filter((json) => INVISIBLE.test(json.replaceAll('\n', '')));
    const valid = texts.map((json) => ReportShape.parse(JSON.parse(json)).mode);
    const found = { hidden, valid, same: texts.map((json) => JSON.stringify(JSON.parse(json))) };
    const modes = reports.map(({ mode }) => mode);
    return { found, wanted: { hidden: [], valid: modes, same: reports.map((report) => JSON.stringify(report)) } };
  });
});
