import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { makeProblem } from '../../src/problem.ts';
import { escapeLine, shortenBlanks } from '../../src/report/escape.ts';
import { makeScreen } from '../../src/report/terminal-screen.ts';
import type { ReportChange } from '../../src/report/schema/report-schema.ts';
import { renderText } from '../../src/report/formats/terminal-text.ts';
import { runs } from '../support/seed.ts';
import { DIGEST, FORMATS, planOf, ref, setActive } from './support.ts';

const BLANKS = [' ', '\t', '\u00a0', '\u1680', '\u2003', '\u200a', '\u202f', '\u205f', '\u3000'];

/** Matches a run of blanks that could push a word out of view. */
const TOO_WIDE = /[\t\p{Zs}]{41,}/u;

describe('reports with a run of 3,000 blanks', () => {
  test('Reports shorten runs in changed lines and in context lines, and show the length of each run', () => {
    const textOf = (count: number) => `x${'\t'.repeat(3_000)}y\na${' '.repeat(count)}b`;
    const report = planOf([setActive({ before: ref(1), before_text: textOf(3_000), after_text: textOf(2_999) })]);
    const screen = makeScreen(100);
    const onScreen = renderText(report, { colour: true, quiet: false, screen }).replaceAll(/\u001b\[\d+m/g, '');
    for (const review of [FORMATS.Markdown(report), FORMATS.text(report), onScreen]) {
      expect(review).toMatch(/ x…\[3000 tabs\]…y\n *-a…\[3000 spaces\]…b\n *\+a…\[2999 spaces\]…b/);
    }
  });

  test('Reports shorten runs of blanks in kept metadata, problems and prompt keys', () => {
    const value = `a${' '.repeat(3_000)}b`;
    const kept = { metadata_from: ref(1), kept_metadata: `note: ${value}\nlist:${'\t'.repeat(3_000)}c` };
    const changes: readonly ReportChange[] = [
      { kind: 'create-version', digest: DIGEST, change_summary: 'Edit', ...kept },
    ];
    const problems = [makeProblem('config/unknown-field', { field: value, known: [], suggestion: undefined })];
    const report = planOf(changes);
    const markdown = FORMATS.Markdown(planOf(changes, { key: value, problems }));
    expect(markdown).toContain('The setting `a…[3000 spaces]…b` is unknown');
    for (const review of [markdown, FORMATS.text(report), FORMATS.HTML(report)]) {
      expect(review).toContain('note: a…[3000 spaces]…b');
      expect(review).toContain('list:…[3000 tabs]…c');
      expect(review).not.toMatch(TOO_WIDE);
    }
  });
});

describe('shortenBlanks', () => {
  test.each([
    ['shortenBlanks does not shorten 40 consecutive spaces', ' '.repeat(40), ' '.repeat(40)],
    ['shortenBlanks shortens 41 consecutive spaces', ' '.repeat(41), '…[41 spaces]…'],
    ['shortenBlanks does not shorten 10 consecutive tabs', '\t'.repeat(10), '\t'.repeat(10)],
    ['shortenBlanks shortens 11 consecutive tabs', '\t'.repeat(11), '…[11 tabs]…'],
    ['shortenBlanks counts each kind of blank', `${' '.repeat(40)}\t\u00a0\u00a0`, '…[40 spaces, 1 tab, 2 × \\u{a0}]…'],
    ['shortenBlanks shortens each run', `a${' '.repeat(50)}b${' '.repeat(60)}c`, 'a…[50 spaces]…b…[60 spaces]…c'],
    [
      'shortenBlanks ends a run at a line break',
      `${' '.repeat(40)}\n${' '.repeat(40)}`,
      `${' '.repeat(40)}\n${' '.repeat(40)}`,
    ],
  ])('%s', (_, text, shown) => {
    expect(shortenBlanks(text)).toBe(shown);
  });

  test('escapeLine replaces 3,001 consecutive tabs with one marker', () => {
    expect(escapeLine(`a\t${'\t'.repeat(3_000)}b`)).toBe('a…[3001 tabs]…b');
  });

  test('shortenBlanks shortens all long sequences of whitespace without losing any words', () => {
    const blanks = fc.array(fc.constantFrom(...BLANKS), { maxLength: 100 }).map((all) => all.join(''));
    const word = fc.constantFrom('word', 'x', '.', '語', '…', ']…', '…[', '\n');
    fc.assert(
      fc.property(fc.array(fc.oneof(word, blanks)), (parts) => {
        const text = parts.join('');
        const shown = shortenBlanks(text);
        expect(shown).not.toMatch(TOO_WIDE);
        expect(shortenBlanks(shown)).toBe(shown);
        const words = text.split(/[\t\p{Zs}]+/u).filter((part) => part !== '');
        let at = 0;
        for (const one of words) {
          expect(shown.indexOf(one, at)).toBeGreaterThanOrEqual(at);
          at = shown.indexOf(one, at) + one.length;
        }
      }),
      { numRuns: runs(200) },
    );
  });
});
