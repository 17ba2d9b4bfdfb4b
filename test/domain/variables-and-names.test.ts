import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { listBreakingChanges, listVariables } from '../../src/domain/text-changes.ts';
import { countAllowedChanges, parseMaxChanges, type MaxChanges } from '../../src/domain/policy.ts';
import { suggestName } from '../../src/domain/suggest-name.ts';

test.each([
  [['b', 'a'], '{{b}} {{a}} {{b}}'],
  [['a', 'b'], '{{ a }}{{\tb\t}}'],
  [['a.b-c_D9'], '{{a.b-c_D9}}'],
  [['名前', 'é'], '{{名前}} {{é}}'],
  [['a'], '{{{{a}}}}'],
  [['a'], '{{{{ {{a}} }}'],
  [[], '{a}}'],
  [[], '{{}} {{ }} {{a b}} {{a\n}} {{a|b}} {{#if}} {{/if}} {{>a}} {{a()}}'],
  [[], '{{\u200ba}}'],
  [['else.a', 'this.name'], '{{else}} {{ this }} {{else.a}} {{this.name}}'],
])('listVariables returns %j for the text %j', (expected, text) => {
  expect(listVariables({ type: 'text', text })).toEqual(expected);
});

test.each<[string, string, string, string]>([
  ['listBreakingChanges lists a variable of the new text as added', 'Hi.', 'Hi {{name}}.', 'name added'],
  ['listBreakingChanges lists a variable of the old text as removed', 'Hi {{name}}.', 'Hi.', 'name removed'],
  [
    'listBreakingChanges lists no variable that the new text passes to a filter',
    'Hi {{name}}.',
    'Hi {{ name | default("you") }}.',
    '',
  ],
  [
    'listBreakingChanges lists no variable that the old text tests in a block',
    '{% if vip %}Hi{% endif %}',
    '{{vip}}',
    '',
  ],
  ['listBreakingChanges lists no variable of a Handlebars block', '{{#if vip}}Hi{{else}}Bye{{/if}}', '{{vip}}', ''],
  [
    'listBreakingChanges lists no longer name as a use',
    '{{user}}',
    '{{user.name}} {{ user-id | x }}',
    'user.name added, user removed',
  ],
  ['listBreakingChanges lists no name outside of tags as a use', 'Hi {{name}}.', 'Hi {name} and name.', 'name removed'],
  ['listBreakingChanges lists no unclosed tag as a use', 'Hi {{name}}.', '{{{{{% name', 'name removed'],
  [
    'listBreakingChanges lists no variable of a tag that spans several lines',
    'Hi {{name}}.',
    '{{ greet(\n  name\n) }}',
    '',
  ],
])('%s', (_, before, after, expected) => {
  const [old, now] = [before, after].map((text) => ({ type: 'text', text, metadata: {} }) as const);
  const changes = listBreakingChanges({ before: old ?? null, after: now ?? 'unknown' });
  expect(changes.map((change) => Object.values(change).join(' ')).join(', ')).toBe(expected);
});

describe('suggestName', () => {
  const known = ['id', 'key', 'name', 'description', 'variables'];
  test.each([
    ['nmae', 'name'],
    ['kye', 'key'],
    ['ID', 'id'],
    ['desciption', 'description'],
    ['varaibels', 'variables'],
    ['prompt', undefined],
    ['x'.repeat(100_000), undefined],
  ])('suggestName returns the closest known name for %s, or undefined if none is similar enough', (word, expected) => {
    expect(suggestName(word, known)).toBe(expected);
  });

  test.each<[string, readonly string[], string | undefined]>([
    ['greeting', ['support/greeting', 'prompts/support/greeting.md', 'sales/offer'], 'support/greeting'],
    ['greeting', ['support/greeting', 'sales/greeting'], undefined],
    ['eeting', ['support/greeting'], undefined],
  ])('suggestName compares the name %j with the last path segment of each name in %j', (word, known, expected) => {
    expect(suggestName(word, known)).toBe(expected);
  });
});

describe('parseMaxChanges and countAllowedChanges', () => {
  test.each<[string | number, MaxChanges]>([
    ['12', { kind: 'count', count: 12 }],
    [7, { kind: 'count', count: 7 }],
    ['0%', { kind: 'percent', percent: 0 }],
    ['100%', { kind: 'percent', percent: 100 }],
  ])('parseMaxChanges parses the limit %j', (given, expected) => {
    expect(parseMaxChanges(given)).toEqual(expected);
  });

  test.each(['', '%', '-1', '1.5', '101%', '2.5%', ' 1', '1e3', 'all', '9999999999', 1.5, -1, 1e21, Number.NaN])(
    'parseMaxChanges rejects %j, which is neither a valid count nor a valid percentage',
    (given) => {
      expect(parseMaxChanges(given)).toBeNull();
    },
  );

  test.each([
    ['3', 1, 3],
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
