import { describe, expect, test } from 'vitest';
import { findEnvironmentsPinnedFromStart } from '../../src/desired/read-history.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import type { LedgerVersion } from '../../src/ledger/version-record.ts';
import { findSkippedPromotions, warnAboutSkips } from '../../src/planning/check-promotions.ts';
import {
  content,
  deepFreeze,
  entry,
  file,
  type FileParts,
  formerPins,
  makePlan,
  observation,
  observed,
  outside,
  planLines,
  rules,
  type RulesParts,
  version,
  type WrittenPins,
  lines,
} from './support.ts';

const REFUSED = 'blocked: guard/promotion-order';
const ORDER = ['staging', 'production'];
const PROMOTED = new Map([['production', 'staging']]);

type Scene = {
  readonly file: FileParts;
  readonly active: Readonly<Record<string, LedgerVersion | null>>;
  /** The states of the file at earlier commits, newest first; their text is that of a `latest` pin. */
  readonly former?: Parameters<typeof formerPins>[0];
  readonly rules?: RulesParts;
};

function planOf(scene: Scene) {
  const found = observed({ active: scene.active });
  const former = scene.former ?? [];
  const promotion = {
    promotionSources: PROMOTED,
    formerPins: new Map([['p1', formerPins(former)]]),
    firstAges: former.length === 0 ? new Map<string, number>() : new Map([['p1', former.length - 1]]),
  };
  const given = rules({ environmentOrder: ORDER, ...promotion, ...scene.rules });
  const plan = makePlan([deepFreeze(file(scene.file))], deepFreeze(observation(found)), deepFreeze(given));
  return plan.prompts[0]!;
}

function linesOf(scene: Scene): readonly string[] {
  return planLines(planOf(scene)).filter((line) => !line.startsWith('create'));
}

const V6 = version(6, 'Six');
const V7 = version(7, 'Seven', { ledger: [entry(6, 'Six')] });
const V8 = version(8, 'Eight', { ledger: [entry(7, 'Seven'), entry(6, 'Six')] });

const SERVES = { staging: V7, production: V6 };
const LATER = { ...SERVES, promptsync: V8 };
const follow = { staging: 'latest', production: 'latest' };
const v1 = { refs: { v1: content('Seven') } };

/** Returns active versions whose ledger names an older version of the text Seven with this metadata. */
const withOlderSeven = (metadata: JsonObject) => ({
  staging: version(7, 'Seven', { ledger: [entry(5, 'Seven', { metadata })] }),
  production: V6,
});

test.each<[string, FileParts, Scene['active'], readonly string[], RulesParts?]>([
  [
    'The plan promotes a version that staging serves by its number',
    { pins: { production: 7 } },
    SERVES,
    lines('production: v6 → v7'),
  ],
  [
    'The plan promotes a version to an environment that serves nothing yet',
    { pins: { production: 7 } },
    { staging: V7, production: null },
    lines('production: none → v7'),
  ],
  [
    'The plan promotes a version that staging serves by its id',
    { pins: { production: 'version:ver_7' } },
    SERVES,
    lines('production: v6 → v7'),
  ],
  [
    'The plan promotes a version that staging serves by its content at a git ref',
    { pins: { production: 'git:v1' } },
    SERVES,
    lines('production: v6 → v7'),
    v1,
  ],
  [
    'The plan promotes a version that staging serves by the text of the file',
    { text: 'Seven', pins: { production: 'latest' } },
    SERVES,
    lines('production: v6 → v7'),
  ],
  [
    'The plan promotes what staging serves now even if the same plan moves staging on',
    { text: 'Nine', pins: { staging: 'latest', production: 7 } },
    SERVES,
    lines('staging: v7 → new "Nine"', 'production: v6 → v7'),
  ],
  [
    'The plan promotes another version with the content that staging serves',
    { pins: { production: 5 } },
    withOlderSeven({}),
    lines('production: v6 → v5'),
  ],
  [
    'The plan refuses to promote a version that is newer than the one in staging',
    { pins: { production: 8 } },
    LATER,
    lines('production: v6 → v8', REFUSED),
  ],
  [
    'The plan refuses a promotion if staging serves nothing',
    { pins: { production: 7 } },
    { staging: null, production: V6, promptsync: V7 },
    lines('production: v6 → v7', REFUSED),
  ],
  [
    'The plan refuses a promotion if promptsync did not read staging',
    { pins: { production: 7 } },
    { production: V6, promptsync: V7 },
    lines('production: v6 → v7', REFUSED),
  ],
  [
    'The plan refuses a promotion even if the same plan activates the version in staging',
    { pins: { staging: 8, production: 8 } },
    LATER,
    lines('staging: v7 → v8', 'production: v6 → v8', REFUSED),
  ],
  [
    'The plan refuses to promote a text that no version holds yet',
    { text: 'New', pins: follow },
    { staging: V7 },
    lines('staging: v7 → new "New"', 'production: none → new "New"', REFUSED),
  ],
  [
    'The plan refuses to promote an unknown id and asks for no probe of it',
    { pins: { production: 'version:theirs' } },
    SERVES,
    lines('production: v6 → theirs', REFUSED),
  ],
  [
    'The plan refuses to promote a version with the same text but other metadata',
    { pins: { production: 5 } },
    withOlderSeven({ model: 'x' }),
    lines('production: v6 → v5', REFUSED),
  ],
  ['The plan refuses nothing in an environment that is in sync', { pins: { production: 6 } }, { production: V6 }, []],
  [
    'The plan refuses nothing in an environment without a source environment',
    { pins: { staging: 8 } },
    LATER,
    lines('staging: v7 → v8'),
  ],
  [
    'The plan reports only the unknown number if a promoted number is unknown',
    { pins: { production: 99 } },
    SERVES,
    lines('blocked: pin/unknown-number'),
  ],
])('%s', (_, parts, active, expected, given) => {
  expect(linesOf({ file: parts, active, ...(given && { rules: given }) })).toEqual(expected);
});

