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
    'The plan promotes a version that is pinned by number if staging serves that version',
    { pins: { production: 7 } },
    SERVES,
    lines('production: v6 → v7'),
  ],
  [
    'The plan promotes a version to an environment that does not serve any version yet',
    { pins: { production: 7 } },
    { staging: V7, production: null },
    lines('production: none → v7'),
  ],
  [
    'The plan promotes a version that is pinned by id if staging serves that version',
    { pins: { production: 'version:ver_7' } },
    SERVES,
    lines('production: v6 → v7'),
  ],
  [
    'The plan promotes the content at a pinned git ref if staging serves a version with that content',
    { pins: { production: 'git:v1' } },
    SERVES,
    lines('production: v6 → v7'),
    v1,
  ],
  [
    'The plan promotes the text of the file if staging serves a version with that text',
    { text: 'Seven', pins: { production: 'latest' } },
    SERVES,
    lines('production: v6 → v7'),
  ],
  [
    'The plan promotes the version that staging currently serves even if the same plan activates a new version in staging',
    { text: 'Nine', pins: { staging: 'latest', production: 7 } },
    SERVES,
    lines('staging: v7 → new "Nine"', 'production: v6 → v7'),
  ],
  [
    'The plan promotes a pinned version if staging serves a different version with the same content',
    { pins: { production: 5 } },
    withOlderSeven({}),
    lines('production: v6 → v5'),
  ],
  [
    'The promotion guard refuses to promote a version that is newer than the version in staging',
    { pins: { production: 8 } },
    LATER,
    lines('production: v6 → v8', REFUSED),
  ],
  [
    'The promotion guard refuses a promotion if staging does not serve any version',
    { pins: { production: 7 } },
    { staging: null, production: V6, promptsync: V7 },
    lines('production: v6 → v7', REFUSED),
  ],
  [
    'The promotion guard refuses a promotion if promptsync has not read which version staging serves',
    { pins: { production: 7 } },
    { production: V6, promptsync: V7 },
    lines('production: v6 → v7', REFUSED),
  ],
  [
    'The promotion guard refuses to promote a version to production if staging receives that version only in the same sync',
    { pins: { staging: 8, production: 8 } },
    LATER,
    lines('staging: v7 → v8', 'production: v6 → v8', REFUSED),
  ],
  [
    'The promotion guard refuses to promote text that no version contains yet',
    { text: 'New', pins: follow },
    { staging: V7 },
    lines('staging: v7 → new "New"', 'production: none → new "New"', REFUSED),
  ],
  [
    'If the promotion guard refuses an unknown version id, the plan does not request a probe of that version',
    { pins: { production: 'version:theirs' } },
    SERVES,
    lines('production: v6 → theirs', REFUSED),
  ],
  [
    'The promotion guard refuses a version that has the same text as the version in staging but different metadata',
    { pins: { production: 5 } },
    withOlderSeven({ model: 'x' }),
    lines('production: v6 → v5', REFUSED),
  ],
  [
    'The promotion guard accepts a pin if the environment already serves the pinned version',
    { pins: { production: 6 } },
    { production: V6 },
    [],
  ],
  [
    'The promotion guard accepts any version in an environment that has no promotion source',
    { pins: { staging: 8 } },
    LATER,
    lines('staging: v7 → v8'),
  ],
  [
    'If a production pin names an unknown version number, the plan reports only that problem and no refused promotion',
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
  ])('The hint for a refused promotion quotes the prompt key %s for the shell', (key, command) => {
    const { problems } = planOf({ file: { key, pins: { production: 8 } }, active: { staging: V7, promptsync: V8 } });
    expect(problems[0]?.hint).toBe(`To promote the version that "staging" serves (v7), run: \`${command}\``);
  });

  const SYNC_STAGING = 'First run `promptsync sync --environment staging`, then sync "production".';
  const STAGING = 'run: `promptsync promote k/1 --from staging --to production`';
  test.each<[string, NonNullable<FileParts['pins']>, Scene['active'], required: string, serves: string, hint: string]>([
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
    [
      'The promotion guard accepts a rollback to a version that was pinned earlier in the same environment',
      six,
      NOW,
      '-/7 -/6',
      'allowed',
    ],
    [
      'The promotion guard accepts a committed rollback to a version that was last pinned several commits earlier',
      six,
      NOW,
      '-/6 -/8 -/7 -/6',
      'allowed',
    ],
    [
      'The promotion guard recognizes a rollback if the text of the file matches the text at an earlier commit',
      { production: 'latest' },
      NOW,
      '-/7 -/Six',
      'allowed',
      'Six',
    ],
    [
      'The promotion guard recognizes a rollback to a version number if an earlier commit pinned the same version by id',
      six,
      NOW,
      '-/7 -/version:ver_6',
      'allowed',
    ],
    [
      'The promotion guard refuses a version that was previously pinned only in a different environment',
      six,
      NOW,
      '8/7 6/-',
      'refused',
    ],
    [
      'The promotion guard accepts restoring a version in production if that version was promoted through staging',
      seven,
      MOVED_ON,
      '8/7 7/7 7/6',
      'allowed',
    ],
    [
      'The promotion guard accepts restoring a version if staging was pinned to latest while the file held the text of that version',
      seven,
      MOVED_ON,
      'Eight/7 Seven/6',
      'allowed',
    ],
    [
      'The promotion guard refuses a version that was pinned in production but never in staging',
      seven,
      MOVED_ON,
      '8/7 8/6',
      'refused',
    ],
    [
      'The promotion guard refuses a version that was pinned in staging and production in the same commit',
      seven,
      BACK,
      '7/7 6/6',
      'refused',
    ],
    [
      'The promotion guard refuses a version that was pinned in production before it was pinned in staging',
      seven,
      MOVED_ON,
      '8/7 7/7 -/7 6/-',
      'refused',
    ],
    [
      'The promotion guard refuses a version that was promoted in git if both environments still serve an older version',
      both,
      BACK,
      '7/7 7/6 6/6',
      'refused',
    ],
    [
      'The promotion guard refuses a version that was promoted in git if staging serves an older version and production serves none',
      both,
      { ...BACK, production: null },
      '7/7 7/- 6/-',
      'refused',
    ],
    [
      'The promotion guard lets the plan restore both environments after somebody activated a newer version there',
      both,
      { staging: V8, production: V8 },
      '7/7 7/6 6/6',
      'allowed',
    ],
    [
      'The promotion guard accepts a version that the first commit of the file pinned in both environments',
      seven,
      MOVED_ON,
      '8/7 7/7',
      'allowed',
    ],
    [
      'The promotion guard refuses a version that the first commit of the file pinned only in production',
      seven,
      MOVED_ON,
      '-/7',
      'refused',
    ],
    [
      'The promotion guard refuses text that no version contains even if a commit already pins both environments to latest',
      { staging: 'latest', production: 'latest' },
      { staging: V7, production: V6 },
      ...(['New/New', 'refused', 'New'] as const),
    ],
    [
      'The promotion guard lets the plan finish an interrupted sync that already changed staging',
      { staging: 8, production: 7 },
      ...([MOVED_ON, '7/6', 'allowed'] as const),
    ],
    [
      'The promotion guard refuses a version that staging no longer serves if the version in staging was never pinned',
      { staging: 9, production: 7 },
      { ...MOVED_ON, promptsync: version(9, 'Nine') },
      ...(['7/6', 'refused'] as const),
    ],
    [
      'The promotion guard refuses a version that staging may never have served because a guard blocked the commit that pinned it there',
      { staging: 6, production: 7 },
      ...([BACK, '7/8 6/6', 'refused'] as const),
    ],
    [
      'The promotion guard refuses to promote a version to production if staging has been rolled back to an older version',
      { staging: 6, production: 7 },
      { ...BACK, production: version(5, 'Five') },
      ...(['7/5', 'refused'] as const),
    ],
    [
      'The promotion guard refuses a version that staging no longer serves if the file no longer pins staging',
      seven,
      MOVED_ON,
      '7/6',
      'refused',
    ],
    [
      'The promotion guard refuses a version if staging was pinned to a different version in the commit before the promotion',
      { staging: 8, production: 7 },
      ...([MOVED_ON, '6/6 7/6', 'refused'] as const),
    ],
    [
      'The promotion guard refuses a version if staging was not pinned in the commit before the promotion',
      { staging: 8, production: 7 },
      MOVED_ON,
      '-/6 7/6',
      'refused',
    ],
    [
      'The promotion guard refuses to restore a newer version whose first promotion skipped staging',
      { staging: 6, production: 7 },
      ...([BACK, '6/7 6/6 6/7 6/6', 'refused'] as const),
    ],
    [
      'The promotion guard accepts a rollback to an older version even if that version skipped staging',
      { staging: 8, production: 6 },
      ...([NOW, '8/7 8/6 8/8', 'allowed'] as const),
    ],
    [
      'The promotion guard accepts reverting a rollback if the newer version was promoted through staging',
      { staging: 8, production: 7 },
      ...([MOVED_ON, '8/7 8/6 8/7 7/7 7/6', 'allowed'] as const),
    ],
    [
      'The promotion guard refuses a version that was pinned in staging earlier if staging serves an older version',
      { staging: 8, production: 7 },
      ...([BACK, '8/7 7/6 6/6', 'refused'] as const),
    ],
    [
      'The promotion guard refuses a version that was pinned in production only after staging had been pinned to a newer version',
      { staging: 8, production: 7 },
      ...([MOVED_ON, '8/7 8/6 7/6', 'refused'] as const),
    ],
    [
      'The promotion guard ignores an earlier pin to a git ref that no longer exists',
      six,
      NOW,
      '-/7 -/git:gone',
      'refused',
    ],
    [
      'The promotion guard refuses to restore a newer version if staging had no pin right before that version was first pinned',
      { staging: 6, production: 7 },
      ...([BACK, '6/7 6/6 6/7 -/6', 'refused'] as const),
    ],
    [
      'The promotion guard refuses to restore a newer version if no environment had a pin right before that version was first pinned',
      { staging: 6, production: 7 },
      ...([BACK, '6/7 6/6 6/7 -/-', 'refused'] as const),
    ],
    [
      'The promotion guard accepts restoring a newer version that the first commit of the file pinned in production',
      { staging: 6, production: 7 },
      ...([BACK, '6/7 6/6 6/7', 'allowed'] as const),
    ],
  ])('%s', (_, pins, active, former, verdict, text = 'Hello') => {
    const planned = planOf({ file: { text, pins }, active, former: states(former) });
    const refused = planned.problems.some(({ code }) => code === 'guard/promotion-order');
    expect([refused, planned.status]).toEqual(verdict === 'refused' ? [true, 'blocked'] : [false, 'pending']);
  });

  test.each<[string, string, 'allowed' | 'refused']>([
    ['The promotion guard ignores an earlier pin to a branch, because branches move', 'git:release', 'refused'],
    [
      'The promotion guard accepts a rollback to a version that was previously pinned by commit hash',
      `git:${'a'.repeat(40)}`,
      'allowed',
    ],
  ])('%s', (_, pin, verdict) => {
    const former = [{ production: 7 }, { text: 'Six', production: pin }, { production: 7 }];
    const lines = linesOf({ file: { pins: six }, active: NOW, former });
    expect(lines.includes(REFUSED)).toBe(verdict === 'refused');
  });

  test('The promotion guard refuses to restore a newer version if the git history may be incomplete', () => {
    const rules = { firstAges: new Map<string, number>() };
    const former = states('6/7 6/6 6/7');
    expect(linesOf({ file: { pins: { staging: 6, production: 7 } }, active: BACK, former, rules })).toContain(REFUSED);
  });

  test('The promotion guard accepts a rollback to earlier text only if a version contains that text', () => {
    const refused = ['Six', 'New'].map((text) => {
      const former = states(`-/7 -/${text}`);
      return linesOf({ file: { text, pins: { production: 'latest' } }, active: NOW, former }).includes(REFUSED);
    });
    expect(refused).toEqual([false, true]);
  });

  test('The promotion guard ignores the earlier pins of other prompts', () => {
    const others = new Map([['p2', formerPins(states('-/7 -/6'))]]);
    expect(linesOf({ file: { pins: six }, active: NOW, rules: { formerPins: others } })).toContain(REFUSED);
  });
});

