import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { renderCanonicalJson, isJsonObject, mapStrings, omitKey, type JsonValue } from '../../src/domain/json.ts';

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
  test.each<[string, JsonValue, string]>([
    [
      'canonical JSON sorts keys by UTF-16 code units',
      { '\u{1f600}': 1, '\ufb33': 2, '€': 3, '10': 4, '9': 5, '': 6 },
      '{"":6,"10":4,"9":5,"€":3,"\u{1f600}":1,"\ufb33":2}',
    ],
    [
      'canonical JSON formats numbers the way JSON.stringify does',
      [1e21, 1e-7, 0.1, -0, 9007199254740992, 1.0],
      '[1e+21,1e-7,0.1,0,9007199254740992,1]',
    ],
    ['canonical JSON escapes strings the way JSON.stringify does', '"\\\n\u0001\u007fé', '"\\"\\\\\\n\\u0001\u007fé"'],
    [
      'canonical JSON includes keys named __proto__ and constructor',
      JSON.parse('{"__proto__": 1, "constructor": 2}') as JsonValue,
      '{"__proto__":1,"constructor":2}',
    ],
  ])('%s', (_, json, expected) => {
    expect(renderCanonicalJson(json)).toBe(expected);
  });

  test('canonical JSON does not depend on the original key order, and parses back to the original value', () => {
    fc.assert(
      fc.property(value, (json) => {
        expect(renderCanonicalJson(reverseKeys(json))).toBe(renderCanonicalJson(json));
        expect(JSON.parse(renderCanonicalJson(json))).toEqual(json);
      }),
    );
  });
});

test('omitKey returns the object without the given key', () => {
  expect(omitKey({ a: 1, b: { a: 1 } }, 'a')).toEqual({ b: { a: 1 } });
  expect(omitKey({ a: 1 }, 'b')).toEqual({ a: 1 });
});

test('isJsonObject returns true for an object and false for any other value', () => {
  expect([{}, [], null, '', 0, undefined].map(isJsonObject)).toEqual([true, false, false, false, false, false]);
});

const maskSecret = (text: string) => text.replaceAll('secret', '…');

test('mapStrings applies the function to every string and key in nested data, and leaves all other values unchanged', () => {
  const data: unknown = JSON.parse('{"a":["secret",1,["secret"],{"secret":null}],"b":true,"__proto__":"secret"}');
  const masked: unknown = JSON.parse('{"a":["…",1,["…"],{"…":null}],"b":true,"__proto__":"…"}');
  expect(mapStrings(data, maskSecret)).toEqual(masked);
  expect([mapStrings('a secret', maskSecret), mapStrings(undefined, maskSecret)]).toEqual(['a …', undefined]);
});
