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
const bare = { type: 'text', metadata: {} };
const unmanaged = { type: 'text', metadata: undefined };

function textsIn(prompt: PromptPlan, given: RulesParts = {}) {
  return collectTextChanges([prompt], rules(given), rules(given).planningHistory).get('p1');
}

test.each<[string, Parameters<typeof file>[0], RulesParts, unknown]>([
  [
    'collectTextChanges returns no changes for a prompt that is in sync',
    { text: 'Two', pins: { staging: 'latest' } },
    {},
    [],
  ],
  [
    'collectTextChanges pairs the new text with the served text, or with null if no version is served',
    { text: 'New', pins: { dev: 'latest', production: 'latest' } },
    {},
    [
      { environment: 'dev', before: null, after: { text: 'New', ...unmanaged } },
      { environment: 'production', before: { text: 'One\nby them', ...bare }, after: { text: 'New', ...unmanaged } },
    ],
  ],
  [
    'collectTextChanges includes metadata with the new text if the file has metadata',
    { text: 'New', metadata: { model: 'y' }, pins: { dev: 'latest' } },
    {},
    [{ environment: 'dev', before: null, after: { type: 'text', text: 'New', metadata: { model: 'y' } } }],
  ],
  [
    'collectTextChanges returns the text of a version that promptsync read from the service',
    { pins: { production: 2 } },
    {},
    [
      {
        ...{ environment: 'production', before: { text: 'One\nby them', ...bare } },
        after: { type: 'text', text: 'Two', metadata: { model: 'x' } },
      },
    ],
  ],
  [
    'collectTextChanges takes the text of a version from git if that version is known only from a ledger',
    { pins: { dev: 5 } },
    { history: { contents: new Map([['ver_5', content('Five')]]) } },
    [{ environment: 'dev', before: null, after: { text: 'Five', ...unmanaged } }],
  ],
  [
    'collectTextChanges takes the text of a version from the file or a git ref if that version is known only from a ledger',
    { text: 'Five', metadata: {}, pins: { dev: 'latest', staging: 'git:v6' } },
    { refs: { v6: content('Six') } },
    [
      { environment: 'dev', before: null, after: { text: 'Five', ...bare } },
      {
        environment: 'staging',
        before: { type: 'text', text: 'Two', metadata: { model: 'x' } },
        after: { text: 'Six', ...unmanaged },
      },
    ],
  ],
  [
    'collectTextChanges returns unknown if the text of a version is not available',
    { pins: { dev: 6 } },
    {},
    [{ environment: 'dev', before: null, after: 'unknown' }],
  ],
  [
    'collectTextChanges returns unknown for a version id that is in no ledger',
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

test('collectTextChanges returns no changes for a prompt that promptsync did not read from the service', () => {
  const prompt = planPrompt(file({ text: 'New', pins: { dev: 'latest' } }), observed({ active: ACTIVE }), rules());
  expect(prompt.changes.some((change) => change.kind === 'set-active' && isNewVersionRef(change.after))).toBe(true);
  expect(textsIn({ ...prompt, observed: null })).toStrictEqual([]);
});