describe('the hint of a refused promotion', () => {
  test.each([
    ['k/1', 'promptsync promote k/1 --from staging --to production'],
    ['-x', "promptsync promote --from staging --to production -- '-x'"],
    ['$(x)', String.raw`promptsync promote '$\(x\)' --from staging --to production`],
    ['!x', String.raw`promptsync promote '\!x' --from staging --to production`],
    ['é', "promptsync promote 'é' --from staging --to production"],
  ])('The hint quotes the prompt key %s so that a shell passes it on unchanged', (key, command) => {
    const { problems } = planOf({ file: { key, pins: { production: 8 } }, active: { staging: V7, promptsync: V8 } });
    expect(problems[0]?.hint).toBe(`To promote what "staging" serves (v7), run: ${command}`);
  });

  const STAGING = 'run: promptsync promote k/1 --from staging --to production';
  test.each<[string, NonNullable<FileParts['pins']>, Scene['active'], what: string, hint: string]>([
    [
      'The hint asks for a pin of staging if staging serves nothing',
      { production: 8 },
      { staging: null, production: V6, promptsync: V8 },
      'v8 is not active (it serves nothing)',
      `Pin "staging". Take the pin of "production" out of the file, or pin what is served there (v6); sync, then ${STAGING}`,
    ],
    [
      'The hint asks to remove the pin of production if the same sync changes staging',
      { staging: 8, production: 8 },
      { staging: V7, production: null, promptsync: V8 },
      'v8 is not active (it serves v7)',
      `Take the pin of "production" out of the file; sync, then ${STAGING}`,
    ],
    [
      'The problem says that a version is not created yet if no version holds the text',
      { staging: 'latest', production: 'latest' },
      { staging: V7, production: V6 },
      'a version that does not exist yet is not active (it serves v7)',
      `Take the pin of "production" out of the file, or pin what is served there (v6); sync, then ${STAGING}`,
    ],
    [
      'The problem names the id of a version whose number is unknown',
      { staging: 7, production: 'version:theirs' },
      { staging: V7, production: V6 },
      'theirs is not active (it serves v7)',
      `To promote what "staging" serves (v7), ${STAGING}`,
    ],
  ])('%s', (_, pins, active, what, hint) => {
    const { problems } = planOf({ file: { text: 'New', pins }, active });
    expect(problems[0]).toMatchObject({ message: `"production" is promoted from "staging", where ${what}.`, hint });
  });

  test('A refused promotion names the line of the pin and a safely quoted command', () => {
    const { problems } = planOf({
      file: { key: "a'; rm -rf /", pins: { staging: 7, production: 8 } },
      active: { staging: V7, production: V6, promptsync: V8 },
    });
    expect(problems).toMatchObject([
      {
        path: 'prompts/a.md',
        line: 6,
        column: 3,
        message: '"production" is promoted from "staging", where v8 is not active (it serves v7).',
        hint: `To promote what "staging" serves (v7), run: promptsync promote 'a'\\''; rm -rf /' --from staging --to production`,
      },
    ]);
  });

  test('The hint starts with the earlier step if only an earlier environment serves the version', () => {
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
      'Run: promptsync promote k/1 --from dev --to staging; sync it, then: promptsync promote k/1 --from staging --to production',
    );
  });
});

