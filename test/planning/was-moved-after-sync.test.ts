import { describe, expect, test } from 'vitest';
import { computeContentDigest, EMPTY_METADATA_DIGEST } from '../../src/domain/content.ts';
import type { EnvironmentPin, Pin } from '../../src/domain/prompt-file.ts';
import type { KnownVersion, VersionTimes } from '../../src/domain/versions.ts';
import { type MoveEvidence, wasMovedAfterSync } from '../../src/planning/was-moved-after-sync.ts';

/** The second of the commit that introduced what the pins want. */
const COMMITTED = 1_000;
/** Times in milliseconds: the last one that counts as not later than the commit, and the first one that is later. */
const SAME_SECOND = COMMITTED * 1000 + 999;
const LATER = (COMMITTED + 1) * 1000;
const EARLIER = COMMITTED * 1000 - 1;

const LATEST: Pin = { kind: 'latest' };
const NUMBER: Pin = { kind: 'number', number: 1 };
const GIT: Pin = { kind: 'git', ref: 'v1' };

const pinOf = (pin: Pin): EnvironmentPin => ({ environment: 'production', pin, line: 5, column: 3 });

function version(id: string, times?: VersionTimes): KnownVersion {
  return {
    ...{ id, number: 1, digest: computeContentDigest(id), metadataDigest: EMPTY_METADATA_DIGEST, content: null },
    ...{ isManaged: null, source: null, staysKnown: true, ...(times !== undefined && { times }) },
  };
}

const wanted = (createdAt: number, updatedAt = createdAt) => version('wanted', { createdAt, updatedAt });
const served = (updatedAt: number) => version('served', { createdAt: EARLIER, updatedAt });
const since = (commits: Readonly<Record<string, string>>): MoveEvidence['wantedSince'] =>
  new Map(Object.entries(commits).map(([environment, commit]) => [environment, { commit, time: COMMITTED }]));

/** By default, a pin to a number wants a version that was updated later, and so was the served version. */
function judge(parts: Partial<Omit<MoveEvidence, 'pin'>> & { readonly pin?: Pin }): boolean {
  const { pin = NUMBER, ...rest } = parts;
  return wasMovedAfterSync({
    ...{ pin: pinOf(pin), wanted: wanted(EARLIER, LATER), served: served(LATER) },
    ...{ wantedSince: since({ production: 'c1' }), activeAsWanted: new Map(), ...rest },
  });
}

describe('wasMovedAfterSync with the creation time', () => {
  const unmoved = served(EARLIER);
  test.each<[sentence: string, parts: Parameters<typeof judge>[0], expected: boolean]>([
    [
      'wasMovedAfterSync returns true for the pin "latest" if the wanted version was created after the commit and then touched',
      { pin: LATEST, wanted: wanted(LATER, LATER + 1), served: unmoved },
      true,
    ],
    [
      'wasMovedAfterSync returns false for the pin "latest" if nothing has touched the wanted version since its creation, because the job of a different environment may have created it',
      { pin: LATEST, wanted: wanted(LATER), served: unmoved },
      false,
    ],
    [
      'wasMovedAfterSync returns false for the pin "latest" if the wanted version was created in the same second as the commit',
      { pin: LATEST, wanted: wanted(SAME_SECOND, LATER), served: unmoved },
      false,
    ],
    [
      'wasMovedAfterSync returns false for the pin "latest" if the wanted version was created before the commit',
      { pin: LATEST, wanted: wanted(EARLIER, LATER), served: unmoved },
      false,
    ],
    [
      'wasMovedAfterSync returns true for the pin "latest" if the wanted version is new and no version is active',
      { pin: LATEST, wanted: wanted(LATER, LATER + 1), served: null },
      true,
    ],
    [
      'wasMovedAfterSync returns true for the pin "latest" if the wanted version is new and the served version has no timestamps',
      { pin: LATEST, wanted: wanted(LATER, LATER + 1), served: version('served') },
      true,
    ],
    [
      'wasMovedAfterSync returns true for the pin "latest" if the same commit also moved a different environment to the new version',
      {
        ...{ pin: LATEST, wanted: wanted(LATER, LATER + 1), served: served(LATER) },
        ...{ wantedSince: since({ production: 'c1', staging: 'c1' }) },
        activeAsWanted: new Map([['staging', wanted(LATER)]]),
      },
      true,
    ],
    [
      'wasMovedAfterSync returns false for a version number if only the wanted version is new',
      { wanted: wanted(LATER), served: unmoved },
      false,
    ],
    [
      'wasMovedAfterSync returns false for a git ref if only the wanted version is new',
      { pin: GIT, wanted: wanted(LATER), served: unmoved },
      false,
    ],
    [
      'wasMovedAfterSync returns false for a version number if the wanted version is new and no version is active',
      { wanted: wanted(LATER), served: null },
      false,
    ],
  ])('%s', (_, parts, expected) => {
    expect(judge(parts)).toBe(expected);
  });
});

