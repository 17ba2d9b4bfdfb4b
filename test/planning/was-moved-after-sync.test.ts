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
/** Both versions existed before the commit and were touched at these times. */
const touched = (wantedAt: number, servedAt: number) => ({
  ...{ wanted: wanted(BEFORE, wantedAt), served: served(servedAt) },
});
const OTHER = version('other', BEFORE, MOVED);

/** By default, somebody moved a label away from a version that existed before the commit. */
const MOVE: MoveEvidence = {
  wanted: wanted(BEFORE, MOVED),
  served: served(MOVED),
  wantedSince: COMMITTED,
  servedBySameCommit: [],
};

const otherOn = (...servedBySameCommit: readonly KnownVersion[]) => ({ servedBySameCommit });

/** The evidence that differs from `MOVE`. */
type Rows = Readonly<Record<string, Partial<MoveEvidence>>>;

const moved: Rows = {
  'if the wanted version and the served version were updated together after the commit': {},
  'even if the served version was updated before the wanted version': { served: served(MOVED - 2) },
  'if the two versions were updated less than three whole seconds apart': { served: served(MOVED + 2.999) },
  'if both versions were updated one second after the commit': touched(COMMITTED + 1, COMMITTED + 1),
  'even if the wanted version was created after the commit': { wanted: wanted(AFTER, MOVED) },
  'even if the commit also put another label on a third version': otherOn(OTHER),
  'if the commit also put another label on a wanted version that is newer than the commit': {
    ...{ wanted: wanted(AFTER, MOVED), ...otherOn(wanted(AFTER, MOVED)) },
  },
  'for a label that no version has if the wanted version was updated after the commit': { served: null },
};

const notMoved: Rows = {
  'if only the served version was updated after the commit': { wanted: wanted(BEFORE, BEFORE) },
  'if the two versions were updated three seconds apart': { served: served(MOVED + 3) },
  'if both versions were updated in the same second as the commit': touched(COMMITTED + 0.999, COMMITTED + 0.999),
  'if one version was updated a second after the commit but the other in the same second as the commit': touched(
    COMMITTED + 1,
    COMMITTED,
  ),
  'if the wanted version has not been updated since its creation': { wanted: wanted(MOVED, MOVED + 0.999) },
  'if the commit also put another label on a wanted version that is older than the commit': otherOn(
    wanted(BEFORE, MOVED),
  ),
  'if the commit also put another label on the served version, and the wanted version is older than the commit':
    otherOn(OTHER, served(MOVED)),
  'if the commit also put two other labels on the wanted version, because a separate job may have moved one': {
    ...{ wanted: wanted(AFTER, MOVED), ...otherOn(wanted(AFTER, MOVED), wanted(AFTER, MOVED)) },
  },
  'if the commit put another label on a wanted version that was created in the same second': {
    ...{ wanted: wanted(COMMITTED + 0.999, MOVED), ...otherOn(wanted(COMMITTED, MOVED)) },
  },
  'for a label that no version has if the wanted version was not updated after the commit': {
    served: null,
    wanted: wanted(BEFORE, COMMITTED),
  },
  'if the commit is unknown': { wantedSince: null },
  'if the wanted version has no timestamps': { wanted: version('wanted') },
  'if the served version has no timestamps': { served: version('served') },
};

test.each(Object.entries(moved))('wasMovedAfterSync returns true %s', (_, evidence) => {
  expect(wasMovedAfterSync({ ...MOVE, ...evidence })).toBe(true);
});

test.each(Object.entries(notMoved))('wasMovedAfterSync returns false %s', (_, evidence) => {
  expect(wasMovedAfterSync({ ...MOVE, ...evidence })).toBe(false);
});
