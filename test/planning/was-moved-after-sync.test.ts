import { expect, test } from 'vitest';
import { computeContentDigest, EMPTY_METADATA_DIGEST } from '../../src/domain/content.ts';
import type { KnownVersion } from '../../src/domain/versions.ts';
import { type MoveEvidence, wasMovedAfterSync } from '../../src/planning/was-moved-after-sync.ts';

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
  ['A move touches the version that the label leaves and the one that it joins', {}, true],
  ['It is no move if only the wanted version was touched after the commit', { served: served(BEFORE) }, false],
  ['It is no move if only the served version was touched after the commit', { wanted: wanted(BEFORE, BEFORE) }, false],
  ['Two touches belong to one move if they are two seconds apart', { served: served(MOVED + 2) }, true],
  ['Two touches belong to one move in either order', { served: served(MOVED - 2) }, true],
  ['Two touches do not belong to one move if they are three seconds apart', { served: served(MOVED + 3) }, false],
  [
    'Milliseconds do not count for the distance of two touches',
    { wanted: wanted(BEFORE, MOVED), served: served(MOVED + 2.999) },
    true,
  ],
  [
    'A touch in the second of the commit is not later than the commit',
    { wanted: wanted(BEFORE, COMMITTED + 0.999), served: served(COMMITTED + 0.999) },
    false,
  ],
  [
    'A touch in the second after the commit is later than the commit',
    { wanted: wanted(BEFORE, COMMITTED + 1), served: served(COMMITTED + 1) },
    true,
  ],
  [
    'It is no move if one of the two touches is not later than the commit',
    { wanted: wanted(BEFORE, COMMITTED + 1), served: served(COMMITTED) },
    false,
  ],
  [
    'It is no move if nothing touched the wanted version since its creation',
    { wanted: wanted(MOVED, MOVED + 0.999) },
    false,
  ],
  ['A version that was created after the commit can be moved away from', { wanted: wanted(AFTER, MOVED) }, true],
  [
    'If the wanted version was created before the commit, the job of another label of the same commit may have touched it',
    { servedBySameCommit: [wanted(BEFORE, MOVED)] },
    false,
  ],
  [
    'If the wanted version was created before the commit, the job of another label of the same commit may have touched the served version',
    { servedBySameCommit: [OTHER, served(MOVED)] },
    false,
  ],
  [
    'Another label of the same commit does not hide a move if it is on a third version',
    { servedBySameCommit: [OTHER] },
    true,
  ],
  [
    'Another label of the same commit does not hide a move if the wanted version was created after the commit',
    { wanted: wanted(AFTER, MOVED), servedBySameCommit: [wanted(AFTER, MOVED)] },
    true,
  ],
  [
    'Two other labels of the same commit hide a move, because the second of them may have moved in a job of its own',
    { wanted: wanted(AFTER, MOVED), servedBySameCommit: [wanted(AFTER, MOVED), wanted(AFTER, MOVED)] },
    false,
  ],
  [
    'Another label of the same commit hides a move if the wanted version was created in the second of the commit',
    { wanted: wanted(COMMITTED + 0.999, MOVED), servedBySameCommit: [wanted(COMMITTED, MOVED)] },
    false,
  ],
  ['A label that was taken off touched only the wanted version', { served: null }, true],
  [
    'A label was not taken off if nothing touched the wanted version after the commit',
    { served: null, wanted: wanted(BEFORE, COMMITTED) },
    false,
  ],
  [
    'A label was not taken off if nothing touched the wanted version since its creation',
    { served: null, wanted: wanted(AFTER, AFTER) },
    false,
  ],
  [
    'A label that was taken off is not recognized if another label of the same commit is on the wanted version',
    { served: null, servedBySameCommit: [wanted(BEFORE, MOVED)] },
    false,
  ],
  ['There is no evidence if the commit is unknown', { wantedSince: null }, false],
  ['There is no evidence if the wanted version has no times', { wanted: version('wanted') }, false],
  ['There is no evidence if the served version has no times', { served: version('served') }, false],
])('%s', (_, evidence, expected) => {
  expect(wasMovedAfterSync({ ...MOVE, ...evidence })).toBe(expected);
});