describe('skipWarnings', () => {
  test.each<[string, WrittenPins, readonly WrittenPins[], warned: boolean]>([
    [
      'promptsync warns if production pins a version number that was never pinned in staging',
      { staging: 1, production: 2 },
      [{ staging: 1, production: 1 }],
      true,
    ],
    [
      'promptsync does not warn about a skipped promotion if both environments pin the same version number',
      { staging: 2, production: 2 },
      [{ staging: 1, production: 1 }],
      false,
    ],
    [
      'promptsync does not warn about a skipped promotion if staging is pinned to latest',
      { staging: 'latest', production: 2 },
      [{ production: 1 }],
      false,
    ],
    [
      'promptsync does not warn about a skipped promotion if production is pinned to a git ref',
      { staging: 1, production: 'git:v1' },
      [{ staging: 1, production: 1 }],
      false,
    ],
    [
      'promptsync does not warn about a skipped promotion if staging is not pinned',
      { production: 2 },
      [{ production: 1 }],
      false,
    ],
    [
      'promptsync does not warn about a skipped promotion if staging was previously pinned to the same version',
      { staging: 1, production: 2 },
      [{ staging: 2, production: 1 }],
      false,
    ],
    [
      'promptsync does not warn about a skipped promotion if production is rolled back to a previously pinned version',
      { staging: 1, production: 2 },
      [{ production: 1 }, { production: 2 }],
      false,
    ],
    [
      'promptsync does not warn about a skipped promotion if staging was previously pinned to latest',
      { staging: 1, production: 2 },
      [{ staging: 'latest', production: 1 }],
      false,
    ],
    [
      'promptsync does not warn about a skipped promotion in the first commit of a file',
      { staging: 1, production: 2 },
      [],
      false,
    ],
    [
      'promptsync does not warn about a skipped promotion if production was never pinned before',
      { staging: 1, production: 2 },
      [{ staging: 1 }],
      false,
    ],
  ])('%s', (_, pins, former, warned) => {
    const warnings = warnAboutSkips(findSkippedPromotions(file({ pins }), PROMOTED), formerPins(former));
    expect(warnings.map(({ severity, line, message }) => `${severity} ${line} ${message}`)).toEqual(
      warned
        ? ['warning 6 "production" is pinned to version 2, but no earlier commit pinned "staging" to version 2.']
        : [],
    );
  });
});

describe('pins from an import', () => {
  const theirs = { staging: version(9, 'Nine'), production: outside(8, 'Theirs') };
  const alwaysPinned = new Map([['p1', new Set(['production'])]]);

  test.each<[string, WrittenPins, Scene['active'], RulesParts, boolean]>([
    [
      'The promotion guard lets the first sync after an import restore the version that the import pinned',
      { production: 'version:ver_6' },
      { ...theirs, promptsync: null },
      {},
      true,
    ],
    [
      'The promotion guard accepts restoring a pinned version if the pin has never changed since the first commit of the file',
      { production: 6 },
      { ...LATER, production: V8 },
      { alwaysPinned },
      true,
    ],
    [
      'The promotion guard refuses a pinned version if the pin has changed since the first commit of the file',
      { production: 6 },
      { ...LATER, production: V8 },
      {},
      false,
    ],
    [
      'The promotion guard refuses a pin to latest even if that pin has never changed',
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

test('findEnvironmentsPinnedFromStart returns the environments whose pins have never changed if the git history is complete', () => {
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
