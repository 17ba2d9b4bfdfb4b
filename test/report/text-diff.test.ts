import { applyPatch } from 'diff';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Block, type MarkedBlock, markWords } from '../../src/report/text-diff.ts';
import { renderDiffs } from '../../src/report/formats/render-diff.ts';
import { makeScreen } from '../../src/report/terminal-screen.ts';
import { PLAIN_STYLE, makeOutputStyle } from '../../src/report/output-style.ts';
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
  return renderDiffs(promptOf({ changes }), PLAIN_STYLE, 'whole');
}

const diff = (before: Side | null, after: Side) => diffs(change(before, after));
const heads = ['--- staging: v1', '+++ staging: new version'];

describe('renderDiffs', () => {
  const lines = (before: number, after: number, ...diff: readonly string[]) => [
    ...[...heads, `@@ -1,${before} +1,${after} @@`],
    ...diff,
  ];

  test.each<[string, Side | null, Side, readonly string[]]>([
    ['nothing if the text did not change', side('a'), side('a'), []],
    ['a changed line as two lines', side('a'), side('b'), lines(1, 1, '-a', '+b')],
    ['the first version as added lines', null, side('a\nb'), ['staging: new version', '+a', '+b']],
    ['a new space at the end', side('a'), side('a '), lines(1, 1, '-a', '+a ', '(only white space differs)')],
    ['a new line feed at the end', side('a'), side('a\n'), lines(1, 2, ' a', '+', '(only white space differs)')],
    [
      'a label for a difference that is only in Unicode normalization',
      ...([side('caf\u00e9'), side('cafe\u0301')] as const),
      lines(1, 1, '-caf\u00e9', '+cafe\u0301', '(only Unicode normalization differs)'),
    ],
    [
      'no label for white space if a line next to it changes visibly',
      ...([side('a\nb'), side('a\u00a0\nc'), lines(2, 2, '-a', '-b', '+a\u00a0', '+c')] as const),
    ],
    [
      'one label for adjacent lines that differ only in white space',
      ...([side('a\nb'), side('a \nb ')] as const),
      lines(2, 2, '-a', '-b', '+a ', '+b ', '(only white space differs)'),
    ],
    [
      'a label even if another change is close',
      ...([side('a\nb\nc'), side('a \nb\nd')] as const),
      lines(3, 3, '-a', '+a ', '(only white space differs)', ' b', '-c', '+d'),
    ],
    ['tabs', side('\ta'), side('\tb'), lines(1, 1, '-\ta', '+\tb')],
    [
      'lines that look like diff syntax as ordinary text',
      ...([
        side('-- a\n++ b\n@@ c'),
        side('-- a\n++ b\n@@ d'),
        lines(3, 3, ' -- a', ' ++ b', '-@@ c', '+@@ d'),
      ] as const),
    ],
    [
      'three lines of context around a change',
      ...([side('1\n2\n3\n4\n5\n6\n7\n8\n9'), side('1\n2\n3\n4\nfive\n6\n7\n8\n9')] as const),
      [...heads, '@@ -2,7 +2,7 @@', ' 2', ' 3', ' 4', '-5', '+five', ' 6', ' 7', ' 8'],
    ],
    [
      'metadata above the text',
      ...([side('a', 'model: "m1"\nz: 1'), side('a', 'model: "m2"\nz: 1')] as const),
      lines(4, 4, '-metadata.model: "m1"', '+metadata.model: "m2"', ' metadata.z: 1', ' ', ' a'),
    ],
    [
      'the metadata of the first version',
      ...([null, side('a', 'model: "m"'), ['staging: new version', '+metadata.model: "m"', '+', '+a']] as const),
    ],
    [
      'that promptsync has not read the new text',
      ...([side('a'), side(null)] as const),
      ['staging: promptsync has not read the new text yet, but will do so before it syncs'],
    ],
    [
      'that the current text is unknown',
      ...([side(null), side('a')] as const),
      ['staging: the current text is unknown because the plan was created offline'],
    ],
  ])('renderDiffs shows %s', (_, before, after, expected) => {
    expect(diff(before, after)).toEqual(expected);
  });

  test('renderDiffs returns nothing for an activated version whose text is not in the report', () => {
    expect(diffs(setActive({ status: 'made', after_text: null }))).toEqual([]);
  });

  test('renderDiffs shows only one diff for environments with the same text change', () => {
    const to = (environment: string, text: string) => change(side('a'), side(text), environment);
    const lines = diffs(to('dev', 'b'), to('staging', 'c'), to('production', 'b'));
    expect(lines.filter((line) => line.startsWith('---'))).toEqual(['--- dev, production: v1', '--- staging: v1']);
  });

  test('Applying the diff as a patch turns the old text into the new text', () => {
    const line = fc.constantFrom('a', 'b', 'c', '', ' ', '-', '+', '@@', 'long line');
    const text = fc.array(line, { minLength: 1, maxLength: 30 }).map((lines) => lines.join('\n'));
    fc.assert(
      fc.property(text, text, (before, after) => {
        fc.pre(before !== '' && after !== '');
        const patch = diff(side(before), side(after));
        // The names of invisible differences are not part of the patch format.
        const lines = patch.filter((line) => !line.startsWith('('));
        expect(applyPatch(`${before}\n`, `${lines.join('\n')}\n`)).toBe(`${after}\n`);
      }),
    );
  });

  test('If more than 500 lines differ, renderDiffs replaces only the lines between the common start and end', () => {
    const text = (mark: string) =>
      [numbered('head', 1000), ...Array.from({ length: 300 }, (_, at) => `${mark} ${at}\nsame`), 'tail'].join('\n');
    const lines = diff(side(text('old')), side(text('new')));
    expect(lines.slice(2, 7)).toEqual(['@@ -998,604 +998,604 @@', ' head 997', ' head 998', ' head 999', '-old 0']);
    expect(lines.slice(-3)).toEqual(['+new 299', ' same', ' tail']);
    expect(applyPatch(`${text('old')}\n`, `${lines.join('\n')}\n`)).toBe(`${text('new')}\n`);
  });

  test('renderDiffs compares two unrelated texts of 100,000 lines in bounded time', () => {
    const [before, after] = ['a\nb\nb\na\na\n', 'a\nb\na\nb\nb\n'].map((part) => part.repeat(20_000));
    expect(diff(side(`${before}x`), side(`${after}y`)).length).toBeGreaterThan(500);
  });

  test('renderDiffs shows a small diff for a small edit in 50,000 lines of text', () => {
    const text = Array.from({ length: 50_000 }, (_, index) => `line ${index}`).join('\n');
    expect(diff(side(text), side(text.replace('line 25000\n', 'edited\n')))).toHaveLength(11);
  });
});

