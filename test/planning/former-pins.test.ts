import { describe, expect, test } from 'vitest';
import type { FormerPin } from '../../src/domain/history.ts';
import type { Content, Pin } from '../../src/domain/prompt-file.ts';
import type { KnownVersion } from '../../src/domain/versions.ts';
import { isSameContent, knownBefore, means, pinnedBefore } from '../../src/planning/former-pins.ts';
import { content, entry, file } from './support.ts';

const V2 = entry(2, 'Two');
const pinOf = (pin: string | number) => file({ pins: { staging: pin } }).pins[0]!.pin;
const former = (pin: string | number, text?: string) => ({
  ...{ commit: 'c', age: 0, pin: pinOf(pin), isFixed: true },
  content: text === undefined ? null : content(text),
});

describe('a pin of an earlier commit means a version', () => {
  test.each<[string, ReturnType<typeof former>, boolean]>([
    ['of its number', former(2), true],
    ['of no other number', former(3), false],
    ['of its id', former(`version:${V2.id}`), true],
    ['of no other id', former('version:ver_other'), false],
    ['with the text that it followed', former('latest', 'Two'), true],
    ['with no other text', former('latest', 'Three'), false],
    ['with the text of its ref', former('git:v1', 'Two'), true],
    ['not where that text is not known', former('latest'), false],
  ])('%s', (_, pin, meant) => {
    expect(means(pin, V2)).toBe(meant);
  });
});

describe('content is the same', () => {
  const small = content('Two', { model: 'small' });
  test.each<[string, Content | null, Content | null, boolean]>([
    ['with the same metadata', small, small, true],
    ['not with other metadata', small, content('Two', { model: 'large' }), false],
    ['where the first manages none', content('Two'), small, true],
    ['where the second manages none', small, content('Two'), true],
    ['not where neither is known', null, null, false],
    ['not of another text', content('Two'), content('Three'), false],
  ])('%s', (_, one, other, same) => {
    expect(isSameContent(one ?? {}, other ?? {})).toBe(same);
  });
});

/** Versions whose texts are T1, T2 …, of which nothing was read. */
function known(...numbers: readonly number[]): readonly KnownVersion[] {
  return numbers.map((number) => ({ ...entry(number, `T${number}`), lasting: true, source: null, content: null }));
}

/** A number, `latest T2` for a text, or an id: newest first. */
function pins(...words: readonly (number | string)[]): readonly FormerPin[] {
  return words.map((word, age): FormerPin => {
    const commit = `c${words.length - age}`;
    if (typeof word === 'number')
      return { commit, age, pin: { kind: 'number', number: word }, content: null, isFixed: true };
    const text = /^latest (.*)$/.exec(word)?.[1];
    const pin: Pin = text === undefined ? { kind: 'version', id: word } : { kind: 'latest' };
    return { commit, age, pin, content: text === undefined ? null : content(text), isFixed: true };
  });
}

function versionServed(number: number, versions: readonly KnownVersion[]) {
  return versions.find((one) => one.number === number) ?? { number, digest: content(`T${number}`).digest };
}

function before(served: number, versions: readonly KnownVersion[], former: readonly FormerPin[]): string {
  const found = pinnedBefore(former, versionServed(served, versions), versions);
  if (found.kind === 'unclear') return `unclear: ${found.pin.commit}`;
  return found.kind === 'number' ? `v${found.number}` : found.kind;
}

describe('What an environment was pinned to before', () => {
  test.each<[string, number, readonly KnownVersion[], readonly (number | string)[], string]>([
    ['the number before', 3, known(3, 2, 1), [3, 2, 1], 'v2'],
    ['whatever number lies between', 4, known(4, 3, 2), [4, 2], 'v2'],
    ['a number that nobody knows, for the caller to refuse', 3, known(3, 1), [3, 2, 1], 'v2'],
    ['never a newer one', 2, known(3, 2, 1), [2, 3, 1], 'v1'],
    ['from where it went back to', 2, known(3, 2, 1), [2, 3, 2, 1], 'v1'],
    ['a text before', 3, known(3, 2, 1), ['latest T3', 'latest T2'], 'v2'],
    ['an id that is known', 3, known(3, 2, 1), [3, 'ver_2', 1], 'v2'],
    ['an id that is not known is not passed over', 3, known(3, 2, 1), [3, 'ver_9', 1], 'unclear: c2'],
    ['nor where nothing else is', 3, known(3, 2, 1), [3, 'ver_9'], 'unclear: c1'],
    ['a text without a version was never served', 3, known(3, 2, 1), [3, 'latest X', 1], 'v1'],
    ['unless a version in between is not known', 3, known(3, 1), [3, 'latest X', 1], 'unclear: c2'],
    ['a number as large as can be', 2 ** 53 - 1, known(2 ** 53 - 1, 1), [2 ** 53 - 1, 'latest X', 1], 'unclear: c2'],
    ['a gap that is older does not matter', 4, known(4, 3, 1), [4, 'latest X', 3], 'v3'],
    ['nor does an id that is older', 3, known(3, 2, 1), [3, 2, 'ver_9'], 'v2'],
    ['what HEAD asks for and nobody has made is to come', 3, known(3, 1), ['latest X', 1], 'v1'],
    ['but nothing before it is passed over', 3, known(3, 1), ['latest X', 'ver_9', 1], 'unclear: c2'],
    ['not what HEAD goes back to and no run has brought yet', 3, known(3, 2, 1), [2, 3, 1], 'v1'],
    ['what stands there from elsewhere was pinned by nobody', 3, known(3, 2, 1), [2, 1], 'v2'],
    [
      'not another version of the same text',
      4,
      [...known(4, 3), ...known(4).map((one) => ({ ...one, number: 2 }))],
      [4, 2, 3],
      'v3',
    ],
    ['nothing but what is served', 3, known(3, 2, 1), [3], 'nothing'],
    ['no pin at all', 3, known(3, 2, 1), [], 'nothing'],
  ])('%s', (_, served, versions, former, expected) => {
    expect(before(served, versions, pins(...former))).toBe(expected);
  });

  test.each<[string, number, readonly KnownVersion[], number | null]>([
    ['the next older one that is known', 5, known(6, 5, 3, 1), 3],
    ['none', 1, known(3, 1), null],
    ['none of the same text', 3, [...known(3), ...known(3).map((one) => ({ ...one, number: 2 })), ...known(1)], 1],
  ])('where git says nothing: %s', (_, served, versions, expected) => {
    expect(knownBefore(versions, versionServed(served, versions))).toBe(expected);
  });
});