/**
 * Parses states of the file, newest first, each in the form `staging/production`: `7` is a number, `-` is no pin, and a
 * word is the text that `latest` followed.
 */
function states(words: string): NonNullable<Scene['former']> {
  return words.split(' ').map((word) => {
    const pins = ['staging', 'production'].map((name, at): [string, string] => [name, word.split('/')[at] ?? '-']);
    const text = pins.map(([, pin]) => pin).find((pin) => /^[A-Z]/.test(pin)) ?? 'Hello';
    return {
      text,
      ...Object.fromEntries(pins.filter(([, pin]) => pin !== '-').map(([name, pin]) => [name, pinOf(pin)])),
    };
  });
}

function pinOf(word: string): string | number {
  return /^\d+$/.test(word) ? Number(word) : /^[A-Z]/.test(word) ? 'latest' : word;
}

describe('earlier pins in git', () => {
  const NOW = { staging: V8, production: V7 };
  const MOVED_ON = { staging: V8, production: V6 };
  const BACK = { staging: V6, production: V6, promptsync: V8 };
  const six = { production: 6 };
  const seven = { production: 7 };
  const both = { staging: 7, production: 7 };

  test.each<
    [string, FileParts['pins'] & object, Scene['active'], former: string, 'allowed' | 'refused', text?: string]
  >([
    ['The plan accepts a rollback to an earlier pin of the environment', six, NOW, '-/7 -/6', 'allowed'],
    ['The plan accepts a committed rollback to a pin several commits earlier', six, NOW, '-/6 -/8 -/7 -/6', 'allowed'],
    ['The plan recognizes a rollback by its content', { production: 'latest' }, NOW, '-/7 -/Six', 'allowed', 'Six'],
    ['The plan recognizes a rollback by the version id', six, NOW, '-/7 -/version:ver_6', 'allowed'],
    ['The plan refuses a version that was earlier pinned only in another environment', six, NOW, '8/7 6/-', 'refused'],
    ['The plan restores a version that was promoted through staging', seven, MOVED_ON, '8/7 7/7 7/6', 'allowed'],
    [
      'The plan recognizes by its text that a version came through staging',
      seven,
      MOVED_ON,
      'Eight/7 Seven/6',
      'allowed',
    ],
    ['The plan refuses a skipped promotion however old its commit is', seven, MOVED_ON, '8/7 8/6', 'refused'],
    ['The plan refuses a version that one commit pinned in both environments', seven, BACK, '7/7 6/6', 'refused'],
    ['The plan refuses a version that staging was pinned to only later', seven, MOVED_ON, '8/7 7/7 -/7 6/-', 'refused'],
    ['The plan refuses a version that neither environment has served yet', both, BACK, '7/7 7/6 6/6', 'refused'],
    [
      'The plan refuses a version for production if production serves nothing yet',
      both,
      { ...BACK, production: null },
      '7/7 7/- 6/-',
      'refused',
    ],
    [
      'The plan restores both environments after somebody changed them',
      both,
      { staging: V8, production: V8 },
      '7/7 7/6 6/6',
      'allowed',
    ],
    ['The plan accepts the version that the first state of the file pinned', seven, MOVED_ON, '8/7 7/7', 'allowed'],
    [
      'The plan refuses a version if the first state of the file did not pin staging',
      seven,
      MOVED_ON,
      '-/7',
      'refused',
    ],
    [
      'The plan refuses a text that no version holds even if both environments follow it',
      { staging: 'latest', production: 'latest' },
      { staging: V7, production: V6 },
      ...(['New/New', 'refused', 'New'] as const),
    ],
    [
      'The plan finishes an interrupted run that already moved staging on',
      { staging: 8, production: 7 },
      ...([MOVED_ON, '7/6', 'allowed'] as const),
    ],
    [
      'The plan refuses a promotion if staging does not serve what the file pins there',
      { staging: 9, production: 7 },
      { ...MOVED_ON, promptsync: version(9, 'Nine') },
      ...(['7/6', 'refused'] as const),
    ],
    [
      'The plan refuses a version if the sync of its staging pin may have been refused',
      { staging: 6, production: 7 },
      ...([BACK, '7/8 6/6', 'refused'] as const),
    ],
    [
      'The plan refuses to promote a version that staging was rolled back from',
      { staging: 6, production: 7 },
      { ...BACK, production: version(5, 'Five') },
      ...(['7/5', 'refused'] as const),
    ],
    ['The plan refuses a promotion if the file no longer pins staging', seven, MOVED_ON, '7/6', 'refused'],
    [
      'The plan refuses a version if staging was pinned to another one in between',
      { staging: 8, production: 7 },
      ...([MOVED_ON, '6/6 7/6', 'refused'] as const),
    ],
    [
      'The plan refuses a promotion if the previous state did not pin staging',
      { staging: 8, production: 7 },
      MOVED_ON,
      '-/6 7/6',
      'refused',
    ],
    [
      'The plan refuses to restore a newer version whose earlier pin skipped staging',
      { staging: 6, production: 7 },
      ...([BACK, '6/7 6/6 6/7 6/6', 'refused'] as const),
    ],
    [
      'The plan accepts a rollback to an older version whose earlier pin skipped staging',
      { staging: 8, production: 6 },
      ...([NOW, '8/7 8/6 8/8', 'allowed'] as const),
    ],
    [
      'The plan accepts the revert of a rollback if the newer version was promoted before',
      { staging: 8, production: 7 },
      ...([MOVED_ON, '8/7 8/6 8/7 7/7 7/6', 'allowed'] as const),
    ],
    [
      'The plan refuses the previous pin of staging while staging serves an older version',
      { staging: 8, production: 7 },
      ...([BACK, '8/7 7/6 6/6', 'refused'] as const),
    ],
    [
      'The plan refuses a version that staging was pinned to before its previous pin',
      { staging: 8, production: 7 },
      ...([MOVED_ON, '8/7 8/6 7/6', 'refused'] as const),
    ],
    ['The plan ignores an earlier pin to a git ref that no longer exists', six, NOW, '-/7 -/git:gone', 'refused'],
    [
      'The plan refuses to restore a newer version that was pinned while staging had no pin',
      { staging: 6, production: 7 },
      ...([BACK, '6/7 6/6 6/7 -/6', 'refused'] as const),
    ],
    [
      'The plan refuses to restore a newer version if the state before its pin had no pins',
      { staging: 6, production: 7 },
      ...([BACK, '6/7 6/6 6/7 -/-', 'refused'] as const),
    ],
    [
      'The plan restores a newer version that the first state of the file pinned',
      { staging: 6, production: 7 },
      ...([BACK, '6/7 6/6 6/7', 'allowed'] as const),
    ],
  ])('%s', (_, pins, active, former, verdict, text = 'Hello') => {
    const planned = planOf({ file: { text, pins }, active, former: states(former) });
    const refused = planned.problems.some(({ code }) => code === 'guard/promotion-order');
    expect([refused, planned.status]).toEqual(verdict === 'refused' ? [true, 'blocked'] : [false, 'pending']);
  });

  test.each<[string, string, 'allowed' | 'refused']>([
    ['The plan does not take an earlier pin to a moved tag for a rollback', 'git:release', 'refused'],
    ['The plan takes an earlier pin to a commit with the same text for a rollback', `git:${'a'.repeat(40)}`, 'allowed'],
  ])('%s', (_, pin, verdict) => {
    const former = [{ production: 7 }, { text: 'Six', production: pin }, { production: 7 }];
    const lines = linesOf({ file: { pins: six }, active: NOW, former });
    expect(lines.includes(REFUSED)).toBe(verdict === 'refused');
  });

  test('The plan refuses to restore a newer version if git may hide the first state of the file', () => {
    const rules = { firstAges: new Map<string, number>() };
    const former = states('6/7 6/6 6/7');
    expect(linesOf({ file: { pins: { staging: 6, production: 7 } }, active: BACK, former, rules })).toContain(REFUSED);
  });

  test('The plan accepts a rollback to an earlier text only if a version holds that text', () => {
    const refused = ['Six', 'New'].map((text) => {
      const former = states(`-/7 -/${text}`);
      return linesOf({ file: { text, pins: { production: 'latest' } }, active: NOW, former }).includes(REFUSED);
    });
    expect(refused).toEqual([false, true]);
  });

  test('The plan ignores the earlier pins of other prompts', () => {
    const others = new Map([['p2', formerPins(states('-/7 -/6'))]]);
    expect(linesOf({ file: { pins: six }, active: NOW, rules: { formerPins: others } })).toContain(REFUSED);
  });
});

