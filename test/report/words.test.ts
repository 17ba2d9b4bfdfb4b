import { describe, expect, test } from 'vitest';
import { compareVariables } from '../../src/domain/text-changes.ts';
import type { ReportChange, ReportDrift } from '../../src/report/schema.ts';
import { describeBreakingChanges } from '../../src/report/describe.ts';
import { promptOf, ref, setActive } from './support.ts';

type Side = string | 'unknown' | null;
const added = (variable: string) => ({ variable, kind: 'added' as const });
const removed = (variable: string) => ({ variable, kind: 'removed' as const });

describe('variableChanges', () => {
  test.each<[string, Side, string, readonly object[]]>([
    ['compareVariables finds no change if the variables stay the same', 'Hi {{name}}.', 'Hello {{name}}!', []],
    ['compareVariables ignores spaces, order and repetition of variables', '{{a}} {{b}}', '{{ b }}{{a}}{{a}}', []],
    ['compareVariables finds no change in the first version of a prompt', null, '{{name}}', []],
    ['compareVariables finds an added variable', 'a', '{{x}}', [added('x')]],
    ['compareVariables finds a removed variable', '{{x}}', 'a', [removed('x')]],
    [
      'compareVariables reports a renamed variable as added and removed',
      '{{old}}',
      '{{new}}',
      [added('new'), removed('old')],
    ],
    ['compareVariables finds no change if the current text is unknown', 'unknown', '{{x}}', []],
    ['compareVariables finds no change if the new text is unknown', '{{x}}', 'unknown', []],
    ['compareVariables accepts variable names in any script', '', '{{größe.x-1}}', [added('größe.x-1')]],
    ['compareVariables finds a variable with the name constructor', '', '{{constructor}}', [added('constructor')]],
    ['compareVariables ignores text that only resembles a variable', '{{ two words }} {x} {{}}', '', []],
  ])('%s', (_, before, after, expected) => {
    const side = (text: string) => (text === 'unknown' ? text : { text, metadata: undefined });
    expect(compareVariables({ before: before === null ? null : side(before), after: side(after) })).toEqual(expected);
  });
});

describe('breakingTexts', () => {
  const textsOf = (...changes: readonly ReportChange[]) =>
    describeBreakingChanges(promptOf({ changes }), (text) => `<${text}>`);
  const key: ReportChange = { kind: 'update-prompt', fields: { key: { before: 'k/0', after: 'k/1' } } };
  const name: ReportChange = { kind: 'update-prompt', fields: { name: { before: 'a', after: 'b' } } };
  const serves = (environment: string, ...breaking: readonly ReturnType<typeof added | typeof removed>[]) =>
    setActive({ environment, breaking });
  const keyText = 'the key changes from <k/0> to <k/1>. Whoever reads it by key has to follow.';
  const more = 'the variable <{{x}}> is added. Callers have to supply it.';
  const less = 'the variable <{{x}}> is removed. Callers need not supply it any more.';

  test.each<[string, readonly ReportChange[], readonly string[]]>([
    ['describeBreakingChanges returns nothing for a changed name', [name], []],
    [
      'describeBreakingChanges reports a changed key before changed variables',
      [serves('s', added('x')), key],
      [keyText, `<s>: ${more}`],
    ],
    [
      'describeBreakingChanges reports the same change in several environments once',
      [serves('s', added('x')), serves('p', added('x'))],
      [`<s>, <p>: ${more}`],
    ],
    [
      'describeBreakingChanges reports different changes in two environments separately',
      [serves('s', added('x')), serves('p', removed('x'))],
      [`<s>: ${more}`, `<p>: ${less}`],
    ],
  ])('%s', (_, changes, expected) => {
    expect(textsOf(...changes)).toEqual(expected);
  });

  test.each<[string, Partial<Pick<ReportDrift, 'kind' | 'restores'>>, number]>([
    ['describeBreakingChanges reports nothing if a sync only undoes outside changes', {}, 0],
    ['describeBreakingChanges reports drifted changes if the files want something else', { restores: false }, 2],
    ['describeBreakingChanges reports the changes of an unfinished sync', { kind: 'unfinished' }, 2],
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
    expect(describeBreakingChanges(prompt, String)).toHaveLength(count);
    const elsewhere = { ...prompt, changes: [...prompt.changes, serves('s', removed('x'))] };
    expect(describeBreakingChanges(elsewhere, String)).toHaveLength(count + 1);
  });
});
