import { applyPatch } from 'diff';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { renderMarker } from '../../src/domain/chat.ts';
import {
  type Block,
  type Hunk,
  isMarkerLine,
  makeTextDiffs,
  type MarkedBlock,
  type MarkedLine,
  markWords,
} from '../../src/report/text-diff.ts';
import { renderDiffs } from '../../src/report/formats/render-diff.ts';
import { makeScreen } from '../../src/report/terminal-screen.ts';
import { PLAIN_STYLE, makeOutputStyle } from '../../src/report/output-style.ts';
import { anyText, joinOutputs, promptOf, setActive, type SetActive } from './support.ts';
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
  return renderDiffs(promptOf({ changes }), PLAIN_STYLE);
}

const diff = (before: Side | null, after: Side) => diffs(change(before, after));

function listHunks(before: string, after: string): readonly Hunk[] {
  const changes = [change(side(before), side(after))];
  return makeTextDiffs(promptOf({ changes }), 3).flatMap(({ hunks }) => hunks);
}

/** Texts before and after a change. The keys are the titles in the recorded file. */
const DIFFS: Readonly<Record<string, readonly [before: Side | null, after: Side]>> = {
  'nothing changes': [side('a'), side('a')],
  'a line changes': [side('a'), side('b')],
  'the first version': [null, side('a\nb')],
  'a new space at the end': [side('a'), side('a ')],
  'a new line feed at the end': [side('a'), side('a\n')],
  'only Unicode normalization': [side('caf\u00e9'), side('cafe\u0301')],
  'white space next to a visible change': [side('a\nb'), side('a\u00a0\nc')],
  'white space in adjacent lines': [side('a\nb'), side('a \nb ')],
  'white space close to another change': [side('a\nb\nc'), side('a \nb\nd')],
  tabs: [side('\ta'), side('\tb')],
  'lines that look like a diff': [side('-- a\n++ b\n@@ c'), side('-- a\n++ b\n@@ d')],
  'three lines of context': [side('1\n2\n3\n4\n5\n6\n7\n8\n9'), side('1\n2\n3\n4\nfive\n6\n7\n8\n9')],
  'metadata above the text': [side('a', 'model: "m1"\nz: 1'), side('a', 'model: "m2"\nz: 1')],
  'metadata of the first version': [null, side('a', 'model: "m"')],
  'the new text is not read yet': [side('a'), side(null)],
  'the current text is unknown': [side(null), side('a')],
};

