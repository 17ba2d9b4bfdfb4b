import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  renderCanonicalJson,
  isJsonObject,
  mapStrings,
  omitKey,
  type JsonObject,
  type JsonValue,
} from '../../src/domain/json.ts';

const value = fc.jsonValue({ maxDepth: 5 }).map((json) => JSON.parse(JSON.stringify(json)) as JsonValue);

/** Returns the same value with the keys of every object in reverse order. */
function reverseKeys(json: JsonValue): JsonValue {
  if (Array.isArray(json)) return json.map(reverseKeys);
  if (!isJsonObject(json)) return json;
  return Object.fromEntries(
    Object.entries(json)
      .toReversed()
      .map(([key, member]) => [key, reverseKeys(member)]),
  );
}

describe('renderCanonicalJson', () => {
  const examples: readonly (readonly [string, JsonValue, string])[] = [
    ['contains no insignificant whitespace', { a: [1, 'b', null, true] }, '{"a":[1,"b",null,true]}'],
    [
      'sorts the keys of each object',
      { b: { d: 1, c: 2 }, a: [{ f: 1, e: 2 }] },
      '{"a":[{"e":2,"f":1}],"b":{"c":2,"d":1}}',
    ],
    [
      'sorts keys by UTF-16 code units',
      { '\u{1f600}': 1, '\ufb33': 2, '€': 3, '10': 4, '9': 5, '': 6 },
      '{"":6,"10":4,"9":5,"€":3,"\u{1f600}":1,"\ufb33":2}',
    ],
    [
      'formats numbers the way JSON.stringify does',
      [1e21, 1e-7, 0.1, -0, 9007199254740992, 1.0],
      '[1e+21,1e-7,0.1,0,9007199254740992,1]',
    ],
    ['escapes strings the way JSON.stringify does', '"\\\n\u0001\u007fé', '"\\"\\\\\\n\\u0001\u007fé"'],
    ['preserves the order of array elements', [3, 1, 2], '[3,1,2]'],
    ['represents an empty object as {}', {}, '{}'],
    [
      'includes keys named __proto__ and constructor',
      JSON.parse('{"__proto__": 1, "constructor": 2}') as JsonValue,
      '{"__proto__":1,"constructor":2}',
    ],
  ];
  test.each(examples)('canonical JSON %s', (_, json, expected) => {
    expect(renderCanonicalJson(json)).toBe(expected);
  });

  test('canonical JSON does not depend on the original key order', () => {
    fc.assert(
      fc.property(value, (json) => {
        expect(renderCanonicalJson(reverseKeys(json))).toBe(renderCanonicalJson(json));
      }),
    );
  });

  test('canonical JSON parses back to the original value', () => {
    fc.assert(
      fc.property(value, (json) => {
        expect(JSON.parse(renderCanonicalJson(json))).toEqual(json);
      }),
    );
  });
});

test.each([
  [{ a: 1, b: 2 }, 'a', { b: 2 }],
  [{ a: 1 }, 'b', { a: 1 }],
  [{ a: { a: 1 } }, 'a', {}],
  [{ b: { a: 1 } }, 'a', { b: { a: 1 } }],
])('omitKey called with %j and the key %s returns %j', (object: JsonObject, key, expected) => {
  expect(omitKey(object, key)).toEqual(expected);
});

test.each([
  [true, {}],
  [false, []],
  [false, null],
  [false, ''],
  [false, 0],
  [false, undefined],
])('isJsonObject returns %s for %j', (expected, json) => {
  expect(isJsonObject(json)).toBe(expected);
});

const maskSecret = (text: string) => text.replaceAll('secret', '…');

describe('mapStrings', () => {
  test.each<[string, unknown, unknown]>([
    ['applies the function to a single string', 'a secret', 'a …'],
    ['applies the function to strings in nested arrays', ['secret', 1, ['secret']], ['…', 1, ['…']]],
    [
      'applies the function to both keys and string values of objects',
      { a: 'secret', secret: null },
      { a: '…', '…': null },
    ],
    [
      'leaves numbers, booleans, null and undefined unchanged',
      { a: 1, b: true, c: null, d: undefined },
      { a: 1, b: true, c: null, d: undefined },
    ],
    [
      'applies the function to the value of a key named __proto__',
      JSON.parse('{"__proto__":"secret"}'),
      JSON.parse('{"__proto__":"…"}'),
    ],
  ])('mapStrings %s', (_, data, expected) => {
    expect(mapStrings(data, maskSecret)).toEqual(expected);
  });

  test('applying mapStrings with a function and then with its inverse restores the original JSON value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const shout = (text: string) => `${text}!`;
        const quiet = (text: string) => text.slice(0, -1);
        expect(mapStrings(mapStrings(value, shout), quiet)).toEqual(value);
      }),
    );
  });
});
