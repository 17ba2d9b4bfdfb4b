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
    'A change comes from the head if a state that only the head has wants what the service has',
    {},
    { head: WANTING },
    'head',
  ],
  [
    'A change comes from the head even if somebody moved the environment, the branch wants it, and the clone is shallow',
    { isMovingRef: true, wasMoved: true, isFirstWant: true },
    { head: WANTING, tip: WANTING, isShallow: true },
    'head',
  ],
  [
    'Row 1: the branch is behind if a state that only the tip of the live branch has wants what the service has',
    {},
    { tip: WANTING },
    'behind',
  ],
  [
    'Row 1 takes precedence over a move, over a first want and over earlier states',
    { wasMoved: true, isFirstWant: true },
    { base: WANTING, tip: WANTING },
    'behind',
  ],
  ['Row 1 applies in a shallow clone', {}, { tip: WANTING, isShallow: true }, 'behind'],
  ['Row 2: a move after the sync is a change in the service', { wasMoved: true }, {}, 'moved'],
  [
    'Row 2 takes precedence over a first want and over an earlier state that wants what the service has',
    { wasMoved: true, isFirstWant: true },
    { base: WANTING },
    'moved',
  ],
  ['Row 2 applies if no version is active', { wasMoved: true, isNothing: true }, {}, 'moved'],
  [
    'Row 3: a first want is a plain change, although no state wants what the service has',
    { isFirstWant: true },
    {},
    'first',
  ],
  [
    'Row 3 takes precedence over a state that wants what the service has',
    { isFirstWant: true },
    { base: WANTING },
    'first',
  ],
  ['Row 4: what no state of the file wants is a change in the service', {}, {}, 'outside'],
  ['Row 4 applies if no states are known', {}, { base: [] }, 'outside'],
  ['Row 5: what an earlier state wants is an unfinished sync', {}, { base: [...OTHER, ...WANTING] }, 'unfinished'],
  ['If no version is active, only rows 2 and 5 apply', { isNothing: true, isFirstWant: true }, {}, 'unfinished'],
  [
    'With a moving ref, only row 5 applies',
    { isMovingRef: true, wasMoved: true, isFirstWant: true },
    { tip: WANTING },
    'unfinished',
  ],
  [
    'In a shallow clone, only rows 1 and 5 apply',
    { wasMoved: true, isFirstWant: true },
    { isShallow: true },
    'unfinished',
  ],
])('%s', (_, difference, states, expected) => {
  expect(classifyDifference({ ...DIFFERENCE, ...difference }, { ...STATES, ...states })).toBe(expected);
});
