import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/domain/json.ts';
import type { VersionTraits } from '../../src/domain/versions.ts';
import { makeLedgerEntry } from '../../src/ledger/ownership.ts';
import type { LedgerVersion } from '../../src/ledger/version-record.ts';
import { isPromotionAllowed } from '../../src/planning/check-promotions.ts';
import {
  content,
  deepFreeze,
  entry,
  file,
  type FileParts,
  line,
  makePlan,
  MOVING_REF,
  observation,
  observed,
  planLines,
  rules,
  type RulesParts,
  type StateParts,
  version,
  lines,
} from './support.ts';

const PROMOTED = new Map([['production', 'staging']]);

const V6 = version(6, 'Six');
const V7 = version(7, 'Seven', { ledger: [entry(6, 'Six')] });
const V8 = version(8, 'Eight', { ledger: [entry(7, 'Seven'), entry(6, 'Six')] });

type Active = Readonly<Record<string, LedgerVersion | null>>;

/**
 * Parses states of the file, newest first, each in the form `staging/production`. `7` is a number, `-` is no pin, and a
 * word with a capital letter is the text that `latest` wants. Any other word is the pin itself.
 */
function parseStates(words: string): readonly StateParts[] {
  return words.split(' ').map((word) => {
    const pins = ['staging', 'production'].map((name, at): [string, string] => [name, word.split('/')[at] ?? '-']);
    const text = pins.map(([, pin]) => pin).find((pin) => /^[A-Z]/.test(pin)) ?? 'Hello';
    const written = pins.filter(([, pin]) => pin !== '-').map(([name, pin]) => [name, parsePin(pin)]);
    return { text, pins: Object.fromEntries(written) };
  });
}

function parsePin(word: string): string | number {
  if (/^\d+$/.test(word)) return Number(word);
  return /^[A-Z]/.test(word) ? 'latest' : word;
}

/** A promotion of version 7 to production while staging serves version 8 and production serves version 6. */
type Case = {
  readonly target?: VersionTraits;
  readonly active?: Active;
  /** The states of the line, for `parseStates`. */
  readonly states?: string | readonly StateParts[];
  /** Whether older states are unknown, or whether the file came back after a deletion. */
  readonly end?: 'first' | 'cut' | 'returned';
  readonly isOtherSource?: boolean;
};

/** Version 7 with other metadata. */
const withMetadata = (metadata: JsonObject) => makeLedgerEntry(version(7, 'Seven', { metadata }));
const withSeven = (metadata: JsonObject) => version(9, 'Seven', { metadata });
/** The text of version 7, as a version that does not exist yet. */
const NEW: VersionTraits = content('Seven', {});
const NOTHING_WANTED = '8/7 8/6';

