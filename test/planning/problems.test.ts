import { describe, expect, test } from 'vitest';
import type { Observed } from '../../src/domain/observed.ts';
import type { PromptFile } from '../../src/domain/prompt-file.ts';
import { makeProblem, type Problem } from '../../src/problem.ts';
import { guard } from '../../src/planning/guard.ts';
import { file, makePlan, observation, observed, rules, type RulesParts, version } from './support.ts';

/** The problems of a prompt in the form `path:line:column message`. */
function reported(problems: readonly Problem[] = []): readonly string[] {
  return problems.map(({ path, line, column, message }) => `${[path, line, column].join(':')} ${message}`);
}

describe('A prompt that is blocked says by what, and where that is written', () => {
  const hello = observed({ active: { staging: version(1, 'Hello'), production: null, promptsync: null } });
  const rows: readonly (readonly [string, given: readonly [PromptFile, Observed, RulesParts?], string])[] = [
    [
      'a number that no version has',
      [file({ pins: { staging: 'latest', production: 5 } }), hello],
      'prompts/a.md:6:3 "production" is pinned to version 5, and no version with that number is known.',
    ],
    [
      'a number that the newest version may have, which was never read',
      [
        file({ pins: { staging: 'latest', production: 5 } }),
        observed({ active: { staging: version(1, 'Hello') }, prompt: { latestVersionId: 'ver_5' } }),
      ],
      'prompts/a.md:6:3 "production" is pinned to version 5, and no version with that number is known; ' +
        'a sync would look at the newest one, which was never read.',
    ],
    [
      'an id that is none of its own',
      [file({ pins: { staging: 'latest', production: 'version:theirs' } }), { ...hello, missing: ['theirs'] }],
      'prompts/a.md:6:3 "production" is pinned to version "theirs", which this prompt does not have.',
    ],
    [
      'a ref that is not there',
      [file({ pins: { staging: 'latest', production: 'git:v9' } }), hello],
      'prompts/a.md:6:3 The git ref "v9" is not in this repository.',
    ],
    [
      'latest where it is not allowed',
      [file({ pins: { staging: 'latest', production: 'latest' } }), hello, { latestForbidden: ['production'] }],
      'prompts/a.md:6:3 "production" is pinned to `latest`, which promptsync.yaml does not allow there.',
    ],
  ];
  test.each(rows)('%s', (_, [wanted, found, parts], expected) => {
    const [plan] = makePlan([wanted], observation(found), rules(parts)).prompts;
    expect(reported(plan?.problems)).toEqual([expected]);
  });

  test('a plan that is not the one that was reviewed: both are named', () => {
    const plan = makePlan([file({ pins: { production: 'latest' } })], observation(hello), rules());
    const guards = {
      onDrift: 'overwrite',
      maxChanges: null,
      expectedPlan: 'sha256:reviewed',
      uncommitted: new Set<string>(),
    } as const;
    const [prompt] = guard(plan, guards).prompts;
    expect(reported(prompt?.problems)).toEqual([`:: The plan is ${plan.digest}, not the expected sha256:reviewed.`]);
  });
});

describe('An environment that does not allow latest', () => {
  test.each([7, 'version:ver_7', 'git:v1'])('allows the pin %s', (pin) => {
    const found = observed({ active: { production: version(7, 'Hello') } });
    const parts = { latestForbidden: ['production'], refs: { v1: file().content } };
    const [plan] = makePlan([file({ pins: { production: pin } })], observation(found), rules(parts)).prompts;
    expect(plan).toMatchObject({ status: 'unchanged', problems: [] });
  });
});

test('A prompt that was not observed, for whatever reason, has failed and says so', () => {
  const [plan] = makePlan([file({ pins: { staging: 'latest' } })], observation(), rules()).prompts;
  expect(plan).toMatchObject({ status: 'failed', observed: null, changes: [], drift: [], finds: [] });
  expect(reported(plan?.problems)).toEqual([':: promptsync met an error of its own: the prompt was not observed']);
});

test('A prompt that was not observed because the run was interrupted was not attempted', () => {
  const failed = new Map([['p1', makeProblem('apply/interrupted')]]);
  const [plan] = makePlan([file({ pins: { staging: 'latest' } })], { observed: new Map(), failed }, rules()).prompts;
  expect(plan).toMatchObject({ status: 'not_attempted', problems: [{ code: 'apply/interrupted' }] });
});
