import { applyPatch } from 'diff';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Block, type MarkedBlock, markWords } from '../../src/report/diff.ts';
import { renderDiffs } from '../../src/report/diff-text.ts';
import { makeScreen } from '../../src/report/screen.ts';
import { PLAIN, styleFor } from '../../src/report/style.ts';
import { promptOf, setActive, type SetActive } from './support.ts';
import { runs } from '../support/seed.ts';

type Side = { readonly text: string | null; readonly metadata?: string | undefined };

const side = (text: string | null, metadata?: string): Side => ({ text, metadata });

function change(before: Side | null, after: Side, environment = 'staging'): SetActive {
  return setActive({
    ...{ environment, before: before === null ? null : { id: 'ver_1', version_number: 1 } },
    ...{ before_text: before?.text ?? null, after_text: after.text },
    ...(before?.metadata !== undefined && { before_metadata: before.metadata }),
    ...(after.metadata !== undefined && { after_metadata: after.metadata }),
  });
}

function diffs(...changes: readonly SetActive[]): readonly string[] {
  return renderDiffs(promptOf({ changes }), PLAIN, 'whole');
}

const diff = (before: Side | null, after: Side) => diffs(change(before, after));
const heads = ['--- staging: v1', '+++ staging: new version'];

describe('a diff', () => {
  test.each<[string, Side | null, Side, readonly string[]]>([
    ['equal texts have none', side('a'), side('a'), []],
    ['one line', side('a'), side('b'), [...heads, '@@ -1,1 +1,1 @@', '-a', '+b']],
    [
      'nothing was active',
      null,
      side('a\nb'),
      ['--- staging: nothing', '+++ staging: new version', '@@ -0,0 +1,2 @@', '+a', '+b'],
    ],
    ['a blank at the end', side('a'), side('a '), [...heads, '@@ -1,1 +1,1 @@', '-a', '+a ']],
    ['a line feed at the end', side('a'), side('a\n'), [...heads, '@@ -1,1 +1,2 @@', ' a', '+']],
    ['tabs stay', side('\ta'), side('\tb'), [...heads, '@@ -1,1 +1,1 @@', '-\ta', '+\tb']],
    [
      'lines that look like those of a diff',
      side('-- a\n++ b\n@@ c'),
      side('-- a\n++ b\n@@ d'),
      [...heads, '@@ -1,3 +1,3 @@', ' -- a', ' ++ b', '-@@ c', '+@@ d'],
    ],
    [
      'three lines of context',
      side('1\n2\n3\n4\n5\n6\n7\n8\n9'),
      side('1\n2\n3\n4\nfive\n6\n7\n8\n9'),
      [...heads, '@@ -2,7 +2,7 @@', ' 2', ' 3', ' 4', '-5', '+five', ' 6', ' 7', ' 8'],
    ],
    [
      'metadata stands above the text',
      side('a', 'model: "m1"\nz: 1'),
      side('a', 'model: "m2"\nz: 1'),
      [...heads, '@@ -1,4 +1,4 @@', '-metadata.model: "m1"', '+metadata.model: "m2"', ' metadata.z: 1', ' ', ' a'],
    ],
    [
      'metadata where nothing was active',
      null,
      side('a', 'model: "m"'),
      ['--- staging: nothing', '+++ staging: new version', '@@ -0,0 +1,3 @@', '+metadata.model: "m"', '+', '+a'],
    ],
    [
      'a text that was never read',
      side('a'),
      side(null),
      ['staging: the text to come was never read; a sync looks at it first'],
    ],
    [
      'a text of now that is not known',
      side(null),
      side('a'),
      ['staging: its text of now is not known without the service'],
    ],
  ])('%s', (_, before, after, expected) => {
    expect(diff(before, after)).toEqual(expected);
  });

  test('a text that is too long for a report has none', () => {
    const long = setActive({ after_text: null, text_omitted: true });
    expect(diffs(long)).toEqual(['staging: a text is too large to be shown (over 100 kB)']);
  });

  test('a version that was read before it went live, and whose text was not kept, has none', () => {
    expect(diffs(setActive({ status: 'made', after_text: null }))).toEqual([]);
  });

  test('environments with the same two texts share one', () => {
    const to = (environment: string, text: string) => change(side('a'), side(text), environment);
    const lines = diffs(to('dev', 'b'), to('staging', 'c'), to('production', 'b'));
    expect(lines.filter((line) => line.startsWith('---'))).toEqual(['--- dev, production: v1', '--- staging: v1']);
  });

  test('is a patch that makes the one text of the other', () => {
    const line = fc.constantFrom('a', 'b', 'c', '', ' ', '-', '+', '@@', 'long line');
    const text = fc.array(line, { minLength: 1, maxLength: 30 }).map((lines) => lines.join('\n'));
    fc.assert(
      fc.property(text, text, (before, after) => {
        fc.pre(before !== '' && after !== '');
        const patch = diff(side(before), side(after));
        expect(applyPatch(`${before}\n`, `${patch.join('\n')}\n`)).toBe(`${after}\n`);
      }),
    );
  });

  test('two long texts with nothing in common are replaced as a whole, without a long wait', () => {
    const text = (mark: string) => Array.from({ length: 20_000 }, (_, index) => `${mark} ${index}`).join('\n');
    const lines = diff(side(text('old')), side(text('new')));
    expect(lines.slice(0, 4)).toEqual([...heads, '@@ -1,20000 +1,20000 @@', '-old 0']);
    expect(lines).toHaveLength(40_003);
  });

  test('a small edit in a long text stays a small diff', () => {
    const text = Array.from({ length: 50_000 }, (_, index) => `line ${index}`).join('\n');
    expect(diff(side(text), side(text.replace('line 25000\n', 'edited\n')))).toHaveLength(11);
  });
});

