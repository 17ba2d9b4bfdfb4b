import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mergeText, type Side } from '../../src/files/merge-text.ts';

const LABELS = { ours: 'mine', theirs: 'yours' };
const merge = (base: string | null, ours: string, theirs: string, side: Side = null) =>
  mergeText({ base, ours, theirs }, side, LABELS);

/** As both may come from something newer than the base. */
const mergeDoubtful = (
  base: string | null,
  ours: string,
  theirs: string,
  side: Side = null,
  since: readonly string[] = [],
) => mergeText({ base, ours, theirs, since }, side, LABELS);

/** A conflict between two texts, as the file shows it. */
const between = (ours: string, theirs: string) => `<<<<<<< mine\n${ours}=======\n${theirs}>>>>>>> yours`;

const clean = (text: string) => ({ text, conflicts: 0 });

describe('a text', () => {
  test.each<[string, string, string, string, string]>([
    ['that nobody has changed stays', 'a\nb', 'a\nb', 'a\nb', 'a\nb'],
    ['that only the service has changed is taken over', 'a\nb', 'a\nb', 'a\nB', 'a\nB'],
    ['that only the file has changed stays', 'a\nb', 'A\nb', 'a\nb', 'A\nb'],
    ['that both have changed alike stays', 'a\nb', 'a\nB', 'a\nB', 'a\nB'],
    ['changed in two places gets both', 'a\nb\nc', 'A\nb\nc', 'a\nb\nC', 'A\nb\nC'],
    ['loses the lines that one side took out', 'a\nb\nc\nd', 'b\nc\nd', 'a\nb\nc', 'b\nc'],
    ['gets the lines that each side put in', 'a\nb\nc', '0\na\nb\nc', 'a\nb\nc\nd', '0\na\nb\nc\nd'],
    ['keeps its last line feed', 'a\nb\n', 'A\nb\n', 'a\nb\n', 'A\nb\n'],
    ['gets a last line feed', 'a\nb\nc', 'A\nb\nc', 'a\nb\nc\n', 'A\nb\nc\n'],
    ['keeps a lone carriage return', 'a\rb\nc\nd', 'a\rb\nc\nD', 'a\rB\nc\nd', 'a\rB\nc\nD'],
    [
      'keeps words that an object has anyway',
      'a\n__proto__\nconstructor',
      'A\n__proto__\nconstructor',
      'a\n__proto__\ntoString',
      'A\n__proto__\ntoString',
    ],
  ])('%s', (_, base, ours, theirs, expected) => {
    expect(merge(base, ours, theirs)).toEqual(clean(expected));
  });

  test.each<[string, string | null, string, string, string, number]>([
    ['one line changed in two ways', 'a\nb\nc', 'a\nB\nc', 'a\nß\nc', `a\n${between('B\n', 'ß\n')}\nc`, 1],
    ['lines beside each other', 'a\nb', 'A\nb', 'a\nB', between('A\nb\n', 'a\nB\n'), 1],
    ['a line that one changed and one took out', 'a\nb\nc', 'a\nB\nc', 'a\nc', `a\n${between('B\n', '')}\nc`, 1],
    ['lines put in at one place', 'a\nc', 'a\n1\nc', 'a\n2\nc', `a\n${between('1\n', '2\n')}\nc`, 1],
    ['two places', 'a\nb\nc', '1\nb\n1', '2\nb\n2', `${between('1\n', '2\n')}\nb\n${between('1\n', '2\n')}`, 2],
    [
      'all that differs, where it is not known what they come from',
      null,
      'a\nB\nc',
      'a\nb\nc',
      `a\n${between('B\n', 'b\n')}\nc`,
      1,
    ],
    ['a text that became empty', 'a\nb', 'a\nB', '', between('a\nB\n', '\n'), 1],
  ])('has both sides of %s', (_, base, ours, theirs, text, conflicts) => {
    expect(merge(base, ours, theirs)).toEqual({ text, conflicts });
  });

  test('has of a conflict the side that was asked for, and of all else both', () => {
    const [base, ours, theirs] = ['a\nb\nc\nd\ne', 'A\nb\nours\nd\ne', 'a\nb\ntheirs\nd\nE'];
    expect(merge(base, ours, theirs, 'ours')).toEqual(clean('A\nb\nours\nd\nE'));
    expect(merge(base, ours, theirs, 'theirs')).toEqual(clean('A\nb\ntheirs\nd\nE'));
    expect(merge(null, 'a\nb', 'a\nc', 'ours')).toEqual(clean('a\nb'));
    expect(merge(null, 'a\nb', 'a\nc', 'theirs')).toEqual(clean('a\nc'));
  });
});

/** Few different lines, so that they come up often; each side's own ones are told by their first character. */
const lines = (own: string) =>
  fc.array(fc.constantFrom('', 'a', 'b', 'c', 'd', `${own}1`, `${own}2`), { maxLength: 12 });
