import { describe, expect, test } from 'vitest';
import { findContestedPins, findServiceChanges } from '../../src/commands/find-service-changes.ts';
import { digestText, EMPTY_METADATA_DIGEST, makeContent } from '../../src/domain/content.ts';
import {
  type Drift,
  isNewVersionRef,
  type NewVersionRef,
  type ObservedPromptPlan,
  type WantedVersionRef,
} from '../../src/domain/plan.ts';
import type { Pin, PromptFile } from '../../src/domain/prompt-file.ts';
import type { KnownVersion, VersionRef } from '../../src/domain/versions.ts';
import type { Line } from '../../src/history/line.ts';

const ENVIRONMENT = 'production';
const LATEST: Pin = { kind: 'latest' };
const NUMBER: Pin = { kind: 'number', number: 9 };

const makeText = (text: string) => makeContent(digestText(text), undefined);
const makeRef = (number: number): VersionRef => ({ id: `v${number}`, number });
const NEW: NewVersionRef = { newContent: makeText('new') };

function makeVersion(number: number, isManaged: boolean): KnownVersion {
  const digests = { digest: digestText(`v${number}`).digest, metadataDigest: EMPTY_METADATA_DIGEST };
  return { ...digests, id: `v${number}`, number, isManaged, source: null, staysKnown: true, content: null };
}

const foreign = (number: number) => makeVersion(number, false);
const managed = (number: number) => makeVersion(number, true);

type Scene = {
  readonly pin?: Pin | null;
  /** The served version. Null if no version is active. */
  readonly served?: KnownVersion | null;
  readonly wanted?: WantedVersionRef;
  readonly kind?: Drift['kind'];
  readonly hasBase?: boolean;
  readonly portablePins?: boolean;
  /** The value of `--environment`. */
  readonly environment?: string;
};

function makeFile(pin: Pin | null): PromptFile {
  const pins = pin === null ? [] : [{ environment: ENVIRONMENT, pin, line: 1, column: 1 }];
  return { path: 'a.md', id: 'p', key: 'p', name: 'p', type: 'text', content: makeText('file'), pins };
}

function makeLine(file: PromptFile): Line {
  return { states: [{ commit: 'c', time: 0, file, wants: new Map() }], isCut: false, isComplete: true };
}

function makePlan({ pin = LATEST, served = null, wanted, kind = 'outside' }: Scene): ObservedPromptPlan {
  const [environment, subject] = [ENVIRONMENT, 'environment' as const];
  const observed = served && { ...makeRef(served.number), isManaged: served.isManaged === true };
  const before = served && makeRef(served.number);
  const after = wanted !== undefined && (isNewVersionRef(wanted) || wanted.id !== null) ? wanted : undefined;
  return {
    file: makeFile(pin),
    observed: {
      fields: null,
      type: 'text',
      active: new Map([[ENVIRONMENT, served]]),
      known: [
        ...(served === null ? [] : [served]),
        ...(after !== undefined && 'id' in after ? [managed(after.number ?? 0)] : []),
      ],
      willKnowContent: () => true,
      lacksLedger: false,
      canFindNumbers: false,
      missingIds: [],
      metadata: 'kept',
      problems: [],
      fingerprint: '',
    },
    status: 'pending',
    changes: after === undefined ? [] : [{ kind: 'set-active', environment, before, after }],
    drift: wanted === undefined ? [] : [{ subject, environment, kind, restoresBase: true, expected: wanted, observed }],
    annotations: [],
    problems: [],
    pinsToFind: [],
    pinnedVersions: [],
  };
}

/** Returns the names of the lists that contain the environment. */
function takeOver({ hasBase = true, portablePins = false, environment, ...scene }: Scene): readonly string[] {
  const plan = makePlan(scene);
  const { fields, ...lists } = findServiceChanges(plan, { hasBase, portablePins, environment });
  expect(fields).toEqual([]);
  return Object.entries(lists).flatMap(([name, list]) => (list.length > 0 ? [name] : []));
}