const LINE = 'Far away from any change this text goes on and on, as prompts do. '.repeat(20).trim();
const numbered = (name: string, count: number) => Array.from({ length: count }, (_, at) => `${name} ${at}`).join('\n');

function folded(before: string | null, after: string, columns?: number): readonly string[] {
  const one = change(before === null ? null : side(before), side(after));
  const style = columns === undefined ? PLAIN_STYLE : makeOutputStyle({ colour: false, screen: makeScreen(columns) });
  return renderDiffs(promptOf({ changes: [one] }), style, 'folded').slice(before === null ? 1 : 2);
}

describe('renderDiffs with folded diffs', () => {
  test.each<[string, string | null, string, Readonly<Record<string, number>>]>([
    ['forty lines in full', null, numbered('a', 40), { '+': 40 }],
    [
      'the first twenty lines of more than forty',
      ...([null, numbered('a', 41), { '+': 20, '… 21 more lines (--format html shows all)': 1 }] as const),
    ],
    [
      'twenty old and twenty new lines of a rewritten text',
      ...([numbered('a', 300), numbered('b', 280)] as const),
      { '-': 20, '+': 20, '… 540 more lines (--format html shows all)': 1 },
    ],
    [
      'forty lines of sixty scattered changes',
      ...([numbered('a', 600), numbered('a', 600).replaceAll(/0$/gm, 'x')] as const),
      { '-': 5, '+': 5, ' ': 30, '… 437 more lines (--format html shows all)': 1 },
    ],
  ])('A folded diff shows %s and states how many lines it omits', (_, before, after, expected) => {
    const lines = folded(before, after).filter((line) => !line.startsWith('@@'));
    const kinds = Map.groupBy(lines, (line) => (line.startsWith('…') ? line : line[0]));
    expect(Object.fromEntries([...kinds].map(([kind, all]) => [kind, all.length]))).toEqual(expected);
  });

  test('A folded diff does not label a shown line if it omits the line that replaces that line', () => {
    const rows = folded(`${numbered('a', 19)}\n \n${numbered('b', 20)}`, numbered('c', 40));
    expect(rows.filter((row) => row.startsWith('('))).toEqual([]);
  });

  test.each<[string, string, string, string]>([
    [
      'abbreviates the unchanged parts of a long line between words',
      ...([`${LINE} old ${LINE}`, `${LINE} new ${LINE}`] as const),
      '+Far away from any change this … on and on, as prompts do. new Far away from any change this … goes on and on, as prompts do.',
    ],
    ['shows a completely new line in full', 'x', LINE, `+${LINE}`],
    [
      'never cuts an emoji in half',
      ...([
        `${'😀'.repeat(600)} old`,
        `${'😀'.repeat(600)} new`,
        `+${'😀'.repeat(30)} … ${'😀'.repeat(29)} new`,
      ] as const),
    ],
  ])('On a terminal, a folded diff %s', (_, before, after, expected) => {
    const rows = folded(before, after, 80);
    const added = rows.slice(rows.findIndex((row) => row.startsWith('+')));
    expect(added.join('').replaceAll(/\s/g, '')).toBe(expected.replaceAll(/\s/g, ''));
  });
});