const base = lines('base ').map((all) => all.join('\n'));

/** A text with some lines taken out and some put in. */
function editedFrom(text: string, own: string): fc.Arbitrary<string> {
  const all = text.split('\n');
  const change = fc.record({
    at: fc.nat(all.length),
    out: fc.nat(2),
    put: fc.array(fc.constantFrom(`${own}1`, `${own}2`, 'a', ''), { maxLength: 2 }),
  });
  return fc.array(change, { maxLength: 3 }).map((changes) => {
    return changes
      .reduce((now, { at, out, put }) => now.toSpliced(Math.min(at, now.length), out, ...put), all)
      .join('\n');
  });
}

const related = base.chain((from) =>
  fc.tuple(fc.constant(from), editedFrom(from, 'ours '), editedFrom(from, 'theirs ')),
);
const unrelated = fc.tuple(
  base,
  lines('ours ').map((all) => all.join('\n')),
  lines('theirs ').map((all) => all.join('\n')),
);
const texts = fc.oneof(related, unrelated);
const sides = fc.constantFrom<Side>('ours', 'theirs', null);

/** The lines of a merged text as one side has them: those of the other are between the markers. */
function sideOf(text: string, side: 'ours' | 'theirs'): readonly string[] {
  const other = side === 'ours' ? /=======\n(?:.*\n)*?(?=>>>>>>> yours)/g : /<<<<<<< mine\n(?:.*\n)*?(?========\n)/g;
  const kept = `${text}\n`.replaceAll(other, '').replaceAll(/^(?:<<<<<<< mine|=======|>>>>>>> yours)\n/gm, '');
  return kept.split('\n').slice(0, -1);
}

function counted(all: readonly string[]): ReadonlyMap<string, number> {
  return all.reduce((counts, line) => counts.set(line, (counts.get(line) ?? 0) + 1), new Map<string, number>());
}

/** Lines that a side has more often than what both come from. */
function addedBy(side: string, from: string): readonly (readonly [string, number])[] {
  const before = counted(from.split('\n'));
  return [...counted(side.split('\n'))].flatMap(([line, count]) => {
    const added = count - (before.get(line) ?? 0);
    return added > 0 ? [[line, added] as const] : [];
  });
}

describe('of any three texts', () => {
  test('no line that either side has put in is lost', () => {
    fc.assert(
      fc.property(texts, ([from, ours, theirs]) => {
        const { text } = merge(from, ours, theirs);
        for (const side of [ours, theirs]) {
          const there = counted(text.split('\n'));
          for (const [line] of addedBy(side, from)) expect(there.get(line) ?? 0).toBeGreaterThan(0);
        }
      }),
    );
  });

  test('a conflict shows each side as often as it has put a line in', () => {
    fc.assert(
      fc.property(texts, ([from, ours, theirs]) => {
        const { text } = merge(from, ours, theirs);
        for (const [name, side] of [
          ['ours', ours],
          ['theirs', theirs],
        ] as const) {
          const there = counted(sideOf(text, name));
          const own = addedBy(side, from).filter(([line]) => line.startsWith(name));
          for (const [line, count] of own) expect(there.get(line) ?? 0).toBeGreaterThanOrEqual(count);
        }
      }),
    );
  });

  test('what only one side has changed is that side', () => {
    fc.assert(
      fc.property(texts, sides, ([from, ours, theirs], side) => {
        expect(merge(from, from, theirs, side)).toEqual(clean(theirs));
        expect(merge(from, ours, from, side)).toEqual(clean(ours));
        expect(merge(from, ours, ours, side)).toEqual(clean(ours));
      }),
    );
  });

  test('a clean merge is the same from both sides, and a conflict has as many places', () => {
    fc.assert(
      fc.property(texts, ([from, ours, theirs]) => {
        const [one, other] = [merge(from, ours, theirs), merge(from, theirs, ours)];
        expect(one.conflicts).toBe(other.conflicts);
        if (one.conflicts === 0) expect(one).toEqual(other);
      }),
    );
  });

  test('a side that was asked for settles what is between the markers, and nothing else', () => {
    fc.assert(
      fc.property(texts, ([from, ours, theirs]) => {
        const { text } = merge(from, ours, theirs);
        for (const side of ['ours', 'theirs'] as const) {
          const settled = merge(from, ours, theirs, side);
          expect(settled.conflicts).toBe(0);
          expect(settled.text.split('\n')).toEqual(sideOf(text, side).length === 0 ? [''] : sideOf(text, side));
        }
      }),
    );
  });

  test('without what they come from both are there wholly', () => {
    fc.assert(
      fc.property(texts, ([, ours, theirs]) => {
        const { text } = merge(null, ours, theirs);
        expect([sideOf(text, 'ours'), sideOf(text, 'theirs')]).toEqual([ours.split('\n'), theirs.split('\n')]);
      }),
    );
  });

  test('a merged text merges again without an edit', () => {
    fc.assert(
      fc.property(texts, ([from, ours, theirs]) => {
        const { text, conflicts } = merge(from, ours, theirs);
        fc.pre(conflicts === 0);
        expect(merge(theirs, text, theirs)).toEqual(clean(text));
      }),
    );
  });
});

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `${index}\n`).join('');

