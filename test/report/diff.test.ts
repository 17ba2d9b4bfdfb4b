import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Block, type MarkedBlock, markWords } from '../../src/report/diff.ts';

const removed = (...lines: readonly string[]): Block => ({ kind: 'removed', lines });
const added = (...lines: readonly string[]): Block => ({ kind: 'added', lines });
const same = (...lines: readonly string[]): Block => ({ kind: 'same', lines });

/** Changed words in brackets. */
function shown(blocks: readonly MarkedBlock[]): readonly string[] {
  const sign = { same: ' ', removed: '-', added: '+' };
  return blocks.flatMap(({ kind, lines }) =>
    lines.map((line) => sign[kind] + line.map(({ text, changed }) => (changed ? `[${text}]` : text)).join('')),
  );
}

describe('In changed lines the words are marked that differ', () => {
  test.each<[string, readonly Block[], readonly string[]]>([
    [
      'one word for another',
      [removed('Greet the customer by name.'), added('Greet the buyer by name.')],
      ['-Greet the [customer] by name.', '+Greet the [buyer] by name.'],
    ],
    [
      'words that are new',
      [removed('Greet {{name}}.'), added('Greet {{name}} in a friendly way.')],
      ['-Greet {{name}}.', '+Greet {{name}}[ in a friendly way].'],
    ],
    [
      'several words next to each other are one mark',
      [removed('Always answer in one short sentence.'), added('Always answer in two long paragraphs.')],
      ['-Always answer in [one short sentence].', '+Always answer in [two long paragraphs].'],
    ],
    [
      'a paragraph that was broken into other lines',
      [removed('You answer questions', 'about orders.'), added('You answer', 'questions about orders.')],
      ['-You answer[ questions]', '-about orders.', '+You answer', '+[questions ]about orders.'],
    ],
    [
      'a text without blanks between words',
      [removed('これは古い文です'), added('これは新しい文です')],
      ['-これは[古い]文です', '+これは[新しい]文です'],
    ],
    [
      'nothing where the text is another one',
      [removed('Greet them.'), added('Refunds take five days to arrive.')],
      ['-Greet them.', '+Refunds take five days to arrive.'],
    ],
    ['nothing in lines that are only gone', [same('a'), removed('b'), same('c')], [' a', '-b', ' c']],
    ['nothing in lines that are only new', [same('a'), added('b', '', 'c')], [' a', '+b', '+', '+c']],
    [
      'nothing in what is too long to wait for',
      [removed('a '.repeat(10_001)), added('b '.repeat(10_001))],
      [`-${'a '.repeat(10_001)}`, `+${'b '.repeat(10_001)}`],
    ],
  ])('%s', (_, blocks, expected) => {
    expect(shown(markWords(blocks))).toEqual(expected);
  });

  test.each([
    ['in the middle', 'word '.repeat(3000), 9_000, 'new '],
    ['at the start', 'word '.repeat(3000), 0, 'new '],
    ['at the end', 'word '.repeat(3000), 15_000, 'new '],
    ['without blanks', '語'.repeat(15_000), 7_000, '否'],
    ['among pairs of surrogates that begin alike', '😀'.repeat(7_500), 8_000, '😁'],
  ])('also in a long line, where little of it is changed: %s', (_, text, at, word) => {
    const [before, after] = [text, text.slice(0, at) + word + text.slice(at)];

    const [old, fresh] = markWords([removed(before), added(after)]).map(({ lines: [line = []] }) => line);

    expect(old?.map((segment) => segment.text).join('')).toBe(before);
    expect(fresh?.map((segment) => segment.text).join('')).toBe(after);
    expect(fresh?.filter(({ changed }) => changed).map((segment) => segment.text.trim())).toEqual([word.trim()]);
    expect(fresh?.every((segment) => segment.text.isWellFormed())).toBe(true);
  });

  const lines = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', ' ', '.', 'é', '語', '{') }), { minLength: 1 });

  test('and marking loses nothing of the lines, however long they are', () => {
    const middle = fc.constantFrom('', '語'.repeat(11_000), 'word '.repeat(2_500));
    fc.assert(
      fc.property(middle, lines, lines, lines, lines, (long, first, last, start, end) => {
        const blocks = [same('x'), removed(...first, long, ...last), added(...start, long, ...end)];
        const texts = markWords(blocks).map(({ kind, lines: marked }) => ({
          kind,
          lines: marked.map((line) => line.map(({ text }) => text).join('')),
        }));
        expect(texts).toEqual(blocks);
      }),
      { numRuns: 60 },
    );
  });
});