describe('skipWarnings', () => {
  test.each<[string, WrittenPins, readonly WrittenPins[], warned: boolean]>([
    [
      'promptsync warns about a number in production that was never pinned in staging',
      { staging: 1, production: 2 },
      [{ staging: 1, production: 1 }],
      true,
    ],
    [
      'promptsync does not warn if both environments pin the same number',
      { staging: 2, production: 2 },
      [{ staging: 1, production: 1 }],
      false,
    ],
    [
      'promptsync does not warn if staging follows the file',
      { staging: 'latest', production: 2 },
      [{ production: 1 }],
      false,
    ],
    [
      'promptsync does not warn if production is pinned by a git ref',
      { staging: 1, production: 'git:v1' },
      [{ staging: 1, production: 1 }],
      false,
    ],
    ['promptsync does not warn if staging is not pinned', { production: 2 }, [{ production: 1 }], false],
    [
      'promptsync does not warn if staging was once pinned to the number',
      { staging: 1, production: 2 },
      [{ staging: 2, production: 1 }],
      false,
    ],
    [
      'promptsync does not warn about a rollback of production',
      { staging: 1, production: 2 },
      [{ production: 1 }, { production: 2 }],
      false,
    ],
    [
      'promptsync does not warn if staging once followed the file',
      { staging: 1, production: 2 },
      [{ staging: 'latest', production: 1 }],
      false,
    ],
    ['promptsync does not warn about the first state of a file', { staging: 1, production: 2 }, [], false],
    [
      'promptsync does not warn if production was never pinned before',
      { staging: 1, production: 2 },
      [{ staging: 1 }],
      false,
    ],
  ])('%s', (_, pins, former, warned) => {
    const warnings = warnAboutSkips(findSkippedPromotions(file({ pins }), PROMOTED), formerPins(former));
    expect(warnings.map(({ severity, line, message }) => `${severity} ${line} ${message}`)).toEqual(
      warned
        ? ['warning 6 "production" is pinned to version 2, which git does not know of in "staging" before it.']
        : [],
    );
  });
});

