import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Plan, PromptPlan } from '../../src/domain/plan.ts';
import type { PromptFile } from '../../src/domain/prompt-file.ts';
import { makeFailure } from '../../src/domain/result.ts';
import { assumeObservation } from '../../src/observing/assume-observation.ts';
import { fourCallFileRules } from '../../src/providers/four-call/file-rules.ts';
import { makeProblem } from '../../src/problem.ts';
import {
  content,
  file,
  makePlan,
  parseFile,
  planLines,
  rules,
  type FileParts,
  type Rules,
} from '../planning/support.ts';
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

const PINS = { staging: 'latest', production: 7 };

describe('assumeObservation for changed files', () => {
  /** Rows `title: 'BASE | HEAD | PLAN'`, in the notation of `planning/support.ts`. */
  const rows = {
    'shows a new version for changed text': 'a=latest b=7 | Bye a=latest b=7 | create "Bye"; a: base → new "Bye"',
    'shows a changed version number in a pin': 'a=latest b=7 | a=latest b=9 | b: v7 → v9',
    'is empty if a pin changes from latest to a git ref with the same text': 'a=latest b=7 | a=git:same b=7 | nothing',
    'shows an added environment that is pinned to a version number': 'a=latest | a=latest b=7 | b: none → v7',
    'shows an added environment that is pinned to latest': 'a=7 | a=7 b=latest | b: none → base',
    'is empty if the head only removes a pin': 'a=latest b=7 | a=latest | nothing',
    'shows a changed prompt name': 'a=latest b=7 | name=New a=latest b=7 | name: "First" → "New"',
    'shows a cleared description': 'description=x a=7 | description= a=7 | description: "x" → ""',
    'is empty if the head removes the description': 'description=x a=7 | a=7 | nothing',
    'shows a new version for changed metadata':
      'Hello{"m":1} a=latest | Hello{"m":2} a=latest | create "Hello" {"m":2}; a: base → new "Hello" {"m":2}',
    'is empty if the head adds empty metadata': 'a=latest b=7 | Hello{} a=latest b=7 | nothing',
  };
  test.each(Object.entries(rows))('An offline plan %s', (_, row) => {
    const [then = '', now = '', expected] = row.split(' | ');
    const plan = planOneOffline(parseFile(now), parseFile(then));
    expect(planLines(plan).join('; ') || 'nothing').toBe(expected);
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