const removed = (...lines: readonly string[]): Block => ({ kind: 'removed', lines });
const added = (...lines: readonly string[]): Block => ({ kind: 'added', lines });
const same = (...lines: readonly string[]): Block => ({ kind: 'same', lines });

/** Returns the lines with changed words in brackets. */
function shown(blocks: readonly MarkedBlock[]): readonly string[] {
  const sign = { same: ' ', removed: '-', added: '+' };
  return blocks.flatMap(({ kind, lines }) =>
    lines.map((line) => sign[kind] + line.map(({ text, changed }) => (changed ? `[${text}]` : text)).join('')),
  );
}

describe('markWords', () => {
  const unmarked = (...lines: readonly string[]) => lines.join('\n');
  const long = (word: string) => `${word} `.repeat(10_001);

  test.each<[string, readonly Block[], string]>([
    [
      'a replaced word',
      [removed('Greet the customer by name.'), added('Greet the buyer by name.')],
      '-Greet the [customer] by name.\n+Greet the [buyer] by name.',
    ],
    [
      'added words',
      [removed('Greet {{name}}.'), added('Greet {{name}} in a friendly way.')],
      '-Greet {{name}}.\n+Greet {{name}}[ in a friendly way].',
    ],
    [
      'adjacent changed words together',
      [removed('Always answer in one short sentence.'), added('Always answer in two long paragraphs.')],
      '-Always answer in [one short sentence].\n+Always answer in [two long paragraphs].',
    ],
    [
      'only the words that move to a different line',
      [removed('You answer questions', 'about orders.'), added('You answer', 'questions about orders.')],
      '-You answer[ questions]\n-about orders.\n+You answer\n+[questions ]about orders.',
    ],
    [
      'changes in text without spaces',
      [removed('これは古い文です'), added('これは新しい文です')],
      '-これは[古い]文です\n+これは[新しい]文です',
    ],
    [
      'nothing in unrelated texts',
      [removed('Greet them.'), added('Refunds take five days to arrive.')],
      unmarked('-Greet them.', '+Refunds take five days to arrive.'),
    ],
    ['nothing in lines without a replacement', [same('a'), removed('b'), same('c')], unmarked(' a', '-b', ' c')],
    ['nothing in new lines', [same('a'), added('b', '', 'c')], unmarked(' a', '+b', '+', '+c')],
    [
      'nothing in lines that take too long',
      [removed(long('a')), added(long('b'))],
      unmarked(`-${long('a')}`, `+${long('b')}`),
    ],
  ])('markWords marks %s', (_, blocks, expected) => {
    expect(shown(markWords(blocks, 'text')).join('\n')).toBe(expected);
  });

  test.each([
    ['in the middle', 'word '.repeat(3000), 9_000, 'new '],
    ['at the start', 'word '.repeat(3000), 0, 'new '],
    ['at the end', 'word '.repeat(3000), 15_000, 'new '],
    ['without spaces', '語'.repeat(15_000), 7_000, '否'],
    ['between surrogate pairs', '😀'.repeat(7_500), 8_000, '😁'],
  ])('markWords finds a small change of a long line %s', (_, text, at, word) => {
    const [before, after] = [text, text.slice(0, at) + word + text.slice(at)];

    const [old, fresh] = markWords([removed(before), added(after)], 'text').map(({ lines: [line = []] }) => line);

    expect(old?.map((segment) => segment.text).join('')).toBe(before);
    expect(fresh?.map((segment) => segment.text).join('')).toBe(after);
    expect(fresh?.filter(({ changed }) => changed).map((segment) => segment.text.trim())).toEqual([word.trim()]);
    expect(fresh?.every((segment) => segment.text.isWellFormed())).toBe(true);
  });

  const lines = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', ' ', '.', 'é', '語', '{') }), { minLength: 1 });

  test('markWords preserves the text of all lines, including very long ones', () => {
    const middle = fc.constantFrom('', '語'.repeat(11_000), 'word '.repeat(2_500));
    fc.assert(
      fc.property(middle, lines, lines, lines, lines, (long, first, last, start, end) => {
        const blocks = [same('x'), removed(...first, long, ...last), added(...start, long, ...end)];
        const texts = markWords(blocks, 'text').map(({ kind, lines: marked }) => ({
          kind,
          lines: marked.map((line) => line.map(({ text }) => text).join('')),
        }));
        expect(texts).toEqual(blocks);
      }),
      { numRuns: runs(20) },
    );
  });
});
