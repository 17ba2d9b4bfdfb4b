import { expect, test } from 'vitest';
import {
  classifyDifference,
  type DriftEvidence,
  type StatesOfLines,
  type DifferenceCause,
} from '../../src/planning/classify-difference.ts';
import { line } from './support.ts';

/** The state of the file that wants what the service has, and one that wants something else. */
const [wanting, other] = line([{ text: 'Served' }, { text: 'Other' }]).states;
const WANTING = [wanting!];
const OTHER = [other!];

/** By default, the base wants something that was never moved away, and no state wants what the service has. */
const DIFFERENCE: DriftEvidence = {
  wantsCurrent: (state) => state === wanting,
  isNothing: false,
  isMovingRef: false,
  wasMoved: false,
  isFirstWant: false,
};
const STATES: StatesOfLines = { base: OTHER, head: [], tip: [], isShallow: false };

test.each<[title: string, Partial<DriftEvidence>, Partial<StatesOfLines>, DifferenceCause]>([
  [
    'classifyDifference returns "head" if a commit that only the head contains asks for what the service has',
    {},
    { head: WANTING },
    'head',
  ],
  [
    'classifyDifference returns "head" even if somebody moved the environment, the branch is behind, and the clone is shallow',
    { isMovingRef: true, wasMoved: true, isFirstWant: true },
    { head: WANTING, tip: WANTING, isShallow: true },
    'head',
  ],
  [
    'classifyDifference returns "behind" if a newer commit on the live branch asks for what the service has',
    {},
    { tip: WANTING },
    'behind',
  ],
  [
    'classifyDifference returns "behind" even if "moved", "first" and "unfinished" would also apply',
    { wasMoved: true, isFirstWant: true },
    { base: WANTING, tip: WANTING },
    'behind',
  ],
  [
    'classifyDifference returns "behind" even in a shallow clone if the live branch asks for what the service has',
    {},
    { tip: WANTING, isShallow: true },
    'behind',
  ],
  [
    'classifyDifference returns "moved" if somebody moved the environment after a sync',
    { wasMoved: true },
    {},
    'moved',
  ],
  [
    'classifyDifference returns "moved" for a moved environment even if "first" and "unfinished" would also apply',
    { wasMoved: true, isFirstWant: true },
    { base: WANTING },
    'moved',
  ],
  [
    'classifyDifference returns "moved" for a moved environment even if the environment serves no version',
    { wasMoved: true, isNothing: true },
    {},
    'moved',
  ],
  [
    'classifyDifference returns "first" for the first pin of an environment even if no commit asks for what the service has',
    { isFirstWant: true },
    {},
    'first',
  ],
  [
    'classifyDifference returns "first" for the first pin of an environment even if a commit asks for what the service has',
    { isFirstWant: true },
    { base: WANTING },
    'first',
  ],
  ['classifyDifference returns "outside" if no commit asks for what the service has', {}, {}, 'outside'],
  ['classifyDifference returns "outside" if no commits of the file are known', {}, { base: [] }, 'outside'],
  [
    'classifyDifference returns "unfinished" if an earlier commit asks for what the service has',
    {},
    { base: [...OTHER, ...WANTING] },
    'unfinished',
  ],
  [
    'classifyDifference returns "unfinished" for an environment that serves no version, even if "first" would also apply',
    { isNothing: true, isFirstWant: true },
    {},
    'unfinished',
  ],
  [
    'classifyDifference returns "unfinished" for a pin to a moving ref even if "behind", "moved" and "first" would also apply',
    { isMovingRef: true, wasMoved: true, isFirstWant: true },
    { tip: WANTING },
    'unfinished',
  ],
  [
    'classifyDifference returns "unfinished" in a shallow clone even if "outside" and "first" would also apply',
    { wasMoved: true, isFirstWant: true },
    { isShallow: true },
    'unfinished',
  ],
])('%s', (_, difference, states, expected) => {
  expect(classifyDifference({ ...DIFFERENCE, ...difference }, { ...STATES, ...states })).toBe(expected);
});
