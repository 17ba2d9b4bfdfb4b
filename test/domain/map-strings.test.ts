import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mapStrings } from '../../src/domain/json.ts';

const hide = (text: string) => text.replaceAll('secret', '…');

describe('Every string in data is mapped', () => {
  test.each<[string, unknown, unknown]>([
    ['a string', 'a secret', 'a …'],
    ['in lists', ['secret', 1, ['secret']], ['…', 1, ['…']]],
    ['in objects, names as well', { a: 'secret', secret: null }, { a: '…', '…': null }],
    ['in maps, names as well', new Map([['secret', ['secret']]]), new Map([['…', ['…']]])],
    ['in sets', new Set(['secret', 'b']), new Set(['…', 'b'])],
    ['and nothing else', { a: 1, b: true, c: null, d: undefined }, { a: 1, b: true, c: null, d: undefined }],
    ['also where a name is one of every object', JSON.parse('{"__proto__":"secret"}'), JSON.parse('{"__proto__":"…"}')],
  ])('%s', (_, data, expected) => {
    expect(mapStrings(data, hide)).toEqual(expected);
  });

  test('what stays as it was is the same object', () => {
    const same = { text: 'a' };
    const data = { same, other: { text: 'secret' } };
    expect(mapStrings(data, hide)).toEqual({ same, other: { text: '…' } });
    expect(mapStrings(data, hide).same).toBe(same);
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
