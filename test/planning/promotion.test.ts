import { describe, expect, test } from 'vitest';
import type { VersionTraits } from '../../src/domain/versions.ts';
import { makeLedgerEntry } from '../../src/providers/four-call/ownership.ts';
import type { LedgerVersion } from '../../src/providers/four-call/version-record.ts';
import { isPromotionAllowed } from '../../src/planning/check-promotions.ts';
import {
  content,
  deepFreeze,
  file,
  type FileParts,
  line,
  makePlan,
  observation,
  observed,
  parseFile,
  parseService,
  parseVersion,
  planLines,
  rules,
  type RulesParts,
  type StateParts,
  version,
} from './support.ts';

const PROMOTED = new Map([['production', 'staging']]);

type Active = Readonly<Record<string, LedgerVersion | null>>;

/** The versions that staging and production serve, such as `8/6`. `-` is no version, `?` an environment that was not read. */
function parseServed(words: string): Active {
  const versions: Readonly<Record<string, string>> = { 6: '6:Six', 7: '7:Seven(6:Six)', 8: '8:Eight(7:Seven,6:Six)' };
  const served = words.split('/').map((word, at) => [['staging', 'production'][at]!, word] as const);
  const read = served.filter(([, word]) => word !== '?');
  return Object.fromEntries(read.map(([name, word]) => [name, parseVersion(versions[word] ?? word)]));
}

/**
 * Parses states of the file, newest first, each in the form `staging/production`. `7` is a number, `-` is no pin, and a
 * word with a capital letter is the text that `latest` wants. Any other word is the pin itself. States with `=` are in
 * the notation of `support.ts`, separated by ` < `.
 */
function parseStates(words: string): readonly StateParts[] {
  if (words.includes('=')) return words.split(' < ').map(parseFile);
  return words.split(' ').map((word) => {
    const pins = ['staging', 'production'].map((name, at): [string, string] => [name, word.split('/')[at] ?? '-']);
    const text = pins.map(([, pin]) => pin).find((pin) => /^[A-Z]/.test(pin)) ?? 'Hello';
    const written = pins
      .filter(([, pin]) => pin !== '-')
      .map(([name, pin]) => [name, /^[A-Z]/.test(pin) ? 'latest' : pin]);
    return { text, pins: Object.fromEntries(written) };
  });
}

/** Version 7 with other metadata. */
const withMetadata = (metadata: { readonly model?: string }) => makeLedgerEntry(version(7, 'Seven', { metadata }));

const TARGETS: Readonly<Record<string, VersionTraits>> = {
  'unknown id': { id: 'ver_7' },
  'new content': content('Seven', {}),
  'with metadata': withMetadata({ model: 'x' }),
};

/** Rows of promotions of version 7 to production: what staging and production serve, the states of the line, and options. */
type Rows = Readonly<Record<string, string>>;

function testPromotions(isAllowed: boolean, rows: Rows): void {
  test.each(Object.entries(rows))(`The promotion guard ${isAllowed ? 'allows' : 'refuses'} %s`, (_, row) => {
    const [served = '', states = '', ...options] = row.split(' | ');
    const target = TARGETS[options.find((option) => option in TARGETS) ?? ''] ?? withMetadata({});
    const isOtherSource = options.includes('other source');
    const known = line(parseStates(states), {
      isCut: options.includes('cut'),
      isComplete: !options.includes('cut') && !options.includes('returned'),
    });
    const promotion = { environment: 'production', from: 'staging', isOtherSource, target };
    expect(isPromotionAllowed(promotion, observed({ active: parseServed(served) }), known)).toBe(isAllowed);
  });
}

describe('promotion order if the source serves the version', () => {
  testPromotions(true, {
    'a version that staging serves, even if production serves no version': '7/- | 8/7 8/6',
    'a version if staging serves a different version with the same content': '9:Seven/? | 8/7 8/6',
  });
  testPromotions(false, {
    'a version if staging serves the same text with different metadata': '9:Seven{"model":"x"}/? | 8/7 8/6',
    'a version if staging serves a newer version instead': '8/6 | 8/7 8/6',
    'a version if staging serves no version': '-/6 | 8/7 8/6',
    'a version if promptsync has not read which version staging serves': '?/6 | 8/7 8/6',
  });
});

describe('promotion order if the environment serves a newer version', () => {
  testPromotions(true, {
    'a rollback even if no earlier commit asked for the older version': '8/8 | 8/7 8/6',
  });
  testPromotions(false, {
    'a pin to an unknown version id, because that version may be newer than the active one':
      '8/8 | 8/7 8/6 | unknown id',
    'a version that staging does not serve if production serves no version': '8/- | 8/7 8/6',
  });
});