const LINE = 'Far away from any change this text goes on and on, as prompts do. '.repeat(20).trim();
const numbered = (name: string, count: number) => Array.from({ length: count }, (_, at) => `${name} ${at}`).join('\n');

function folded(before: string | null, after: string, columns?: number): readonly string[] {
  const one = change(before === null ? null : side(before), side(after));
  const style = columns === undefined ? PLAIN : styleFor({ colour: false, screen: makeScreen(columns) });
  return renderDiffs(promptOf({ changes: [one] }), style, 'folded').slice(2);
}

describe('For people', () => {
  test.each<[string, string | null, string, Readonly<Record<string, number>>]>([
    ['forty lines are whole', null, numbered('a', 40), { '+': 40 }],
    [
      'more are the first of them',
      null,
      numbered('a', 41),
      { '+': 20, '… 21 more lines (--format html shows all)': 1 },
    ],
    [
      'of a text that was rewritten the old and the new one are seen',
      numbered('a', 300),
      numbered('b', 280),
      { '-': 20, '+': 20, '… 540 more lines (--format html shows all)': 1 },
    ],
    [
      'hunks that nothing is left of are gone',
      numbered('a', 600),
      numbered('a', 600).replaceAll(/0$/gm, 'x'),
      { '-': 5, '+': 5, ' ': 30, '… 437 more lines (--format html shows all)': 1 },
    ],
  ])('%s', (_, before, after, expected) => {
    const lines = folded(before, after).filter((line) => !line.startsWith('@@'));
    const kinds = Map.groupBy(lines, (line) => (line.startsWith('…') ? line : line[0]));
    expect(Object.fromEntries([...kinds].map(([kind, all]) => [kind, all.length]))).toEqual(expected);
  });

  test.each<[string, string, string, string]>([
    [
      'what is near a change',
      `${LINE} old ${LINE}`,
      `${LINE} new ${LINE}`,
      '+Far away from any change this … oes on and on, as prompts do. new Far away from any change this … goes on and on, as prompts do.',
    ],
    ['all where the line is new as a whole', 'x', LINE, `+${LINE}`],
    [
      'whole characters',
      `${'😀'.repeat(600)} old`,
      `${'😀'.repeat(600)} new`,
      `+${'😀'.repeat(30)} … ${'😀'.repeat(29)} new`,
    ],
  ])('of a long line on a terminal they see %s', (_, before, after, expected) => {
    const rows = folded(before, after, 80);
    const added = rows.slice(rows.findIndex((row) => row.startsWith('+')));
    expect(added.join('').replaceAll(/\s/g, '')).toBe(expected.replaceAll(/\s/g, ''));
  });
});

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
      { numRuns: runs(60) },
    );
  });
});
