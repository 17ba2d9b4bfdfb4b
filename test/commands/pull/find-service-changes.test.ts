import { describe, expect, test } from 'vitest';
import { findContestedPins, findServiceChanges } from '../../../src/commands/pull/find-service-changes.ts';
import { digestText, EMPTY_METADATA_DIGEST, makeContent } from '../../../src/domain/content.ts';
import {
  type Drift,
  isNewVersionRef,
  type NewVersionRef,
  type ObservedPromptPlan,
  type WantedVersionRef,
} from '../../../src/domain/plan.ts';
import type { Pin, PromptFile } from '../../../src/domain/prompt-file.ts';
import type { KnownVersion, VersionRef } from '../../../src/domain/versions.ts';
import { EMPTY_LINE, type Line } from '../../../src/history/line-of-states.ts';
import { canPullDrift } from '../../../src/planning/choose-pull.ts';

const ENVIRONMENT = 'production';
const LATEST: Pin = { kind: 'latest' };
const NUMBER: Pin = { kind: 'number', number: 9 };

const makeText = (text: string) => makeContent(digestText(text), undefined);
const makeRef = (number: number): VersionRef => ({ id: `v${number}`, number });
const NEW: NewVersionRef = { newContent: makeText('new') };

function makeVersion(number: number, isManaged: boolean, text = `v${number}`): KnownVersion {
  const digests = { digest: digestText(text).digest, metadataDigest: EMPTY_METADATA_DIGEST };
  return { ...digests, id: `v${number}`, number, isManaged, source: null, staysKnown: true, content: null };
}

const foreign = (number: number, text?: string) => makeVersion(number, false, text);
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

/** Returns true if promptsync created the version, or if it has the text of the only state of the line. */
function hasGit({ isManaged, digest }: KnownVersion): boolean {
  return isManaged === true || digest === makeText('file').digest;
}

function makePlan({ pin = LATEST, served = null, wanted, kind = 'outside' }: Scene): ObservedPromptPlan {
  const [environment, subject] = [ENVIRONMENT, 'environment' as const];
  const observed = served && {
    ...makeRef(served.number),
    isManaged: served.isManaged === true,
    isInGit: hasGit(served),
  };
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
  const { fields, ...lists } = findServiceChanges(plan, makeLine(plan.file), { hasBase, portablePins, environment });
  expect(fields).toEqual([]);
  return Object.entries(lists).flatMap(([name, list]) => (list.length > 0 ? [name] : []));
}

