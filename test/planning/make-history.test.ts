import { describe, expect, test } from 'vitest';
import { computeMetadataDigest } from '../../src/domain/content.ts';
import type { ObservedPrompt } from '../../src/domain/observed-prompt.ts';
import type { VersionHistory } from '../../src/domain/version-history.ts';
import { makeHistory, type HistorySources } from '../../src/planning/make-history.ts';
import {
  entry,
  line,
  observed,
  outside,
  parseFile,
  parseService,
  type StateParts,
  version,
  type WrittenPins,
} from './support.ts';

/** Makes a state of the file. The pin `latest` and git refs mean its text. */
function state(commit: string, pins: WrittenPins, text = 'Hello', time: number | null = null): StateParts {
  return { commit, time, pins, text };
}

type Parts = Partial<Omit<HistorySources, 'line'>> & {
  readonly states?: readonly StateParts[];
  readonly isCut?: boolean;
};

function historyOf(seen: ObservedPrompt, { states = [], isCut = false, ...parts }: Parts = {}) {
  return makeHistory({ observed: seen, commits: new Map(), order: [], ...parts, line: line(states, { isCut }) });
}

/** Returns the times of pins, such as `staging c1–c2`, by version number. */
function timesOf(history: readonly VersionHistory[]): Readonly<Record<number, readonly string[]>> {
  return Object.fromEntries(
    history.map(({ ref, pinnedPeriods }) => [
      ref.number,
      pinnedPeriods.map(
        ({ environment, from, until }) => `${environment} ${from?.commit ?? '?'}–${until?.commit ?? ''}`,
      ),
    ]),
  );
}

const one = entry(1, 'One');
const two = entry(2, 'Two');

describe('makeHistory', () => {
  test('The history lists all known versions, newest first, with their origins and active environments', () => {
    const { commit: _, ...uncommitted } = entry(3, 'Three');
    const head = version(4, 'Four', { ledger: [uncommitted, two, one] });
    const seen = observed({ active: { staging: head, production: outside(5, 'Five'), promptsync: head } });
    expect(historyOf(seen).map(({ ref, origin, commit, activeIn }) => [ref.number, origin, commit, activeIn])).toEqual([
      [5, 'outside', null, ['production']],
      [4, 'git', { commit: 'c4' }, ['staging']],
      [3, 'uncommitted', null, []],
      [2, 'git', { commit: 'c2' }, []],
      [1, 'git', { commit: 'c1' }, []],
    ]);
  });

  test('The history shows the author, date, subject and pull request of the commit behind each version', () => {
    const info = { commit: 'c1', author: 'Ada', date: '2026-01-02', subject: 'First', pullRequest: '#1' };
    const seen = observed({ active: { staging: version(1, 'One') } });
    expect(historyOf(seen, { commits: new Map([['c1', info]]) })).toMatchObject([
      { commit: info, path: 'prompts/a.md' },
    ]);
  });

  test('The history marks the baseline and labels foreign versions as older or newer than the first managed version', () => {
    const ledger = [entry(2, 'Two', { stampFor: null }), entry(1, 'One', { stampFor: null })];
    const made = version(3, 'Two', { ledger });
    const baseline = { ...made, record: { ...made.record!, baseline: true as const } };
    const seen = observed({ active: { staging: outside(4, 'Four'), promptsync: baseline } });
    expect(historyOf(seen).map(({ ref, origin, isBaseline }) => [ref.number, origin, isBaseline])).toEqual([
      [4, 'outside', false],
      [3, 'git', true],
      [2, 'before-adoption', false],
      [1, 'before-adoption', false],
    ]);
  });

  test('The history labels an edit after the adoption as "outside" even if the ledger has dropped the first managed version', () => {
    // Version 4 was the baseline, and somebody made version 5 after it. Later versions pushed version 4 out of the ledger.
    const foreign = [5, 2, 1].map((number) => entry(number, `Text ${number}`, { stampFor: null }));
    const managed = Array.from({ length: 20 }, (_, index) => entry(30 - index, `Text ${30 - index}`));
    const head = version(31, 'Text 31', { ledger: [...managed, ...foreign] });
    const seen = observed({ active: { staging: head, promptsync: head } });
    const states = [state('c2', { production: 5 }), state('c1', { canary: 2, production: 1 })];
    const originsBelow = (history: readonly VersionHistory[]) =>
      history.filter(({ ref }) => ref.number < 10).map(({ ref, origin }) => [ref.number, origin]);
    expect(originsBelow(historyOf(seen, { states }))).toEqual([
      [5, 'outside'],
      [2, 'before-adoption'],
      [1, 'before-adoption'],
    ]);
    const cut = originsBelow(historyOf(seen, { states, isCut: true }));
    expect(cut.map(([, origin]) => origin)).toEqual(['outside', 'outside', 'outside']);
  });

  test('The history does not mention an adoption if promptsync never created a version', () => {
    const seen = observed(parseService('staging=~2:Two production=~1:One'));
    expect(historyOf(seen).map(({ origin }) => origin)).toEqual(['outside', 'outside']);
  });

  test('The history shows an unknown origin if the service discards version records', () => {
    const seen = observed(parseService('staging=~1:One promptsync=~1:One'));
    const [reported] = historyOf(seen, { states: [state('c1', { staging: 'latest' }, 'One')] });
    const pinnedPeriods = [{ environment: 'staging', from: { commit: 'c1' } }];
    expect(reported).toMatchObject({ origin: 'unknown', pinnedPeriods });
  });

  test('The history shows that a version comes from git even if the service added metadata', () => {
    const made = version(1, 'One', { metadata: { added: true } });
    const record = { ...made.record!, metadataDigest: computeMetadataDigest({}) };
    const [reported] = historyOf(observed({ active: { staging: { ...made, record } } }));
    expect(reported).toMatchObject({ origin: 'git', commit: { commit: 'c1' } });
  });

  test('The history lists environments in promotion order, followed by the remaining ones in service order', () => {
    const seen = observed(parseService('z=1:One production=1:One staging=1:One'));
    const states = [state('c1', { z: 1, staging: 1 })];
    const [reported] = historyOf(seen, { order: ['staging', 'production'], states });
    expect(reported).toMatchObject({ activeIn: ['staging', 'production', 'z'] });
    expect(reported?.pinnedPeriods.map(({ environment }) => environment)).toEqual(['staging', 'z']);
  });

  test('The history is empty for a prompt without versions', () => {
    expect(historyOf(observed({ active: { staging: null } }), { states: [state('c1', { staging: 7 })] })).toEqual([]);
  });
});

