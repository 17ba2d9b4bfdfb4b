import { describe, expect, test } from 'vitest';
import { chooseImport, listOtherServedContents, listServedPins } from '../../src/planning/choose-import.ts';
import { observed, parseService } from './support.ts';

const open = { name: 'staging', allowLatest: true };
const canary = { name: 'canary', allowLatest: true };
const closed = { name: 'production', allowLatest: false };

const seen = (service: string) => observed(parseService(service));

/** Rows `title: 'SERVICE | chosen TEXT and pins'`, in the notation of `support.ts`. */
type Rows = Readonly<Record<string, string>>;

describe('chooseImport', () => {
  const choose = (service: string, wanted: string | null, environments = [open, closed]) => {
    const { content, pins = [] } = chooseImport(seen(service), environments, wanted, false) ?? {};
    return [content?.text ?? 'nothing', ...pins.map(({ environment, value }) => `${environment}=${value}`)].join(' ');
  };

  const rows: Rows = {
    'chooseImport uses the text of the first environment and pins the other environment by version id':
      'staging=~2:T2 production=~1:T1 | T2 staging=latest production=version:ver_1',
    'chooseImport uses the text of the next environment if the first one serves no version':
      'staging=- production=~1:T1 | T1 production=version:ver_1',
    'chooseImport pins a managed version by its version number': 'staging=- production=1:T1 | T1 production=1',
    'chooseImport returns null if no environment serves a version': 'staging=- production=- | nothing',
    'If two environments serve the same version and only one allows latest, chooseImport pins only that environment to latest':
      'staging=~2:T2 production=~2:T2 | T2 staging=latest production=version:ver_2',
  };
  test.each(Object.entries(rows))('%s', (_, row) => {
    const [service = '', expected] = row.split(' | ');
    expect(choose(service, null)).toBe(expected);
  });

  test('chooseImport uses the text of the environment that the user selects, or returns null if it serves no version', () => {
    expect(choose('staging=~2:T2 production=~1:T1', 'production')).toBe(
      'T1 staging=version:ver_2 production=version:ver_1',
    );
    expect(choose('staging=~2:T2 production=-', 'production')).toBe('nothing');
  });

  test('chooseImport prefers the text of an environment that can be pinned to latest', () => {
    const chosen = chooseImport(seen('production=~1:T1 staging=~2:T2'), [closed, open], null, false);
    expect(chosen?.content.text).toBe('T2');
    expect(chosen?.pins).toEqual([
      { environment: 'production', value: 'version:ver_1', comment: '1' },
      { environment: 'staging', value: 'latest', comment: '' },
    ]);
  });
});

/** Rows `title: 'SERVICE | PINS | environments without a pin'`. */
const rows: Rows = {
  'With portable pins, chooseImport pins every environment with the text of the file to latest if latest is allowed':
    'staging=~2:T2 canary=~1:T2 production=- | staging=latest canary=latest | ',
  'With portable pins, chooseImport does not pin an environment that serves a text other than that of the file':
    'staging=~2:T2 canary=~1:T1 production=- | staging=latest | canary',
  'With portable pins, chooseImport does not pin an environment that serves the text of the file with other metadata':
    'staging=~2:T2 canary=~1:T2{"model":"a"} production=- | staging=latest | canary',
  'With portable pins, chooseImport does not pin an environment that does not allow latest, even if it serves the text of the file':
    'staging=~2:T2 canary=- production=~2:T2 | staging=latest | production',
};
test.each(Object.entries(rows))('%s', (_, row) => {
  const [service = '', expectedPins, expectedUnpinned] = row.split(' | ');
  const { pins = [], unpinned = [] } = chooseImport(seen(service), [open, canary, closed], null, true) ?? {};
  expect(pins.map(({ environment, value }) => `${environment}=${value}`).join(' ')).toBe(expectedPins);
  expect(unpinned.join(' ')).toBe(expectedUnpinned);
});

describe('listOtherServedContents', () => {
  const environments = [open, { ...canary, allowLatest: false }, closed];

  /** Rows `title: 'SERVICE | text of the file | contents'`. */
  const rows: Rows = {
    'listOtherServedContents starts with the last environment in promotion order':
      'staging=~3:T3 canary=~2:T2 production=~1:T1 | T3 | production v1 T1, canary v2 T2',
    'If two environments serve the same text, listOtherServedContents lists the text only for the last of them':
      'staging=~2:T2 canary=~1:T1 production=~1:T1 | T2 | production v1 T1',
    'listOtherServedContents omits a version that has the same text as the file':
      'staging=~2:T2 canary=~1:T2 production=- | T2 | ',
  };
  test.each(Object.entries(rows))('%s', (_, row) => {
    const [service = '', text = '', expected] = row.split(' | ');
    const contents = listOtherServedContents(seen(service), environments, { type: 'text', text, metadata: undefined });
    const listed = contents.map(({ environment, number, content }) => `${environment} v${number} ${content.text}`);
    expect(listed.join(', ')).toBe(expected);
  });

  test('listServedPins pins every environment to the version that it serves', () => {
    expect(listServedPins(seen('staging=~2:T2 canary=3:T3 production=-'), environments)).toEqual([
      { environment: 'staging', value: 'version:ver_2', comment: '2' },
      { environment: 'canary', value: 3, comment: '' },
    ]);
  });
});
