import { expect, test } from 'vitest';
import { type PromptPlan, isNewVersionRef } from '../../src/domain/plan.ts';
import { collectTextChanges } from '../../src/planning/collect-text-changes.ts';
import { content, entry, file, observed, outside, planPrompt, rules, version, type RulesParts } from './support.ts';

const one = outside(1, 'One\r\nby them');
const two = version(2, 'Two', {
  metadata: { model: 'x' },
  ledger: [entry(1, 'One'), entry(5, 'Five'), entry(6, 'Six')],
});
const ACTIVE = { dev: null, staging: two, production: one };
const bare = { metadata: {} };
const unmanaged = { metadata: undefined };

function textsIn(prompt: PromptPlan, given: RulesParts = {}) {
  return collectTextChanges([prompt], rules(given), rules(given)).get('p1');
}

test.each<[string, Parameters<typeof file>[0], RulesParts, unknown]>([
  ['textsOf returns no texts for a prompt that is in sync', { text: 'Two', pins: { staging: 'latest' } }, {}, []],
  [
    'textsOf shows a new text beside the served text or nothing',
    { text: 'New', pins: { dev: 'latest', production: 'latest' } },
    {},
    [
      { environment: 'dev', before: null, after: { text: 'New', ...unmanaged } },
      { environment: 'production', before: { text: 'One\nby them', ...bare }, after: { text: 'New', ...unmanaged } },
    ],
  ],
  [
    'textsOf shows the metadata of a new text if the file manages metadata',
    { text: 'New', metadata: { model: 'y' }, pins: { dev: 'latest' } },
    {},
    [{ environment: 'dev', before: null, after: { text: 'New', metadata: { model: 'y' } } }],
  ],
  [
    'textsOf shows the text of a version that promptsync read',
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
    'textsOf shows a version that only a ledger names with its text from git',
    { pins: { dev: 5 } },
    { contents: new Map([['ver_5', content('Five')]]) },
    [{ environment: 'dev', before: null, after: { text: 'Five', ...unmanaged } }],
  ],
  [
    'textsOf takes the text of a known version from the file or from a git ref',
    { text: 'Five', metadata: {}, pins: { dev: 'latest', staging: 'git:v6' } },
    { refs: { v6: content('Six') } },
    [
      { environment: 'dev', before: null, after: { text: 'Five', ...bare } },
      {
        environment: 'staging',
        before: { text: 'Two', metadata: { model: 'x' } },
        after: { text: 'Six', ...unmanaged },
      },
    ],
  ],
  [
    'textsOf shows an unknown text for a version whose text nobody has',
    { pins: { dev: 6 } },
    {},
    [{ environment: 'dev', before: null, after: 'unknown' }],
  ],
  [
    'textsOf shows an unknown text for a version id in no ledger',
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

test('textsOf returns no texts for a prompt that was not observed', () => {
  const prompt = planPrompt(file({ text: 'New', pins: { dev: 'latest' } }), observed({ active: ACTIVE }), rules());
  expect(prompt.changes.some((change) => change.kind === 'set-active' && isNewVersionRef(change.after))).toBe(true);
  expect(textsIn({ ...prompt, observed: null })).toStrictEqual([]);
});
