import { describe, expect, test } from 'vitest';
import type { Observed } from '../../src/domain/observed.ts';
import { entry, file, observed, planLines, planPrompt, rules, version, type WrittenPins } from './support.ts';

const one = version(1, 'One');
const draft = version(3, 'Draft');
const other = version(4, 'Other', { ledger: [entry(3, 'Draft')] });

function planOf(pins: WrittenPins, seen: Observed): readonly string[] {
  return planLines(planPrompt(file({ text: 'Draft', pins }), seen, rules()));
}

describe('A content that no pin follows', () => {
  const rows: readonly (readonly [string, WrittenPins, Observed, readonly string[]])[] = [
    [
      'is made where its only version is in an environment that is moved away from it: nothing would show it again',
      { staging: 1 },
      observed({ active: { staging: draft, promptsync: one } }),
      ['create "Draft"', 'staging: v3 → v1'],
    ],
    [
      'is made where only the ledger of such an environment names it',
      { staging: 1 },
      observed({ active: { staging: other, promptsync: one } }),
      ['create "Draft"', 'staging: v4 → v1'],
    ],
    [
      'is not made where its version stays in an environment',
      { staging: 3, production: 1 },
      observed({ active: { staging: draft, production: null, promptsync: one } }),
      ['production: none → v1'],
    ],
    [
      'is not made where an environment is moved away from it, and another one stays',
      { staging: 1, production: 3 },
      observed({ active: { staging: draft, production: draft, promptsync: one } }),
      ['staging: v3 → v1'],
    ],
    [
      'is not made where the tracking environment shows it, whatever is moved',
      { staging: 1 },
      observed({
        active: { staging: draft, promptsync: version(5, 'Five', { ledger: [entry(3, 'Draft'), entry(1, 'One')] }) },
      }),
      ['staging: v3 → v1'],
    ],
    [
      'is not made where an environment that no pin names is left on it',
      { staging: 1 },
      observed({ active: { staging: one, qa: draft, promptsync: one } }),
      [],
    ],
  ];
  test.each(rows)('%s', (_, pins, seen, expected) => {
    expect(planOf(pins, seen)).toStrictEqual(expected);
  });
});
