import { expect, test } from 'vitest';
import { findBaseWants } from '../../../src/commands/pull/list-merge-bases.ts';
import { digestText, EMPTY_METADATA_DIGEST, makeContent } from '../../../src/domain/content.ts';
import type { PromptFile } from '../../../src/domain/prompt-file.ts';
import type { KnownVersion } from '../../../src/domain/versions.ts';
import type { Line, LineState, Want } from '../../../src/history/line-of-states.ts';

const ENVIRONMENT = 'production';

function makeVersion(number: number, text: string): KnownVersion {
  const { digest } = digestText(text);
  const own = { id: `v${number}`, number, digest, metadataDigest: EMPTY_METADATA_DIGEST };
  return { ...own, isManaged: true, source: null, staysKnown: true, content: null };
}

/** Makes a state that wants a version number, or the content of a text. An empty text stands for no pin. */
function makeState(pin: string | number, time: number): LineState {
  const content = makeContent(digestText(String(pin)), undefined);
  const want: Want =
    typeof pin === 'number' ? { kind: 'number', number: pin } : { kind: 'content', content, isMoving: false };
  const file: PromptFile = { path: 'a.md', id: 'p', key: 'p', name: 'p', type: 'text', content, pins: [] };
  return { commit: 'c', time, file, wants: pin === '' ? new Map() : new Map([[ENVIRONMENT, want]]) };
}

type Scene = {
  /** The pins of the states of the line, newest first. */
  readonly line: readonly (string | number)[];
  /** When the states were committed, in seconds. */
  readonly commitTimes?: readonly number[];
  /** The texts of the known versions, by number. */
  readonly known: Readonly<Record<number, string>>;
  readonly served: number;
  /** When the served version was created, in milliseconds. Undefined if the service does not show times. */
  readonly servedSince?: number;
  readonly isCut?: boolean;
  readonly isOlder?: boolean;
  readonly isPinned?: boolean;
};

/** Returns the numbers or the texts that the bases want. */
function findBases(scene: Scene) {
  const { line: pins, commitTimes, known: texts, served, servedSince } = scene;
  const { isCut = false, isOlder = false, isPinned = true } = scene;
  const known = Object.entries(texts).map(([number, text]) => makeVersion(Number(number), text));
  const states = pins.map((pin, index) => makeState(pin, commitTimes?.[index] ?? 0));
  const line: Line = { states, isCut, isComplete: !isCut };
  const pin = isPinned ? { environment: ENVIRONMENT, pin: { kind: 'latest' as const }, line: 1, column: 1 } : null;
  const times = servedSince === undefined ? {} : { times: { createdAt: servedSince, updatedAt: servedSince } };
  const version = { ...makeVersion(served, 'edit'), ...times };
  const edit = { environment: ENVIRONMENT, version, pin, isInGit: false, isOlder };
  const wants = findBaseWants(edit, line, { known: known.toReversed(), metadata: 'kept' });
  return wants.map(({ want }) =>
    want.kind === 'content' ? want.content.text : want.kind === 'number' ? want.number : '',
  );
}

test.each<[string, Scene, readonly (string | number)[]]>([
  [
    'The merge base of a pull is the newest text whose version is older than the served version',
    { line: ['b', 'a'], known: { 1: 'a', 2: 'b', 3: 'edit' }, served: 3 },
    ['b'],
  ],
  [
    'The merge base of a pull is the imported text before the first sync',
    { line: ['a'], known: { 1: 'a', 2: 'edit' }, served: 2 },
    ['a'],
  ],
  [
    'The merge base of a pull is never an unsynced text',
    { line: ['new', 'a'], known: { 1: 'a', 2: 'edit' }, served: 2 },
    ['a'],
  ],
  [
    'The merge base of a pull is never a text whose version was created after the edit',
    { line: ['b', 'a'], known: { 1: 'a', 2: 'edit', 3: 'b' }, served: 2 },
    ['a'],
  ],
  [
    'The merge base of a pull is the pinned version under a number',
    { line: [1], known: { 1: 'a', 2: 'b', 3: 'edit' }, served: 3 },
    [1],
  ],
  [
    'The merge base of a pull is never from a commit without the pin',
    { line: ['', 'a'], known: { 1: 'a', 2: 'edit' }, served: 2 },
    ['a'],
  ],
  [
    'The merge base of a pull is the newest synced text if the file does not pin the environment',
    { line: ['', 'a'], known: { 1: 'a', 2: 'edit' }, served: 2, isPinned: false },
    ['a'],
  ],
  [
    'The merge base of a pull is both the restored and the reverted text after a revert',
    { line: ['a', 'b', 'a'], known: { 1: 'a', 2: 'b', 3: 'edit' }, served: 3 },
    ['a', 'b'],
  ],
  [
    'The merge base of a pull is never a pin that was committed after the edit',
    { line: [2, 1], commitTimes: [61, 60], known: { 1: 'a', 2: 'b', 3: 'edit' }, served: 3, servedSince: 60_999 },
    [1],
  ],
  [
    'The merge base of a pull is the newest synced text if all commits are later than the edit',
    { line: ['b', 'a'], commitTimes: [62, 61], known: { 1: 'a', 2: 'b', 3: 'edit' }, served: 3, servedSince: 60_999 },
    ['b'],
  ],
  [
    'The merge base of a pull is also a newer text without a known version if some versions are unknown',
    { line: ['b', 'a'], known: { 1: 'a', 3: 'edit' }, served: 3 },
    ['b', 'a'],
  ],
  [
    'The merge base of a pull is also a reverted text without a known version if some versions are unknown',
    { line: ['a', 'b', 'a'], known: { 1: 'a', 3: 'edit' }, served: 3 },
    ['b', 'a'],
  ],
  [
    'The merge base of a pull is any text if no version is known',
    { line: ['b', 'a'], known: { 2: 'edit' }, served: 2 },
    ['b', 'a'],
  ],
  [
    'The merge base of a pull is nothing in a cut history',
    { line: ['b', 'a'], known: { 2: 'edit' }, served: 2, isCut: true },
    [],
  ],
  [
    'The merge base of a pull is nothing if the edit is the first version',
    { line: ['a'], known: { 1: 'edit' }, served: 1 },
    [],
  ],
  [
    'The merge base of a pull is the version that the file asks for if the served version is older',
    { line: ['c', 'a'], known: { 1: 'a', 2: 'edit', 3: 'c' }, served: 2, isOlder: true },
    ['c'],
  ],
])('%s', (_, scene, bases) => {
  expect(findBases(scene)).toEqual(bases);
});
