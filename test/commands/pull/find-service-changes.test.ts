import { describe, expect, test } from 'vitest';
import { findContestedPins, findServiceChanges } from '../../../src/commands/pull/find-service-changes.ts';
import { digestText, EMPTY_METADATA_DIGEST, makeContent } from '../../../src/domain/content.ts';
import {
  type Drift,
  isNewVersionRef,
  type ObservedPromptPlan,
  type WantedVersionRef,
} from '../../../src/domain/plan.ts';
import type { Pin, PromptFile } from '../../../src/domain/prompt-file.ts';
import type { KnownVersion, VersionRef } from '../../../src/domain/versions.ts';
import { EMPTY_LINE, type Line } from '../../../src/history/line-of-states.ts';
import { canPullDrift } from '../../../src/planning/choose-pull.ts';

const ENVIRONMENT = 'production';
const NUMBER: Pin = { kind: 'number', number: 9 };

const makeText = (text: string) => makeContent(digestText(text), undefined);
const makeRef = (number: number): VersionRef => ({ id: `v${number}`, number });

function makeVersion(number: number, isManaged: boolean, text = `v${number}`): KnownVersion {
  const digests = { digest: digestText(text).digest, metadataDigest: EMPTY_METADATA_DIGEST };
  return { ...digests, id: `v${number}`, number, isManaged, source: null, staysKnown: true, content: null };
}

/** The state of an environment. `wanted` is null if the environment has no drift. */
type Scene = {
  readonly pin: Pin | null;
  readonly served: KnownVersion | null;
  readonly wanted: WantedVersionRef | null;
  readonly kind?: Drift['kind'];
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

function makePlan({ pin, served, wanted, kind = 'outside' }: Scene): ObservedPromptPlan {
  const [environment, subject] = [ENVIRONMENT, 'environment' as const];
  const observed = served && {
    ...makeRef(served.number),
    isManaged: served.isManaged === true,
    isInGit: hasGit(served),
  };
  const before = served && makeRef(served.number);
  const after = wanted !== null && (isNewVersionRef(wanted) || wanted.id !== null) ? wanted : undefined;
  return {
    file: makeFile(pin),
    observed: {
      fields: null,
      type: 'text',
      active: new Map([[ENVIRONMENT, served]]),
      known: [
        ...(served === null ? [] : [served]),
        ...(after !== undefined && 'id' in after ? [makeVersion(after.number ?? 0, true)] : []),
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
    drift: wanted === null ? [] : [{ subject, environment, kind, restoresBase: true, expected: wanted, observed }],
    annotations: [],
    problems: [],
    pinsToFind: [],
    pinnedVersions: [],
  };
}

function parsePin(word: string): Pin | null {
  if (word === '-') return null;
  if (word.startsWith('git:')) return { kind: 'git', ref: word.slice('git:'.length) };
  return word === 'latest' ? { kind: 'latest' } : { kind: 'number', number: Number(word) };
}

/** Parses for example `4`, for a managed version, `~4`, for a foreign one, or `~4=file`, for one with this text. */
function parseServed(word: string): KnownVersion | null {
  const [, tilde, number, text] = /^(~?)(\d+)(?:=(.*))?$/.exec(word) ?? [];
  return number === undefined ? null : makeVersion(Number(number), tilde === '', text);
}

function parseWanted(word: string): WantedVersionRef | null {
  if (word === '-') return null;
  if (word === 'new') return { newContent: makeText('new') };
  return word.startsWith('?') ? { id: null, number: Number(word.slice(1)) } : makeRef(Number(word));
}

/** Rows `title: 'PIN | SERVED VERSION | WANTED VERSION | changes | FLAGS'`. promptsync knows no version such as `?9`. */
const ROWS: Readonly<Record<string, string>> = {
  'pull merges the text of a foreign version under latest': 'latest | ~4 | 3 | textEdits',
  'pull merges the text of a foreign version under a number and updates the pin': '9 | ~10 | 9 | textEdits pinEdits',
  'pull only updates the pin for a managed version under a number': '9 | 10 | 9 | pinEdits',
  'pull only updates the pin for a served text that git has': '9 | ~10=file | 9 | pinEdits',
  'pull changes nothing for a managed version under latest': 'latest | 4 | new | textsInGit',
  'pull only pins an older version': 'latest | ~2 | 3 | pinEdits',
  'pull reports an environment that serves no version': 'latest | - | 3 | deactivated',
  'pull takes the text of an older version with portable_pins': 'latest | 2 | 3 | textEdits | portable',
  'pull leaves an environment with a git: pin alone with portable_pins': 'git:v1 | ~4 | 3 | leftAlone | portable',
  'pull changes nothing for a difference from an unfinished sync': 'latest | ~4 | 3 |  | unfinished',
  'pull merges the text of any difference without a base commit': 'latest | ~4 | 3 | textEdits | baseless unfinished',
  'pull reports no missing version without a base commit': 'latest | - | 3 |  | baseless',
  'pull pins the served version and merges its text under an unknown number': '9 | ~10 | ?9 | textEdits pinEdits',
  'pull pins the served version and merges its text under an unknown number without a base commit':
    '9 | ~10 | ?9 | textEdits pinEdits | baseless',
  'pull merges the text of the unpinned environment of --environment even if git has the text':
    '- | ~10=file | - | textEdits | --environment production',
  'pull changes nothing in an unpinned environment without --environment': '- | ~4 | - | ',
  'pull changes nothing in an environment other than that of --environment':
    'latest | ~4 | 3 |  | --environment staging',
};

function parseRow(row: string) {
  const [pin = '', served = '', wanted = '', lists = '', flags = ''] = row.split(' | ');
  const kind = flags.includes('unfinished') ? 'unfinished' : 'outside';
  const environment = /^--environment (.*)$/.exec(flags)?.[1];
  return {
    plan: makePlan({ pin: parsePin(pin), served: parseServed(served), wanted: parseWanted(wanted), kind }),
    rules: { hasBase: !flags.includes('baseless'), portablePins: flags === 'portable', environment },
    lists: lists.split(' ').filter(Boolean),
    isPlain: flags === '' || flags === 'portable',
  };
}

describe('the changes that a pull takes over', () => {
  test.each(Object.entries(ROWS))('%s', (_, row) => {
    const { plan, rules, lists } = parseRow(row);
    const { fields, ...changes } = findServiceChanges(plan, makeLine(plan.file), rules);
    const found = Object.entries(changes).flatMap(([name, list]) => (list.length > 0 ? [name] : []));
    expect({ found, fields }).toEqual({ found: lists, fields: [] });
  });

  test('canPullDrift returns true exactly when findServiceChanges finds an edit for the prompt file', () => {
    for (const [title, row] of Object.entries(ROWS)) {
      const { plan, rules, lists, isPlain } = parseRow(row);
      if (!isPlain) continue;
      const helps = plan.drift.some((one) => canPullDrift(one, plan.file, rules.portablePins));
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
    const plan = { ...parseRow('latest | - | - | ').plan, changes: [update], drift: [drift] };
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
  const { plan } = parseRow('9 | ~10 | 9 | ');
  const changes = findServiceChanges(plan, line, { hasBase: true, portablePins: false });
  expect(findContestedPins(changes, line)).toHaveLength(count);
});
