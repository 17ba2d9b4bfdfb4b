import { describe, expect, test } from 'vitest';
import { metadataDigest } from '../../src/domain/digest.ts';
import type { Observed } from '../../src/domain/observed.ts';
import type { FileHistory, VersionHistory } from '../../src/domain/history.ts';
import { makeHistory, type HistorySources } from '../../src/planning/make-history.ts';
import { content, entry, formerPins, observed, outside, version, type WrittenPins } from './support.ts';

/** A state of the file; what `latest` and refs mean is its text. */
function state(commit: string, pins: WrittenPins, text = 'Hello') {
  return { commit, pins: { ...pins, text } };
}

type Parts = Partial<Omit<HistorySources, 'history'> & Pick<FileHistory, 'pins' | 'whole'>> & {
  readonly states?: readonly ReturnType<typeof state>[];
};

function historyOf(seen: Observed, { states = [], pins, whole = true, ...parts }: Parts = {}) {
  const former = pins ?? formerPins(states.map((one) => one.pins));
  const history = { commits: states.map(({ commit }) => commit), pins: former, whole };
  return makeHistory({ observed: seen, commits: new Map(), order: [], ...parts, history });
}

/** `staging c1–c2`, by the number of the version. */
function timesOf(history: readonly VersionHistory[]): Readonly<Record<number, readonly string[]>> {
  return Object.fromEntries(
    history.map(({ ref, pinned }) => [
      ref.number,
      pinned.map(({ environment, from, until }) => `${environment} ${from?.commit ?? '?'}–${until?.commit ?? ''}`),
    ]),
  );
}

const one = entry(1, 'One');
const two = entry(2, 'Two');

describe('the versions', () => {
  test('are all that are known, newest first, with their makers and where they are active', () => {
    const { commit: _, ...uncommitted } = entry(3, 'Three');
    const head = version(4, 'Four', { ledger: [uncommitted, two, one] });
    const seen = observed({ active: { staging: head, production: outside(5, 'Five'), promptsync: head } });
    expect(historyOf(seen).map(({ ref, madeBy, commit, activeIn }) => [ref.number, madeBy, commit, activeIn])).toEqual([
      [5, 'outside', null, ['production']],
      [4, 'git', { commit: 'c4' }, ['staging']],
      [3, 'uncommitted', null, []],
      [2, 'git', { commit: 'c2' }, []],
      [1, 'git', { commit: 'c1' }, []],
    ]);
  });

  test('have what git knows of their commits', () => {
    const info = { commit: 'c1', author: 'Ada', date: '2026-01-02', subject: 'First', pullRequest: '#1' };
    const seen = observed({ active: { staging: version(1, 'One') } });
    expect(historyOf(seen, { commits: new Map([['c1', info]]) })).toMatchObject([
      { commit: info, path: 'prompts/a.md' },
    ]);
  });

  test('are nobody’s where the service drops what would say it', () => {
    const dropped = outside(1, 'One');
    const seen = observed({ active: { staging: dropped, promptsync: dropped } });
    const [reported] = historyOf(seen, { states: [state('c1', { staging: 'latest' }, 'One')] });
    expect(reported).toMatchObject({ madeBy: 'unknown', pinned: [{ environment: 'staging', from: { commit: 'c1' } }] });
  });

  test('are our own although the service has added metadata', () => {
    const made = version(5, 'Five', { metadata: { added: true } });
    const stamp = { ...made.stamp!, metadataDigest: metadataDigest({}) };
    expect(historyOf(observed({ active: { staging: { ...made, stamp } } }))).toMatchObject([
      { madeBy: 'git', commit: { commit: 'c5' } },
    ]);
  });

  test('environments are listed in promotion order, then as they are', () => {
    const seen = observed({
      active: { z: version(1, 'One'), production: version(1, 'One'), staging: version(1, 'One') },
    });
    const [reported] = historyOf(seen, {
      order: ['staging', 'production'],
      states: [state('c1', { z: 1, staging: 1 })],
    });
    expect(reported).toMatchObject({ activeIn: ['staging', 'production', 'z'] });
    expect(reported?.pinned.map(({ environment }) => environment)).toEqual(['staging', 'z']);
  });

  test('there may be none', () => {
    expect(historyOf(observed({ active: { staging: null } }), { states: [state('c1', { staging: 7 })] })).toEqual([]);
  });
});

describe('when a version was pinned', () => {
  const seen = observed({ active: { production: version(2, 'Two', { ledger: [one] }) } });

  test.each<[string, NonNullable<Parts['states']>, Readonly<Record<number, readonly string[]>>]>([
    ['not outside of git', [], { 1: [], 2: [] }],
    ['from the commit on that says so', [state('a', { production: 1 })], { 1: ['production a–'], 2: [] }],
    [
      'up to the one that says otherwise',
      [state('c', { production: 2 }), state('b', { production: 1 }), state('a', { production: 1 })],
      { 1: ['production a–c'], 2: ['production c–'] },
    ],
    [
      'again after a rollback',
      [state('c', { production: 1 }), state('b', { production: 2 }), state('a', { production: 1 })],
      { 1: ['production c–', 'production a–b'], 2: ['production b–c'] },
    ],
    [
      'without a break where it is written otherwise',
      [
        state('d', { production: 'version:ver_2' }),
        state('c', { production: 'latest' }, 'Two'),
        state('b', { production: 'git:v2' }, 'Two'),
        state('a', { production: 2 }),
      ],
      { 1: [], 2: ['production a–'] },
    ],
    [
      'up to the one that takes the pin away',
      [state('b', { staging: 2 }), state('a', { production: 1 })],
      { 1: ['production a–b'], 2: ['staging b–'] },
    ],
    [
      'with gaps where what was pinned is not known',
      [
        state('c', { production: 1 }),
        state('b', { production: 'latest' }, 'Never made'),
        state('a', { production: 1 }),
      ],
      { 1: ['production c–', 'production a–b'], 2: [] },
    ],
    ['not by a number that is not known', [state('a', { production: 9 })], { 1: [], 2: [] }],
  ])('%s', (_, states, expected) => {
    expect(timesOf(historyOf(seen, { states }))).toEqual(expected);
  });

  test('not since when, where the file’s beginning is not known', () => {
    const states = [state('c', { production: 2 }), state('b', { production: 1, staging: 2 })];
    const reported = timesOf(historyOf(seen, { states, whole: false }));
    expect(reported).toEqual({ 1: ['production ?–c'], 2: ['production c–', 'staging ?–c'] });
  });

  test('of equal contents it is the one that is served', () => {
    const both = observed({ active: { staging: outside(3, 'Same'), production: version(1, 'Same') } });
    const states = [state('a', { staging: 'latest', production: 'latest' }, 'Same')];
    expect(timesOf(historyOf(both, { states }))).toEqual({ 1: ['production a–'], 3: ['staging a–'] });
  });

  test('metadata counts where the file manages it', () => {
    const large = version(2, 'Hi', { metadata: { model: 'large' }, ledger: [entry(1, 'Hi')] });
    const wanted = content('Hi', { model: 'large' });
    const pin = { commit: 'a', age: 0, pin: { kind: 'latest' }, content: wanted, isFixed: true } as const;
    const given = { states: [state('a', {})], pins: new Map([['staging', [pin]]]) };
    expect(timesOf(historyOf(observed({ active: { staging: large } }), given))).toEqual({
      1: [],
      2: ['staging a–'],
    });
  });
});