const cases: Readonly<Record<string, readonly [title: string, Case, isAllowed: boolean][]>> = {
  'the source serves the version': [
    ['The guard allows a version that staging serves', { active: { staging: V7, production: V6 } }, true],
    ['The guard allows it if production serves nothing', { active: { staging: V7, production: null } }, true],
    [
      'The guard allows a version if staging serves another version with its content',
      { active: { staging: withSeven({}) } },
      true,
    ],
    [
      'The guard refuses a version if staging serves its text with other metadata',
      { active: { staging: withSeven({ model: 'x' }) } },
      false,
    ],
    ['The guard refuses a version if staging serves a newer one', {}, false],
    ['The guard refuses a version if staging serves nothing', { active: { staging: null, production: V6 } }, false],
    [
      'The guard refuses a version if promptsync has not read what staging serves',
      { active: { production: V6 } },
      false,
    ],
  ],
  'the environment serves a newer version': [
    [
      'The guard allows a rollback, although no state wanted the version',
      { active: { staging: V8, production: V8 } },
      true,
    ],
    [
      'The guard refuses an unknown version id, because it may be newer',
      { target: { id: 'ver_7' }, active: { staging: V8, production: V8 } },
      false,
    ],
    ['The guard refuses a version if production serves nothing', { active: { staging: V8, production: null } }, false],
  ],
  'an earlier state wanted the version': [
    ['The guard allows a version that staging was pinned to before production was', { states: '8/7 7/6' }, true],
    ['The guard allows a version that production was pinned to before', { states: '8/7 8/6 8/7' }, true],
    ['The guard allows a version that an earlier state pinned by its id', { states: '8/7 8/6 version:ver_7/6' }, true],
    ['The guard allows a version whose text staging followed with the pin latest', { states: '8/7 Seven/6' }, true],
    [
      'The guard allows a version whose text an earlier state pinned with a commit',
      { states: [{ pins: { production: 7 } }, { text: 'Seven', pins: { staging: 'git:v7' } }] },
      true,
    ],
    [
      'The guard refuses a version if an earlier state wanted its text with other metadata',
      {
        states: [{ pins: { production: 7 } }, { text: 'Seven', metadata: { model: 'x' }, pins: { staging: 'latest' } }],
      },
      false,
    ],
    [
      'The guard allows a version if an earlier state wanted its text and has no metadata',
      { target: withMetadata({ model: 'x' }), states: '8/7 Seven/6' },
      true,
    ],
    [
      'The guard refuses a version that only another environment was pinned to',
      { states: [{ pins: { production: 7 } }, { pins: { canary: 7, production: 6 } }] },
      false,
    ],
    [
      'The guard refuses a version that staging was pinned to only in the commit that pinned production to it',
      { states: '7/7 6/6' },
      false,
    ],
    [
      'The guard refuses a version that staging was pinned to only since production is pinned to it',
      { states: '8/7 7/7 8/7 8/6' },
      false,
    ],
    [
      'The guard refuses a version that an earlier state pinned with a ref that moves',
      { states: [{ pins: { production: 7 } }, { text: 'Seven', pins: { production: `git:${MOVING_REF}` } }] },
      false,
    ],
    [
      'The guard allows the text at a ref that moves if an earlier state wanted it',
      {
        states: [
          { text: 'Seven', pins: { production: `git:${MOVING_REF}` } },
          { text: 'Seven', pins: { production: `git:${MOVING_REF}` } },
          { text: 'Seven', pins: { staging: 'latest' } },
        ],
      },
      true,
    ],
    [
      'The guard allows a version that an earlier state wanted, although older states are unknown',
      { states: '8/7 7/6', end: 'cut' },
      true,
    ],
    [
      'The guard refuses a version that does not exist yet, although an earlier state wanted its content',
      { target: NEW, states: 'Seven/Seven Seven/6' },
      false,
    ],
    ['A refused pin that is reverted and committed again counts as wanted before', { states: '6/7 6/6 6/7 6/6' }, true],
  ],
  'the file was adopted with the pin': [
    ['The guard allows a version that production is pinned to since the first state', { states: '8/7 8/7' }, true],
    [
      'The guard allows a version whose text production follows since the first state',
      { states: 'Seven/Seven Seven/Seven' },
      true,
    ],
    ['The guard refuses it if older states are unknown', { states: '8/7 8/7', end: 'cut' }, false],
    ['The guard refuses it if the file came back after a deletion', { states: '8/7 8/7', end: 'returned' }, false],
    ['The guard refuses it if the first state did not pin production', { states: '8/7 8/-' }, false],
    ['The guard refuses it if the version does not exist yet', { target: NEW, states: 'Seven/Seven' }, false],
  ],
  'another configuration manages the source': [
    [
      'The guard refuses a version, although its own service serves it in an environment with that name',
      { isOtherSource: true, active: { staging: V7, production: V6 } },
      false,
    ],
    ['The guard allows a rollback', { isOtherSource: true, active: { production: V8 } }, true],
    [
      'The guard allows a version that does not exist yet if an earlier state wanted its content there',
      { isOtherSource: true, target: NEW, states: 'Seven/Seven Seven/6' },
      true,
    ],
    [
      'The guard allows a version that does not exist yet if the file was adopted with it',
      { isOtherSource: true, target: NEW, states: 'Seven/Seven' },
      true,
    ],
    [
      'The guard refuses a version that does not exist yet if no earlier state wanted its content',
      { isOtherSource: true, target: NEW, states: 'Seven/Seven Six/Six' },
      false,
    ],
  ],
};

