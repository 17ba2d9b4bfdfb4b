import { describe, expect, test } from 'vitest';
import { chooseImport } from '../../src/planning/choose-import.ts';
import type { LedgerVersion } from '../../src/ledger/version-record.ts';
import { observed, outside, version } from './support.ts';

const V1 = outside(1, 'T1');
const V2 = outside(2, 'T2');
const open = { name: 'staging', allowLatest: true };
const closed = { name: 'production', allowLatest: false };

type Active = Readonly<Record<string, LedgerVersion | null>>;

describe('chooseImport', () => {
  test.each<[string, Active, string | null, number | null, Readonly<Record<string, string | number>>]>([
    [
      'import takes the text of the first environment and pins the other by id',
      { staging: V2, production: V1 },
      null,
      2,
      { staging: 'latest', production: 'version:ver_1' },
    ],
    [
      'import takes the text of the environment that the user names',
      { staging: V2, production: V1 },
      'production',
      1,
      { staging: 'version:ver_2', production: 'version:ver_1' },
    ],
    [
      'import takes the text of the next environment if the first serves nothing',
      { staging: null, production: V1 },
      null,
      1,
      { production: 'version:ver_1' },
    ],
    [
      'import pins a managed version by its number',
      { staging: null, production: version(1, 'T1') },
      null,
      1,
      { production: 1 },
    ],
    [
      'import chooses no text if no version is active in any environment',
      { staging: null, production: null },
      null,
      null,
      {},
    ],
    [
      'import chooses no text if the environment that the user names serves nothing',
      { staging: V2, production: null },
      'production',
      null,
      {},
    ],
    [
      'import pins only one environment to latest if two serve the same text',
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

  test('import prefers the text of an environment that allows the pin latest', () => {
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
