import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Plan, PromptPlan } from '../../src/domain/plan.ts';
import type { PromptFile } from '../../src/domain/prompt-file.ts';
import { makeFailure } from '../../src/domain/result.ts';
import { assumeObservation } from '../../src/observing/assume-observation.ts';
import { fourCallFileRules } from '../../src/providers/four-call/file-rules.ts';
import { makeProblem } from '../../src/problem.ts';
import { content, file, makePlan, planLines, lines, rules, type FileParts, type Rules } from '../planning/support.ts';
import { runs } from '../support/seed.ts';

const refs = { v1: content('At v1'), same: content('Hello'), rich: content('Rich', { model: 'x' }) };

/** Plans the change from the base to the head without the service. */
function planOffline(now: readonly PromptFile[], then: readonly PromptFile[], parts: Partial<Rules> = {}): Plan {
  const base = { files: new Map(then.map((one) => [one.id, one])), isDefault: false };
  const given = { ...rules({ refs, base, files: now }), ...parts };
  return makePlan(now, assumeObservation(given, fourCallFileRules), given);
}

function planOneOffline(now: FileParts, then: FileParts, parts: Partial<Rules> = {}): PromptPlan {
  return planOffline([file(now)], [file(then)], parts).prompts[0]!;
}

describe('assumeObservation for equal files', () => {
  test('An offline plan is empty if base and head have the same files', () => {
    const pin = fc.oneof(
      fc.constantFrom<string | number>('latest', 'git:v1', 'git:same', 'git:rich', 'version:ver_2', 'version:theirs'),
      fc.integer({ min: 1, max: 3 }),
    );
    const environments = fc.constantFrom('staging', 'qa', 'production');
    const parts = fc.record(
      {
        pins: fc.dictionary(environments, pin, { noNullPrototype: true }),
        text: fc.constantFrom('Hello', 'At v1', 'Rich', 'Another'),
        metadata: fc.constantFrom({}, { model: 'x' }),
        description: fc.constantFrom('', 'What it is for.'),
      },
      { requiredKeys: ['pins', 'text'] },
    );
    fc.assert(
      fc.property(parts, (one) => {
        const nothing = { status: 'unchanged', changes: [], drift: [], problems: [], pinsToFind: [] };
        expect(planOneOffline(one, one)).toMatchObject(nothing);
      }),
      { numRuns: runs(300) },
    );
  });
});

const PINS = { staging: 'latest', production: 7 };