describe('the times of pins in a history', () => {
  const seen = observed({ active: { production: version(2, 'Two', { ledger: [one] }) } });

  /** Rows `title: 'STATES | PERIODS of version 1 | PERIODS of version 2'`. The commits of the states are a, b, …. */
  const rows = {
    'The history shows no pinned periods for a file without git history': ' |  | ',
    'A pinned period starts at the commit that pins the version': 'production=1 | production a– | ',
    'A pinned period ends at the commit that pins a different version':
      'production=1 > production=1 > production=2 | production a–c | production c–',
    'A version has two pinned periods if a rollback pinned it again':
      'production=1 > production=2 > production=1 | production c–, production a–b | production b–c',
    'A pinned period continues if a later commit pins the same version with a different kind of pin':
      'production=2 > Two production=git:v2 > Two production=latest > production=version:ver_2 |  | production a–',
    'A pinned period ends at the commit that removes the pin': 'production=1 > staging=2 | production a–b | staging b–',
    'A pinned period ends at a commit whose pin matches no known version':
      'production=1 > Never production=latest > production=1 | production c–, production a–b | ',
    'The pinned period of a moving git ref starts at the newest commit, because nobody knows what the ref meant in older commits':
      'One production=git:main > Two production=git:main |  | production b–',
    'The history shows no pinned period if the file pins an unknown version number': 'production=9 |  | ',
  };
  test.each(Object.entries(rows))('%s', (_, row) => {
    const [states = '', ...periods] = row.split(' | ');
    const oldestFirst = states.split(' > ').filter((words) => words !== '');
    const parsed = oldestFirst.map((words, age) => ({ ...parseFile(words), commit: 'abcd'[age]!, time: null }));
    const times = timesOf(historyOf(seen, { states: parsed.toReversed() }));
    expect([times[1]?.join(', '), times[2]?.join(', ')]).toEqual(periods);
  });

  test('The start of a pinned period is unknown if the pin may be older than the available git history', () => {
    const states = [state('c', { production: 2 }), state('b', { production: 1, staging: 2 })];
    const reported = timesOf(historyOf(seen, { states, isCut: true }));
    expect(reported).toEqual({ 1: ['production ?–c'], 2: ['production c–', 'staging ?–c'] });
  });

  test('If two versions have the pinned text, each pinned period belongs to the version that the environment serves', () => {
    const both = observed(parseService('staging=~3:Same production=1:Same'));
    const states = [state('a', { staging: 'latest', production: 'latest' }, 'Same')];
    expect(timesOf(historyOf(both, { states }))).toEqual({ 1: ['production a–'], 3: ['staging a–'] });
  });

  /** Returns the second of the given day of January 2026. */
  const dayOf = (day: number) => Date.UTC(2026, 0, day) / 1_000;

  test.each<[sentence: string, time: number | null, owner: number]>([
    ['Of several versions with the pinned text, the first one created after the commit owns the period', dayOf(2), 2],
    ['A version that was created at the time of the commit counts as created after the commit', dayOf(1), 1],
    ['If all versions with the pinned text are older than the commit, the oldest one owns the period', dayOf(6), 1],
    ['If the date of the commit is unknown, the oldest version with the pinned text owns the period', null, 1],
  ])('%s', (_, time, owner) => {
    const ledger = [3, 2, 1].map((number) => entry(number, 'Same'));
    const plain = observed({ active: { production: version(4, 'Other', { ledger }) } });
    const withTimes = plain.known.map((one) => {
      const createdAt = dayOf(2 * one.number - 1) * 1_000;
      return { ...one, times: { createdAt, updatedAt: createdAt } };
    });
    const pins = { production: 'latest' };
    const states = [state('c0', pins, 'Other'), state('c1', pins, 'Same', time)];
    const times = timesOf(historyOf({ ...plain, known: withTimes }, { states }));
    expect(times).toEqual({ 1: [], 2: [], 3: [], 4: ['production c0–'], [owner]: ['production c1–c0'] });
  });

  describe('pinned periods in a service that provides version times', () => {
    /** Version 1 (One) is from second 15, version 2 (Two) from second 25, and version 3 from second 45. */
    const observeLaterThird = (third: string, served: number) => {
      const ledger = [two, one];
      const plain = observed({ active: { production: version(3, third, { ledger }) } });
      const known = plain.known.map((each) => {
        const createdAt = [15_000, 25_000, 45_000][each.number - 1] ?? 0;
        return { ...each, isManaged: null, times: { createdAt, updatedAt: createdAt } };
      });
      const active = known.find(({ number }) => number === served) ?? null;
      return { ...plain, known, active: new Map([['production', active]]) };
    };
    const follow = (commit: string, text: string, time: number) => state(commit, { production: 'latest' }, text, time);

    test('A pinned period that has ended belongs to a version that existed during that period, even if a later version with the same text is active', () => {
      const states = [follow('c3', 'One', 30), follow('c2', 'Two', 20), follow('c1', 'One', 10)];
      const periods = timesOf(historyOf(observeLaterThird('One', 3), { states }));
      expect(periods).toEqual({ 1: ['production c1–c2'], 2: ['production c2–c3'], 3: ['production c3–'] });
    });

    test('A pinned period that has ended belongs to no version if every version with the pinned text was created after that period', () => {
      const states = [follow('c3', 'Two', 30), follow('c2', 'Three', 20)];
      const periods = timesOf(historyOf(observeLaterThird('Three', 2), { states }));
      expect(periods).toEqual({ 1: [], 2: ['production c3–'], 3: [] });
    });

    test('If a pinned period spans two commits with the same text, it can belong to a version created after the second commit', () => {
      const states = [follow('c3', 'Two', 24), follow('c2', 'Two', 20), follow('c1', 'One', 10)];
      const periods = timesOf(historyOf(observeLaterThird('Other', 2), { states }));
      expect(periods).toEqual({ 1: ['production c1–c2'], 2: ['production c2–'], 3: [] });
    });
  });

  test('If the prompt file has metadata, the pinned period belongs to the version with the same metadata', () => {
    const large = version(2, 'Hi', { metadata: { model: 'large' }, ledger: [entry(1, 'Hi')] });
    const states = [{ ...state('a', { staging: 'latest' }, 'Hi'), metadata: { model: 'large' } }];
    const times = timesOf(historyOf(observed({ active: { staging: large } }), { states }));
    expect(times).toEqual({ 1: [], 2: ['staging a–'] });
  });
});