describe('renderDiffs', () => {
  test('renderDiffs shows each kind of change as recorded', async () => {
    await expect(joinOutputs(DIFFS, ([before, after]) => diff(before, after))).toMatchFileSnapshot(
      'recorded/diffs.txt',
    );
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
    const text = fc.array(line, { minLength: 1, maxLength: 20 }).map((lines) => lines.join('\n'));
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

  test('If more than 500 lines differ, makeTextDiffs replaces only the lines between the common start and end', () => {
    const middle = (mark: string) => Array.from({ length: 300 }, (_, at) => [`${mark} ${at}`, 'same']).flat();
    const text = (mark: string) => [numbered('head', 1000), ...middle(mark), 'tail'].join('\n');
    expect(listHunks(text('old'), text('new'))).toMatchObject([
      {
        title: '@@ -998,604 +998,604 @@',
        blocks: [
          same('head 997', 'head 998', 'head 999'),
          removed(...middle('old').slice(0, -1)),
          added(...middle('new').slice(0, -1)),
          same('same', 'tail'),
        ],
      },
    ]);
  });

  test('makeTextDiffs compares two unrelated texts of 100,000 lines in bounded time', () => {
    const [before = '', after = ''] = ['a\nb\nb\na\na\n', 'a\nb\na\nb\nb\n'].map((part) => part.repeat(20_000));
    const blocks = listHunks(`${before}x`, `${after}y`).flatMap((hunk) => hunk.blocks);
    expect(blocks.flatMap(({ lines }) => lines).length).toBeGreaterThan(500);
  });
});

const LINE = 'Far away from any change this text goes on and on, as prompts do. '.repeat(20).trim();
const numbered = (name: string, count: number) => Array.from({ length: count }, (_, at) => `${name} ${at}`).join('\n');

function folded(before: string | null, after: string, columns?: number): readonly string[] {
  const one = change(before === null ? null : side(before), side(after));
  const style = columns === undefined ? PLAIN_STYLE : makeOutputStyle({ colour: false, screen: makeScreen(columns) });
  return renderDiffs(promptOf({ changes: [one] }), style).slice(before === null ? 1 : 2);
}

describe('renderDiffs with folded diffs', () => {
  /** The count of the line that states how many lines a diff omits. */
  const omitted = (count: number) => ({ [`… ${count} more lines (--format html shows all)`]: 1 });

  test.each<[string, string | null, string, Readonly<Record<string, number>>]>([
    ['A folded diff shows forty lines in full', null, numbered('a', 40), { '+': 40 }],
    ['A folded diff shows the first twenty of forty-one lines', null, numbered('a', 41), { '+': 20, ...omitted(21) }],
    [
      'A folded diff shows twenty old and twenty new lines of a rewritten text',
      numbered('a', 300),
      numbered('b', 280),
      { '-': 20, '+': 20, ...omitted(540) },
    ],
    [
      'A folded diff shows forty lines of sixty scattered changes',
      numbered('a', 600),
      numbered('a', 600).replaceAll(/0$/gm, 'x'),
      { '-': 5, '+': 5, ' ': 30, ...omitted(437) },
    ],
  ])('%s', (_, before, after, expected) => {
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
      'On a terminal, a folded diff abbreviates the unchanged parts of a long line between words',
      ...([`${LINE} old ${LINE}`, `${LINE} new ${LINE}`] as const),
      '+Far away from any change this … on and on, as prompts do. new Far away from any change this … goes on and on, as prompts do.',
    ],
    ['On a terminal, a folded diff shows a completely new line in full', 'x', LINE, `+${LINE}`],
    [
      'On a terminal, a folded diff never cuts an emoji in half',
      ...([
        `${'😀'.repeat(600)} old`,
        `${'😀'.repeat(600)} new`,
        `+${'😀'.repeat(30)} … ${'😀'.repeat(29)} new`,
      ] as const),
    ],
  ])('%s', (_, before, after, expected) => {
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

const USER = '{{role "user"}}';
const AGENT = '{{role "assistant"}}';

/** Lines before and after a change. The keys are the titles in the recorded file. */
const MARKS: Readonly<Record<string, readonly [before: string, after: string]>> = {
  'a replaced word': ['Greet the customer by name.', 'Greet the buyer by name.'],
  'added words': ['Greet {{name}}.', 'Greet {{name}} in a friendly way.'],
  'adjacent changed words': ['Always answer in one short sentence.', 'Always answer in two long paragraphs.'],
  'words that move to a different line': ['You answer questions\nabout orders.', 'You answer\nquestions about orders.'],
  'text without spaces': ['これは古い文です', 'これは新しい文です'],
  'unrelated texts': ['Greet them.', 'Refunds take five days to arrive.'],
  'another marker': [`${USER}\nGreet them by name.`, `${AGENT}\nGreet them by title.`],
  'a new message': ['Be kind to all.', `Be kind to everyone.\n\n${USER}\nBe kind to all.`],
  'the same markers': [
    `Be kind.\n${USER}\nGreet them by name.\n${AGENT}\nThank you.`,
    `Be very kind.\n${USER}\nGreet them by title.\n${AGENT}\nThank you all.`,
  ],
  'words below a changed marker': [
    `Be kind.\n${USER}\nGreet them by name.`,
    `Be very kind.\n${AGENT}\nGreet them by title.\n${USER}\nGreet them by rank.`,
  ],
  'a marker in place of a message': ['Be kind.', USER],
};

describe('markWords', () => {
  test.each(['text', 'chat'] as const)('markWords marks the words of a %s prompt as recorded', async (type) => {
    const mark = ([before, after]: readonly [string, string]) =>
      shown(markWords([removed(...before.split('\n')), added(...after.split('\n'))], type));
    await expect(joinOutputs(MARKS, mark)).toMatchFileSnapshot(`recorded/marked-words-${type}.txt`);
  });

  test('markWords marks nothing in lines without a replacement and in lines that take too long', () => {
    const blocks = [
      [same('a'), removed('b'), same('c'), added('d', '', 'e')],
      [removed('a '.repeat(10_001)), added('b '.repeat(10_001))],
    ];
    for (const one of blocks) expect(shown(markWords(one, 'text')).join()).not.toContain('[');
  });

  test.each([
    ['markWords finds a small change in a long line of words', 'word '.repeat(3000), 9_000, 'new '],
    ['markWords finds a small change in a long line without spaces', '語'.repeat(15_000), 7_000, '否'],
  ])('%s', (_, text, at, word) => {
    const [, fresh] = markWords([removed(text), added(text.slice(0, at) + word + text.slice(at))], 'text');
    const marked = fresh?.lines.flat().filter(({ changed }) => changed);
    expect(marked?.map((segment) => segment.text.trim())).toEqual([word.trim()]);
  });

  const anyLine = fc.oneof(
    fc.string({ unit: fc.constantFrom('a', 'b', ' ', '.', 'é', '語', '{') }),
    fc.array(fc.constantFrom('Greet', 'them', '"user"', '{{role', '}}', '')).map((words) => words.join(' ')),
    anyText.map((text) => renderMarker('role', text)),
    fc.constantFrom(USER, AGENT, '語'.repeat(11_000), 'word '.repeat(2_500)),
  );
  const lines = fc.array(anyLine, { minLength: 1 });
  const textOf = (marked: MarkedLine) => marked.map(({ text }) => text).join('');

  test('markWords never changes the text of a line, and never marks part of a marker line of a chat prompt', () => {
    fc.assert(
      fc.property(fc.constantFrom('text', 'chat'), lines, lines, lines, (type, start, old, fresh) => {
        const blocks = [same(...start), removed(...old), added(...fresh)];
        const marked = markWords(blocks, type);
        expect(marked.map((block) => ({ ...block, lines: block.lines.map(textOf) }))).toEqual(blocks);
        const markers = marked.flatMap((block) => block.lines.filter((line) => isMarkerLine(textOf(line), type)));
        expect(markers.flat().filter(({ changed }) => changed)).toEqual([]);
      }),
      { numRuns: runs(200) },
    );
  });
});