describe('pins from an import', () => {
  const theirs = { staging: version(9, 'Nine'), production: outside(8, 'Theirs') };
  const alwaysPinned = new Map([['p1', new Set(['production'])]]);

  test.each<[string, WrittenPins, Scene['active'], RulesParts, boolean]>([
    [
      'The plan restores an imported pin before the first sync',
      { production: 'version:ver_6' },
      { ...theirs, promptsync: null },
      {},
      true,
    ],
    [
      'The plan restores a pin that the file has had since its first commit',
      { production: 6 },
      LATER,
      { alwaysPinned },
      true,
    ],
    [
      'The plan refuses a pin if the file once pinned another version',
      { production: 6 },
      { ...LATER, production: V8 },
      {},
      false,
    ],
    [
      'The plan refuses a followed text even if the file has always pinned it',
      { production: 'latest' },
      { ...theirs, promptsync: V8 },
      { alwaysPinned },
      false,
    ],
  ])('%s', (_, pins, active, rules, allowed) => {
    const lines = linesOf({ file: { pins }, active: { ...active, staging: version(9, 'Nine') }, rules });
    expect(lines.includes(REFUSED)).toBe(!allowed);
  });
});

test('findEnvironmentsPinnedFromStart returns environments whose pin never changed since the known first commit', () => {
  const one = file({ pins: { staging: 'latest', production: 6 } });
  const history = (isComplete: boolean, ...states: readonly WrittenPins[]) => {
    return { commits: states.map((_, age) => `c${age}`), pins: formerPins(states), isComplete };
  };
  const same = { staging: 'latest', production: 6 };
  expect(findEnvironmentsPinnedFromStart(one, history(true, same, same))).toEqual(new Set(['staging', 'production']));
  expect(findEnvironmentsPinnedFromStart(one, history(true, same, { ...same, production: 7 }, same))).toEqual(
    new Set(['staging']),
  );
  expect(findEnvironmentsPinnedFromStart(one, history(true, same, { staging: 'latest' }))).toEqual(
    new Set(['staging']),
  );
  expect([
    findEnvironmentsPinnedFromStart(one, history(false, same)),
    findEnvironmentsPinnedFromStart(one, history(true)),
  ]).toEqual([new Set(), new Set()]);
});
