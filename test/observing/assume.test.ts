import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Plan, PromptPlan } from '../../src/domain/plan.ts';
import type { PromptFile } from '../../src/domain/prompt-file.ts';
import { assumeObservation } from '../../src/observing/assume.ts';
import { ledgerRules } from '../../src/ledger/rules.ts';
import { makeProblem } from '../../src/problem.ts';
import { content, file, makePlan, planLines, rules, type FileParts, type Rules } from '../planning/support.ts';
import { runs } from '../support/seed.ts';

const refs = { v1: content('At v1'), same: content('Hello'), rich: content('Rich', { model: 'x' }) };

/** What a review without the service says of files, given those of the base. */
function review(now: readonly PromptFile[], then: readonly PromptFile[], parts: Partial<Rules> = {}): Plan {
  const base = { files: new Map(then.map((one) => [one.id, one])), ancestors: new Set<string>() };
  const given = { ...rules({ refs, base, files: now }), ...parts };
  return makePlan(now, assumeObservation(given, ledgerRules('promptsync')), given);
}

function reviewOne(now: FileParts, then: FileParts, parts: Partial<Rules> = {}): PromptPlan {
  return review([file(now)], [file(then)], parts).prompts[0]!;
}

describe("The base's own files are in sync", () => {
  test('whatever they pin and hold', () => {
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
        const nothing = { status: 'unchanged', changes: [], drift: [], problems: [], finds: [] };
        expect(reviewOne(one, one)).toMatchObject(nothing);
      }),
      { numRuns: runs(300) },
    );
  });
});

const PINS = { staging: 'latest', production: 7 };

describe('What the head changes is all that there is to do', () => {
  test.each<[string, FileParts, FileParts, readonly string[]]>([
    ['a text', { pins: PINS }, { pins: PINS, text: 'Bye' }, ['create "Bye"', 'staging: base → new "Bye"']],
    ['a number', { pins: PINS }, { pins: { ...PINS, production: 9 } }, ['production: v7 → v9']],
    ['a number to latest', { pins: PINS }, { pins: { ...PINS, production: 'latest' } }, ['production: v7 → base']],
    ['latest to a number', { pins: { staging: 'latest' } }, { pins: { staging: 7 } }, ['staging: base → v7']],
    [
      'a number to latest with another text',
      { pins: { staging: 7 } },
      { pins: { staging: 'latest' }, text: 'Bye' },
      ['create "Bye"', 'staging: v7 → new "Bye"'],
    ],
    ['an id', { pins: { staging: 'version:a' } }, { pins: { staging: 'version:b' } }, ['staging: a → b']],
    ['a number to an id', { pins: PINS }, { pins: { ...PINS, production: 'version:b' } }, ['production: v7 → b']],
    ['a ref', { pins: { staging: 'git:v1' } }, { pins: { staging: 'latest' } }, ['staging: git:v1 → base']],
    ['latest to a ref', { pins: PINS }, { pins: { ...PINS, staging: 'git:v1' } }, ['staging: base → git:v1']],
    ['latest to a ref with the same text', { pins: PINS }, { pins: { ...PINS, staging: 'git:same' } }, []],
    ['one environment more', { pins: { staging: 'latest' } }, { pins: PINS }, ['production: none → v7']],
    [
      'one environment more that follows the text',
      { pins: { staging: 7 } },
      { pins: { staging: 7, qa: 'latest' } },
      ['qa: none → base'],
    ],
    ['one environment less', { pins: PINS }, { pins: { staging: 'latest' } }, []],
    ['the name', { pins: PINS }, { pins: PINS, name: 'New' }, ['name: "First" → "New"']],
    ['the key', { pins: PINS }, { pins: PINS, key: 'k/2' }, ['key: "k/1" → "k/2"']],
    ['the description', { pins: PINS, description: 'a' }, { pins: PINS, description: '' }, ['description: "a" → ""']],
    ['a description more', { pins: PINS }, { pins: PINS, description: 'a' }, ['description: "" → "a"']],
    ['a description less', { pins: PINS, description: 'a' }, { pins: PINS }, []],
    [
      'metadata',
      { pins: PINS, metadata: { model: 'x' } },
      { pins: PINS, metadata: { model: 'y' } },
      ['create "Hello" {"model":"y"}', 'staging: base → new "Hello" {"model":"y"}'],
    ],
    ['metadata more, but none in it', { pins: PINS }, { pins: PINS, metadata: {} }, []],
  ])('%s', (_, then, now, lines) => {
    const plan = reviewOne(now, then);
    expect(planLines(plan)).toEqual(lines);
    expect(plan.drift).toEqual([]);
  });

  test('a prompt, with a number that nobody can say is not there', () => {
    const added = { ...file({ pins: { staging: 'latest', production: 3 } }), id: 'p2', path: 'prompts/b.md' };
    const { prompts } = review([file({ pins: PINS }), added], [file({ pins: PINS })]);
    const expected = ['create "Hello"', 'staging: none → new "Hello"', 'production: none → v3'];
    expect(prompts.map(planLines)).toEqual([[], expected]);
  });

  test('a prompt less', () => {
    const gone = { ...file(), id: 'p2', path: 'prompts/b.md' };
    const { prompts } = review([file({ pins: PINS })], [file({ pins: PINS }), gone]);
    expect(prompts.map(planLines)).toEqual([[]]);
  });
});

test('A ref that is not there blocks', () => {
  const contentsAtRefs = new Map([['p1', new Map([['v1', makeProblem('pin/unknown-ref', { ref: 'v1' })]])]]);
  const [now, then] = [{ pins: { staging: 'git:v1' } }, { pins: { staging: 'latest' } }];
  expect(planLines(reviewOne(now, then, { contentsAtRefs }))).toEqual(['blocked: pin/unknown-ref']);
  expect(planLines(reviewOne(now, now, { contentsAtRefs }))).toEqual(['blocked: pin/unknown-ref']);
});

describe('Numbers that nobody knows', () => {
  test('are not shown, and those that somebody wrote are', () => {
    const then = { pins: { a: 'latest', b: 7, c: 'version:x', d: 'git:v1' } };
    const now = { pins: { a: 9, b: 'latest', c: 'git:v1', d: 'version:x' } };
    const { changes } = reviewOne(now, then);
    expect(changes).toMatchObject([
      { environment: 'a', before: { id: 'base', number: null }, after: { id: 'v9', number: 9 } },
      { environment: 'b', before: { id: 'v7', number: 7 }, after: { id: 'base', number: null } },
      { environment: 'c', before: { id: 'x', number: null }, after: { id: 'git:v1', number: null } },
      { environment: 'd', before: { id: 'git:v1', number: null }, after: { id: 'x', number: null } },
    ]);
  });
});