describe.each<[name: string, pin: Pin]>([
  ['"latest"', LATEST],
  ['"2"', NUMBER],
  ['"git:v1"', GIT],
])('wasMovedAfterSync with the update times and the pin %s', (name, pin) => {
  test.each<[condition: string, expected: boolean, parts: Parameters<typeof judge>[0]]>([
    ['both versions were updated after the commit', true, {}],
    ['only the wanted version was updated after the commit', false, { served: served(EARLIER) }],
    ['only the served version was updated after the commit', false, { wanted: wanted(EARLIER, EARLIER) }],
    [
      'the wanted version was updated in the same second as the commit',
      false,
      { wanted: wanted(EARLIER, SAME_SECOND) },
    ],
    ['the served version was updated in the same second as the commit', false, { served: served(SAME_SECOND) }],
    ['no version is active', false, { served: null }],
    ['the wanted version has no timestamps', false, { wanted: version('wanted') }],
    ['the served version has no timestamps', false, { served: version('served') }],
    ['the commit of the pin is unknown', false, { wantedSince: new Map() }],
    ['only the commit of a different pin is known', false, { wantedSince: since({ staging: 'c1' }) }],
  ])(`If %s, wasMovedAfterSync returns %s for the pin ${name}`, (_, expected, parts) => {
    expect(judge({ pin, ...parts })).toBe(expected);
  });
});

describe('wasMovedAfterSync with another environment', () => {
  test.each<[sentence: string, commits: Readonly<Record<string, string>>, other: KnownVersion, expected: boolean]>([
    [
      'wasMovedAfterSync returns false if a sync of the same commit moved a different environment to the wanted version',
      { production: 'c1', staging: 'c1' },
      wanted(EARLIER, LATER),
      false,
    ],
    [
      'wasMovedAfterSync returns false if a sync of the same commit moved a different environment to the served version',
      { production: 'c1', staging: 'c1' },
      served(LATER),
      false,
    ],
    [
      'wasMovedAfterSync returns true if a sync of the same commit moved a different environment to a third version',
      { production: 'c1', staging: 'c1' },
      version('third', { createdAt: LATER, updatedAt: LATER }),
      true,
    ],
    [
      'wasMovedAfterSync returns true if a sync of a different commit moved a different environment to the wanted version',
      { production: 'c1', staging: 'c0' },
      wanted(EARLIER, LATER),
      true,
    ],
    [
      'wasMovedAfterSync returns true if the commit that moved a different environment to the wanted version is unknown',
      { production: 'c1' },
      wanted(EARLIER, LATER),
      true,
    ],
  ])('%s', (_, commits, other, expected) => {
    const activeAsWanted = new Map([['staging', other]]);
    expect(judge({ wantedSince: since(commits), activeAsWanted })).toBe(expected);
  });
});
