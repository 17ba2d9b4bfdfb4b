import { applyPatch } from 'diff';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { excerptOf, foldHunks, leftText, type MarkedHunk, renderDiffs } from '../../src/report/diff-text.ts';
import type { BlockKind, MarkedLine } from '../../src/report/diff.ts';
import { PLAIN } from '../../src/report/style.ts';
import { promptOf, setActive, type SetActive } from './support.ts';

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
  return renderDiffs({ ...promptOf('p', 'pending'), changes }, PLAIN, 'whole');
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
    ['a carriage return alone is shown', side('a\rb'), side('ab'), [...heads, '@@ -1,1 +1,1 @@', '-a\\u{d}b', '+ab']],
    ['hidden characters are shown', side('ab'), side('a\u200bb'), [...heads, '@@ -1,1 +1,1 @@', '-ab', '+a\\u{200b}b']],
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
    expect(diffs(long)).toEqual(['staging: a text of more than 100 kB is in no report']);
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

const FAR = 'Far away from any change this text goes on and on, as prompts do.';

/** Changed words in brackets. */
function lineOf(text: string): MarkedLine {
  return [...text.matchAll(/\[([^\]]*)\]|[^[]+/g)].map((match) => ({
    text: match[1] ?? match[0],
    changed: match[1] !== undefined,
  }));
}

function shown(line: string, other: string | null = null): string | null {
  const segments = excerptOf(lineOf(line), other === null ? null : lineOf(other));
  return segments?.map(({ text, changed }) => (changed ? `[${text}]` : text)).join('') ?? null;
}

describe('An excerpt of a long line', () => {
  test.each<[string, string, string | null]>([
    [
      'has the words beside a change',
      `${FAR} Say [this] now. ${FAR}`,
      '… and on, as prompts do. Say [this] now. Far away from any …',
    ],
    ['begins with a change at the beginning', `[New] ${FAR}`, '[New] Far away from any change …'],
    ['ends with a change at the end', `${FAR} [new]`, '… on and on, as prompts do. [new]'],
    [
      'keeps what is between two changes that are near',
      `${FAR} [a] and then [b] ${FAR}`,
      '… on and on, as prompts do. [a] and then [b] Far away from any change …',
    ],
    ['is of any script', `${'語'.repeat(60)}[新]${'文'.repeat(60)}`, `… ${'語'.repeat(30)}[新]${'文'.repeat(30)} …`],
    ['is none of a line that is new as a whole', FAR, null],
  ])('%s', (_, line, expected) => {
    expect(shown(line)).toBe(expected);
  });

  test('of a line that has lost nothing shows where the other one has more', () => {
    const expected = '… on and on, as prompts do. Far away from any change …';
    expect(shown(`${FAR} ${FAR}`, `${FAR}[ new words] ${FAR}`)).toBe(expected);
  });

  test('is none where the other line is another one', () => {
    expect(shown(FAR, `${FAR}[ new] and more`)).toBe(null);
  });
});

type Sizes = readonly (readonly [BlockKind, number])[];

function hunkOf(sizes: Sizes): MarkedHunk {
  const range = { start: 1, lines: 1 };
  const lines = (count: number) =>
    Array.from({ length: count }, (_, line) => [{ text: `${line + 1}`, changed: false }]);
  return { before: range, after: range, blocks: sizes.map(([kind, count]) => ({ kind, lines: lines(count) })) };
}

/** How many lines of each block are left, `…` where it goes on. */
function folded(hunks: readonly Sizes[], most: number) {
  const { hunks: shown, left } = foldHunks(hunks.map(hunkOf), most);
  return {
    shown: shown.map(({ blocks }) => blocks.map(({ lines, more }) => `${lines.length}${more ? '…' : ''}`)),
    left: leftText(left),
  };
}

describe('A long diff is folded', () => {
  test.each<[string, readonly Sizes[], number, readonly (readonly string[])[], string | null]>([
    ['not at the limit', [[['added', 40]]], 40, [['40']], null],
    ['just past it', [[['added', 41]]], 40, [['40']], '1 more line: 1 added'],
    [
      'to the beginnings of both texts where one was rewritten',
      [
        [
          ['removed', 300],
          ['added', 280],
        ],
      ],
      40,
      [['20…', '20']],
      '540 more lines: 280 removed, 260 added',
    ],
    [
      'to the beginning of each hunk',
      [
        [
          ['same', 3],
          ['added', 50],
          ['same', 3],
        ],
        [
          ['same', 3],
          ['removed', 1],
          ['added', 60],
        ],
      ],
      40,
      [
        ['3', '15…', '3'],
        ['3', '1', '15'],
      ],
      '80 more lines: 80 added',
    ],
    [
      'to its first lines where there are many',
      [
        [['added', 5]],
        [['removed', 5]],
        [
          ['same', 5],
          ['added', 9],
        ],
      ],
      12,
      [['5'], ['5'], ['2']],
      '12 more lines: 9 added, 3 unchanged',
    ],
    [
      'hunks that nothing is left of are gone',
      [[['added', 3]], [['removed', 3]], [['added', 3]]],
      3,
      [['3']],
      '6 more lines: 3 removed, 3 added',
    ],
    ['not without a limit', [[['added', 500]]], Infinity, [['500']], null],
  ])('%s', (_, hunks, most, shown, left) => {
    expect(folded(hunks, most)).toEqual({ shown, left });
  });
});