describe('assumeObservation for changed files', () => {
  test.each<[string, FileParts, FileParts, readonly string[]]>([
    [
      'An offline plan shows a new version for changed text',
      { pins: PINS },
      { pins: PINS, text: 'Bye' },
      lines('create "Bye"', 'staging: base → new "Bye"'),
    ],
    [
      'An offline plan shows a changed version number in a pin',
      { pins: PINS },
      { pins: { ...PINS, production: 9 } },
      lines('production: v7 → v9'),
    ],
    [
      'An offline plan shows a pin that changes from a version number to latest',
      { pins: PINS },
      { pins: { ...PINS, production: 'latest' } },
      lines('production: v7 → base'),
    ],
    [
      'An offline plan shows a pin that changes from latest to a version number',
      { pins: { staging: 'latest' } },
      { pins: { staging: 7 } },
      lines('staging: base → v7'),
    ],
    [
      'An offline plan shows both new text and a pin that changes from a version number to latest',
      { pins: { staging: 7 } },
      { pins: { staging: 'latest' }, text: 'Bye' },
      lines('create "Bye"', 'staging: v7 → new "Bye"'),
    ],
    [
      'An offline plan shows a changed version id in a pin',
      { pins: { staging: 'version:a' } },
      { pins: { staging: 'version:b' } },
      lines('staging: a → b'),
    ],
    [
      'An offline plan shows a pin that changes from a version number to a version id',
      { pins: PINS },
      { pins: { ...PINS, production: 'version:b' } },
      lines('production: v7 → b'),
    ],
    [
      'An offline plan shows a pin that changes from a git ref to latest',
      { pins: { staging: 'git:v1' } },
      { pins: { staging: 'latest' } },
      lines('staging: git:v1 → base'),
    ],
    [
      'An offline plan shows a pin that changes from latest to a git ref',
      { pins: PINS },
      { pins: { ...PINS, staging: 'git:v1' } },
      lines('staging: base → git:v1'),
    ],
    [
      'An offline plan is empty if a pin changes from latest to a git ref with the same text',
      { pins: PINS },
      { pins: { ...PINS, staging: 'git:same' } },
      [],
    ],
    [
      'An offline plan shows an added environment that is pinned to a version number',
      { pins: { staging: 'latest' } },
      { pins: PINS },
      lines('production: none → v7'),
    ],
    [
      'An offline plan shows an added environment that is pinned to latest',
      { pins: { staging: 7 } },
      { pins: { staging: 7, qa: 'latest' } },
      lines('qa: none → base'),
    ],
    ['An offline plan is empty if the head only removes a pin', { pins: PINS }, { pins: { staging: 'latest' } }, []],
    [
      'An offline plan shows a changed prompt name',
      { pins: PINS },
      { pins: PINS, name: 'New' },
      lines('name: "First" → "New"'),
    ],
    [
      'An offline plan shows a changed prompt key',
      { pins: PINS },
      { pins: PINS, key: 'k/2' },
      lines('key: "k/1" → "k/2"'),
    ],
    [
      'An offline plan shows a cleared description',
      { pins: PINS, description: 'a' },
      { pins: PINS, description: '' },
      lines('description: "a" → ""'),
    ],
    [
      'An offline plan shows an added description',
      { pins: PINS },
      { pins: PINS, description: 'a' },
      lines('description: "" → "a"'),
    ],
    [
      'An offline plan is empty if the head removes the description',
      { pins: PINS, description: 'a' },
      { pins: PINS },
      [],
    ],
    [
      'An offline plan shows a new version for changed metadata',
      { pins: PINS, metadata: { model: 'x' } },
      { pins: PINS, metadata: { model: 'y' } },
      lines('create "Hello" {"model":"y"}', 'staging: base → new "Hello" {"model":"y"}'),
    ],
    ['An offline plan is empty if the head adds empty metadata', { pins: PINS }, { pins: PINS, metadata: {} }, []],
  ])('%s', (_, then, now, lines) => {
    const plan = planOneOffline(now, then);
    expect(planLines(plan)).toEqual(lines);
    expect(plan.drift).toEqual([]);
  });

  test('For a prompt that the head adds, an offline plan assumes that the pinned version number exists', () => {
    const added = { ...file({ pins: { staging: 'latest', production: 3 } }), id: 'p2', path: 'prompts/b.md' };
    const { prompts } = planOffline([file({ pins: PINS }), added], [file({ pins: PINS })]);
    const expected = ['create "Hello"', 'staging: none → new "Hello"', 'production: none → v3'];
    expect(prompts.map(planLines)).toEqual([[], expected]);
  });

  test('An offline plan shows no change for a prompt that the head removes', () => {
    const gone = { ...file(), id: 'p2', path: 'prompts/b.md' };
    const { prompts } = planOffline([file({ pins: PINS })], [file({ pins: PINS }), gone]);
    expect(prompts.map(planLines)).toEqual([[]]);
  });
});

test('An offline plan blocks a prompt that pins a nonexistent git ref', () => {
  const contentsAtRefs = new Map([
    ['p1', new Map([['v1', makeFailure(makeProblem('pin/unknown-ref', { ref: 'v1' }))]])],
  ]);
  const [now, then] = [{ pins: { staging: 'git:v1' } }, { pins: { staging: 'latest' } }];
  expect(planLines(planOneOffline(now, then, { contentsAtRefs }))).toEqual(['blocked: pin/unknown-ref']);
  expect(planLines(planOneOffline(now, now, { contentsAtRefs }))).toEqual(['blocked: pin/unknown-ref']);
});

describe('version numbers without the service', () => {
  test('An offline plan shows only version numbers that appear in a prompt file', () => {
    const then = { pins: { a: 'latest', b: 7, c: 'version:x', d: 'git:v1' } };
    const now = { pins: { a: 9, b: 'latest', c: 'git:v1', d: 'version:x' } };
    const { changes } = planOneOffline(now, then);
    expect(changes).toMatchObject([
      { environment: 'a', before: { id: 'base', number: null }, after: { id: 'v9', number: 9 } },
      { environment: 'b', before: { id: 'v7', number: 7 }, after: { id: 'base', number: null } },
      { environment: 'c', before: { id: 'x', number: null }, after: { id: 'git:v1', number: null } },
      { environment: 'd', before: { id: 'git:v1', number: null }, after: { id: 'x', number: null } },
    ]);
  });
});