describe.each(Object.entries(cases))('promotion order if %s', (_, rows) => {
  test.each(rows)(
    '%s',
    (_title, { target = withMetadata({}), active = { staging: V8, production: V6 }, ...parts }, isAllowed) => {
      const { states = NOTHING_WANTED, end = 'first', isOtherSource = false } = parts;
      const past = typeof states === 'string' ? parseStates(states) : states;
      const promotion = { environment: 'production', from: 'staging', isOtherSource, target };
      const known = line(past, { isCut: end === 'cut', isComplete: end === 'first' });
      expect(isPromotionAllowed(promotion, observed({ active }), known)).toBe(isAllowed);
    },
  );
});

const REFUSED = 'blocked: guard/promotion-order';
const ORDER = ['staging', 'production'];

/** A file that differs from the service. Its line has another pin for production before. */
type Scene = {
  readonly file: FileParts;
  readonly active: Active;
  readonly rules?: RulesParts;
};

function planOf(scene: Scene) {
  const history = { line: line([scene.file, { pins: { production: 1 } }]) };
  const given = rules({ environmentOrder: ORDER, promotionSources: PROMOTED, history, ...scene.rules });
  const seen = observation(observed({ active: scene.active }));
  return makePlan([deepFreeze(file(scene.file))], deepFreeze(seen), deepFreeze(given)).prompts[0]!;
}

const SERVES = { staging: V7, production: V6 };
const LATER = { ...SERVES, promptsync: V8 };

describe('a plan with promotions', () => {
  test.each<[title: string, FileParts, active: Active, expected: readonly string[]]>([
    [
      'The plan promotes the version that staging serves, even if it moves staging to another version',
      { text: 'Nine', pins: { staging: 'latest', production: 7 } },
      SERVES,
      lines('staging: v7 → new "Nine"', 'production: v6 → v7'),
    ],
    [
      'The plan refuses to promote a version that staging receives only in the same sync',
      { pins: { staging: 8, production: 8 } },
      LATER,
      lines('staging: v7 → v8', 'production: v6 → v8', REFUSED),
    ],
    [
      'The plan refuses to promote text that no version contains yet',
      { text: 'New', pins: { staging: 'latest', production: 'latest' } },
      { staging: V7 },
      lines('staging: v7 → new "New"', 'production: none → new "New"', REFUSED),
    ],
    [
      'If promotion order refuses an unknown version id, the plan does not ask for a probe of that version',
      { pins: { production: 'version:theirs' } },
      SERVES,
      lines('production: v6 → theirs', REFUSED),
    ],
    [
      'If a pin names an unknown version number, the plan reports only that problem and no refused promotion',
      { pins: { production: 99 } },
      SERVES,
      lines('blocked: pin/unknown-number'),
    ],
    [
      'Promotion order refuses no pin that the environment already serves',
      { pins: { production: 6 } },
      { production: V6 },
      [],
    ],
    [
      'Promotion order refuses no version in an environment without a source',
      { pins: { staging: 8 } },
      LATER,
      lines('staging: v7 → v8'),
    ],
  ])('%s', (_, parts, active, expected) => {
    const planned = planLines(planOf({ file: parts, active }));
    expect(planned.filter((one) => !one.startsWith('create'))).toEqual(expected);
  });

  test('One plan restores both environments after somebody moved them back', () => {
    const history = { line: line(parseStates('7/7 7/6 6/6')) };
    const active = { staging: V6, production: V6, promptsync: V7 };
    const plan = planOf({ file: { text: 'Seven', pins: { staging: 7, production: 7 } }, active, rules: { history } });
    expect(planLines(plan)).toEqual(['staging: v6 → v7', 'production: v6 → v7']);
  });

  test('The plan warns about each promotion whose source another configuration manages', () => {
    const pins = { production: 6 };
    const given = { promotionSources: new Map(), otherPromotionSources: PROMOTED };
    const { problems } = planOf({ file: { pins }, active: { production: V8 }, rules: given });
    expect(problems).toMatchObject([{ code: 'pin/source-not-asked', severity: 'warning', line: 5 }]);
  });

  test('In a shallow clone, the refusal names the setting that fetches the whole history', () => {
    const hintIn = (isShallow: boolean) => {
      const history = { line: line([{ pins: { production: 8 } }], { isCut: true }), isShallow };
      return planOf({ file: { pins: { production: 8 } }, active: LATER, rules: { history } }).problems[0]?.hint;
    };
    expect(hintIn(true)).toContain('fetch-depth: 0');
    expect(hintIn(false)).not.toContain('fetch-depth: 0');
  });
});

