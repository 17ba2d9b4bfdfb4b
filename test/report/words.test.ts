import { describe, expect, test } from 'vitest';
import { variableChanges } from '../../src/domain/text-changes.ts';
import type { ReportChange, ReportDrift } from '../../src/report/schema.ts';
import { breakingTexts } from '../../src/report/words.ts';
import { promptOf, ref, setActive } from './support.ts';

type Side = string | 'unknown' | null;
const added = (variable: string) => ({ variable, kind: 'added' as const });
const removed = (variable: string) => ({ variable, kind: 'removed' as const });

describe('Variables that callers have to follow', () => {
  test.each<[string, Side, string, readonly object[]]>([
    ['none where they stay', 'Hi {{name}}.', 'Hello {{name}}!', []],
    ['none where only blanks, order and number differ', '{{a}} {{b}}', '{{ b }}{{a}}{{a}}', []],
    ['none where nothing was active: nobody calls it yet', null, '{{name}}', []],
    ['one more', 'a', '{{x}}', [added('x')]],
    ['one less', '{{x}}', 'a', [removed('x')]],
    ['another name is one more and one less', '{{old}}', '{{new}}', [added('new'), removed('old')]],
    ['none where the text of now is not known', 'unknown', '{{x}}', []],
    ['none where the text to come is not known', '{{x}}', 'unknown', []],
    ['names of every script', '', '{{größe.x-1}}', [added('größe.x-1')]],
    ['a name that every object has', '', '{{constructor}}', [added('constructor')]],
    ['none of what only looks like one', '{{ two words }} {x} {{}}', '', []],
  ])('%s', (_, before, after, expected) => {
    const side = (text: string) => (text === 'unknown' ? text : { text });
    expect(variableChanges({ before: before === null ? null : side(before), after: side(after) })).toEqual(expected);
  });
});

describe('What callers are told', () => {
  const textsOf = (...changes: readonly ReportChange[]) => breakingTexts(promptOf({ changes }), (text) => `<${text}>`);
  const key: ReportChange = { kind: 'update-prompt', fields: { key: { before: 'k/0', after: 'k/1' } } };
  const name: ReportChange = { kind: 'update-prompt', fields: { name: { before: 'a', after: 'b' } } };
  const serves = (environment: string, ...breaking: readonly ReturnType<typeof added | typeof removed>[]) =>
    setActive({ environment, breaking });
  const keyText = 'the key changes from <k/0> to <k/1>. Whoever reads it by key has to follow.';
  const more = 'the variable <{{x}}> is added. Callers have to supply it.';
  const less = 'the variable <{{x}}> is removed. Callers need not supply it any more.';

  test.each<[string, readonly ReportChange[], readonly string[]]>([
    ['nothing of another name', [name], []],
    ['of another key, before the variables', [serves('s', added('x')), key], [keyText, `<s>: ${more}`]],
    [
      'once what is the same in several environments',
      [serves('s', added('x')), serves('p', added('x'))],
      [`<s>, <p>: ${more}`],
    ],
    [
      'more here and less there',
      [serves('s', added('x')), serves('p', removed('x'))],
      [`<s>: ${more}`, `<p>: ${less}`],
    ],
  ])('%s', (_, changes, expected) => {
    expect(textsOf(...changes)).toEqual(expected);
  });

  test.each<[string, Partial<Pick<ReportDrift, 'kind' | 'restores'>>, number]>([
    ['none where it only undoes what was done in the service', {}, 0],
    ['some where the files want something else', { restores: false }, 2],
    ['some where a sync has not come to its end', { kind: 'unfinished' }, 2],
  ])('%s', (_, parts, count) => {
    const drift = { kind: 'outside', restores: true, ...parts } as const;
    const moved = { environment: 'p', expected: ref(1), observed: { ...ref(2), made_by: 'outside' } } as const;
    const prompt = promptOf({
      changes: [serves('p', added('x')), key],
      drift: [
        { ...moved, ...drift },
        { field: 'key', expected: 'k/1', observed: 'k/0', ...drift },
      ],
    });
    expect(breakingTexts(prompt, String)).toHaveLength(count);
    const elsewhere = { ...prompt, changes: [...prompt.changes, serves('s', removed('x'))] };
    expect(breakingTexts(elsewhere, String)).toHaveLength(count + 1);
  });
});