describe('promotion order if an earlier state wanted the version', () => {
  testPromotions(true, {
    'a version if staging was pinned to it before production was': '8/6 | 8/7 7/6',
    'production to return to a version that it was pinned to earlier': '8/6 | 8/7 8/6 8/7',
    'a version if an earlier commit pinned staging to its version id': '8/6 | 8/7 8/6 version:ver_7/6',
    'a version if an earlier commit contained its text and pinned staging to latest': '8/6 | 8/7 Seven/6',
    'a version if an earlier commit pinned staging to a fixed git ref with the same text':
      '8/6 | production=7 < Seven staging=git:v7',
    'a version with metadata if the earlier commit that asked for its text has no metadata':
      '8/6 | 8/7 Seven/6 | with metadata',
    'a pin to a moving git ref if an earlier commit asked for the text that the ref has now':
      '8/6 | Seven production=git:main < Seven production=git:main < Seven staging=latest',
    'a version that an earlier commit pinned in staging, even if still older commits are unknown':
      '8/6 | 8/7 7/6 | cut',
    'a pin that it refused earlier if the pin was reverted and then committed again': '8/6 | 6/7 6/6 6/7 6/6',
  });
  testPromotions(false, {
    'a version if earlier commits asked for its text only with different metadata':
      '8/6 | production=7 < Seven{"model":"x"} staging=latest',
    'a version if only environments other than staging and production were pinned to it earlier':
      '8/6 | production=7 < canary=7 production=6',
    'a version if one commit pinned both staging and production to it for the first time': '8/6 | 7/7 6/6',
    'a version if staging was pinned to it only after production was': '8/6 | 8/7 7/7 8/7 8/6',
    'a version if an earlier commit asked for its text only through a moving git ref':
      '8/6 | production=7 < Seven production=git:main',
    'a version that does not exist yet, even if an earlier commit asked for its content':
      '8/6 | Seven/Seven Seven/6 | new content',
  });
});

describe('promotion order if the file was adopted with the pin', () => {
  testPromotions(true, {
    'a version that staging does not serve if production has been pinned to it since the first commit': '8/6 | 8/7 8/7',
  });
  testPromotions(false, {
    'a version that all known commits pin in production if older commits are unknown': '8/6 | 8/7 8/7 | cut',
    'a version that staging does not serve if the file was deleted and added again with that pin':
      '8/6 | 8/7 8/7 | returned',
    'a version that staging does not serve if the first commit of the file did not pin production': '8/6 | 8/7 8/-',
  });
});

describe('promotion order if another configuration manages the source', () => {
  testPromotions(true, {
    'a rollback of production if another configuration manages staging': '?/8 | 8/7 8/6 | other source',
    'new content that staging was pinned to earlier if another configuration manages staging':
      '8/6 | Seven/Seven Seven/6 | other source | new content',
    'new content that the first commit pinned in production if another configuration manages staging':
      '8/6 | Seven/Seven | other source | new content',
  });
  testPromotions(false, {
    "a version that a staging environment in production's own service serves if another configuration manages staging":
      '7/6 | 8/7 8/6 | other source',
    'new content that no earlier commit asked for if another configuration manages staging':
      '8/6 | Seven/Seven Six/Six | other source | new content',
  });
});

test('The promotion guard refuses a default pin even if every earlier state of the file has the same pin', () => {
  const adopted = line(parseStates('8/7'), { isComplete: true });
  const states = adopted.states.map((state) => {
    const pins = state.file.pins.map((pin) => ({ ...pin, path: 'promptsync.yaml' }));
    return { ...state, file: { ...state.file, pins } };
  });
  const promotion = { environment: 'production', from: 'staging', isOtherSource: false, target: withMetadata({}) };
  const observation = observed({ active: parseServed('8/6') });
  expect(isPromotionAllowed(promotion, observation, adopted)).toBe(true);
  expect(isPromotionAllowed(promotion, observation, { ...adopted, states })).toBe(false);
});

const REFUSED = 'blocked: guard/promotion-order';
const ORDER = ['staging', 'production'];

/** A file that differs from the service. Its line has another pin for production before. */
type Scene = {
  readonly file: FileParts;
  /** In the notation of `support.ts`. */
  readonly service: string;
  readonly rules?: RulesParts;
};

function planOf(scene: Scene) {
  const history = { line: line([scene.file, { pins: { production: 1 } }]) };
  const given = rules({ environmentOrder: ORDER, promotionSources: PROMOTED, history, ...scene.rules });
  const seen = observation(observed(parseService(scene.service)));
  return makePlan([deepFreeze(file(scene.file))], deepFreeze(seen), deepFreeze(given)).prompts[0]!;
}

const EIGHT = '8:Eight(7:Seven,6:Six)';
const SERVES = 'staging=7:Seven(6:Six) production=6:Six';
const LATER = `${SERVES} promptsync=${EIGHT}`;