describe('the hint of a refused promotion', () => {
  test.each([
    ['k/1', 'promptsync promote k/1 --from staging --to production'],
    ['-x', "promptsync promote --from staging --to production -- '-x'"],
    ['$(x)', String.raw`promptsync promote '$\(x\)' --from staging --to production`],
    ['!x', String.raw`promptsync promote '\!x' --from staging --to production`],
    ['é', "promptsync promote 'é' --from staging --to production"],
  ])('The hint for a refused promotion quotes the prompt key %s for the shell', (key, command) => {
    const { problems } = planOf({ file: { key, pins: { production: 8 } }, active: { staging: V7, promptsync: V8 } });
    expect(problems[0]?.hint).toBe(`To promote the version that "staging" serves (v7), run: \`${command}\``);
  });

  const SYNC_STAGING = 'First run `promptsync sync --environment staging`, then sync "production".';
  const STAGING = 'run: `promptsync promote k/1 --from staging --to production`';
  test.each<[string, NonNullable<FileParts['pins']>, Active, required: string, serves: string, hint: string]>([
    [
      'The hint for a refused promotion tells the user to pin staging if staging serves no version',
      { production: 8 },
      { staging: null, production: V6, promptsync: V8 },
      'v8',
      'no version',
      `Pin "staging". Remove the pin for "production" from the file, or pin "production" to its active version (v6). After the next sync, ${STAGING}`,
    ],
    [
      'The hint for a refused promotion suggests syncing staging first if staging changes in the same sync',
      { staging: 8, production: 8 },
      { staging: V7, production: null, promptsync: V8 },
      'v8',
      'v7',
      SYNC_STAGING,
    ],
    [
      'The error for a refused promotion says that the version does not exist yet if no version contains the text of the file',
      { staging: 'latest', production: 'latest' },
      { staging: V7, production: V6 },
      'a version that does not exist yet',
      'v7',
      SYNC_STAGING,
    ],
    [
      'The error for a refused promotion names the version id if the version number is unknown',
      { staging: 7, production: 'version:theirs' },
      { staging: V7, production: V6 },
      'theirs',
      'v7',
      `To promote the version that "staging" serves (v7), ${STAGING}`,
    ],
  ])('%s', (_, pins, active, required, serves, hint) => {
    const { problems } = planOf({ file: { text: 'New', pins }, active });
    const message = `"production" is pinned to ${required}. That version must first be active in "staging", but "staging" serves ${serves}.`;
    expect(problems[0]).toMatchObject({ message, hint });
  });

  test('The error for a refused promotion names the line of the pin and suggests a safely quoted command', () => {
    const { problems } = planOf({
      file: { key: "a'; rm -rf /", pins: { staging: 7, production: 8 } },
      active: { staging: V7, production: V6, promptsync: V8 },
    });
    expect(problems).toMatchObject([
      {
        path: 'prompts/a.md',
        line: 6,
        column: 3,
        message:
          '"production" is pinned to v8. That version must first be active in "staging", but "staging" serves v7.',
        hint: `To promote the version that "staging" serves (v7), run: \`promptsync promote 'a'\\''; rm -rf /' --from staging --to production\``,
      },
    ]);
  });

  test('The hint for a refused promotion first suggests promoting from dev to staging if only dev serves the version', () => {
    const { problems } = planOf({
      file: { pins: { dev: 8, staging: 7, production: 8 } },
      active: { dev: V8, staging: V7, production: V6 },
      rules: {
        promotionSources: new Map([
          ['production', 'staging'],
          ['staging', 'dev'],
        ]),
      },
    });
    expect(problems[0]?.hint).toBe(
      'Run `promptsync promote k/1 --from dev --to staging`, then sync. After that, run: `promptsync promote k/1 --from staging --to production`',
    );
  });
});
