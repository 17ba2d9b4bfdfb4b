import fc from 'fast-check';
import stringWidth from 'fast-string-width';
import { describe, expect, test } from 'vitest';
import { makeProblem } from '../../src/problem.ts';
import { renderHistory } from '../../src/report/history.ts';
import { renderProblem } from '../../src/report/problems.ts';
import { renderStatus } from '../../src/report/status.ts';
import { renderText } from '../../src/report/text.ts';
import { makeScreen } from '../../src/report/screen.ts';
import { styleFor } from '../../src/report/style.ts';
import { HOSTILE } from './corpus.ts';
import type { Report } from '../../src/report/schema.ts';
import { anyText, hostileReport, hostileReports, setActive } from './support.ts';
import { runs } from '../support/seed.ts';

const OWN = /\u001b\[\d+m|\u001b\]8;;[!-~]*\u001b\\/g;
const links = { fileUrl: (path: string) => `file:///w/${encodeURIComponent(path.toWellFormed())}` };

/** Without colours and links. */
function plain(text: string): string {
  return text.replaceAll(OWN, '');
}

const wideText = fc
  .array(
    fc.oneof(
      anyText,
      fc.lorem({ maxCount: 8 }),
      fc.constantFrom(
        '語',
        '日本語の文',
        '👋🏽',
        '🎉',
        '🇩🇪',
        'e\u0301',
        '한국어',
        'ｆｕｌｌ',
        '❤\ufe0f',
        '1\ufe0f\u20e3',
        '  ',
        '\n',
      ),
      fc.constantFrom('https://example.com/a/very/long/address/that/has/no/blank', 'a/b/c/d.md', '{{name}}'),
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(' '));

/** A hostile report with a change from the one text to the other. */
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

describe('On a terminal', () => {
  test('whatever the texts, no line is wider than it unless it is one word, and no sequence is anything but colour or link', () => {
    fc.assert(
      fc.property(wideText, wideText, fc.integer({ min: 20, max: 200 }), (text, other, columns) => {
        const options = { colour: true, quiet: false, screen: makeScreen(columns), links };
        const outputs = [
          renderText(changing(text, other), options),
          renderText({ ...changing(text, other), service: 'https://x.example' }, options),
          ...hostileReports(text).flatMap((one) => [renderStatus(one, options), renderHistory(one, options)]),
          ...hostileReport(text).problems.map((problem) => renderProblem(problem, styleFor(options))),
        ];
        for (const line of outputs.flatMap((output) => plain(output).split('\n'))) {
          expect(line).not.toContain('\u001b');
          if (stringWidth(line) > columns) expect(line).toMatch(/^ *[-+]?[^ ]*$/);
        }
      }),
      { numRuns: runs(100) },
    );
  });
});

describe('A command that a hint says to run', () => {
  const problem = makeProblem('prompt/symbolic-link');
  const hint =
    'To promote what staging serves, run: promptsync promote support/greeting --from staging --to production';
  const rows = (columns: number, text = hint) =>
    renderProblem({ ...problem, hint: text }, styleFor({ colour: false, screen: makeScreen(columns) }))
      .split('\n')
      .slice(-3);

  test('is not broken where it does not fit, so that it can be copied', () => {
    expect(rows(80).slice(-2)).toEqual([
      '  To promote what staging serves, run:',
      '  promptsync promote support/greeting --from staging --to production',
    ]);
    expect(rows(30)).toEqual([
      '  To promote what staging ',
      '  serves, run:',
      '  promptsync promote support/greeting --from staging --to production',
    ]);
  });

  test('stays in its sentence where that fits', () => {
    expect(rows(120).at(-1)).toBe(`  ${hint}`);
  });
});

describe('A line is wrapped', () => {
  test.each<[string, number, number, readonly string[]]>([
    ['It fits.', 20, 2, ['It fits.']],
    ['Between words, with a hang.', 20, 2, ['Between words, ', '  with a hang.']],
    ['Exactly twenty wide. And more', 20, 0, ['Exactly twenty wide.', 'And more']],
    ['So Averyveryverylongwordwithoutend is', 20, 2, ['So ', '  Averyveryverylongwordwithoutend', '  is']],
    ['many      blanks      are      kept', 20, 0, ['many      blanks    ', '  are      kept']],
    [
      '\u001b[31mred \u001b[7minverse over the end\u001b[27m red\u001b[39m',
      20,
      1,
      ['\u001b[31mred \u001b[7minverse over \u001b[27m', ' \u001b[7mthe end\u001b[27m red\u001b[39m'],
    ],
  ])('%j', (text, columns, hang, expected) => {
    expect(makeScreen(columns).wrap(text, columns, hang)).toEqual(expected);
  });
});

describe('A link', () => {
  test.each(Object.entries(HOSTILE))('of a path with %s stays one', (_, text) => {
    const report = { ...hostileReport(text), service: `https://x.example/${text}` };
    const output = renderText(report, { colour: false, quiet: false, links });
    expect(output).toContain('\u001b]8;;file:///w/');
    const opened = [...output.matchAll(/\u001b\]8;;[!-~]+\u001b\\[^\u001b]*\u001b\]8;;\u001b\\/g)];
    expect(opened.length).toBeGreaterThan(0);
    expect(output.replaceAll(/\u001b\]8;;[!-~]*\u001b\\/g, '')).not.toContain('\u001b');
  });

  test('leads from an address only where it is one of the web', () => {
    const summaryOf = (service: string) =>
      renderText({ ...hostileReport('a'), service }, { colour: false, quiet: true, links });
    expect(summaryOf('https://eu.example/x')).toContain(
      '\u001b]8;;https://eu.example/x\u001b\\https://eu.example/x\u001b]8;;\u001b\\',
    );
    expect(summaryOf('embedded:.promptsync/service.db')).not.toContain(']8;;embedded');
  });
});
