import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  canonicalJson,
  isJsonObject,
  mapStrings,
  withoutKey,
  type JsonObject,
  type JsonValue,
} from '../../src/domain/json.ts';

const value = fc.jsonValue({ maxDepth: 5 }).map((json) => JSON.parse(JSON.stringify(json)) as JsonValue);

/** The same value with the keys of every object in another order. */
function reversed(json: JsonValue): JsonValue {
  if (Array.isArray(json)) return json.map(reversed);
  if (!isJsonObject(json)) return json;
  return Object.fromEntries(
    Object.entries(json)
      .toReversed()
      .map(([key, member]) => [key, reversed(member)]),
  );
}

describe('canonical JSON', () => {
  const examples: readonly (readonly [string, JsonValue, string])[] = [
    ['no blanks', { a: [1, 'b', null, true] }, '{"a":[1,"b",null,true]}'],
    [
      'sorted keys, in each object',
      { b: { d: 1, c: 2 }, a: [{ f: 1, e: 2 }] },
      '{"a":[{"e":2,"f":1}],"b":{"c":2,"d":1}}',
    ],
    [
      'keys sorted by UTF-16 units',
      { '\u{1f600}': 1, '\ufb33': 2, '€': 3, '10': 4, '9': 5, '': 6 },
      '{"":6,"10":4,"9":5,"€":3,"\u{1f600}":1,"\ufb33":2}',
    ],
    [
      'numbers as JavaScript writes them',
      [1e21, 1e-7, 0.1, -0, 9007199254740992, 1.0],
      '[1e+21,1e-7,0.1,0,9007199254740992,1]',
    ],
    ['texts as JavaScript writes them', '"\\\n\u0001\u007fé', '"\\"\\\\\\n\\u0001\u007fé"'],
    ['lists in their order', [3, 1, 2], '[3,1,2]'],
    ['nothing', {}, '{}'],
    [
      'a key that prototypes have',
      JSON.parse('{"__proto__": 1, "constructor": 2}') as JsonValue,
      '{"__proto__":1,"constructor":2}',
    ],
  ];
  test.each(examples)('%s', (_, json, expected) => {
    expect(canonicalJson(json)).toBe(expected);
  });

  test('is the same whatever the order of the keys', () => {
    fc.assert(
      fc.property(value, (json) => {
        expect(canonicalJson(reversed(json))).toBe(canonicalJson(json));
      }),
    );
  });

  test('is parsed back as the same value', () => {
    fc.assert(
      fc.property(value, (json) => {
        expect(JSON.parse(canonicalJson(json))).toEqual(json);
      }),
    );
  });
});

test.each([
  [{ a: 1, b: 2 }, 'a', { b: 2 }],
  [{ a: 1 }, 'b', { a: 1 }],
  [{ a: { a: 1 } }, 'a', {}],
  [{ b: { a: 1 } }, 'a', { b: { a: 1 } }],
])('%j without the key %s is %j', (object: JsonObject, key, expected) => {
  expect(withoutKey(object, key)).toEqual(expected);
});

test.each([
  [{}, true],
  [[], false],
  [null, false],
  ['', false],
  [0, false],
  [undefined, false],
])('whether %j is a mapping: %s', (json, expected) => {
  expect(isJsonObject(json)).toBe(expected);
});

const hide = (text: string) => text.replaceAll('secret', '…');

describe('Every string in data is mapped', () => {
  test.each<[string, unknown, unknown]>([
    ['a string', 'a secret', 'a …'],
    ['in lists', ['secret', 1, ['secret']], ['…', 1, ['…']]],
    ['in objects, names as well', { a: 'secret', secret: null }, { a: '…', '…': null }],
    ['and nothing else', { a: 1, b: true, c: null, d: undefined }, { a: 1, b: true, c: null, d: undefined }],
    ['also where a name is one of every object', JSON.parse('{"__proto__":"secret"}'), JSON.parse('{"__proto__":"…"}')],
  ])('%s', (_, data, expected) => {
    expect(mapStrings(data, hide)).toEqual(expected);
  });

  test('as JSON knows it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const shout = (text: string) => `${text}!`;
        const quiet = (text: string) => text.slice(0, -1);
        expect(mapStrings(mapStrings(value, shout), quiet)).toEqual(value);
      }),
    );
  });
});
