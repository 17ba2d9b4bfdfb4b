import { expect, test } from 'vitest';
import { computeContentDigest, EMPTY_METADATA_DIGEST } from '../../src/domain/content.ts';
import type { KnownVersion } from '../../src/domain/versions.ts';
import { type MoveEvidence, wasMovedAfterSync } from '../../src/planning/classify-difference.ts';

/** The second of the commit that introduced the want. Versions are created before it or after it. */
const COMMITTED = 1_000;
const BEFORE = 900;
const AFTER = 1_100;
const MOVED = 1_200;

/** Makes a version from the times of its creation and of its last touch, in seconds. */
function version(id: string, created?: number, touched?: number): KnownVersion {
  const digests = { digest: computeContentDigest(id), metadataDigest: EMPTY_METADATA_DIGEST };
  const times =
    created === undefined || touched === undefined
      ? {}
      : { times: { createdAt: created * 1000, updatedAt: touched * 1000 } };
  return { id, number: 1, ...digests, content: null, isManaged: null, source: null, staysKnown: true, ...times };
}

const wanted = (created: number, touched: number) => version('wanted', created, touched);
const served = (touched: number) => version('served', BEFORE, touched);
const OTHER = version('other', BEFORE, MOVED);

/** By default, somebody moved a label away from a version that existed before the commit. */
const MOVE: MoveEvidence = {
  wanted: wanted(BEFORE, MOVED),
  served: served(MOVED),
  wantedSince: COMMITTED,
  servedBySameCommit: [],
};

test.each<[title: string, evidence: Partial<MoveEvidence>, expected: boolean]>([
  [
    'wasMovedAfterSync returns true if the wanted version and the served version were updated together after the commit',
    {},
    true,
  ],
  [
    'wasMovedAfterSync returns false if only the wanted version was updated after the commit',
    { served: served(BEFORE) },
    false,
  ],
  [
    'wasMovedAfterSync returns false if only the served version was updated after the commit',
    { wanted: wanted(BEFORE, BEFORE) },
    false,
  ],
  [
    'wasMovedAfterSync returns true if the two versions were updated two seconds apart',
    { served: served(MOVED + 2) },
    true,
  ],
  [
    'wasMovedAfterSync returns true even if the served version was updated before the wanted version',
    { served: served(MOVED - 2) },
    true,
  ],
  [
    'wasMovedAfterSync returns false if the two versions were updated three seconds apart',
    { served: served(MOVED + 3) },
    false,
  ],
  [
    'wasMovedAfterSync ignores milliseconds when it compares the update times of the two versions',
    { wanted: wanted(BEFORE, MOVED), served: served(MOVED + 2.999) },
    true,
  ],
  [
    'wasMovedAfterSync returns false if both versions were updated in the same second as the commit',
    { wanted: wanted(BEFORE, COMMITTED + 0.999), served: served(COMMITTED + 0.999) },
    false,
  ],
  [
    'wasMovedAfterSync returns true if both versions were updated one second after the commit',
    { wanted: wanted(BEFORE, COMMITTED + 1), served: served(COMMITTED + 1) },
    true,
  ],
  [
    'wasMovedAfterSync returns false if one version was updated a second after the commit but the other in the same second as the commit',
    { wanted: wanted(BEFORE, COMMITTED + 1), served: served(COMMITTED) },
    false,
  ],
  [
    'wasMovedAfterSync returns false if the wanted version has not been updated since its creation',
    { wanted: wanted(MOVED, MOVED + 0.999) },
    false,
  ],
  [
    'wasMovedAfterSync returns true even if the wanted version was created after the commit',
    { wanted: wanted(AFTER, MOVED) },
    true,
  ],
  [
    'wasMovedAfterSync returns false if the commit also put another label on a wanted version that is older than the commit',
    { servedBySameCommit: [wanted(BEFORE, MOVED)] },
    false,
  ],
  [
    'For a wanted version older than the commit, wasMovedAfterSync returns false if the commit also put another label on the served version',
    { servedBySameCommit: [OTHER, served(MOVED)] },
    false,
  ],
  [
    'wasMovedAfterSync returns true even if the commit also put another label on a third version',
    { servedBySameCommit: [OTHER] },
    true,
  ],
  [
    'wasMovedAfterSync returns true if the commit also put another label on a wanted version that is newer than the commit',
    { wanted: wanted(AFTER, MOVED), servedBySameCommit: [wanted(AFTER, MOVED)] },
    true,
  ],
  [
    'wasMovedAfterSync returns false if the commit also put two other labels on the wanted version, because a separate job may have moved one',
    { wanted: wanted(AFTER, MOVED), servedBySameCommit: [wanted(AFTER, MOVED), wanted(AFTER, MOVED)] },
    false,
  ],
  [
    'wasMovedAfterSync treats a wanted version that was created in the same second as the commit as older than the commit',
    { wanted: wanted(COMMITTED + 0.999, MOVED), servedBySameCommit: [wanted(COMMITTED, MOVED)] },
    false,
  ],
  [
    'For a label that no version has, wasMovedAfterSync returns true if the wanted version was updated after the commit',
    { served: null },
    true,
  ],
  [
    'For a label that no version has, wasMovedAfterSync returns false if the wanted version was not updated after the commit',
    { served: null, wanted: wanted(BEFORE, COMMITTED) },
    false,
  ],
  [
    'For a label that no version has, wasMovedAfterSync returns false if the wanted version has not been updated since its creation',
    { served: null, wanted: wanted(AFTER, AFTER) },
    false,
  ],
  [
    'For a label that no version has, wasMovedAfterSync returns false if the commit also put another label on the wanted version',
    { served: null, servedBySameCommit: [wanted(BEFORE, MOVED)] },
    false,
  ],
  ['wasMovedAfterSync returns false if the commit is unknown', { wantedSince: null }, false],
  ['wasMovedAfterSync returns false if the wanted version has no timestamps', { wanted: version('wanted') }, false],
  ['wasMovedAfterSync returns false if the served version has no timestamps', { served: version('served') }, false],
])('%s', (_, evidence, expected) => {
  expect(wasMovedAfterSync({ ...MOVE, ...evidence })).toBe(expected);
});
