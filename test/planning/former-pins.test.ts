import { describe, expect, test } from 'vitest';
import { type FormerPin, meansVersion } from '../../src/domain/history.ts';
import type { Pin } from '../../src/domain/prompt-file.ts';
import { type Content, isSameContent } from '../../src/domain/content.ts';
import type { KnownVersion } from '../../src/domain/versions.ts';
import { findPreviousGitPin, findPreviousNumber, findPreviousPin } from '../../src/planning/former-pins.ts';
import { content, entry, file } from './support.ts';

const V2 = entry(2, 'Two');
const pinOf = (pin: string | number) => file({ pins: { staging: pin } }).pins[0]!.pin;
const former = (pin: string | number, text?: string) => ({
  ...{ commit: 'c', age: 0, pin: pinOf(pin), isFixed: true },
  content: text === undefined ? null : content(text),
});

describe('meansVersion', () => {
  test.each<[string, ReturnType<typeof former>, boolean]>([
    ['A pin to a version number matches the version with that number', former(2), true],
    ['A pin to a version number does not match a version with a different number', former(3), false],
    ['A pin to a version id matches the version with that id', former(`version:${V2.id}`), true],
    ['A pin to a version id does not match a version with a different id', former('version:ver_other'), false],
    [
      'A pin to latest in an earlier commit matches a version with the text from that commit',
      former('latest', 'Two'),
      true,
    ],
    [
      'A pin to latest in an earlier commit does not match a version whose text differs from the text in that commit',
      former('latest', 'Three'),
      false,
    ],
    ['A pin to a git ref matches a version with the text at that ref', former('git:v1', 'Two'), true],
    [
      'A pin to latest in an earlier commit matches no version if the text in that commit is unknown',
      former('latest'),
      false,
    ],
  ])('%s', (_, pin, meant) => {
    expect(meansVersion(pin, V2)).toBe(meant);
  });
});

describe('isSameContent', () => {
  const small = content('Two', { model: 'small' });
  test.each<[string, Content | null, Content | null, boolean]>([
    ['isSameContent returns true if the text and metadata are equal', small, small, true],
    [
      'isSameContent returns false if the text is equal but the metadata differs',
      small,
      content('Two', { model: 'large' }),
      false,
    ],
    ['isSameContent ignores metadata if the first content has none', content('Two'), small, true],
    ['isSameContent ignores metadata if the second content has none', small, content('Two'), true],
    ['isSameContent returns false if neither content is known', null, null, false],
    ['isSameContent returns false if the text differs', content('Two'), content('Three'), false],
  ])('%s', (_, one, other, same) => {
    expect(isSameContent(one ?? {}, other ?? {})).toBe(same);
  });
});

/** Makes versions with the texts T1, T2, … that only a ledger names. */
function known(...numbers: readonly number[]): readonly KnownVersion[] {
  return numbers.map((number) => ({ ...entry(number, `T${number}`), staysKnown: true, source: null, content: null }));
}

/** Makes pins, newest first, from numbers, ids, and `latest:T2` for a text. */
function pins(...words: readonly (number | string)[]): readonly FormerPin[] {
  return words.map((word, age): FormerPin => {
    const commit = `c${words.length - age}`;
    if (typeof word === 'number')
      return { commit, age, pin: { kind: 'number', number: word }, content: null, isFixed: true };
    const text = /^latest:(.*)$/.exec(word)?.[1];
    const pin: Pin = text === undefined ? { kind: 'version', id: word } : { kind: 'latest' };
    return { commit, age, pin, content: text === undefined ? null : content(text), isFixed: true };
  });
}

function versionServed(number: number, versions: readonly KnownVersion[]) {
  return versions.find((one) => one.number === number) ?? { number, digest: content(`T${number}`).digest };
}

function findPinBefore(served: number, versions: readonly KnownVersion[], former: readonly FormerPin[]): string {
  const found = findPreviousPin(former, versionServed(served, versions), versions);
  if (found.kind === 'unclear') return `unclear: ${found.pin.commit}`;
  return found.kind === 'number' ? `v${found.number}` : found.kind;
}