const SCENES: readonly (readonly [title: string, scene: Scene, lists: readonly string[]])[] = [
  ['a foreign version under latest: merges the text', { served: foreign(4), wanted: makeRef(3) }, ['textEdits']],
  [
    'a foreign version under latest, not synced yet: merges the text',
    { served: foreign(4), wanted: NEW },
    ['textEdits'],
  ],
  [
    'a foreign version under a number: merges the text and updates the pin',
    { pin: NUMBER, served: foreign(10), wanted: makeRef(9) },
    ['textEdits', 'pinEdits'],
  ],
  [
    'a managed version under a number: only updates the pin',
    { pin: NUMBER, served: managed(10), wanted: makeRef(9) },
    ['pinEdits'],
  ],
  ['a managed version under latest: changes nothing', { served: managed(4), wanted: NEW }, ['textsInGit']],
  ['an older foreign version: only pins it', { served: foreign(2), wanted: makeRef(3) }, ['pinEdits']],
  ['an older managed version: only pins it', { served: managed(2), wanted: makeRef(3) }, ['pinEdits']],
  ['no version: reports the environment', { served: null, wanted: makeRef(3) }, ['deactivated']],
  [
    'an older version with portable_pins: takes the text',
    { served: managed(2), wanted: makeRef(3), portablePins: true },
    ['textEdits'],
  ],
  [
    'a git: pin with portable_pins: leaves the environment alone',
    { pin: { kind: 'git', ref: 'v1' }, served: foreign(4), wanted: makeRef(3), portablePins: true },
    ['leftAlone'],
  ],
  [
    'a difference from an unfinished sync: changes nothing',
    { served: foreign(4), wanted: makeRef(3), kind: 'unfinished' },
    [],
  ],
  [
    'any difference without a base commit: merges the text',
    { served: foreign(4), wanted: makeRef(3), kind: 'unfinished', hasBase: false },
    ['textEdits'],
  ],
  ['no version without a base commit: reports nothing', { wanted: makeRef(3), hasBase: false }, []],
  [
    'an unknown pinned number: pins the served version and merges its text',
    { pin: NUMBER, served: foreign(10), wanted: { id: null, number: 9 } },
    ['textEdits', 'pinEdits'],
  ],
  [
    'an unknown pinned number without a base: pins the served version and merges its text',
    { pin: NUMBER, served: foreign(10), wanted: { id: null, number: 9 }, hasBase: false },
    ['textEdits', 'pinEdits'],
  ],
  [
    'the unpinned environment of --environment, even if git has its text: merges the text',
    { pin: null, served: foreign(10, 'file'), environment: ENVIRONMENT },
    ['textEdits'],
  ],
  [
    'a served text that git has: only pins the version',
    { pin: NUMBER, served: foreign(10, 'file'), wanted: makeRef(9) },
    ['pinEdits'],
  ],
  [
    'the unpinned environment of --environment: merges the text',
    { pin: null, served: foreign(4), environment: ENVIRONMENT },
    ['textEdits'],
  ],
  ['an unpinned environment without --environment: changes nothing', { pin: null, served: foreign(4) }, []],
  [
    'an environment other than that of --environment: changes nothing',
    { served: foreign(4), wanted: makeRef(3), environment: 'staging' },
    [],
  ],
];

describe('the changes that a pull takes over', () => {
  test.each(SCENES)('pull of %s', (_, scene, lists) => {
    expect(takeOver(scene)).toEqual(lists);
  });

  test('canPullDrift returns true exactly when findServiceChanges finds an edit for the prompt file', () => {
    const scenes = SCENES.filter(([, { hasBase = true, environment, kind }]) => {
      return hasBase && environment === undefined && kind === undefined;
    });
    for (const [title, scene, lists] of scenes) {
      const { file, drift } = makePlan(scene);
      const helps = drift.some((one) => canPullDrift(one, file, scene.portablePins ?? false));
      expect([title, helps]).toEqual([title, lists.some((list) => ['textEdits', 'pinEdits'].includes(list))]);
    }
  });

  test.each<[string, boolean, Drift['kind'], readonly string[]]>([
    ['pull updates a field that somebody changed in the service', true, 'outside', ['name']],
    ['pull updates a field only if the difference does not come from an unfinished sync', true, 'unfinished', []],
    ['pull updates a field that differs if there is no base commit', false, 'unfinished', ['name']],
  ])('%s', (_, hasBase, kind, expected) => {
    const drift: Drift = { subject: 'field', field: 'name', kind, restoresBase: true, expected: 'p', observed: 'q' };
    const update = { kind: 'update-prompt' as const, fields: { name: { before: 'q', after: 'p' } } };
    const plan = { ...makePlan({}), changes: [update], drift: [drift] };
    const { fields } = findServiceChanges(plan, EMPTY_LINE, { hasBase, portablePins: false });
    expect(fields).toEqual(expected);
  });
});

test.each<[string, Pin | null, number]>([
  ['pull overwrites a pin even without --theirs if HEAD contains the same pin', NUMBER, 0],
  ['pull overwrites a pin that differs from the pin at HEAD only with --theirs', { kind: 'number', number: 8 }, 1],
  ['pull overwrites a pin only with --theirs if HEAD contains no pin for the environment', null, 1],
])('%s', (_, committed, count) => {
  const line = makeLine(makeFile(committed));
  const plan = makePlan({ pin: NUMBER, served: foreign(10), wanted: makeRef(9) });
  const changes = findServiceChanges(plan, line, { hasBase: true, portablePins: false });
  expect(findContestedPins(changes, line)).toHaveLength(count);
});
