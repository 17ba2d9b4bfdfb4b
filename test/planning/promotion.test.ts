import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/domain/json.ts';
import type { VersionTraits } from '../../src/domain/versions.ts';
import { makeLedgerEntry } from '../../src/providers/four-call/ownership.ts';
import type { LedgerVersion } from '../../src/providers/four-call/version-record.ts';
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
    [
      'The promotion guard allows a version in production if staging serves it',
      { active: { staging: V7, production: V6 } },
      true,
    ],
    [
      'The promotion guard allows a version that staging serves, even if production serves no version',
      { active: { staging: V7, production: null } },
      true,
    ],
    [
      'The promotion guard allows a version if staging serves a different version with the same content',
      { active: { staging: withSeven({}) } },
      true,
    ],
    [
      'The promotion guard refuses a version if staging serves the same text with different metadata',
      { active: { staging: withSeven({ model: 'x' }) } },
      false,
    ],
    ['The promotion guard refuses a version if staging serves a newer version instead', {}, false],
    [
      'The promotion guard refuses a version if staging serves no version',
      { active: { staging: null, production: V6 } },
      false,
    ],
    [
      'The promotion guard refuses a version if promptsync has not read which version staging serves',
      { active: { production: V6 } },
      false,
    ],
  ],
  'the environment serves a newer version': [
    [
      'The promotion guard allows a rollback even if no earlier commit asked for the older version',
      { active: { staging: V8, production: V8 } },
      true,
    ],
    [
      'The promotion guard refuses a pin to an unknown version id, because that version may be newer than the active one',
      { target: { id: 'ver_7' }, active: { staging: V8, production: V8 } },
      false,
    ],
    [
      'The promotion guard refuses a version that staging does not serve if production serves no version',
      { active: { staging: V8, production: null } },
      false,
    ],
  ],
  'an earlier state wanted the version': [
    [
      'The promotion guard allows a version if staging was pinned to it before production was',
      { states: '8/7 7/6' },
      true,
    ],
    [
      'The promotion guard allows production to return to a version that it was pinned to earlier',
      { states: '8/7 8/6 8/7' },
      true,
    ],
    [
      'The promotion guard allows a version if an earlier commit pinned staging to its version id',
      { states: '8/7 8/6 version:ver_7/6' },
      true,
    ],
    [
      'The promotion guard allows a version if an earlier commit contained its text and pinned staging to latest',
      { states: '8/7 Seven/6' },
      true,
    ],
    [
      'The promotion guard allows a version if an earlier commit pinned staging to a fixed git ref with the same text',
      { states: [{ pins: { production: 7 } }, { text: 'Seven', pins: { staging: 'git:v7' } }] },
      true,
    ],
    [
      'The promotion guard refuses a version if earlier commits asked for its text only with different metadata',
      {
        states: [{ pins: { production: 7 } }, { text: 'Seven', metadata: { model: 'x' }, pins: { staging: 'latest' } }],
      },
      false,
    ],
    [
      'The promotion guard ignores the metadata of a version if the earlier commit that asked for its text has no metadata',
      { target: withMetadata({ model: 'x' }), states: '8/7 Seven/6' },
      true,
    ],
    [
      'The promotion guard refuses a version if only environments other than staging and production were pinned to it earlier',
      { states: [{ pins: { production: 7 } }, { pins: { canary: 7, production: 6 } }] },
      false,
    ],
    [
      'The promotion guard refuses a version if one commit pinned both staging and production to it for the first time',
      { states: '7/7 6/6' },
      false,
    ],
    [
      'The promotion guard refuses a version if staging was pinned to it only after production was',
      { states: '8/7 7/7 8/7 8/6' },
      false,
    ],
    [
      'The promotion guard refuses a version if an earlier commit asked for its text only through a moving git ref',
      { states: [{ pins: { production: 7 } }, { text: 'Seven', pins: { production: `git:${MOVING_REF}` } }] },
      false,
    ],
    [
      'The promotion guard allows a pin to a moving git ref if an earlier commit asked for the text that the ref has now',
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
      'The promotion guard allows a version that an earlier commit pinned in staging, even if still older commits are unknown',
      { states: '8/7 7/6', end: 'cut' },
      true,
    ],
    [
      'The promotion guard refuses a version that does not exist yet, even if an earlier commit asked for its content',
      { target: NEW, states: 'Seven/Seven Seven/6' },
      false,
    ],
    [
      'The promotion guard allows a pin that it refused earlier if the pin was reverted and then committed again',
      { states: '6/7 6/6 6/7 6/6' },
      true,
    ],
  ],
  'the file was adopted with the pin': [
    [
      'The promotion guard allows a version that staging does not serve if production has been pinned to it since the first commit',
      { states: '8/7 8/7' },
      true,
    ],
    [
      'The promotion guard allows a version that staging does not serve if production has been pinned to its text since the first commit',
      { states: 'Seven/Seven Seven/Seven' },
      true,
    ],
    [
      'The promotion guard refuses a version that all known commits pin in production if older commits are unknown',
      { states: '8/7 8/7', end: 'cut' },
      false,
    ],
    [
      'The promotion guard refuses a version that staging does not serve if the file was deleted and added again with that pin',
      { states: '8/7 8/7', end: 'returned' },
      false,
    ],
    [
      'The promotion guard refuses a version that staging does not serve if the first commit of the file did not pin production',
      { states: '8/7 8/-' },
      false,
    ],
    [
      'The promotion guard refuses a version that does not exist yet, even if the first commit of the file asked for its content',
      { target: NEW, states: 'Seven/Seven' },
      false,
    ],
  ],
  'another configuration manages the source': [
    [
      "If another configuration manages staging, the promotion guard ignores a staging environment in production's own service",
      { isOtherSource: true, active: { staging: V7, production: V6 } },
      false,
    ],
    [
      'If another configuration manages staging, the promotion guard allows a rollback of production',
      { isOtherSource: true, active: { production: V8 } },
      true,
    ],
    [
      'If another configuration manages staging, the promotion guard allows new content that staging was pinned to earlier',
      { isOtherSource: true, target: NEW, states: 'Seven/Seven Seven/6' },
      true,
    ],
    [
      'If another configuration manages staging, the promotion guard allows new content that the first commit pinned in production',
      { isOtherSource: true, target: NEW, states: 'Seven/Seven' },
      true,
    ],
    [
      'If another configuration manages staging, the promotion guard refuses new content that no earlier commit asked for',
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

test('The promotion guard refuses a default pin even if every earlier state of the file has the same pin', () => {
  const adopted = line(parseStates('8/7'), { isComplete: true });
  const states = adopted.states.map((state) => {
    const pins = state.file.pins.map((pin) => ({ ...pin, path: 'promptsync.yaml' }));
    return { ...state, file: { ...state.file, pins } };
  });
  const promotion = { environment: 'production', from: 'staging', isOtherSource: false, target: withMetadata({}) };
  const observation = observed({ active: { staging: V8, production: V6 } });
  expect(isPromotionAllowed(promotion, observation, adopted)).toBe(true);
  expect(isPromotionAllowed(promotion, observation, { ...adopted, states })).toBe(false);
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
      'The plan promotes the version that staging serves, even if the same plan moves staging to a new version',
      { text: 'Nine', pins: { staging: 'latest', production: 7 } },
      SERVES,
      lines('staging: v7 → new "Nine"', 'production: v6 → v7'),
    ],
    [
      'The plan refuses to promote a version that staging would receive only in the same sync',
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
      'If the promotion guard refuses a pin to an unknown version id, the plan does not look up that version',
      { pins: { production: 'version:theirs' } },
      SERVES,
      lines('production: v6 → theirs', REFUSED),
    ],
    [
      'If a pin names an unknown version number, the plan reports only that problem, not a refused promotion',
      { pins: { production: 99 } },
      SERVES,
      lines('blocked: pin/unknown-number'),
    ],
    [
      'The promotion guard accepts a pin to the version that the environment already serves',
      { pins: { production: 6 } },
      { production: V6 },
      [],
    ],
    [
      'The promotion guard accepts any version in an environment that has no promote_from setting',
      { pins: { staging: 8 } },
      LATER,
      lines('staging: v7 → v8'),
    ],
  ])('%s', (_, parts, active, expected) => {
    const planned = planLines(planOf({ file: parts, active }));
    expect(planned.filter((one) => !one.startsWith('create'))).toEqual(expected);
  });

  test('One plan restores both staging and production after somebody moved them back to an older version', () => {
    const history = { line: line(parseStates('7/7 7/6 6/6')) };
    const active = { staging: V6, production: V6, promptsync: V7 };
    const plan = planOf({ file: { text: 'Seven', pins: { staging: 7, production: 7 } }, active, rules: { history } });
    expect(planLines(plan)).toEqual(['staging: v6 → v7', 'production: v6 → v7']);
  });

  test('The plan warns about each promotion from an environment that another configuration manages', () => {
    const pins = { production: 6 };
    const given = { promotionSources: new Map(), otherPromotionSources: PROMOTED };
    const { problems } = planOf({ file: { pins }, active: { production: V8 }, rules: given });
    expect(problems).toMatchObject([{ code: 'pin/source-not-asked', severity: 'warning', line: 5 }]);
  });

  test('In a shallow clone, the hint for a refused promotion names the setting that fetches the full git history', () => {
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
    ['k/1', 'promptsync promote k/1 --from staging --to production --allow-older'],
    ['-x', "promptsync promote --from staging --to production --allow-older -- '-x'"],
    ['$(x)', String.raw`promptsync promote '$\(x\)' --from staging --to production --allow-older`],
    ['!x', String.raw`promptsync promote '\!x' --from staging --to production --allow-older`],
    ['é', "promptsync promote 'é' --from staging --to production --allow-older"],
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
      'The hint for a refused promotion omits --allow-older if staging serves a newer version than production',
      { staging: 8, production: 7 },
      { staging: V8, production: V6, promptsync: V7 },
      'v7',
      'v8',
      `To promote the version that "staging" serves (v8), ${STAGING}`,
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
        hint: `To promote the version that "staging" serves (v7), run: \`promptsync promote 'a'\\''; rm -rf /' --from staging --to production --allow-older\``,
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
      'First run `promptsync promote k/1 --from dev --to staging`. Then commit the file, run `promptsync sync --environment staging`, then sync "production".',
    );
  });
});
