import { describe, expect, test } from 'vitest';
import type { Content } from '../../src/domain/prompt-file.ts';
import {
  cameThrough,
  contentOf,
  isSameContent,
  means,
  wasPinned,
  wasPinnedLast,
} from '../../src/planning/former-pins.ts';
import { content, entry, file, formerPins } from './support.ts';

const V2 = entry(2, 'Two');
const pinOf = (pin: string | number) => file({ pins: { staging: pin } }).pins[0]!.pin;
const former = (pin: string | number, text?: string) => ({
  ...{ commit: 'c', age: 0, pin: pinOf(pin) },
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
    const wanted = (known: Content | null) => (known === null ? {} : contentOf(known));
    expect(isSameContent(wanted(one), wanted(other))).toBe(same);
  });
});

describe('what git says of earlier pins', () => {
  const states = (...list: Parameters<typeof formerPins>[0]) => formerPins(list);
  test.each<[string, () => boolean, boolean]>([
    ['an earlier run of pins is found', () => wasPinned(V2, 'staging', states({ staging: 3 }, { staging: 2 })), true],
    [
      'the run of now is not an earlier one',
      () => wasPinned(V2, 'staging', states({ staging: 2 }, { staging: 2 })),
      false,
    ],
    ['nor is what no state had', () => wasPinned(V2, 'staging', states({ staging: 3 })), false],
    ['the last state had it', () => wasPinnedLast(V2, 'staging', states({ staging: 2 }, { staging: 3 })), true],
    ['one before had it', () => wasPinnedLast(V2, 'staging', states({ staging: 3 }, { staging: 2 })), false],
    [
      'the last state did not pin it',
      () => wasPinnedLast(V2, 'staging', states({ production: 1 }, { staging: 2 })),
      false,
    ],
    ['nothing pinned it ever', () => wasPinnedLast(V2, 'staging', states({ production: 1 })), false],
    [
      'it came through the environment before',
      () =>
        cameThrough(V2, 'staging', 'production', states({ staging: 3, production: 2 }, { staging: 2, production: 1 })),
      true,
    ],
    [
      'both were pinned at once',
      () =>
        cameThrough(V2, 'staging', 'production', states({ staging: 2, production: 2 }, { staging: 1, production: 1 })),
      false,
    ],
    [
      'both were pinned so from the beginning',
      () =>
        cameThrough(V2, 'staging', 'production', states({ staging: 2, production: 2 }, { staging: 2, production: 2 })),
      true,
    ],
    [
      'it was never pinned',
      () => cameThrough(V2, 'staging', 'production', states({ staging: 2, production: 1 })),
      false,
    ],
  ])('%s', (_, found, expected) => {
    expect(found()).toBe(expected);
  });
});
