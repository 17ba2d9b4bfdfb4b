import { describe, expect, test } from 'vitest';
import { chooseImport, listOtherServedContents, listServedPins } from '../../src/planning/choose-import.ts';
import type { LedgerVersion } from '../../src/providers/four-call/version-record.ts';
import { observed, outside, version } from './support.ts';

const V1 = outside(1, 'T1');
const V2 = outside(2, 'T2');
const open = { name: 'staging', allowLatest: true };
const closed = { name: 'production', allowLatest: false };

type Active = Readonly<Record<string, LedgerVersion | null>>;

describe('chooseImport', () => {
  test.each<[string, Active, string | null, number | null, Readonly<Record<string, string | number>>]>([
    [
      'chooseImport uses the text of the first environment and pins the other environment by version id',
      { staging: V2, production: V1 },
      null,
      2,
      { staging: 'latest', production: 'version:ver_1' },
    ],
    [
      'chooseImport uses the text of the environment that the user selects',
      { staging: V2, production: V1 },
      'production',
      1,
      { staging: 'version:ver_2', production: 'version:ver_1' },
    ],
    [
      'chooseImport uses the text of the next environment if the first one serves no version',
      { staging: null, production: V1 },
      null,
      1,
      { production: 'version:ver_1' },
    ],
    [
      'chooseImport pins a managed version by its version number',
      { staging: null, production: version(1, 'T1') },
      null,
      1,
      { production: 1 },
    ],
    [
      'chooseImport returns null if no environment serves a version',
      { staging: null, production: null },
      null,
      null,
      {},
    ],
    [
      'chooseImport returns null if the selected environment serves no version',
      { staging: V2, production: null },
      'production',
      null,
      {},
    ],
    [
      'If two environments serve the same version and only one allows latest, chooseImport pins only that environment to latest',
      { staging: V2, production: V2 },
      null,
      2,
      { staging: 'latest', production: 'version:ver_2' },
    ],
  ])('%s', (_, active, wanted, number, pins) => {
    const chosen = chooseImport(observed({ active }), [open, closed], wanted, false);
    expect(chosen?.content.text ?? null).toBe(number === null ? null : `T${number}`);
    const written = (chosen?.pins ?? []).map(({ environment, value }) => [environment, value]);
    expect(Object.fromEntries(written)).toEqual(pins);
  });

  test('chooseImport prefers the text of an environment that can be pinned to latest', () => {
    const chosen = chooseImport(
      observed({ active: { a: V1, b: V2 } }),
      [
        { name: 'a', allowLatest: false },
        { name: 'b', allowLatest: true },
      ],
      null,
      false,
    );
    expect(chosen?.content.text).toBe('T2');
    expect(chosen?.pins).toEqual([
      { environment: 'a', value: 'version:ver_1', comment: '1' },
      { environment: 'b', value: 'latest', comment: '' },
    ]);
  });
});

describe('chooseImport with portable pins', () => {
  const canary = { name: 'canary', allowLatest: true };
  const choosePins = (active: Active) => {
    const { pins = [], unpinned = [] } = chooseImport(observed({ active }), [open, canary, closed], null, true) ?? {};
    return { pins: pins.map(({ environment, value }) => `${environment}: ${value}`), unpinned };
  };

  test.each<[string, Active, readonly string[], readonly string[]]>([
    [
      'With portable pins, chooseImport pins every environment with the text of the file to latest if latest is allowed',
      { staging: V2, canary: outside(1, 'T2'), production: null },
      ['staging: latest', 'canary: latest'],
      [],
    ],
    [
      'With portable pins, chooseImport does not pin an environment that serves a text other than that of the file',
      { staging: V2, canary: V1, production: null },
      ['staging: latest'],
      ['canary'],
    ],
    [
      'With portable pins, chooseImport does not pin an environment that serves the text of the file with other metadata',
      { staging: V2, canary: outside(1, 'T2', { model: 'a' }), production: null },
      ['staging: latest'],
      ['canary'],
    ],
    [
      'With portable pins, chooseImport does not pin an environment that does not allow latest, even if it serves the text of the file',
      { staging: V2, canary: null, production: V2 },
      ['staging: latest'],
      ['production'],
    ],
  ])('%s', (_, active, pins, unpinned) => {
    expect(choosePins(active)).toEqual({ pins, unpinned });
  });
});

describe('listOtherServedContents', () => {
  const canary = { name: 'canary', allowLatest: false };
  const environments = [open, canary, closed];
  const listTexts = (active: Active, fileText: string) => {
    const content = { type: 'text' as const, text: fileText, metadata: undefined };
    const contents = listOtherServedContents(observed({ active }), environments, content);
    return contents.map(({ environment, number, content: { text } }) => `${environment} v${number} ${text}`);
  };
  const V3 = outside(3, 'T3');

  test.each<[string, Active, string, readonly string[]]>([
    [
      'listOtherServedContents starts with the last environment in promotion order',
      { staging: V3, canary: V2, production: V1 },
      'T3',
      ['production v1 T1', 'canary v2 T2'],
    ],
    [
      'If two environments serve the same text, listOtherServedContents lists the text only for the last of them',
      { staging: V2, canary: V1, production: V1 },
      'T2',
      ['production v1 T1'],
    ],
    [
      'listOtherServedContents omits a version that has the same text as the file',
      { staging: V2, canary: outside(1, 'T2'), production: null },
      'T2',
      [],
    ],
  ])('%s', (_, active, fileText, texts) => {
    expect(listTexts(active, fileText)).toEqual(texts);
  });

  test('listServedPins pins every environment to the version that it serves', () => {
    const prompt = observed({ active: { staging: V2, canary: version(3, 'T3'), production: null } });
    expect(listServedPins(prompt, environments)).toEqual([
      { environment: 'staging', value: 'version:ver_2', comment: '2' },
      { environment: 'canary', value: 3, comment: '' },
    ]);
  });
});
