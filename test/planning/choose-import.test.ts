import { describe, expect, test } from 'vitest';
import { chooseImport } from '../../src/planning/choose-import.ts';
import type { Version } from '../../src/ledger/stamp.ts';
import { observed, outside, version } from './support.ts';

const V1 = outside(1, 'T1');
const V2 = outside(2, 'T2');
const open = { name: 'staging', allowLatest: true };
const closed = { name: 'production', allowLatest: false };

type Active = Readonly<Record<string, Version | null>>;

describe('what a new file takes', () => {
  test.each<[string, Active, string | null, number | null, Readonly<Record<string, string | number>>]>([
    [
      'the first environment’s text',
      { staging: V2, production: V1 },
      null,
      2,
      { staging: 'latest', production: 'version:ver_1' },
    ],
    [
      'that of the one which was asked for',
      { staging: V2, production: V1 },
      'production',
      1,
      { staging: 'version:ver_2', production: 'version:ver_1' },
    ],
    [
      'the next one’s where the first serves nothing',
      { staging: null, production: V1 },
      null,
      1,
      { production: 'version:ver_1' },
    ],
    ['a number that a ledger names', { staging: null, production: version(1, 'T1') }, null, 1, { production: 1 }],
    ['nothing where nothing is active', { staging: null, production: null }, null, null, {}],
    [
      'nothing where the one that was asked for serves nothing',
      { staging: V2, production: null },
      'production',
      null,
      {},
    ],
    [
      'latest for one alone of those that have the same text',
      { staging: V2, production: V2 },
      null,
      2,
      { staging: 'latest', production: 'version:ver_2' },
    ],
  ])('%s', (_, active, wanted, number, pins) => {
    const chosen = chooseImport(observed({ active }), [open, closed], wanted);
    expect(chosen?.content.text ?? null).toBe(number === null ? null : `T${number}`);
    const written = (chosen?.pins ?? []).map(({ environment, value }) => [environment, value]);
    expect(Object.fromEntries(written)).toEqual(pins);
  });

  test('an environment that may follow the file rather than an earlier one that may not', () => {
    const chosen = chooseImport(
      observed({ active: { a: V1, b: V2 } }),
      [
        { name: 'a', allowLatest: false },
        { name: 'b', allowLatest: true },
      ],
      null,
    );
    expect(chosen?.content.text).toBe('T2');
    expect(chosen?.pins).toEqual([
      { environment: 'a', value: 'version:ver_1', comment: '1' },
      { environment: 'b', value: 'latest', comment: '' },
    ]);
  });
});
