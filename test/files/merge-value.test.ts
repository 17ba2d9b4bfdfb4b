import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/domain/json.ts';
import { mergeMapping, mergeValue } from '../../src/files/merge.ts';
import type { Side } from '../../src/files/merge.ts';

describe('a value', () => {
  test.each<[string, string | null, string, string, Side, string, boolean]>([
    ['changed by nobody stays', 'a', 'a', 'a', null, 'a', false],
    ['changed in the file stays', 'a', 'b', 'a', null, 'b', false],
    ['changed in the service is taken over', 'a', 'a', 'b', null, 'b', false],
    ['changed alike stays', 'a', 'b', 'b', null, 'b', false],
    ['changed in two ways is a conflict and stays', 'a', 'b', 'c', null, 'b', true],
    ['changed in two ways stays with --ours', 'a', 'b', 'c', 'ours', 'b', false],
    ['changed in two ways is taken over with --theirs', 'a', 'b', 'c', 'theirs', 'c', false],
    ['of which it is not known what it was is a conflict', null, 'b', 'c', null, 'b', true],
    ['of which it is not known what it was, and that is equal, is none', null, 'b', 'b', null, 'b', false],
  ])('%s', (_, base, ours, theirs, side, value, conflict) => {
    const from = base === null ? null : { value: base };
    expect(mergeValue({ base: from, ours, theirs }, side)).toEqual({ value, conflict });
  });
});

test.each<[Side, string, boolean]>([
  [null, 'b', true],
  ['ours', 'b', false],
  ['theirs', 'a', false],
])('a value may be taken back where both may come from something newer: with %s', (side, value, conflict) => {
  const merging = { base: { value: 'a' }, ours: 'b', theirs: 'a', doubtful: true };
  expect(mergeValue(merging, side)).toEqual({ value, conflict });
  const mapping = mergeMapping(
    { base: { value: { m: 'a' } }, ours: { m: 'b' }, theirs: { m: 'a' }, doubtful: true },
    side,
  );
  expect(mapping.conflict).toEqual(conflict ? { m: 'a' } : null);
  expect([...mapping.changed.values()]).toEqual(value === 'b' ? [] : [value]);
});

/** The mapping that comes of a merge. */
function merged(base: JsonObject | null, ours: JsonObject, theirs: JsonObject, side: Side = null) {
  const { changed, conflict } = mergeMapping({ base: base && { value: base }, ours, theirs }, side);
  const kept = Object.entries(ours).filter(([key]) => !changed.has(key));
  const set = [...changed].flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const]));
  return { mapping: Object.fromEntries([...kept, ...set]), conflict };
}

describe('a mapping', () => {
  test.each<[string, JsonObject | null, JsonObject, JsonObject, JsonObject]>([
    ['gets what the service put in', { a: 1 }, { a: 1 }, { a: 1, b: 2 }, { a: 1, b: 2 }],
    ['loses what the service took out', { a: 1, b: 2 }, { a: 1, b: 2 }, { a: 1 }, { a: 1 }],
    ['gets what each side put in', {}, { a: 1 }, { b: 2 }, { a: 1, b: 2 }],
    ['keeps what the file has changed', { a: 1, b: 1 }, { a: 2, b: 1 }, { a: 1, b: 3 }, { a: 2, b: 3 }],
    ['takes nested values as a whole', { a: { x: [1] } }, { a: { x: [1] } }, { a: { x: [2] } }, { a: { x: [2] } }],
    [
      'takes no other order for a change',
      { a: { x: 1, y: 2 } },
      { a: { y: 2, x: 1 } },
      { a: { x: 1, y: 2 } },
      { a: { x: 1, y: 2 } },
    ],
    ['keeps null apart from what is absent', { a: null }, { a: null }, {}, {}],
    [
      'knows only keys of its own',
      {},
      {},
      JSON.parse('{"toString": 1, "__proto__": 2}'),
      JSON.parse('{"toString": 1, "__proto__": 2}'),
    ],
  ])('%s', (_, base, ours, theirs, mapping) => {
    expect(merged(base, ours, theirs)).toEqual({ mapping, conflict: null });
  });

  test('is in conflict as a whole where one key is', () => {
    const [base, ours, theirs] = [
      { a: 1, b: 1 },
      { a: 2, b: 1 },
      { a: 3, b: 1 },
    ];
    expect(merged(base, ours, theirs)).toMatchObject({ conflict: theirs });
    expect(merged(base, ours, theirs, 'ours')).toEqual({ mapping: ours, conflict: null });
    expect(merged(base, ours, theirs, 'theirs')).toEqual({ mapping: theirs, conflict: null });
    expect(merged(null, ours, theirs)).toMatchObject({ conflict: theirs });
  });

  test('is from both sides the same where it is clean, and never loses what only one side has changed', () => {
    const mappings = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom(0, 1, null, 'x'));
    fc.assert(
      fc.property(mappings, mappings, mappings, (base, ours, theirs) => {
        const [one, other] = [merged(base, ours, theirs), merged(base, theirs, ours)];
        expect(one.conflict === null).toBe(other.conflict === null);
        if (one.conflict === null) expect(one.mapping).toEqual(other.mapping);
        expect(merged(base, base, theirs)).toEqual({ mapping: theirs, conflict: null });
        expect(merged(base, ours, base)).toEqual({ mapping: ours, conflict: null });
      }),
    );
  });
});
