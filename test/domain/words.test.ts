import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { placeholdersOf } from '../../src/domain/text-changes.ts';
import { allowedChanges, parseMaxChanges, type MaxChanges } from '../../src/domain/policy.ts';
import { suggest } from '../../src/domain/suggest.ts';

describe('placeholders', () => {
  test.each([
    ['{{a}}', ['a']],
    ['{{b}} {{a}} {{b}}', ['b', 'a']],
    ['{{ a }}{{\tb\t}}', ['a', 'b']],
    ['{{a.b-c_D9}}', ['a.b-c_D9']],
    ['{{名前}} {{é}}', ['名前', 'é']],
    ['{{{a}}}', ['a']],
    ['{{{{a}}}}', ['a']],
    ['{{{{ {{a}} }}', ['a']],
    ['{{a}', []],
    ['{a}}', []],
    ['{{}} {{ }} {{a b}} {{a\n}} {{a|b}} {{#if}} {{/if}} {{>a}} {{a()}}', []],
    ['{{\u200ba}}', []],
    ['', []],
  ])('of %j are %j', (text, expected) => {
    expect(placeholdersOf(text)).toEqual(expected);
  });

  test('are found wherever they stand, each once', () => {
    const name = fc.stringMatching(/^[a-z0-9_.-]{1,8}$/);
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string(), name)), (parts) => {
        const text = parts.map(([before, one]) => `${before.replaceAll(/[{}]/g, '')}{{${one}}}`).join('');
        expect(placeholdersOf(text)).toEqual([...new Set(parts.map(([, one]) => one))]);
      }),
    );
  });
});

describe('the word that was probably meant', () => {
  const known = ['id', 'key', 'name', 'description', 'variables'];
  test.each([
    ['nmae', 'name'],
    ['Name', 'name'],
    ['names', 'name'],
    ['kye', 'key'],
    ['keys', 'key'],
    ['ID', 'id'],
    ['desciption', 'description'],
    ['varaibels', 'variables'],
    ['title', undefined],
    ['prompt', undefined],
    ['x'.repeat(100_000), undefined],
  ])('for %s', (word, expected) => {
    expect(suggest(word, known)).toBe(expected);
  });

  test.each([
    ['greeting', ['support/greeting', 'prompts/support/greeting.md', 'sales/offer'], 'support/greeting'],
    ['greeting', ['support/greeting', 'sales/greeting'], undefined],
    ['eeting', ['support/greeting'], undefined],
  ])('%j is the end of a key in %j', (word, known, expected) => {
    expect(suggest(word, known)).toBe(expected);
  });

  test('is none where none is known', () => {
    expect(suggest('a', [])).toBeUndefined();
  });
});

describe('how much may change', () => {
  const written: readonly (readonly [string | number, MaxChanges])[] = [
    ['0', { kind: 'count', count: 0 }],
    ['12', { kind: 'count', count: 12 }],
    [7, { kind: 'count', count: 7 }],
    ['0%', { kind: 'percent', percent: 0 }],
    ['25%', { kind: 'percent', percent: 25 }],
    ['100%', { kind: 'percent', percent: 100 }],
  ];
  test.each(written)('%j is read', (given, expected) => {
    expect(parseMaxChanges(given)).toEqual(expected);
  });

  const wrong = ['', '%', '-1', '1.5', '101%', '2.5%', ' 1', '1 %', '1e3', 'all', '0x1', '9999999999'];
  test.each([...wrong, 1.5, -1, 1e21, Number.NaN])('%j is neither a number nor a percentage', (given) => {
    expect(parseMaxChanges(given)).toBeNull();
  });

  test.each([
    ['3', 1, 3],
    ['25%', 5, 2],
    ['29%', 100, 29],
  ])('%s of %i prompts are %i', (written, selected, expected) => {
    expect(allowedChanges(parseMaxChanges(written) ?? { kind: 'count', count: -1 }, selected)).toBe(expected);
  });

  test('a percentage never allows more than all, nor fewer than its share', () => {
    fc.assert(
      fc.property(fc.nat(100), fc.nat(10_000), (percent, selected) => {
        const allowed = allowedChanges({ kind: 'percent', percent }, selected);
        expect(allowed).toBeLessThanOrEqual(selected);
        expect(allowed * 100).toBeGreaterThanOrEqual(percent * selected);
        expect((allowed - 1) * 100).toBeLessThan(Math.max(percent * selected, 1));
      }),
    );
  });
});
