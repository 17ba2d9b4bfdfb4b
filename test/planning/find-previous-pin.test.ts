import { describe, expect, test } from 'vitest';
import type { KnownVersion } from '../../src/domain/versions.ts';
import {
  findOlderVersion,
  findPreviousGitPin,
  findPreviousVersion,
  type RollbackSource,
} from '../../src/planning/find-previous-pin.ts';
import { entry, line, MOVING_REF, type StateParts } from './support.ts';

/** A pin of production, with the text of the file in that state. */
type WrittenPin = number | string | readonly [pin: string, text: string];

/** Makes the versions with these numbers, newest first. Their texts are T1, T2, … */
function known(...numbers: readonly number[]): readonly KnownVersion[] {
  return numbers.map((number) => knownVersion(number));
}

function knownVersion(number: number, text = `T${number}`): KnownVersion {
  return { ...entry(number, text), staysKnown: true, source: null, content: null };
}

/** Makes the line from the pins of production, newest first. Production serves the given version. */
function sourceOf(served: KnownVersion, pins: readonly WrittenPin[], newest: StateParts = {}): RollbackSource {
  const states = pins.map((written): StateParts => {
    const [pin, text] = typeof written === 'object' ? written : [written, 'Other'];
    return { text, pins: { production: pin } };
  });
  const [first = {}, ...older] = states;
  return { environment: 'production', served, line: line([{ ...first, ...newest }, ...older]), metadata: 'kept' };
}

function describePrevious(previous: ReturnType<typeof findPreviousVersion>): string {
  switch (previous.kind) {
    case 'version':
      return `v${previous.version.number}`;
    case 'pin':
      return previous.pin.kind === 'git' ? previous.pin.ref : previous.pin.kind;
    case 'unclear':
      return `unclear: ${previous.commit}`;
    case 'nothing':
      return 'nothing';
  }
}

describe('findPreviousVersion', () => {
  test.each<[string, served: number, readonly KnownVersion[], readonly WrittenPin[], string]>([
    ['findPreviousVersion returns the version that the previous pin names', 4, known(4, 3, 2), [4, 2], 'v2'],
    [
      'findPreviousVersion returns the version with the text of an earlier commit that pinned `latest`',
      3,
      known(3, 2, 1),
      [
        ['latest', 'T3'],
        ['latest', 'T2'],
      ],
      'v2',
    ],
    [
      'findPreviousVersion returns the version that an earlier commit pinned by id',
      3,
      known(3, 2, 1),
      [3, 'version:ver_2', 1],
      'v2',
    ],
    [
      'findPreviousVersion returns the version that was pinned last, even if an older commit pinned the served version, too',
      4,
      known(4, 3, 2),
      [4, 3, 4, 2],
      'v3',
    ],
    [
      'After a rollback, findPreviousVersion returns an even older version, not the newer version from before the rollback',
      2,
      known(3, 2, 1),
      [2, 3, 2, 1],
      'v1',
    ],
    [
      'findPreviousVersion skips versions with the same text as the served version',
      4,
      [knownVersion(4), knownVersion(3), knownVersion(2, 'T4')],
      [4, 2, 3],
      'v3',
    ],
    [
      'findPreviousVersion skips committed text that no version contains because the text was never synced',
      3,
      known(3, 1),
      [3, ['latest', 'Never synced'], 1],
      'v1',
    ],
    [
      'findPreviousVersion returns the version that the file pins if no commit asks for the served version',
      3,
      known(3, 2, 1),
      [2, 1],
      'v2',
    ],
    ['findPreviousVersion skips versions that are newer than the served version', 2, known(3, 2, 1), [2, 3, 1], 'v1'],
    [
      'findPreviousVersion ignores a pin that is newer than the pin to the served version',
      3,
      known(3, 2, 1),
      [2, 3, 1],
      'v1',
    ],
    [
      'findPreviousVersion skips an unknown version number that is higher than the number of the served version',
      5,
      known(5, 4),
      [5, 9, 5, 4],
      'v4',
    ],
    [
      'findPreviousVersion stops at an earlier pin to an unknown version number',
      3,
      known(3, 1),
      [3, 2, 1],
      'unclear: c1',
    ],
    [
      'findPreviousVersion stops at an earlier pin to an unknown version id',
      3,
      known(3, 2, 1),
      [3, 'version:gone', 1],
      'unclear: c1',
    ],
    [
      'findPreviousVersion stops at an earlier pin to a moving git ref, because nobody knows what the ref pointed to at the time',
      3,
      known(3, 2, 1),
      [3, [`git:${MOVING_REF}`, 'T2'], 1],
      'unclear: c1',
    ],
    [
      'findPreviousVersion ignores a pin to an unknown version if a newer pin already determines the result',
      3,
      known(3, 2),
      [3, 2, 'version:gone'],
      'v2',
    ],
    ['findPreviousVersion finds nothing if only the served version was pinned', 3, known(3, 2, 1), [3], 'nothing'],
    ['findPreviousVersion finds nothing if the environment was never pinned', 3, known(3, 2, 1), [], 'nothing'],
  ])('%s', (_, number, versions, pins, expected) => {
    const served = versions.find((version) => version.number === number)!;
    expect(describePrevious(findPreviousVersion(sourceOf(served, pins), versions))).toBe(expected);
  });

  test('findPreviousVersion names no commit if the pin to an unknown version is uncommitted', () => {
    const source = sourceOf(knownVersion(3), [1, 2], { commit: null });
    expect(describePrevious(findPreviousVersion(source, known(3, 2)))).toBe('unclear: null');
  });

  test('findPreviousVersion finds the version for a text that has metadata even if the service discards metadata', () => {
    const earlier = { text: 'T2', metadata: { model: 'a' }, pins: { production: 'latest' } };
    const states = line([{ pins: { production: 3 } }, earlier]);
    const source = { ...sourceOf(knownVersion(3), []), line: states, metadata: 'dropped' } as const;
    expect(describePrevious(findPreviousVersion(source, known(3, 2)))).toBe('v2');
  });
});