describe('the changes that a pull takes over', () => {
  test.each<[string, Scene, readonly string[]]>([
    [
      'A pull merges the text of a foreign version under latest',
      { served: foreign(4), wanted: makeRef(3) },
      ['textEdits'],
    ],
    [
      'A pull merges the text of a foreign version if no version holds what HEAD wants',
      { served: foreign(4), wanted: NEW },
      ['textEdits'],
    ],
    [
      'A pull merges the text of a foreign version and pins its number under a number',
      { pin: NUMBER, served: foreign(10), wanted: makeRef(9) },
      ['textEdits', 'pinEdits'],
    ],
    [
      'A pull pins the number of a managed version under a number',
      { pin: NUMBER, served: managed(10), wanted: makeRef(9) },
      ['pinEdits'],
    ],
    [
      'A pull takes over nothing from a managed version under latest',
      { served: managed(4), wanted: NEW },
      ['knownVersions'],
    ],
    [
      'A pull only pins a foreign version that is older than the wanted one',
      { served: foreign(2), wanted: makeRef(3) },
      ['pinEdits'],
    ],
    [
      'A pull only pins a managed version that is older than the wanted one',
      { served: managed(2), wanted: makeRef(3) },
      ['pinEdits'],
    ],
    [
      'A pull reports an environment that serves nothing any more',
      { served: null, wanted: makeRef(3) },
      ['deactivated'],
    ],
    [
      'With portable_pins, a pull takes the text of a version that is older than the wanted one',
      { served: managed(2), wanted: makeRef(3), portablePins: true },
      ['textEdits'],
    ],
    [
      'With portable_pins, a pull leaves a git: pin alone',
      { pin: { kind: 'git', ref: 'v1' }, served: foreign(4), wanted: makeRef(3), portablePins: true },
      ['leftAlone'],
    ],
    ['A pull takes over no unfinished sync', { served: foreign(4), wanted: makeRef(3), kind: 'unfinished' }, []],
    [
      'Without a base, a pull takes over every difference',
      { served: foreign(4), wanted: makeRef(3), kind: 'unfinished', hasBase: false },
      ['textEdits'],
    ],
    [
      'Without a base, a pull does not report an environment that serves nothing',
      { wanted: makeRef(3), hasBase: false },
      [],
    ],
    [
      'A pull takes over a version instead of a version number that promptsync does not know',
      { pin: NUMBER, served: foreign(10), wanted: { id: null, number: 9 } },
      ['textEdits', 'pinEdits'],
    ],
    [
      'pull --environment takes over the text of an environment that the file does not pin',
      { pin: null, served: foreign(4), environment: ENVIRONMENT },
      ['textEdits'],
    ],
    ['A pull ignores an environment that the file does not pin', { pin: null, served: foreign(4) }, []],
    [
      'pull --environment ignores the other environments',
      { served: foreign(4), wanted: makeRef(3), environment: 'staging' },
      [],
    ],
  ])('%s', (_, scene, lists) => {
    expect(takeOver(scene)).toEqual(lists);
  });

  test.each<[string, boolean, Drift['kind'], readonly string[]]>([
    ['A pull takes over a field that somebody changed in the service', true, 'outside', ['name']],
    ['A pull takes over no field of an unfinished sync', true, 'unfinished', []],
    ['Without a base, a pull takes over every field that differs', false, 'unfinished', ['name']],
  ])('%s', (_, hasBase, kind, expected) => {
    const drift: Drift = { subject: 'field', field: 'name', kind, restoresBase: true, expected: 'p', observed: 'q' };
    const update = { kind: 'update-prompt' as const, fields: { name: { before: 'q', after: 'p' } } };
    const plan = { ...makePlan({}), changes: [update], drift: [drift] };
    const { fields } = findServiceChanges(plan, { hasBase, portablePins: false });
    expect(fields).toEqual(expected);
  });
});

describe('the pins that a pull does not overwrite without being asked', () => {
  test.each<[string, Pin | null, number]>([
    ['A pull overwrites a pin that HEAD has', NUMBER, 0],
    ['A pull asks before it overwrites a pin that differs from HEAD', { kind: 'number', number: 8 }, 1],
    ['A pull asks before it overwrites a pin that HEAD does not have', null, 1],
  ])('%s', (_, committed, count) => {
    const line = makeLine(makeFile(committed));
    const plan = makePlan({ pin: NUMBER, served: foreign(10), wanted: makeRef(9) });
    const changes = findServiceChanges(plan, { hasBase: true, portablePins: false });
    expect(findContestedPins(changes, line)).toHaveLength(count);
  });
});
