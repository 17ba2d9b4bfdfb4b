import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { listBreakingChanges, listVariables } from '../src/domain/text-changes.ts';
import { countAllowedChanges, parseMaxChanges, type MaxChanges } from '../src/domain/policy.ts';
import { suggestName } from '../src/domain/suggest-name.ts';

describe('listVariables', () => {
  test.each([
    [['a'], '{{a}}'],
    [['b', 'a'], '{{b}} {{a}} {{b}}'],
    [['a', 'b'], '{{ a }}{{\tb\t}}'],
    [['a.b-c_D9'], '{{a.b-c_D9}}'],
    [['名前', 'é'], '{{名前}} {{é}}'],
    [['a'], '{{{a}}}'],
    [['a'], '{{{{a}}}}'],
    [['a'], '{{{{ {{a}} }}'],
    [[], '{{a}'],
    [[], '{a}}'],
    [[], '{{}} {{ }} {{a b}} {{a\n}} {{a|b}} {{#if}} {{/if}} {{>a}} {{a()}}'],
    [[], '{{\u200ba}}'],
    [['else.a', 'this.name'], '{{else}} {{ this }} {{else.a}} {{this.name}}'],
    [[], ''],
  ])('listVariables returns %j for the text %j', (expected, text) => {
    expect(listVariables({ type: 'text', text })).toEqual(expected);
  });

  test('listVariables returns each variable exactly once', () => {
    const name = fc.stringMatching(/^[a-z0-9_.-]{1,8}$/);
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string(), name)), (parts) => {
        const text = parts.map(([before, one]) => `${before.replaceAll(/[{}]/g, '')}{{${one}}}`).join('');
        expect(listVariables({ type: 'text', text })).toEqual([...new Set(parts.map(([, one]) => one))]);
      }),
    );
  });
});

describe('listBreakingChanges', () => {
  test.each<[string, string, string, readonly (readonly [string, 'added' | 'removed'])[]]>([
    [
      'listBreakingChanges lists a variable as added if only the new text contains it',
      'Hi.',
      'Hi {{name}}.',
      [['name', 'added']],
    ],
    [
      'listBreakingChanges lists a variable as removed if only the old text contains it',
      'Hi {{name}}.',
      'Hi.',
      [['name', 'removed']],
    ],
    [
      'A variable does not count as removed if the new text passes it to a filter',
      'Hi {{name}}.',
      'Hi {{ name | default("you") }}.',
      [],
    ],
    [
      'A variable does not count as added if the old text tests it in a block',
      '{% if vip %}Hi{% endif %}',
      '{{vip}}',
      [],
    ],
    ['A Handlebars block counts as a use of its variable', '{{#if vip}}Hi{{else}}Bye{{/if}}', '{{vip}}', []],
    [
      'A variable does not count as used if its name is only part of a longer name in a tag',
      '{{user}}',
      '{{user.name}} {{ user-id | x }}',
      [
        ['user.name', 'added'],
        ['user', 'removed'],
      ],
    ],
    [
      'A name outside of tags does not count as a use of a variable',
      'Hi {{name}}.',
      'Hi {name} and name.',
      [['name', 'removed']],
    ],
    ['An unclosed tag does not count as a use of a variable', 'Hi {{name}}.', '{{{{{% name', [['name', 'removed']]],
    ['A tag that spans several lines counts as a use of its variable', 'Hi {{name}}.', '{{ greet(\n  name\n) }}', []],
  ])('%s', (_, before, after, expected) => {
    const [old, now] = [before, after].map((text) => ({ type: 'text', text, metadata: {} }) as const);
    const changes = expected.map(([variable, kind]) => ({ variable, kind }));
    expect(listBreakingChanges({ before: old ?? null, after: now ?? 'unknown' })).toEqual(changes);
  });
});

describe('suggestName', () => {
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
  ])('suggestName returns the closest known name for %s, or undefined if none is similar enough', (word, expected) => {
    expect(suggestName(word, known)).toBe(expected);
  });

  test.each([
    ['greeting', ['support/greeting', 'prompts/support/greeting.md', 'sales/offer'], 'support/greeting'],
    ['greeting', ['support/greeting', 'sales/greeting'], undefined],
    ['eeting', ['support/greeting'], undefined],
  ])('suggestName compares the name %j with the last path segment of each name in %j', (word, known, expected) => {
    expect(suggestName(word, known)).toBe(expected);
  });

  test('suggestName returns undefined if there are no known names', () => {
    expect(suggestName('a', [])).toBeUndefined();
  });
});

describe('parseMaxChanges and countAllowedChanges', () => {
  const validLimits: readonly (readonly [string | number, MaxChanges])[] = [
    ['0', { kind: 'count', count: 0 }],
    ['12', { kind: 'count', count: 12 }],
    [7, { kind: 'count', count: 7 }],
    ['0%', { kind: 'percent', percent: 0 }],
    ['25%', { kind: 'percent', percent: 25 }],
    ['100%', { kind: 'percent', percent: 100 }],
  ];
  test.each(validLimits)('parseMaxChanges parses the limit %j', (given, expected) => {
    expect(parseMaxChanges(given)).toEqual(expected);
  });

  const invalidLimits = ['', '%', '-1', '1.5', '101%', '2.5%', ' 1', '1 %', '1e3', 'all', '0x1', '9999999999'];
  test.each([...invalidLimits, 1.5, -1, 1e21, Number.NaN])(
    'parseMaxChanges rejects %j, which is neither a valid count nor a valid percentage',
    (given) => {
      expect(parseMaxChanges(given)).toBeNull();
    },
  );

  test.each([
    ['3', 1, 3],
    ['25%', 5, 2],
    ['29%', 100, 29],
  ])('a change limit of %s for %i prompts allows %i changes', (limit, selected, expected) => {
    expect(countAllowedChanges(parseMaxChanges(limit) ?? { kind: 'count', count: -1 }, selected)).toBe(expected);
  });

  test('a percentage change limit is rounded up but never exceeds the number of prompts', () => {
    fc.assert(
      fc.property(fc.nat(100), fc.nat(10_000), (percent, selected) => {
        const allowed = countAllowedChanges({ kind: 'percent', percent }, selected);
        expect(allowed).toBeLessThanOrEqual(selected);
        expect(allowed * 100).toBeGreaterThanOrEqual(percent * selected);
        expect((allowed - 1) * 100).toBeLessThan(Math.max(percent * selected, 1));
      }),
    );
  });
});
