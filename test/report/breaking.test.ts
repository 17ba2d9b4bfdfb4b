import { describe, expect, test } from 'vitest';
import type { TextChange } from '../../src/domain/text-changes.ts';
import { type Breaking, findBreaking } from '../../src/report/breaking.ts';
import type { ReportChange } from '../../src/report/schema.ts';
import { promptOf } from './support.ts';

function change(environment: string, before: string | null, after: string): TextChange {
  const then = before === null ? null : { label: 'v1', text: before };
  return { environment, before: then, after: { label: 'new version', text: after } };
}

function find(texts: readonly TextChange[], changes: readonly ReportChange[] = []): readonly Breaking[] {
  return findBreaking({ ...promptOf('p', 'pending'), changes }, texts);
}

describe('Variables that callers have to follow', () => {
  test.each<[string, readonly TextChange[], readonly Breaking[]]>([
    ['none without texts', [], []],
    ['none where they stay', [change('staging', 'Hi {{name}}.', 'Hello {{name}}!')], []],
    ['none where only blanks, order and number differ', [change('staging', '{{a}} {{b}}', '{{ b }}{{a}}{{a}}')], []],
    ['none where nothing was active: nobody calls it yet', [change('staging', null, '{{name}}')], []],
    ['one more', [change('staging', 'a', '{{x}}')], [{ kind: 'added', variable: 'x', environments: ['staging'] }]],
    ['one less', [change('staging', '{{x}}', 'a')], [{ kind: 'removed', variable: 'x', environments: ['staging'] }]],
    [
      'another name is one more and one less',
      [change('staging', '{{old}}', '{{new}}')],
      [
        { kind: 'added', variable: 'new', environments: ['staging'] },
        { kind: 'removed', variable: 'old', environments: ['staging'] },
      ],
    ],
    [
      'the same in several environments is told once',
      [change('staging', 'a', '{{x}}'), change('production', 'b', '{{x}}')],
      [{ kind: 'added', variable: 'x', environments: ['staging', 'production'] }],
    ],
    [
      'more in one environment and less in another are two',
      [change('staging', 'a', '{{x}}'), change('production', '{{x}}', 'a')],
      [
        { kind: 'added', variable: 'x', environments: ['staging'] },
        { kind: 'removed', variable: 'x', environments: ['production'] },
      ],
    ],
    ['none where the text of now is not known', [{ ...change('staging', null, '{{x}}'), before: 'unknown' }], []],
    ['none where the text to come is not known', [{ ...change('staging', '{{x}}', ''), after: 'unknown' }], []],
    ['names of every script', [change('s', '', '{{größe.x-1}}')], [added('größe.x-1')]],
    ['a name that every object has', [change('s', '', '{{constructor}}')], [added('constructor')]],
    ['none of what only looks like one', [change('staging', '{{ two words }} {x} {{}}', '')], []],
  ])('%s', (_, texts, expected) => {
    expect(find(texts)).toEqual(expected);
  });
});

function added(variable: string): Breaking {
  return { kind: 'added', variable, environments: ['s'] };
}

describe('A key that callers have to follow', () => {
  const update = (...fields: readonly ('key' | 'name' | 'description')[]): ReportChange => ({
    kind: 'update-prompt',
    fields: Object.fromEntries(fields.map((field) => [field, { before: 'old', after: 'new' }])),
  });

  test.each<[string, readonly ReportChange[], readonly Breaking[]]>([
    ['another key', [update('key')], [{ kind: 'key', before: 'old', after: 'new' }]],
    ['another key among others', [update('name', 'key')], [{ kind: 'key', before: 'old', after: 'new' }]],
    ['no other field', [update('name', 'description')], []],
    ['no other change', promptOf('p', 'pending').changes, []],
  ])('%s', (_, changes, expected) => {
    expect(find([], changes)).toEqual(expected);
  });

  test('is told before the variables', () => {
    expect(find([change('s', '', '{{x}}')], [update('key')]).map(({ kind }) => kind)).toEqual(['key', 'added']);
  });
});