test.each<[string, served: KnownVersion, readonly KnownVersion[], number | undefined]>([
  [
    'findOlderVersion returns the newest known version that is older than the served one',
    knownVersion(5),
    known(6, 5, 3, 1),
    3,
  ],
  ['findOlderVersion returns undefined if there is no older version', knownVersion(1), known(3, 1), undefined],
  [
    'findOlderVersion skips versions with the same text as the served version',
    knownVersion(3),
    [knownVersion(3), knownVersion(2, 'T3'), knownVersion(1)],
    1,
  ],
])('%s', (_, served, versions, expected) => {
  expect(findOlderVersion(versions, served)?.number).toBe(expected);
});

describe('findPreviousGitPin', () => {
  test.each<[string, readonly WrittenPin[], string]>([
    [
      'findPreviousGitPin returns the git: pin that preceded the pin to the served text',
      [
        ['git:c', 'T3'],
        ['git:b', 'B'],
        ['git:a', 'A'],
      ],
      'b',
    ],
    [
      'findPreviousGitPin returns a pin from before the first pin to the served text, so that rollbacks do not alternate',
      [
        ['git:c', 'T3'],
        ['git:d', 'D'],
        ['latest', 'T3'],
        ['git:b', 'B'],
      ],
      'b',
    ],
    [
      'findPreviousGitPin skips pins to version numbers, version ids and `latest`',
      [['git:c', 'T3'], ['latest', 'B'], 2, 'version:v', ['git:a', 'A']],
      'a',
    ],
    [
      'findPreviousGitPin stops at a pin to a moving git ref, because nobody knows what the ref pointed to at the time',
      [
        ['git:c', 'T3'],
        [`git:${MOVING_REF}`, 'B'],
        ['git:a', 'A'],
      ],
      'unclear: c1',
    ],
    [
      'findPreviousGitPin returns the pin in the file if no commit asks for what the environment serves',
      [
        ['latest', 'B'],
        ['git:a', 'A'],
      ],
      'latest',
    ],
    [
      'findPreviousGitPin finds nothing if git has no earlier git: pin',
      [
        ['git:c', 'T3'],
        ['latest', 'B'],
      ],
      'nothing',
    ],
  ])('%s', (_, pins, expected) => {
    expect(describePrevious(findPreviousGitPin(sourceOf(knownVersion(3), pins)))).toBe(expected);
  });
});
