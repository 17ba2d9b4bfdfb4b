import fc from 'fast-check';
import stringWidth from 'fast-string-width';
import { expect, test } from 'vitest';
import { makeProblem } from '../../../src/problem.ts';
import { renderHistory } from '../../../src/report/formats/render-history.ts';
import { renderProblem, renderWarnings } from '../../../src/report/problem-list.ts';
import { renderStatus } from '../../../src/report/formats/status-matrix.ts';
import { renderText } from '../../../src/report/formats/terminal-text.ts';
import { makeScreen } from '../../../src/report/terminal-screen.ts';
import { layOutTable, makeOutputStyle } from '../../../src/report/output-style.ts';
import type { Report } from '../../../src/report/schema/report-schema.ts';
import { anyText, hostileReport, hostileReports, setActive } from '../support.ts';
import { runs } from '../../support/seed.ts';

const OWN = /\u001b\[\d+m|\u001b\]8;;[!-~]*\u001b\\/g;
const links = { fileUrl: (path: string) => `file:///w/${encodeURIComponent(path.toWellFormed())}` };

/** Removes colors and links. */
function plain(text: string): string {
  return text.replaceAll(OWN, '');
}

const wideText = fc
  .array(
    fc.oneof(
      anyText,
      fc.lorem({ maxCount: 8 }),
      fc.constantFrom(...'語 日本語の文 👋🏽 🇩🇪 e\u0301 한국어 ｆｕｌｌ ❤\ufe0f 1\ufe0f\u20e3'.split(' '), '  ', '\n'),
      fc.constantFrom('https://example.com/a/very/long/address/that/has/no/blank', 'a/b/c/d.md', '{{name}}'),
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(' '));

/** Returns a hostile report with a change from one text to the other. */
function changing(text: string, other: string): Report {
  const report = hostileReport(text);
  const ref = { id: text, version_number: null };
  const changes = [
    setActive({ environment: text, before: ref, before_text: text, after_text: other }),
    setActive({ environment: 'b', after: ref, after_text: other }),
  ];
  return {
    ...report,
    prompts: report.prompts.map((prompt) => ({ ...prompt, changes: [...prompt.changes, ...changes] })),
  };
}

test('Terminal output fits the terminal width and uses escape sequences only for colors and links', () => {
  fc.assert(
    fc.property(wideText, wideText, fc.integer({ min: 20, max: 200 }), (text, other, columns) => {
      const options = { colour: true, quiet: false, screen: makeScreen(columns), links };
      const outputs = [
        renderText({ ...changing(text, other), service: `https://x.example/${text}` }, options),
        ...hostileReports(text).flatMap((one) => [
          renderText(one, options),
          ...[renderStatus(one, options), renderHistory(one, options)],
          ...renderWarnings(one, undefined, makeOutputStyle(options)),
        ]),
        ...hostileReport(text).problems.map((problem) => renderProblem(problem, makeOutputStyle(options))),
      ];
      for (const line of outputs.flatMap((output) => plain(output).split('\n'))) {
        expect(line).not.toContain('\u001b');
        if (stringWidth(line) > columns) expect(line).toMatch(/^ *[-+]?[^ ]*$/);
      }
    }),
    { numRuns: runs(40) },
  );
});

test('renderProblem puts a long command on a separate line without backticks so that users can copy it', () => {
  const command = 'promptsync promote support/greeting --from staging --to production';
  const problem = {
    ...makeProblem('prompt/symbolic-link'),
    hint: `To promote what staging serves, run: \`${command}\``,
  };
  const hintAt = (columns: number) =>
    renderProblem(problem, makeOutputStyle({ colour: false, screen: makeScreen(columns) }))
      .split('\n  ')
      .slice(-3);
  expect(hintAt(120).at(-1)).toBe(problem.hint);
  expect(hintAt(80).slice(-2)).toEqual(['To promote what staging serves, run:', command]);
  expect(hintAt(30)).toEqual(['To promote what staging ', 'serves, run:', command]);
});

test.each([
  ['wrap() does not change a line of the full width', 'Exactly twenty wide.', 'Exactly twenty wide.'],
  ['wrap() breaks between words and indents the rest', 'Between words, with hang.', 'Between words, \n  with hang.'],
  ['wrap() keeps a word that is too wide', 'So averyveryverylongword is', 'So \n  averyveryverylongword\n  is'],
  ['wrap() keeps consecutive spaces', 'many      blanks      are kept', 'many      blanks  \n      are kept'],
  [
    'wrap() turns off inverse text before a line break and turns it on again afterward',
    '\u001b[31mred \u001b[7minverse over the end\u001b[27m red\u001b[39m',
    '\u001b[31mred \u001b[7minverse over \u001b[27m\n  \u001b[7mthe end\u001b[27m red\u001b[39m',
  ],
])('%s', (_, text, expected) => {
  expect(makeScreen(20).wrap(text, 20, 2).join('\n')).toBe(expected);
});

test('Table columns stay aligned if cells contain Chinese, Korean or combining characters', () => {
  const rows = ['key', '客服/问候语', '한국어', 'cafe\u0301'].map((key) => [key, 'v1']);
  const lines = layOutTable(rows.map((row) => row.map((text) => ({ text, paint: (shown: string) => shown }))));
  expect(lines.map((line) => stringWidth(line.slice(0, line.indexOf('v'))))).toEqual([13, 13, 13, 13]);
});

test('Terminal output links to files, and to the service only if the service has a web address', () => {
  const outputOf = (service: string) =>
    renderText({ ...hostileReport('a'), service }, { colour: false, quiet: false, links });
  const url = 'https://eu.example/x';
  expect(outputOf(url)).toContain('\u001b]8;;file:///w/a\u001b\\a\u001b]8;;\u001b\\');
  expect(outputOf(url)).toContain(`\u001b]8;;${url}\u001b\\${url}\u001b]8;;\u001b\\`);
  expect(outputOf('embedded:.promptsync/service.db')).not.toContain(']8;;embedded');
});
