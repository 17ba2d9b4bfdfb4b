import { expect, test } from 'vitest';
import { type PromptPlan, isNew } from '../../src/domain/plan.ts';
import { textsOf } from '../../src/planning/texts.ts';
import { content, entry, file, observed, outside, planPrompt, rules, version, type RulesParts } from './support.ts';

const one = outside(1, 'One\r\nby them');
const two = version(2, 'Two', {
  metadata: { model: 'x' },
  ledger: [entry(1, 'One'), entry(5, 'Five'), entry(6, 'Six')],
});
const ACTIVE = { dev: null, staging: two, production: one };
const bare = { metadata: {} };

function textsIn(prompt: PromptPlan, given: RulesParts = {}) {
  return textsOf([prompt], rules(given), rules(given)).get('p1');
}

test.each<[string, Parameters<typeof file>[0], RulesParts, unknown]>([
  ['None for a prompt in sync', { text: 'Two', pins: { staging: 'latest' } }, {}, []],
  [
    'A new text, where nothing is served and where something is',
    { text: 'New', pins: { dev: 'latest', production: 'latest' } },
    {},
    [
      { environment: 'dev', before: null, after: { text: 'New' } },
      { environment: 'production', before: { text: 'One\nby them', ...bare }, after: { text: 'New' } },
    ],
  ],
  [
    'with its metadata where the file has some',
    { text: 'New', metadata: { model: 'y' }, pins: { dev: 'latest' } },
    {},
    [{ environment: 'dev', before: null, after: { text: 'New', metadata: { model: 'y' } } }],
  ],
  [
    'A version that was read, as the service has it',
    { pins: { production: 2 } },
    {},
    [
      {
        ...{ environment: 'production', before: { text: 'One\nby them', ...bare } },
        after: { text: 'Two', metadata: { model: 'x' } },
      },
    ],
  ],
  [
    'One that only a ledger names, from what git has of it',
    { pins: { dev: 5 } },
    { contents: new Map([['ver_5', content('Five')]]) },
    [{ environment: 'dev', before: null, after: { text: 'Five' } }],
  ],
  [
    'or from the file, or from a ref, which mean that very content',
    { text: 'Five', metadata: {}, pins: { dev: 'latest', staging: 'git:v6' } },
    { refs: { v6: content('Six') } },
    [
      { environment: 'dev', before: null, after: { text: 'Five', ...bare } },
      { environment: 'staging', before: { text: 'Two', metadata: { model: 'x' } }, after: { text: 'Six' } },
    ],
  ],
  ['unknown where nobody has it', { pins: { dev: 6 } }, {}, [{ environment: 'dev', before: null, after: 'unknown' }]],
  [
    'and of an id that nobody knows',
    { pins: { dev: 'version:theirs' } },
    {},
    [{ environment: 'dev', before: null, after: 'unknown' }],
  ],
])('%s', (_, parts, given, expected) => {
  const prompt = planPrompt(file(parts), observed({ active: ACTIVE }), rules(given));
  const texts = textsIn(prompt, given);
  expect(texts?.map(({ change: _, ...rest }) => rest)).toStrictEqual(expected);
  expect(texts?.map(({ change }) => change)).toStrictEqual(prompt.changes.filter(({ kind }) => kind === 'set-active'));
});

test('None for a prompt that was not observed', () => {
  const prompt = planPrompt(file({ text: 'New', pins: { dev: 'latest' } }), observed({ active: ACTIVE }), rules());
  expect(prompt.changes.some((change) => change.kind === 'set-active' && isNew(change.after))).toBe(true);
  expect(textsIn({ ...prompt, observed: null })).toStrictEqual([]);
});