describe('a plan with promotions', () => {
  /** Rows `title: 'FILE | SERVICE | PLAN'`, without the new versions of the plan. */
  const plans: Rows = {
    'The plan promotes the version that staging serves, even if the same plan moves staging to a new version': `Nine staging=latest production=7 | ${SERVES} | staging: v7 → new "Nine"; production: v6 → v7`,
    'The plan refuses to promote a version that staging would receive only in the same sync': `staging=8 production=8 | ${LATER} | staging: v7 → v8; production: v6 → v8; ${REFUSED}`,
    'The plan refuses to promote text that no version contains yet': `New staging=latest production=latest | staging=7:Seven | staging: v7 → new "New"; production: none → new "New"; ${REFUSED}`,
    'If the promotion guard refuses a pin to an unknown version id, the plan does not look up that version': `production=version:theirs | ${SERVES} | production: v6 → theirs; ${REFUSED}`,
    'If a pin names an unknown version number, the plan reports only that problem, not a refused promotion': `production=99 | ${SERVES} | blocked: pin/unknown-number`,
    'The promotion guard accepts a pin to the version that the environment already serves':
      'production=6 | production=6:Six | ',
    'The promotion guard accepts any version in an environment that has no promote_from setting': `staging=8 | ${LATER} | staging: v7 → v8`,
  };

  test.each(Object.entries(plans))('%s', (_, row) => {
    const [wanted = '', service = '', expected] = row.split(' | ');
    const planned = planLines(planOf({ file: parseFile(wanted), service }));
    expect(planned.filter((one) => !one.startsWith('create')).join('; ')).toBe(expected);
  });

  test('One plan restores both staging and production after somebody moved them back to an older version', () => {
    const history = { line: line(parseStates('7/7 7/6 6/6')) };
    const service = 'staging=6:Six production=6:Six promptsync=7:Seven(6:Six)';
    const plan = planOf({ file: { text: 'Seven', pins: { staging: 7, production: 7 } }, service, rules: { history } });
    expect(planLines(plan)).toEqual(['staging: v6 → v7', 'production: v6 → v7']);
  });

  test('The plan warns about each promotion from an environment that another configuration manages', () => {
    const pins = { production: 6 };
    const given = { promotionSources: new Map(), otherPromotionSources: PROMOTED };
    const { problems } = planOf({ file: { pins }, service: `production=${EIGHT}`, rules: given });
    expect(problems).toMatchObject([{ code: 'pin/source-not-asked', severity: 'warning', line: 5 }]);
  });

  test('In a shallow clone, the hint for a refused promotion names the setting that fetches the full git history', () => {
    const hintIn = (isShallow: boolean) => {
      const history = { line: line([{ pins: { production: 8 } }], { isCut: true }), isShallow };
      return planOf({ file: { pins: { production: 8 } }, service: LATER, rules: { history } }).problems[0]?.hint;
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
    const service = `staging=7:Seven promptsync=${EIGHT}`;
    const { problems } = planOf({ file: { key, pins: { staging: 7, production: 8 } }, service });
    const hint = `To promote the version that "staging" serves (v7), run: \`${command}\``;
    expect(problems).toMatchObject([{ path: 'prompts/a.md', line: 6, column: 3, hint }]);
  });

  const SYNC_STAGING = 'First run `promptsync sync --environment staging`, then sync "production".';
  const STAGING = 'run: `promptsync promote k/1 --from staging --to production`';
  test.each([
    [
      'The hint for a refused promotion tells the user to pin staging if staging serves no version',
      `production=8 | staging=- production=6:Six promptsync=${EIGHT} | v8 | no version`,
      `Pin "staging". Remove the pin for "production" from the file, or pin "production" to its active version (v6). After the next sync, ${STAGING}`,
    ],
    [
      'The hint for a refused promotion suggests syncing staging first if staging changes in the same sync',
      `staging=8 production=8 | staging=7:Seven production=- promptsync=${EIGHT} | v8 | v7`,
      SYNC_STAGING,
    ],
    [
      'The error for a refused promotion says that the version does not exist yet if no version contains the text of the file',
      `New staging=latest production=latest | ${SERVES} | a version that does not exist yet | v7`,
      SYNC_STAGING,
    ],
    [
      'The hint for a refused promotion omits --allow-older if staging serves a newer version than production',
      `staging=8 production=7 | staging=${EIGHT} production=6:Six promptsync=7:Seven | v7 | v8`,
      `To promote the version that "staging" serves (v8), ${STAGING}`,
    ],
    [
      'The error for a refused promotion names the version id if the version number is unknown',
      `staging=7 production=version:theirs | ${SERVES} | theirs | v7`,
      `To promote the version that "staging" serves (v7), ${STAGING}`,
    ],
  ])('%s', (_, row, hint) => {
    const [wanted = '', service = '', required, serves] = row.split(' | ');
    const { problems } = planOf({ file: parseFile(wanted), service });
    const message = `"production" is pinned to ${required}. That version must first be active in "staging", but "staging" serves ${serves}.`;
    expect(problems[0]).toMatchObject({ message, hint });
  });

  test('The hint for a refused promotion first suggests promoting from dev to staging if only dev serves the version', () => {
    const { problems } = planOf({
      file: { pins: { dev: 8, staging: 7, production: 8 } },
      service: `dev=${EIGHT} ${SERVES}`,
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
