import { describe, expect, test } from 'vitest';
import { pinnedAlways } from '../../src/desired/read-history.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import type { Version } from '../../src/ledger/stamp.ts';
import { possibleSkips, skipWarnings } from '../../src/planning/promotion.ts';
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
} from './support.ts';

const REFUSED = 'blocked: guard/promotion-order';
const ORDER = ['staging', 'production'];
const PROMOTED = new Map([['production', 'staging']]);

type Scene = {
  readonly file: FileParts;
  readonly active: Readonly<Record<string, Version | null>>;
  /** The states of the file at earlier commits, newest first; their text is that of a `latest` pin. */
  readonly former?: Parameters<typeof formerPins>[0];
  readonly rules?: RulesParts;
};

function planOf(scene: Scene) {
  const found = observed({ active: scene.active });
  const former = scene.former ?? [];
  const promotion = {
    promotedFrom: PROMOTED,
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

/** By the metadata that the older version of a text has. */
const sevenAgain = (metadata: JsonObject) => ({
  staging: version(7, 'Seven', { ledger: [entry(5, 'Seven', { metadata })] }),
  production: V6,
});

test.each<[string, FileParts, Scene['active'], readonly string[], RulesParts?]>([
  [
    'A version goes live that is active there, by its number',
    { pins: { production: 7 } },
    SERVES,
    ['production: v6 → v7'],
  ],
  ['for the first time', { pins: { production: 7 } }, { staging: V7, production: null }, ['production: none → v7']],
  ['by its id', { pins: { production: 'version:ver_7' } }, SERVES, ['production: v6 → v7']],
  ['by a content of git', { pins: { production: 'git:v1' } }, SERVES, ['production: v6 → v7'], v1],
  ['by the text of the file', { text: 'Seven', pins: { production: 'latest' } }, SERVES, ['production: v6 → v7']],
  [
    'although the same plan moves that one on: it is what is served now that counts',
    { text: 'Nine', pins: { staging: 'latest', production: 7 } },
    SERVES,
    ['staging: v7 → new "Nine"', 'production: v6 → v7'],
  ],
  ['with equal content under another id', { pins: { production: 5 } }, sevenAgain({}), ['production: v6 → v5']],
  ['Refused is a newer one', { pins: { production: 8 } }, LATER, ['production: v6 → v8', REFUSED]],
  [
    'where nothing is active yet',
    { pins: { production: 7 } },
    { staging: null, production: V6, promptsync: V7 },
    ['production: v6 → v7', REFUSED],
  ],
  [
    'where it was not read at all',
    { pins: { production: 7 } },
    { production: V6, promptsync: V7 },
    ['production: v6 → v7', REFUSED],
  ],
  [
    'although the same plan makes it active there',
    { pins: { staging: 8, production: 8 } },
    LATER,
    ['staging: v7 → v8', 'production: v6 → v8', REFUSED],
  ],
  [
    'a text that is not made yet',
    { text: 'New', pins: follow },
    { staging: V7 },
    ['staging: v7 → new "New"', 'production: none → new "New"', REFUSED],
  ],
  [
    'an id that nobody knows, which is not looked at either: looking writes',
    { pins: { production: 'version:theirs' } },
    SERVES,
    ['production: v6 → theirs', REFUSED],
  ],
  [
    'equal text with other metadata',
    { pins: { production: 5 } },
    sevenAgain({ model: 'x' }),
    ['production: v6 → v5', REFUSED],
  ],
  ['Nothing is refused in an environment that is in sync', { pins: { production: 6 } }, { production: V6 }, []],
  ['nor in one that is promoted from none', { pins: { staging: 8 } }, LATER, ['staging: v7 → v8']],
  [
    'nor twice: a number that is not known is a problem by itself',
    { pins: { production: 99 } },
    SERVES,
    ['blocked: pin/unknown-number'],
  ],
])('%s', (_, parts, active, expected, given) => {
  expect(linesOf({ file: parts, active, ...(given && { rules: given }) })).toEqual(expected);
});

describe('a version that is not active there is refused', () => {
  test.each([
    ['k/1', 'promptsync promote k/1 --from staging --to production'],
    ['-x', "promptsync promote --from staging --to production -- '-x'"],
    ['$(x)', String.raw`promptsync promote '$\(x\)' --from staging --to production`],
    ['!x', String.raw`promptsync promote '\!x' --from staging --to production`],
    ['é', "promptsync promote 'é' --from staging --to production"],
  ])('with a command that a shell takes as it is meant: %s', (key, command) => {
    const { problems } = planOf({ file: { key, pins: { production: 8 } }, active: { staging: V7, promptsync: V8 } });
    expect(problems[0]?.hint).toBe(`To promote what "staging" serves (v7), run: ${command}`);
  });

  const STAGING = 'run: promptsync promote k/1 --from staging --to production';
  test.each<[string, NonNullable<FileParts['pins']>, Scene['active'], what: string, hint: string]>([
    [
      'with what has to be pinned first, where nothing is served there',
      { production: 8 },
      { staging: null, production: V6, promptsync: V8 },
      'v8 is not active (it serves nothing)',
      `Pin "staging". Take the pin of "production" out of the file, or pin what is served there (v6); sync, then ${STAGING}`,
    ],
    [
      'with what has to go first, where the same sync would bring it there',
      { staging: 8, production: 8 },
      { staging: V7, production: null, promptsync: V8 },
      'v8 is not active (it serves v7)',
      `Take the pin of "production" out of the file; sync, then ${STAGING}`,
    ],
    [
      'as what it is, where it is not made yet',
      { staging: 'latest', production: 'latest' },
      { staging: V7, production: V6 },
      'a version that is not made yet is not active (it serves v7)',
      `Take the pin of "production" out of the file, or pin what is served there (v6); sync, then ${STAGING}`,
    ],
    [
      'by its id, where nobody knows its number',
      { staging: 7, production: 'version:theirs' },
      { staging: V7, production: V6 },
      'theirs is not active (it serves v7)',
      `To promote what "staging" serves (v7), ${STAGING}`,
    ],
  ])('%s', (_, pins, active, what, hint) => {
    const { problems } = planOf({ file: { text: 'New', pins }, active });
    expect(problems[0]).toMatchObject({ message: `"production" is promoted from "staging", where ${what}.`, hint });
  });

  test('at its place, with the command that would be right', () => {
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

  test('with the step before, where it is active before that', () => {
    const { problems } = planOf({
      file: { pins: { dev: 8, staging: 7, production: 8 } },
      active: { dev: V8, staging: V7, production: V6 },
      rules: {
        promotedFrom: new Map([
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
 * States of the file, newest first, each as `staging/production`: `7` is a number, `-` no pin, and a word the text that
 * `latest` followed.
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

describe('what git knows of earlier pins', () => {
  const NOW = { staging: V8, production: V7 };
  const MOVED_ON = { staging: V8, production: V6 };
  const BACK = { staging: V6, production: V6, promptsync: V8 };
  const six = { production: 6 };
  const seven = { production: 7 };
  const both = { staging: 7, production: 7 };

  test.each<
    [string, FileParts['pins'] & object, Scene['active'], former: string, 'allowed' | 'refused', text?: string]
  >([
    ['a rollback to what the environment was pinned to before is no promotion', six, NOW, '-/7 -/6', 'allowed'],
    ['so is one that was committed already, and whatever has been between', six, NOW, '-/6 -/8 -/7 -/6', 'allowed'],
    ['a rollback is known by its content', { production: 'latest' }, NOW, '-/7 -/Six', 'allowed', 'Six'],
    ['and by its id', six, NOW, '-/7 -/version:ver_6', 'allowed'],
    ['what another environment was pinned to is none', six, NOW, '8/7 6/-', 'refused'],
    ['putting back what came through the environment before is none either', seven, MOVED_ON, '8/7 7/7 7/6', 'allowed'],
    ['known there by its text', seven, MOVED_ON, 'Eight/7 Seven/6', 'allowed'],
    ['a skip is no such thing, however long it has been committed', seven, MOVED_ON, '8/7 8/6', 'refused'],
    ['nor where both were pinned to it in one commit', seven, BACK, '7/7 6/6', 'refused'],
    ['nor where the environment before came to it later', seven, MOVED_ON, '8/7 7/7 -/7 6/-', 'refused'],
    [
      'nor where both would be set to it for the first time, the one before first',
      both,
      BACK,
      '7/7 7/6 6/6',
      'refused',
    ],
    ['nor where the second one serves nothing yet', both, { ...BACK, production: null }, '7/7 7/- 6/-', 'refused'],
    [
      'but both are put back that somebody has changed',
      both,
      { staging: V8, production: V8 },
      '7/7 7/6 6/6',
      'allowed',
    ],
    ['what the file began with was there already', seven, MOVED_ON, '8/7 7/7', 'allowed'],
    ['a file that began without the environment before shows nothing', seven, MOVED_ON, '-/7', 'refused'],
    [
      'a text that was never made was never active anywhere, whatever the files say',
      { staging: 'latest', production: 'latest' },
      { staging: V7, production: V6 },
      ...(['New/New', 'refused', 'New'] as const),
    ],
    [
      'a run that was cut short is finished: the environment before was moved on by the very file',
      { staging: 8, production: 7 },
      ...([MOVED_ON, '7/6', 'allowed'] as const),
    ],
    [
      'it was not where it serves something else than the file wants',
      { staging: 9, production: 7 },
      { ...MOVED_ON, promptsync: version(9, 'Nine') },
      ...(['7/6', 'refused'] as const),
    ],
    [
      'nor where it serves what it was pinned to before: the run that pinned it to the version may have been refused',
      { staging: 6, production: 7 },
      ...([BACK, '7/8 6/6', 'refused'] as const),
    ],
    [
      'nor where it went back: nobody promotes what was taken back there',
      { staging: 6, production: 7 },
      { ...BACK, production: version(5, 'Five') },
      ...(['7/5', 'refused'] as const),
    ],
    ['nor where it is not pinned any more', seven, MOVED_ON, '7/6', 'refused'],
    [
      'nor where it was pinned to the version earlier than that',
      { staging: 8, production: 7 },
      ...([MOVED_ON, '6/6 7/6', 'refused'] as const),
    ],
    ['nor where the last state did not pin it', { staging: 8, production: 7 }, MOVED_ON, '-/6 7/6', 'refused'],
    [
      'a newer version is no rollback where its earlier pin skipped the source environment',
      { staging: 6, production: 7 },
      ...([BACK, '6/7 6/6 6/7 6/6', 'refused'] as const),
    ],
    [
      'an older version is a rollback although its earlier pin skipped the source environment',
      { staging: 8, production: 6 },
      ...([NOW, '8/7 8/6 8/8', 'allowed'] as const),
    ],
    [
      'a newer version is a rollback that is reverted, where its earlier pin was a promotion',
      { staging: 8, production: 7 },
      ...([MOVED_ON, '8/7 8/6 8/7 7/7 7/6', 'allowed'] as const),
    ],
    [
      'a pin to what staging was pinned to right before is refused while staging serves what it did before that',
      { staging: 8, production: 7 },
      ...([BACK, '8/7 7/6 6/6', 'refused'] as const),
    ],
    [
      'a pin to what staging was pinned to earlier than right before is refused, however old the commit is',
      { staging: 8, production: 7 },
      ...([MOVED_ON, '8/7 8/6 7/6', 'refused'] as const),
    ],
    ['a ref that nobody can read any more means nothing', six, NOW, '-/7 -/git:gone', 'refused'],
    [
      'a newer version is no rollback where its earlier pin was set while staging was not pinned',
      { staging: 6, production: 7 },
      ...([BACK, '6/7 6/6 6/7 -/6', 'refused'] as const),
    ],
    [
      'a newer version is no rollback where the state before its earlier pin had no pins at all',
      { staging: 6, production: 7 },
      ...([BACK, '6/7 6/6 6/7 -/-', 'refused'] as const),
    ],
    [
      'a newer version is a rollback that is reverted, where the first state of the file pinned it',
      { staging: 6, production: 7 },
      ...([BACK, '6/7 6/6 6/7', 'allowed'] as const),
    ],
  ])('%s', (_, pins, active, former, verdict, text = 'Hello') => {
    const planned = planOf({ file: { text, pins }, active, former: states(former) });
    const refused = planned.problems.some(({ code }) => code === 'guard/promotion-order');
    expect([refused, planned.status]).toEqual(verdict === 'refused' ? [true, 'blocked'] : [false, 'pending']);
  });

  test.each<[string, string, 'allowed' | 'refused']>([
    ['an earlier pin to a tag that names the version now is no rollback', 'git:release', 'refused'],
    ['an earlier pin to a commit with the text of the version is a rollback', `git:${'a'.repeat(40)}`, 'allowed'],
  ])('%s', (_, pin, verdict) => {
    const former = [{ production: 7 }, { text: 'Six', production: pin }, { production: 7 }];
    const lines = linesOf({ file: { pins: six }, active: NOW, former });
    expect(lines.includes(REFUSED)).toBe(verdict === 'refused');
  });

  test('a newer version is no rollback where git may not show the first state of the file', () => {
    const rules = { firstAges: new Map<string, number>() };
    const former = states('6/7 6/6 6/7');
    expect(linesOf({ file: { pins: { staging: 6, production: 7 } }, active: BACK, former, rules })).toContain(REFUSED);
  });

  test('an existing text is a rollback where the file followed it before, and a text without a version is none', () => {
    const refused = ['Six', 'New'].map((text) => {
      const former = states(`-/7 -/${text}`);
      return linesOf({ file: { text, pins: { production: 'latest' } }, active: NOW, former }).includes(REFUSED);
    });
    expect(refused).toEqual([false, true]);
  });

  test('of another prompt says nothing', () => {
    const others = new Map([['p2', formerPins(states('-/7 -/6'))]]);
    expect(linesOf({ file: { pins: six }, active: NOW, rules: { formerPins: others } })).toContain(REFUSED);
  });
});

describe('a promotion of which git does not know the environment before', () => {
  test.each<[string, WrittenPins, readonly WrittenPins[], warned: boolean]>([
    ['is warned of', { staging: 1, production: 2 }, [{ staging: 1, production: 1 }], true],
    ['not where both have one number', { staging: 2, production: 2 }, [{ staging: 1, production: 1 }], false],
    ['not where the one before follows the file', { staging: 'latest', production: 2 }, [{ production: 1 }], false],
    ['not where it is pinned by a ref', { staging: 1, production: 'git:v1' }, [{ staging: 1, production: 1 }], false],
    ['not where it is not pinned', { production: 2 }, [{ production: 1 }], false],
    ['not where it once had the number', { staging: 1, production: 2 }, [{ staging: 2, production: 1 }], false],
    ['not of one that is gone back to', { staging: 1, production: 2 }, [{ production: 1 }, { production: 2 }], false],
    ['not where it once followed', { staging: 1, production: 2 }, [{ staging: 'latest', production: 1 }], false],
    ['not where the file began so', { staging: 1, production: 2 }, [], false],
    ['not where the environment itself was never pinned', { staging: 1, production: 2 }, [{ staging: 1 }], false],
  ])('%s', (_, pins, former, warned) => {
    const warnings = skipWarnings(possibleSkips(file({ pins }), PROMOTED), formerPins(former));
    expect(warnings.map(({ severity, line, message }) => `${severity} ${line} ${message}`)).toEqual(
      warned
        ? ['warning 6 "production" is pinned to version 2, which git does not know of in "staging" before it.']
        : [],
    );
  });
});

describe('What an import has found in an environment may be put back', () => {
  const theirs = { staging: version(9, 'Nine'), production: outside(8, 'Theirs') };
  const pinnedAlways = new Map([['p1', new Set(['production'])]]);

  test.each<[string, WrittenPins, Scene['active'], RulesParts, boolean]>([
    ['before the first sync', { production: 'version:ver_6' }, { ...theirs, promptsync: null }, {}, true],
    ['where the file has said so from its first commit on', { production: 6 }, LATER, { pinnedAlways }, true],
    ['not where it has said something else', { production: 6 }, { ...LATER, production: V8 }, {}, false],
    ['not a text', { production: 'latest' }, { ...theirs, promptsync: V8 }, { pinnedAlways }, false],
  ])('%s', (_, pins, active, rules, allowed) => {
    const lines = linesOf({ file: { pins }, active: { ...active, staging: version(9, 'Nine') }, rules });
    expect(lines.includes(REFUSED)).toBe(!allowed);
  });
});

test('a pin has stood from the first commit on only where every state of the file says so, and the first is known', () => {
  const one = file({ pins: { staging: 'latest', production: 6 } });
  const history = (whole: boolean, ...states: readonly WrittenPins[]) => {
    return { commits: states.map((_, age) => `c${age}`), pins: formerPins(states), whole };
  };
  const same = { staging: 'latest', production: 6 };
  expect(pinnedAlways(one, history(true, same, same))).toEqual(new Set(['staging', 'production']));
  expect(pinnedAlways(one, history(true, same, { ...same, production: 7 }, same))).toEqual(new Set(['staging']));
  expect(pinnedAlways(one, history(true, same, { staging: 'latest' }))).toEqual(new Set(['staging']));
  expect([pinnedAlways(one, history(false, same)), pinnedAlways(one, history(true))]).toEqual([new Set(), new Set()]);
});