/** No test looks at the clock: what does not end runs into the time that a test may take. */
describe('a hostile size ends', () => {
  test.each<[string, string, string, string, number]>([
    ['lines that are all alike', 'x\n'.repeat(20_000), `${'x\n'.repeat(20_000)}y`, `z\n${'x\n'.repeat(20_001)}`, 1],
    ['half a million lines put in', 'a\nb\nc\nd', 'A\nb\nc\nd', `a\nb\nc\n${'x\n'.repeat(500_000)}d`, 0],
    [
      'half a million lines put in by both',
      'a\nb\nc',
      `a\n${'x\n'.repeat(500_000)}b\nc`,
      `a\nb\n${'y\n'.repeat(500_000)}c`,
      0,
    ],
    ['many lines that are all different', numbered(200_000), `x\n${numbered(200_000)}`, `${numbered(200_000)}y`, 1],
    [
      'a long text changed in the middle',
      numbered(200_000),
      numbered(200_000).replace('\n100000\n', '\nx\n'),
      numbered(200_000).replace('\n100005\n', '\ny\n'),
      0,
    ],
    ['a line of a megabyte', 'a\nb\nc', `${'a'.repeat(1_000_000)}\nb\nc`, `a\nb\n${'c'.repeat(1_000_000)}`, 0],
    [
      'blank lines between lines that differ',
      numbered(500).replaceAll('\n', '\n\n'),
      `x${numbered(500).replaceAll('\n', '\n\n')}`,
      `${numbered(500).replaceAll('\n', '\n\n')}y`,
      0,
    ],
  ])('with %s', (_, from, ours, theirs, conflicts) => {
    expect(merge(from, ours, theirs).conflicts).toBe(conflicts);
  });
});

describe('a text that both may have from something newer', () => {
  test.each<[string, string, string, string, string, number]>([
    ['may be taken back', 'a\nb', 'A\nb', 'a\nb', `${between('A\n', 'a\n')}\nb`, 1],
    ['may be taken back beside a change', 'a\nb\nc', 'A\nb\nc', 'a\nb\nC', `${between('A\n', 'a\n')}\nb\nC`, 1],
    ['may lose a line again', 'a\nc', 'a\nb\nc', 'a\nc', `a\n${between('b\n', '')}\nc`, 1],
    ['may get a line again', 'a\nb\nc', 'a\nc', 'a\nb\nc', `a\n${between('', 'b\n')}\nc`, 1],
    ['is changed where the file has not been', 'a\nb', 'a\nb', 'a\nB', 'a\nB', 0],
    ['has what is new beside what both have', 'a\nb\nc', 'A\nb\nc', 'A\nb\nC', 'A\nb\nC', 0],
  ])('%s', (_, base, ours, theirs, text, conflicts) => {
    expect(mergeDoubtful(base, ours, theirs)).toEqual({ text, conflicts });
  });

  test('is wholly theirs, or the file’s as it would be without doubt, where a side was asked for', () => {
    fc.assert(
      fc.property(texts, ([from, ours, theirs]) => {
        expect(mergeDoubtful(from, ours, theirs, 'theirs')).toEqual(clean(theirs));
        if (theirs !== from)
          expect(mergeDoubtful(from, ours, theirs, 'ours')).toEqual(merge(from, ours, theirs, 'ours'));
      }),
    );
  });

  test('has between the markers and around them both sides whole', () => {
    fc.assert(
      fc.property(texts, ([from, ours, theirs]) => {
        const { text, conflicts } = mergeDoubtful(from, ours, theirs);
        expect(sideOf(text, 'theirs')).toEqual(theirs.split('\n'));
        expect(sideOf(text, 'ours')).toEqual(mergeDoubtful(from, ours, theirs, 'ours').text.split('\n'));
        if (conflicts === 0) expect(text).toBe(theirs);
      }),
    );
  });

  test('is kept as well where the file has gone back to the base since', () => {
    expect(mergeDoubtful('a\nb', 'a\nb', 'A\nB', null, ['A\nb'])).toEqual({
      text: between('a\nb\n', 'A\nB\n'),
      conflicts: 1,
    });
    const asked = { text: `${between('a\n', 'A\n')}\nb\nC`, conflicts: 1 };
    expect(mergeDoubtful('a\nb\nc', 'a\nb\nc', 'A\nb\nC', null, ['A\nb\nc'])).toEqual(asked);
  });
});
