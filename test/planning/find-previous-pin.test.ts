import { expect, test } from 'vitest';
import type { KnownVersion } from '../../src/domain/versions.ts';
import {
  findOlderVersion,
  findPreviousGitPin,
  findPreviousVersion,
  type RollbackSource,
} from '../../src/planning/find-previous-pin.ts';
import { entry, line, type StateParts } from './support.ts';

/**
 * Parses versions: `2 3 1` has the texts T2, T3 and T1, and `4 2=T4` are two versions with the text T4. The first one is
 * served. Returns all of them newest first.
 */
function parseKnown(words: string): readonly [served: KnownVersion, known: readonly KnownVersion[]] {
  const known = words.split(' ').map((word): KnownVersion => {
    const [number, text = `T${number}`] = word.split('=');
    return { ...entry(Number(number), text), staysKnown: true, source: null, content: null };
  });
  return [known[0]!, known.toSorted((one, other) => other.number - one.number)];
}

/**
 * Parses the pins of production, newest first: `4`, `version:ver_2`, or `latest=T2` with the text of the file in that
 * state. Production serves the version.
 */
function sourceOf(served: KnownVersion, pins: string, newest: StateParts = {}): RollbackSource {
  const states = pins.split(' ').filter((word) => word !== '');
  const [first = {}, ...older] = states.map((word): StateParts => {
    const [pin = '', text = 'Other'] = word.split('=');
    return { text, pins: { production: pin } };
  });
  return { environment: 'production', served, line: line([{ ...first, ...newest }, ...older]), metadata: 'kept' };
}

function describePrevious(previous: ReturnType<typeof findPreviousVersion>): string {
  if (previous.kind === 'version') return `v${previous.version.number}`;
  if (previous.kind === 'unclear') return `unclear ${previous.commit}`;
  if (previous.kind !== 'pin') return previous.kind;
  return previous.pin.kind === 'git' ? previous.pin.ref : previous.pin.kind;
}

/** Rows `title: 'RESULT | KNOWN VERSIONS | PINS'`. Production serves the first known version. */
const previousVersions = {
  'returns the version that the previous pin names': 'v2 | 4 3 2 | 4 2',
  'returns the version with the text of an earlier commit that pinned `latest`': 'v2 | 3 2 1 | latest=T3 latest=T2',
  'returns the version that an earlier commit pinned by id': 'v2 | 3 2 1 | 3 version:ver_2 1',
  'returns the version that was pinned last, even if an older commit pinned the served version, too':
    'v3 | 4 3 2 | 4 3 4 2',
  'returns an even older version after a rollback, not the newer version from before the rollback':
    'v1 | 2 3 1 | 2 3 2 1',
  'skips versions with the same text as the served version': 'v3 | 4 3 2=T4 | 4 2 3',
  'skips committed text that no version contains because the text was never synced': 'v1 | 3 1 | 3 latest=Never 1',
  'returns the version that the file pins if no commit asks for the served version': 'v2 | 3 2 1 | 2 1',
  'skips versions that are newer than the served version': 'v1 | 2 3 1 | 2 3 1',
  'ignores a pin that is newer than the pin to the served version': 'v1 | 3 2 1 | 2 3 1',
  'skips an unknown version number that is higher than the number of the served version': 'v4 | 5 4 | 5 9 5 4',
  'stops at an earlier pin to an unknown version number': 'unclear c1 | 3 1 | 3 2 1',
  'stops at an earlier pin to an unknown version id': 'unclear c1 | 3 2 1 | 3 version:gone 1',
  'stops at an earlier pin to a moving git ref, because nobody knows what the ref pointed to at the time':
    'unclear c1 | 3 2 1 | 3 git:main=T2 1',
  'ignores a pin to an unknown version if a newer pin already determines the result': 'v2 | 3 2 | 3 2 version:gone',
  'finds nothing if only the served version was pinned': 'nothing | 3 2 1 | 3',
  'finds nothing if the environment was never pinned': 'nothing | 3 2 1 | ',
};

test.each(Object.entries(previousVersions))('findPreviousVersion %s', (_, row) => {
  const [expected, known = '', pins = ''] = row.split(' | ');
  const [served, versions] = parseKnown(known);
  expect(describePrevious(findPreviousVersion(sourceOf(served, pins), versions))).toBe(expected);
});

test('findPreviousVersion names no commit if the pin to an unknown version is uncommitted', () => {
  const [served, versions] = parseKnown('3 2');
  const source = sourceOf(served, '1 2', { commit: null });
  expect(describePrevious(findPreviousVersion(source, versions))).toBe('unclear null');
});

test('findPreviousVersion finds the version for a text that has metadata even if the service discards metadata', () => {
  const earlier = { text: 'T2', metadata: { model: 'a' }, pins: { production: 'latest' } };
  const [served, versions] = parseKnown('3 2');
  const states = line([{ pins: { production: 3 } }, earlier]);
  const source = { ...sourceOf(served, ''), line: states, metadata: 'dropped' } as const;
  expect(describePrevious(findPreviousVersion(source, versions))).toBe('v2');
});

test.each([
  ['findOlderVersion returns the newest known version that is older than the served one', '5 6 3 1', 3],
  ['findOlderVersion returns undefined if there is no older version', '1 3', undefined],
  ['findOlderVersion skips versions with the same text as the served version', '3 2=T3 1', 1],
])('%s', (_, known, expected) => {
  const [served, versions] = parseKnown(known);
  expect(findOlderVersion(versions, served)?.number).toBe(expected);
});

/** Rows `title: 'RESULT | PINS'`. Production serves version 3 with the text T3. */
const previousGitPins = {
  'returns the git: pin that preceded the pin to the served text': 'b | git:c=T3 git:b=B git:a=A',
  'returns a pin from before the first pin to the served text, so that rollbacks do not alternate':
    'b | git:c=T3 git:d=D latest=T3 git:b=B',
  'skips pins to version numbers, version ids and `latest`': 'a | git:c=T3 latest=B 2 version:v git:a=A',
  'stops at a pin to a moving git ref, because nobody knows what the ref pointed to at the time':
    'unclear c1 | git:c=T3 git:main=B git:a=A',
  'returns the pin in the file if no commit asks for what the environment serves': 'latest | latest=B git:a=A',
  'finds nothing if git has no earlier git: pin': 'nothing | git:c=T3 latest=B',
};

test.each(Object.entries(previousGitPins))('findPreviousGitPin %s', (_, row) => {
  const [expected, pins = ''] = row.split(' | ');
  expect(describePrevious(findPreviousGitPin(sourceOf(parseKnown('3')[0], pins)))).toBe(expected);
});
