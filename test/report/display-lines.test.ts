import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import stringWidth from 'fast-string-width';
import { isContinuationLine, readDisplayText, splitIntoDisplayLines } from '../../src/report/display-lines.ts';
import { runs } from '../support/seed.ts';
import { anyText, FORMATS, planOf, ref, setActive } from './support.ts';

type ShownLine = { readonly isContinuation: boolean; readonly text: string };

function readLines(display: string): readonly ShownLine[] {
  return display.split('\n').map((line) => ({ isContinuation: isContinuationLine(line), text: readDisplayText(line) }));
}

/** Returns the display lines of a text. Continuation lines begin with `↳`. */
function split(text: string, type: 'text' | 'chat' = 'text'): readonly string[] {
  return readLines(splitIntoDisplayLines(text, type)).map((line) => `${line.isContinuation ? '↳' : ''}${line.text}`);
}

/** Joins the display lines to restore the text. */
function join(display: string): string {
  return readLines(display).reduce(
    (text, line, index) => `${text}${index === 0 || line.isContinuation ? '' : '\n'}${line.text}`,
    '',
  );
}

const FILLER = 'Stay friendly even if the customer is not, and answer in their language.';

describe('splitIntoDisplayLines', () => {
  test('splitIntoDisplayLines splits long lines after sentences and between words as recorded', async () => {
    const texts = [
      `One. Two. ${'x'.repeat(70)}`,
      `${FILLER} Is it late? Then hurry! “Now.” Go…  Done.`,
      // Abbreviations, numbers of list items, decimals and file names end no sentence.
      `12. Send it, e.g. To Ada J. Smith, for 3.50 EUR, as in a.md or approx. a page. ${FILLER}`,
      `${'请用客户的语言回答。'.repeat(6)}「好的！？」`,
      'word '.repeat(17),
      `a ${'👩‍👩‍👧'.repeat(41)} b`,
      'a\n\nb\n',
      '↳c',
    ];
    const outputs = texts.map((text) => `${split(text).join('\n')}\n`);
    await expect(outputs.join('========\n')).toMatchFileSnapshot('recorded/display-lines.txt');
  });

  test('splitIntoDisplayLines counts a long run of spaces only as long as the mark that the page shows instead', () => {
    const text = `Be polite.${' '.repeat(3_000)}Obey.`;
    expect(split(text)).toEqual([text]);
    expect(split('\u0000a\n\u0001b')).toEqual(['\u0000a', '\u0001b']);
  });

  test('Adding a sentence at the end of a paragraph does not change the display lines of the other sentences', () => {
    const paragraph = `${FILLER} ${FILLER}`;
    expect(split(`${paragraph} Never lie.`)).toEqual([...split(paragraph), '↳ Never lie.']);
  });

  test('splitIntoDisplayLines splits a long marker line in a text prompt but not in a chat prompt', () => {
    const marker = `{{role "${'x'.repeat(150)}"}}`;
    expect(split(marker, 'chat')).toEqual([marker]);
    expect(split(marker)).toEqual(['{{role', `↳ "${'x'.repeat(79)}`, `↳${'x'.repeat(71)}"}}`]);
  });

  const word = fc.constantFrom(
    'Refund',
    'Go.',
    'e.g.',
    '1.',
    '“Yes!”',
    '語。',
    'x'.repeat(130),
    '👩‍👩‍👧',
    '\u0000',
    '\u0001',
  );
  const blank = fc.constantFrom(' ', '  ', '\t', '\u00a0', ' '.repeat(50), '', '\n', '\r\n', '\u2028');
  const prose = fc.array(fc.tuple(word, blank), { maxLength: 60 }).map((parts) => parts.flat().join(''));

  test('The display lines of a text contain the whole text, so different texts never have the same display lines', () => {
    fc.assert(
      fc.property(fc.oneof(prose, anyText), (text) => {
        expect(join(splitIntoDisplayLines(text, 'text'))).toBe(text);
      }),
      { numRuns: runs(400) },
    );
  });

  test('Each display line has at most 80 columns, not counting leading and trailing white space', () => {
    const short = fc.array(fc.tuple(word, fc.constantFrom(' ', '\n', '')), { maxLength: 60 });
    fc.assert(
      fc.property(short, (parts) => {
        for (const { text } of readLines(splitIntoDisplayLines(parts.flat().join(''), 'text'))) {
          expect(stringWidth(text.trim())).toBeLessThanOrEqual(80);
        }
      }),
      { numRuns: runs(200) },
    );
  });
});

test.each<[string, string]>([
  ['A Markdown page shows a small edit in a line of a million characters', 'Refunds take five days. '.repeat(40_000)],
  ['A Markdown page shows a small edit in a word of a million characters', 'x'.repeat(1_000_000)],
  ['A Markdown page shows a small edit after 300,000 closing quotation marks', `.${'"'.repeat(300_000)} A`],
  ['A Markdown page shows a small edit after 300,000 periods', '.'.repeat(300_000)],
  [
    'A Markdown page shows a small edit after ideographic full stops and spaces',
    `${'。'.repeat(100_000)}${' '.repeat(100_000)}。`,
  ],
  ['A Markdown page shows a small edit after spaces and digits', `${' '.repeat(150_000)}${'1'.repeat(150_000)}. A`],
])('%s', (_, text) => {
  const change = setActive({ before: ref(1), before_text: `${text}\nOld end.`, after_text: `${text}\nNew end.` });
  const page = FORMATS.Markdown(planOf([change]));
  expect(page).toContain('\n-Old end.\n+New end.\n');
  expect(page.length).toBeLessThan(2_000);
});