describe('findPreviousPin', () => {
  test.each<[string, number, readonly KnownVersion[], readonly (number | string)[], string]>([
    ['findPreviousPin returns the previously pinned version number', 3, known(3, 2, 1), [3, 2, 1], 'v2'],
    ['findPreviousPin skips versions that were never pinned', 4, known(4, 3, 2), [4, 2], 'v2'],
    [
      'findPreviousPin returns a previously pinned number even if promptsync does not know the version with that number',
      3,
      known(3, 1),
      [3, 2, 1],
      'v2',
    ],
    [
      'findPreviousPin never returns a version that is newer than the served version',
      2,
      known(3, 2, 1),
      [2, 3, 1],
      'v1',
    ],
    [
      'After a rollback, findPreviousPin goes further back and does not return the version from before the rollback',
      2,
      known(3, 2, 1),
      [2, 3, 2, 1],
      'v1',
    ],
    [
      'findPreviousPin finds the version with the text of an earlier commit that pinned the environment to latest',
      3,
      known(3, 2, 1),
      ['latest:T3', 'latest:T2'],
      'v2',
    ],
    [
      'findPreviousPin returns the number of a known version that an earlier commit pinned by id',
      3,
      known(3, 2, 1),
      [3, 'ver_2', 1],
      'v2',
    ],
    [
      'findPreviousPin returns unclear if the previous pin has an unknown version id, even if an older pin exists',
      3,
      known(3, 2, 1),
      [3, 'ver_9', 1],
      'unclear: c2',
    ],
    [
      'findPreviousPin returns unclear if the previous pin has an unknown version id and no older pin exists',
      3,
      known(3, 2, 1),
      [3, 'ver_9'],
      'unclear: c1',
    ],
    [
      'findPreviousPin skips a commit that pins latest if no version contains the text of that commit',
      3,
      known(3, 2, 1),
      [3, 'latest:X', 1],
      'v1',
    ],
    [
      'findPreviousPin returns unclear if an unknown version could contain the pinned text',
      3,
      known(3, 1),
      [3, 'latest:X', 1],
      'unclear: c2',
    ],
    [
      'findPreviousPin detects unknown versions even if the number of the served version is the largest safe integer',
      2 ** 53 - 1,
      known(2 ** 53 - 1, 1),
      [2 ** 53 - 1, 'latest:X', 1],
      'unclear: c2',
    ],
    [
      'findPreviousPin ignores unknown versions that are older than the version it returns',
      4,
      known(4, 3, 1),
      [4, 'latest:X', 3],
      'v3',
    ],
    [
      'findPreviousPin ignores a pin to an unknown version id if that pin is older than the pin that it returns',
      3,
      known(3, 2, 1),
      [3, 2, 'ver_9'],
      'v2',
    ],
    [
      'findPreviousPin ignores a pin to latest at HEAD if the text at HEAD has not been synced yet',
      3,
      known(3, 1),
      ['latest:X', 1],
      'v1',
    ],
    [
      'If the text at HEAD is not synced yet and the previous commit pins an unknown version id, findPreviousPin returns unclear',
      3,
      known(3, 1),
      ['latest:X', 'ver_9', 1],
      'unclear: c2',
    ],
    ['findPreviousPin ignores a rollback at HEAD that has not been synced yet', 3, known(3, 2, 1), [2, 3, 1], 'v1'],
    [
      'If no commit pinned the served version, findPreviousPin returns the older version that HEAD pins',
      3,
      known(3, 2, 1),
      [2, 1],
      'v2',
    ],
    [
      'findPreviousPin skips a different version with the same text as the served version',
      4,
      [...known(4, 3), ...known(4).map((one) => ({ ...one, number: 2 }))],
      [4, 2, 3],
      'v3',
    ],
    ['findPreviousPin finds nothing if only the served version was ever pinned', 3, known(3, 2, 1), [3], 'nothing'],
    ['findPreviousPin finds nothing if the environment was never pinned', 3, known(3, 2, 1), [], 'nothing'],
  ])('%s', (_, served, versions, former, expected) => {
    expect(findPinBefore(served, versions, pins(...former))).toBe(expected);
  });

  test.each<[string, number, readonly KnownVersion[], number | null]>([
    [
      'findPreviousNumber returns the number of the newest known version older than the served one',
      5,
      known(6, 5, 3, 1),
      3,
    ],
    ['findPreviousNumber returns null if there is no older version', 1, known(3, 1), null],
    [
      'findPreviousNumber skips versions with the same text as the served version',
      3,
      [...known(3), ...known(3).map((one) => ({ ...one, number: 2 })), ...known(1)],
      1,
    ],
  ])('%s', (_, served, versions, expected) => {
    expect(findPreviousNumber(versions, versionServed(served, versions))).toBe(expected);
  });
});

describe('findPreviousGitPin', () => {
  const isPresent = (one: Content) => isSameContent(one, content('C'));
  const find = (...pins: readonly FormerPin[]) => findPreviousGitPin(pins, isPresent)?.pin;

  test.each<[string, readonly FormerPin[], string | undefined]>([
    [
      'findPreviousGitPin returns the pin before the present one',
      [former('git:c', 'C'), former('git:b', 'B'), former('git:a', 'A')],
      'b',
    ],
    [
      'findPreviousGitPin goes back to before the first state with the present content, so that rollbacks do not alternate',
      [former('git:c', 'C'), former('git:d', 'D'), former('git:c', 'C'), former('git:b', 'B')],
      'b',
    ],
    [
      'findPreviousGitPin skips latest, version numbers and version ids',
      [former('git:c', 'C'), former('latest', 'B'), former(2), former('version:v'), former('git:a', 'A')],
      'a',
    ],
    [
      'findPreviousGitPin returns a pin whose ref no longer exists, because it may have referred to another text',
      [former('git:c', 'C'), former('git:deleted'), former('git:a', 'A')],
      'deleted',
    ],
    [
      'findPreviousGitPin treats a state that followed the file with the present text like a pin of that text',
      [former('git:c', 'C'), former('git:b', 'B'), former('latest', 'C'), former('git:a', 'A')],
      'a',
    ],
    [
      'findPreviousGitPin returns null if git has no earlier pin',
      [former('git:c', 'C'), former('latest', 'B')],
      undefined,
    ],
  ])('%s', (_, pins, ref) => {
    expect(find(...pins)).toEqual(ref === undefined ? undefined : { kind: 'git', ref });
  });
});
