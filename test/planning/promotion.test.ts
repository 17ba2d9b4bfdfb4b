import { describe, expect, test } from 'vitest';
import type { Version } from '../../src/ledger/stamp.ts';
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
  planLines,
  rules,
  type RulesParts,
  version,
} from './support.ts';

const REFUSED = 'blocked: guard/promotion-order';
const ORDER = ['staging', 'production'];

type Scene = {
  readonly file: FileParts;
  readonly active: Readonly<Record<string, Version | null>>;
  /** The states of the file at earlier commits, newest first; their text is that of a `latest` pin. */
  readonly former?: Parameters<typeof formerPins>[0];
  readonly rules?: RulesParts;
  readonly missing?: readonly string[];
};

function planOf(scene: Scene) {
  const found = observed({ active: scene.active, missing: scene.missing ?? [] });
  const promotion = {
    promotedFrom: new Map([['production', 'staging']]),
    formerPins: new Map([['p1', formerPins(scene.former ?? [])]]),
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

describe('a version goes live where it is active in the environment before', () => {
  test.each<[string, Scene, readonly string[]]>([
    [
      'by its number',
      { file: { pins: { production: 7 } }, active: { staging: V7, production: V6 } },
      ['production: v6 → v7'],
    ],
    [
      'for the first time',
      { file: { pins: { production: 7 } }, active: { staging: V7, production: null } },
      ['production: none → v7'],
    ],
    [
      'by its id',
      { file: { pins: { production: 'version:ver_7' } }, active: { staging: V7, production: V6 } },
      ['production: v6 → v7'],
    ],
    [
      'by a content of git',
      {
        file: { pins: { production: 'git:v1' } },
        active: { staging: V7, production: V6 },
        rules: { refs: { v1: content('Seven') } },
      },
      ['production: v6 → v7'],
    ],
    [
      'by the text of the file',
      { file: { text: 'Seven', pins: { production: 'latest' } }, active: { staging: V7, production: V6 } },
      ['production: v6 → v7'],
    ],
    [
      'although the same plan moves that one on: it is what is served now that counts',
      { file: { text: 'Nine', pins: { staging: 'latest', production: 7 } }, active: { staging: V7, production: V6 } },
      ['staging: v7 → new "Nine"', 'production: v6 → v7'],
    ],
    [
      'with equal content under another id',
      {
        file: { pins: { production: 5 } },
        active: { staging: version(7, 'Seven', { ledger: [entry(5, 'Seven')] }), production: V6 },
      },
      ['production: v6 → v5'],
    ],
  ])('%s', (_, scene, expected) => {
    expect(linesOf(scene)).toEqual(expected);
  });
});

describe('a version that is not active there is refused', () => {
  test.each<[string, Scene, readonly string[]]>([
    [
      'a newer one',
      { file: { pins: { production: 8 } }, active: { staging: V7, production: V6, promptsync: V8 } },
      ['production: v6 → v8', REFUSED],
    ],
    [
      'where nothing is active yet',
      { file: { pins: { production: 7 } }, active: { staging: null, production: V6, promptsync: V7 } },
      ['production: v6 → v7', REFUSED],
    ],
    [
      'where it was not read at all',
      { file: { pins: { production: 7 } }, active: { production: V6, promptsync: V7 } },
      ['production: v6 → v7', REFUSED],
    ],
    [
      'although the same plan makes it active there',
      {
        file: { pins: { staging: 8, production: 8 } },
        active: { staging: V7, production: V6, promptsync: V8 },
      },
      ['staging: v7 → v8', 'production: v6 → v8', REFUSED],
    ],
    [
      'a text that is not made yet',
      { file: { text: 'New', pins: { staging: 'latest', production: 'latest' } }, active: { staging: V7 } },
      ['staging: v7 → new "New"', 'production: none → new "New"', REFUSED],
    ],
    [
      'an id that nobody knows, which is not looked at either: looking writes',
      { file: { pins: { production: 'version:theirs' } }, active: { staging: V7, production: V6 } },
      ['production: v6 → theirs', REFUSED],
    ],
    [
      'equal text with other metadata',
      {
        file: { pins: { production: 5 } },
        active: {
          staging: version(7, 'Seven', { ledger: [entry(5, 'Seven', { metadata: { model: 'x' } })] }),
          production: V6,
        },
      },
      ['production: v6 → v5', REFUSED],
    ],
  ])('%s', (_, scene, expected) => {
    expect(linesOf(scene)).toEqual(expected);
  });

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

describe('nothing is refused', () => {
  test.each<[string, Scene, readonly string[]]>([
    ['in an environment that is in sync', { file: { pins: { production: 6 } }, active: { production: V6 } }, []],
    [
      'in one that is promoted from none',
      { file: { pins: { staging: 8 } }, active: { staging: V7, promptsync: V8 } },
      ['staging: v7 → v8'],
    ],
    [
      'twice: a number that is not known is a problem by itself',
      { file: { pins: { production: 99 } }, active: { staging: V7, production: V6 } },
      ['blocked: pin/unknown-number'],
    ],
  ])('%s', (_, scene, expected) => {
    expect(linesOf(scene)).toEqual(expected);
  });
});

describe('what git knows of earlier pins', () => {
  const MOVED_ON = { staging: V8, production: V6 };
  test.each<[string, Scene, boolean]>([
    [
      'a rollback to what the environment was pinned to before is no promotion',
      {
        file: { pins: { production: 6 } },
        active: { staging: V8, production: V7 },
        former: [{ production: 7 }, { production: 6 }],
      },
      true,
    ],
    [
      'so is one that was committed already, and whatever has been between',
      {
        file: { pins: { production: 6 } },
        active: { staging: V8, production: V7 },
        former: [{ production: 6 }, { production: 8 }, { production: 7 }, { production: 6 }],
      },
      true,
    ],
    [
      'a rollback is known by its content',
      {
        file: { text: 'Six', pins: { production: 'latest' } },
        active: { staging: V8, production: V7 },
        former: [{ production: 7 }, { production: 'latest', text: 'Six' }],
      },
      true,
    ],
    [
      'and by its id',
      {
        file: { pins: { production: 6 } },
        active: { staging: V8, production: V7 },
        former: [{ production: 7 }, { production: 'version:ver_6' }],
      },
      true,
    ],
    [
      'what another environment was pinned to is none',
      {
        file: { pins: { production: 6 } },
        active: { staging: V8, production: V7 },
        former: [{ staging: 8, production: 7 }, { staging: 6 }],
      },
      false,
    ],
    [
      'putting back what came through the environment before is none either, though that has moved on',
      {
        file: { pins: { production: 7 } },
        active: MOVED_ON,
        former: [
          { staging: 8, production: 7 },
          { staging: 7, production: 7 },
          { staging: 7, production: 6 },
        ],
      },
      true,
    ],
    [
      'known there by its text',
      {
        file: { pins: { production: 7 } },
        active: MOVED_ON,
        former: [
          { staging: 'latest', text: 'Eight', production: 7 },
          { staging: 'latest', text: 'Seven', production: 6 },
        ],
      },
      true,
    ],
    [
      'a skip is no such thing, however long it has been committed',
      {
        file: { pins: { production: 7 } },
        active: MOVED_ON,
        former: [
          { staging: 8, production: 7 },
          { staging: 8, production: 6 },
        ],
      },
      false,
    ],
    [
      'nor where both were pinned to it in one commit',
      {
        file: { pins: { production: 7 } },
        active: { staging: V6, production: V6, promptsync: V8 },
        former: [
          { staging: 7, production: 7 },
          { staging: 6, production: 6 },
        ],
      },
      false,
    ],
    [
      'nor where the environment before came to it later',
      {
        file: { pins: { production: 7 } },
        active: MOVED_ON,
        former: [{ staging: 8, production: 7 }, { staging: 7, production: 7 }, { production: 7 }, { staging: 6 }],
      },
      false,
    ],
    [
      'nor where both would be set to it for the first time, though the one before was pinned to it first',
      {
        file: { pins: { staging: 7, production: 7 } },
        active: { staging: V6, production: V6, promptsync: V8 },
        former: [
          { staging: 7, production: 7 },
          { staging: 7, production: 6 },
          { staging: 6, production: 6 },
        ],
      },
      false,
    ],
    [
      'nor where the second one serves nothing yet',
      {
        file: { pins: { staging: 7, production: 7 } },
        active: { staging: V6, production: null, promptsync: V8 },
        former: [{ staging: 7, production: 7 }, { staging: 7 }, { staging: 6 }],
      },
      false,
    ],
    [
      'but both are put back where somebody has changed both in the service',
      {
        file: { pins: { staging: 7, production: 7 } },
        active: { staging: V8, production: V8 },
        former: [
          { staging: 7, production: 7 },
          { staging: 7, production: 6 },
          { staging: 6, production: 6 },
        ],
      },
      true,
    ],
    [
      'what the file began with was there already',
      {
        file: { pins: { production: 7 } },
        active: MOVED_ON,
        former: [
          { staging: 8, production: 7 },
          { staging: 7, production: 7 },
        ],
      },
      true,
    ],
    [
      'a file that began without the environment before shows nothing',
      { file: { pins: { production: 7 } }, active: MOVED_ON, former: [{ production: 7 }] },
      false,
    ],
    [
      'a text that was never made was never active anywhere, whatever the files say',
      {
        file: { text: 'New', pins: { staging: 'latest', production: 'latest' } },
        active: { staging: V7, production: V6 },
        former: [{ text: 'New', staging: 'latest', production: 'latest' }],
      },
      false,
    ],
    [
      'a run that was cut short is finished: the environment before was moved on by the very file',
      {
        file: { pins: { staging: 8, production: 7 } },
        active: MOVED_ON,
        former: [{ staging: 7, production: 6 }],
      },
      true,
    ],
    [
      'it was not where it serves something else than the file wants',
      {
        file: { pins: { staging: 9, production: 7 } },
        active: { ...MOVED_ON, promptsync: version(9, 'Nine') },
        former: [{ staging: 7, production: 6 }],
      },
      false,
    ],
    [
      'nor where it serves what it was pinned to before: the run that pinned it to the version may have been refused',
      {
        file: { pins: { staging: 6, production: 7 } },
        active: { staging: V6, production: V6, promptsync: V8 },
        former: [
          { staging: 7, production: 8 },
          { staging: 6, production: 6 },
        ],
      },
      false,
    ],
    [
      'nor where it went back: nobody promotes what was taken back there',
      {
        file: { pins: { staging: 6, production: 7 } },
        active: { staging: V6, production: version(5, 'Five'), promptsync: V8 },
        former: [{ staging: 7, production: 5 }],
      },
      false,
    ],
    [
      'nor where it is not pinned any more',
      { file: { pins: { production: 7 } }, active: MOVED_ON, former: [{ staging: 7, production: 6 }] },
      false,
    ],
    [
      'nor where it was pinned to the version earlier than that',
      {
        file: { pins: { staging: 8, production: 7 } },
        active: MOVED_ON,
        former: [
          { staging: 6, production: 6 },
          { staging: 7, production: 6 },
        ],
      },
      false,
    ],
    [
      'a ref that nobody can read any more means nothing',
      {
        file: { pins: { production: 6 } },
        active: { staging: V8, production: V7 },
        former: [{ production: 7 }, { production: 'git:gone' }],
      },
      false,
    ],
  ])('%s', (_, scene, allowed) => {
    const refused = planOf(scene).problems.some(({ code }) => code === 'guard/promotion-order');
    expect(refused).toBe(!allowed);
    expect(planOf(scene).status).toBe(allowed ? 'pending' : 'blocked');
  });

  test('of another prompt says nothing', () => {
    const former = formerPins([{ production: 7 }, { production: 6 }]);
    const scene: Scene = {
      file: { pins: { production: 6 } },
      active: { staging: V8, production: V7 },
      rules: { formerPins: new Map([['p2', former]]) },
    };
    expect(linesOf(scene)).toContain(REFUSED);
  });
});
