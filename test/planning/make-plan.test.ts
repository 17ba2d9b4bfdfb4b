import { describe, expect, test } from 'vitest';
import type { Observed } from '../../src/domain/observed.ts';
import type { PromptFile } from '../../src/domain/prompt-file.ts';
import { makeProblem } from '../../src/problem.ts';
import {
  content,
  deepFreeze,
  entry,
  file,
  makePlan,
  observation,
  observed,
  outside,
  planLines,
  planPrompt,
  rules,
  type Rules,
  type RulesParts,
  version,
} from './support.ts';

type Row = readonly [
  sentence: string,
  file: PromptFile,
  observed: Observed,
  expected: readonly string[],
  rules?: RulesParts,
];

/** The lines of a plan, made twice from inputs that cannot be written to. */
function planOf(wanted: PromptFile, found: Observed, parts: RulesParts = {}): readonly string[] {
  const given: readonly [PromptFile, Observed, Rules] = deepFreeze([wanted, found, rules(parts)]);
  const plan = planPrompt(...given);
  expect(planPrompt(...given)).toStrictEqual(plan);
  const { changes, problems, status } = plan;
  expect(status).toBe(problems.length > 0 ? 'blocked' : changes.length > 0 ? 'pending' : 'unchanged');
  return planLines(plan);
}

function table(title: string, rows: readonly Row[]): void {
  describe(`${title}`, () => {
    test.each(rows.map(([sentence, ...given]) => [sentence, given] as const))(
      '%s',
      (_, [wanted, found, expected, parts]) => {
        expect(planOf(wanted, found, parts)).toStrictEqual(expected);
      },
    );
  });
}

const latest = { staging: 'latest' };

table('A pin latest', [
  [
    'makes the first version where there is none',
    file({ pins: latest }),
    observed({ active: { staging: null } }),
    ['create "Hello"', 'staging: none → new "Hello"'],
  ],
  [
    'is in sync where the content is active',
    file({ pins: latest }),
    observed({ active: { staging: version(1, 'Hello') } }),
    [],
  ],
  [
    'follows an edit',
    file({ text: 'Hi', pins: latest }),
    observed({ active: { staging: version(1, 'Hello') } }),
    ['create "Hi"', 'staging: v1 → new "Hi"'],
  ],
  [
    'goes back to the version that a ledger knows to hold the content',
    file({ pins: latest }),
    observed({ active: { staging: version(2, 'Hi', { ledger: [entry(1, 'Hello')] }) } }),
    ['staging: v2 → v1'],
  ],
  [
    'moves an environment on to what another one serves',
    file({ pins: { staging: 'latest', production: 'latest' } }),
    observed({ active: { staging: version(2, 'Hello'), production: version(1, 'Old') } }),
    ['production: v1 → v2'],
  ],
  [
    'is in sync with equal content under another id',
    file({ pins: { staging: 'latest', production: 'latest' } }),
    observed({ active: { staging: version(1, 'Hello'), production: version(2, 'Hello') } }),
    [],
  ],
  [
    'is in sync where only line endings differ',
    file({ text: 'a\nb', pins: latest }),
    observed({ active: { staging: outside(1, 'a\r\nb') } }),
    [],
  ],
  [
    'is not in sync where white space differs',
    file({ text: 'a', pins: latest }),
    observed({ active: { staging: version(1, 'a ') } }),
    ['create "a"', 'staging: v1 → new "a"'],
  ],
  [
    'uses the version in the tracking environment',
    file({ pins: latest }),
    observed({ active: { staging: null, promptsync: version(3, 'Hello') } }),
    ['staging: none → v3'],
  ],
  [
    'uses a version that was looked at',
    file({ pins: latest }),
    observed({ active: { staging: null }, looked: [version(3, 'Hello')] }),
    ['staging: none → v3'],
  ],
]);

table('Several versions of one content', [
  [
    'the newest is used',
    file({ pins: latest }),
    observed({
      active: { staging: version(3, 'Hi', { ledger: [entry(1, 'Hello'), entry(2, 'Hello')] }) },
    }),
    ['staging: v3 → v2'],
  ],
  [
    "one that the tool made goes before somebody else's newer one",
    file({ pins: latest }),
    observed({
      active: { staging: version(3, 'Hi', { ledger: [entry(1, 'Hello'), entry(2, 'Hello', { stampFor: null })] }) },
    }),
    ['staging: v3 → v1'],
  ],
]);

const model = { model: 'gpt-5' };

table("Somebody else's version of equal content", [
  [
    'is in sync where neither has metadata',
    file({ pins: latest }),
    observed({ active: { staging: outside(1, 'Hello') } }),
    [],
  ],
  [
    'is not adopted with metadata that the file does not manage',
    file({ pins: latest }),
    observed({ active: { staging: outside(1, 'Hello', model) } }),
    ['create "Hello"', 'staging: v1 → new "Hello"'],
  ],
  [
    'is in sync with the metadata of the file',
    file({ metadata: model, pins: latest }),
    observed({ active: { staging: outside(1, 'Hello', model) } }),
    [],
  ],
  [
    "is not in sync without the file's metadata",
    file({ metadata: model, pins: latest }),
    observed({ active: { staging: outside(1, 'Hello') } }),
    ['create "Hello" {"model":"gpt-5"}', 'staging: v1 → new "Hello" {"model":"gpt-5"}'],
  ],
  [
    'is in sync with empty metadata in the file and none in the service',
    file({ metadata: {}, pins: latest }),
    observed({ active: { staging: outside(1, 'Hello') } }),
    [],
  ],
  [
    'is used out of a ledger by the same rule: without metadata',
    file({ pins: latest }),
    observed({ active: { staging: version(2, 'Hi', { ledger: [entry(1, 'Hello', { stampFor: null })] }) } }),
    ['staging: v2 → v1'],
  ],
  [
    'is used out of a ledger by the same rule: with metadata it is not',
    file({ pins: latest }),
    observed({
      active: { staging: version(2, 'Hi', { ledger: [entry(1, 'Hello', { stampFor: null, metadata: model })] }) },
    }),
    ['create "Hello"', 'staging: v2 → new "Hello"'],
  ],
  [
    'is what a copy of our version is, stamp and all, once its text was changed',
    file({ text: 'Edited', pins: latest }),
    observed({ active: { staging: version(2, 'Edited', { stampFor: 'Hello', metadata: model }) } }),
    ['create "Edited"', 'staging: v2 → new "Edited"'],
  ],
  [
    'is in sync as such a copy where it has no metadata but the stamp',
    file({ text: 'Edited', pins: latest }),
    observed({ active: { staging: version(2, 'Edited', { stampFor: 'Hello' }) } }),
    [],
  ],
]);

table('Metadata of the own versions', [
  [
    'may be anything where the file manages none',
    file({ pins: latest }),
    observed({ active: { staging: version(1, 'Hello', { metadata: model }) } }),
    [],
  ],
  [
    'that differs makes a new version',
    file({ metadata: { model: 'other' }, pins: latest }),
    observed({ active: { staging: version(1, 'Hello', { metadata: model }) } }),
    ['create "Hello" {"model":"other"}', 'staging: v1 → new "Hello" {"model":"other"}'],
  ],
  [
    'is compared whatever the order of its keys',
    file({ metadata: { a: 1, b: [2, { c: null, d: '' }] }, pins: latest }),
    observed({ active: { staging: version(1, 'Hello', { metadata: { b: [2, { d: '', c: null }], a: 1 } }) } }),
    [],
  ],
  [
    'goes back to the version with the text and the metadata',
    file({ metadata: model, pins: latest }),
    observed({
      active: { staging: version(3, 'Hello', { ledger: [entry(1, 'Hello', { metadata: model }), entry(2, 'Hello')] }) },
    }),
    ['staging: v3 → v1'],
  ],
]);

const history = version(9, 'Hello', { ledger: [entry(7, 'Seven'), entry(8, 'Eight')] });

table('A pinned number', [
  [
    'is in sync where that version is active',
    file({ pins: { production: 7 } }),
    observed({ active: { production: version(7, 'Seven'), promptsync: history } }),
    [],
  ],
  [
    'wants that very version, not another one of equal content',
    file({ pins: { production: 7 } }),
    observed({ active: { production: version(8, 'Seven'), promptsync: history } }),
    ['production: v8 → v7'],
  ],
  [
    'is found active in another environment',
    file({ pins: { staging: 'latest', production: 9 } }),
    observed({ active: { staging: version(9, 'Hello'), production: version(7, 'Seven') } }),
    ['production: v7 → v9'],
  ],
  [
    'is found in a ledger, older than what is active',
    file({ pins: { staging: 'latest', production: 7 } }),
    observed({ active: { staging: history, production: version(8, 'Eight') } }),
    ['production: v8 → v7'],
  ],
  [
    'is found as a version of somebody else',
    file({ pins: { staging: 'latest', production: 7 } }),
    observed({
      active: {
        staging: version(9, 'Hello', { ledger: [entry(7, 'Seven', { stampFor: null, metadata: model })] }),
        production: null,
      },
    }),
    ['production: none → v7'],
  ],
  [
    'means the version that was read rather than another one that a ledger calls so',
    file({ pins: { staging: 'latest', production: 7 } }),
    observed({
      active: {
        staging: version(9, 'Hello', { ledger: [entry(7, 'Strange', { id: 'ver_x' })] }),
        qa: version(7, 'Seven'),
        production: null,
      },
    }),
    ['production: none → v7'],
  ],
  [
    'blocks where it is known nowhere',
    file({ pins: { production: 5 } }),
    observed({
      active: { production: version(7, 'Seven'), promptsync: history },
      prompt: { latestVersionId: 'ver_9' },
    }),
    ['blocked: pin/unknown-number'],
  ],
  [
    'blocks, and a sync looks at the latest version where that was never read',
    file({ pins: { production: 10 } }),
    observed({ active: { production: null, promptsync: history }, prompt: { latestVersionId: 'ver_10' } }),
    ['blocked: pin/unknown-number', 'find: 10'],
  ],
  [
    'is found by looking',
    file({ pins: { production: 10 } }),
    observed({
      active: { production: null, promptsync: history },
      prompt: { latestVersionId: 'ver_10' },
      looked: [outside(10, 'Ten')],
    }),
    ['production: none → v10'],
  ],
  [
    'blocks for good where the latest version was looked at in vain',
    file({ pins: { production: 10 } }),
    observed({
      active: { production: null, promptsync: history },
      prompt: { latestVersionId: 'ver_11' },
      looked: [outside(11, 'Eleven')],
    }),
    ['blocked: pin/unknown-number'],
  ],
  [
    'blocks for good where the latest version is not there after all',
    file({ pins: { production: 10 } }),
    observed({
      active: { production: null, promptsync: history },
      prompt: { latestVersionId: 'ver_11' },
      missing: ['ver_11'],
    }),
    ['blocked: pin/unknown-number'],
  ],
  [
    'blocks where the prompt has no version at all',
    file({ pins: { production: 1 } }),
    observed({ active: { production: null, promptsync: null } }),
    ['create "Hello"', 'blocked: pin/unknown-number'],
  ],
]);

table('A pinned id', [
  [
    'is in sync where that version is active',
    file({ pins: { production: 'version:ver_7' } }),
    observed({ active: { production: version(7, 'Seven'), promptsync: history } }),
    [],
  ],
  [
    'wants that very version, not another one of equal content',
    file({ pins: { production: 'version:ver_7' } }),
    observed({ active: { production: version(8, 'Seven'), promptsync: history } }),
    ['production: v8 → v7'],
  ],
  [
    'is planned where no ledger knows it, and looked at first',
    file({ pins: { production: 'version:theirs' } }),
    observed({ active: { production: version(8, 'Eight'), promptsync: history } }),
    ['production: v8 → theirs', 'find: version:theirs'],
  ],
  [
    'is looked at once for two environments',
    file({ pins: { staging: 'version:theirs', production: 'version:theirs' } }),
    observed({ active: { staging: null, production: null, promptsync: history } }),
    ['staging: none → theirs', 'production: none → theirs', 'find: version:theirs'],
  ],
  [
    'is known once it was looked at',
    file({ pins: { production: 'version:ver_3' } }),
    observed({ active: { production: null, promptsync: history }, looked: [outside(3, 'Three')] }),
    ['production: none → v3'],
  ],
  [
    'blocks where the prompt has no such version',
    file({ pins: { production: 'version:theirs' } }),
    observed({ active: { production: version(8, 'Eight'), promptsync: history }, missing: ['theirs'] }),
    ['blocked: pin/unknown-version'],
  ],
]);

const release = { refs: { v1: content('Old') } };

table('A pin git:<ref>', [
  [
    'is in sync where the content is active',
    file({ pins: { staging: 'latest', production: 'git:v1' } }),
    observed({ active: { staging: version(2, 'Hello'), production: version(1, 'Old') } }),
    [],
    release,
  ],
  [
    'is in sync whatever the id',
    file({ pins: { staging: 'latest', production: 'git:v1' } }),
    observed({
      active: { staging: version(2, 'Hello', { ledger: [entry(1, 'Old')] }), production: outside(5, 'Old') },
    }),
    [],
    release,
  ],
  [
    'finds the content in a ledger',
    file({ pins: { staging: 'latest', production: 'git:v1' } }),
    observed({
      active: { staging: version(2, 'Hello', { ledger: [entry(1, 'Old')] }), production: version(2, 'Hello') },
    }),
    ['production: v2 → v1'],
    release,
  ],
  [
    'makes the content where it is unknown',
    file({ pins: { staging: 'latest', production: 'git:v1' } }),
    observed({ active: { staging: version(2, 'Hello'), production: version(2, 'Hello') } }),
    ['create "Old" for git:v1', 'production: v2 → new "Old"'],
    release,
  ],
  [
    "makes it before the file's own, so that the own is the newest",
    file({ pins: { staging: 'latest', production: 'git:v1' } }),
    observed({ active: { staging: null, production: null } }),
    ['create "Old" for git:v1', 'create "Hello"', 'staging: none → new "Hello"', 'production: none → new "Old"'],
    release,
  ],
  [
    "means the file's own version where the content is equal",
    file({ pins: { staging: 'latest', production: 'git:v1' } }),
    observed({ active: { staging: null, production: null } }),
    ['create "Hello"', 'staging: none → new "Hello"', 'production: none → new "Hello"'],
    { refs: { v1: content('Hello') } },
  ],
  [
    'is made once for two refs of equal content',
    file({ pins: { staging: 'git:v1', production: 'git:v2' } }),
    observed({ active: { staging: null, production: null, promptsync: version(3, 'Hello') } }),
    ['create "Old" for git:v2', 'staging: none → new "Old"', 'production: none → new "Old"'],
    { refs: { v1: content('Old'), v2: content('Old') } },
  ],
  [
    'is made for each of two refs with other metadata',
    file({ pins: { staging: 'git:v1', production: 'git:v2' } }),
    observed({ active: { staging: null, production: null, promptsync: version(3, 'Hello') } }),
    [
      'create "Old" {"model":"a"} for git:v1',
      'create "Old" {"model":"b"} for git:v2',
      'staging: none → new "Old" {"model":"a"}',
      'production: none → new "Old" {"model":"b"}',
    ],
    { refs: { v1: content('Old', { model: 'a' }), v2: content('Old', { model: 'b' }) } },
  ],
  [
    "serves the file's own content as well where the file manages no metadata",
    file({ pins: { staging: 'latest', production: 'git:v1' } }),
    observed({ active: { staging: null, production: null } }),
    [
      'create "Hello" {"model":"gpt-5"} for git:v1',
      'staging: none → new "Hello"',
      'production: none → new "Hello" {"model":"gpt-5"}',
    ],
    { refs: { v1: content('Hello', model) } },
  ],
  [
    "is served by the file's own where the ref manages no metadata",
    file({ metadata: model, pins: { staging: 'latest', production: 'git:v1' } }),
    observed({ active: { staging: null, production: null } }),
    [
      'create "Hello" {"model":"gpt-5"}',
      'staging: none → new "Hello" {"model":"gpt-5"}',
      'production: none → new "Hello"',
    ],
    { refs: { v1: content('Hello') } },
  ],
  [
    'blocks where the ref is missing',
    file({ pins: { staging: 'latest', production: 'git:gone' } }),
    observed({ active: { staging: version(2, 'Hello'), production: null } }),
    ['blocked: pin/unknown-ref'],
    release,
  ],
]);

table('No pin latest', [
  [
    'still keeps the content as a version that nothing serves',
    file({ text: 'Draft', pins: { production: 7 } }),
    observed({ active: { production: version(7, 'Seven'), promptsync: history } }),
    ['create "Draft"'],
  ],
  [
    'is in sync where the tracking environment holds the content',
    file({ pins: { production: 7 } }),
    observed({ active: { production: version(7, 'Seven'), promptsync: history } }),
    [],
  ],
  [
    'is in sync where its ledger names the content',
    file({ text: 'Eight', pins: { production: 7 } }),
    observed({ active: { production: version(7, 'Seven'), promptsync: history } }),
    [],
  ],
  [
    "makes a version where somebody else's of equal content is pinned, which the next pin would lose sight of",
    file({ pins: { production: 1 } }),
    observed({ active: { production: outside(1, 'Hello'), promptsync: null } }),
    ['create "Hello"'],
  ],
  [
    "is in sync where a ledger names somebody else's version of equal content",
    file({ pins: { production: 1 } }),
    observed({
      active: {
        production: outside(1, 'Hello'),
        promptsync: version(2, 'Hi', { ledger: [entry(1, 'Hello', { stampFor: null })] }),
      },
    }),
    [],
  ],
  [
    'makes the first version where there is none',
    file({ pins: {} }),
    observed({ active: { promptsync: null } }),
    ['create "Hello"'],
  ],
  [
    'leaves environments alone that are not pinned',
    file({ pins: latest }),
    observed({ active: { staging: version(1, 'Hello'), production: version(7, 'Seven') } }),
    [],
  ],
]);

const inSync = { active: { staging: version(1, 'Hello') } };

table('Fields', [
  [
    'that are equal are left alone',
    file({ description: 'About it.', pins: latest }),
    observed({ ...inSync, prompt: { description: 'About it.' } }),
    [],
  ],
  ['show a name that differs', file({ name: 'New', pins: latest }), observed(inSync), ['name: "First" → "New"']],
  ['show a key that differs', file({ key: 'k/2', pins: latest }), observed(inSync), ['key: "k/1" → "k/2"']],
  [
    'show all that differ, in one change',
    file({ key: 'k/2', name: 'New', description: 'D', pins: latest }),
    observed(inSync),
    ['key: "k/1" → "k/2"', 'name: "First" → "New"', 'description: "" → "D"'],
  ],
  [
    'leave a description alone that the file does not have',
    file({ pins: latest }),
    observed({ ...inSync, prompt: { description: 'Theirs' } }),
    [],
  ],
  [
    'empty a description',
    file({ description: '', pins: latest }),
    observed({ ...inSync, prompt: { description: 'Theirs' } }),
    ['description: "Theirs" → ""'],
  ],
  ["take the service's null for empty", file({ description: '', pins: latest }), observed(inSync), []],
]);

table('Order', [
  [
    'is: versions, fields, environments in promotion order',
    file({ name: 'New', pins: { production: 'git:v1', qa: 'latest', staging: 'latest' } }),
    observed({ active: { staging: null, qa: null, production: null } }),
    [
      'create "Old" for git:v1',
      'create "Hello"',
      'name: "First" → "New"',
      'staging: none → new "Hello"',
      'qa: none → new "Hello"',
      'production: none → new "Old"',
    ],
    { ...release, environmentOrder: ['dev', 'staging', 'qa', 'production'] },
  ],
  [
    "is the file's own without a configured one",
    file({ pins: { production: 'latest', staging: 'latest' } }),
    observed({ active: { staging: null, production: null } }),
    ['create "Hello"', 'production: none → new "Hello"', 'staging: none → new "Hello"'],
  ],
]);

table('Blocked', [
  [
    'where latest is not allowed, and what would change is shown',
    file({ text: 'Hi', pins: { staging: 'latest', production: 'latest' } }),
    observed({ active: { staging: version(1, 'Hello'), production: version(1, 'Hello') } }),
    ['create "Hi"', 'staging: v1 → new "Hi"', 'production: v1 → new "Hi"', 'blocked: guard/latest-not-allowed'],
    { latestForbidden: ['production'] },
  ],
  [
    'where latest is not allowed although it would change nothing',
    file({ pins: { production: 'latest' } }),
    observed({ active: { production: version(1, 'Hello') } }),
    ['blocked: guard/latest-not-allowed'],
    { latestForbidden: ['production'] },
  ],
  [
    'for every reason at once',
    file({ pins: { a: 'latest', b: 3, c: 'git:gone', d: 'version:ver_0' } }),
    observed({ active: { a: version(1, 'Hello'), b: null, c: null, d: null }, missing: ['ver_0'] }),
    [
      'blocked: pin/unknown-number',
      'blocked: pin/unknown-ref',
      'blocked: pin/unknown-version',
      'blocked: guard/latest-not-allowed',
    ],
    { latestForbidden: ['a'] },
  ],
  [
    'without a look where a guard refuses: looking writes',
    file({ pins: { staging: 'latest', production: 'version:theirs' } }),
    observed({ active: { staging: version(1, 'Hello'), production: null } }),
    ['production: none → theirs', 'blocked: guard/latest-not-allowed'],
    { latestForbidden: ['staging'] },
  ],
  [
    'without a look where another pin stays unresolved whatever it shows',
    file({ pins: { staging: 'version:theirs', production: 'git:gone', qa: 12 } }),
    observed({
      active: { staging: null, production: null, qa: null, promptsync: history },
      prompt: { latestVersionId: 'n' },
    }),
    ['staging: none → theirs', 'blocked: pin/unknown-ref', 'blocked: pin/unknown-number'],
  ],
]);

describe('A plan', () => {
  test('is of no changes where there are no files', () => {
    expect(makePlan([], observation(), rules()).prompts).toStrictEqual([]);
  });

  test('says where the pin stands that cannot be resolved', () => {
    const wanted = file({ pins: { staging: 'latest', production: 5, qa: 'version:x', live: 'git:gone' } });
    const found = observed({ active: { staging: version(1, 'Hello'), production: null, qa: null }, missing: ['x'] });
    const { problems } = planPrompt(wanted, found, rules());
    expect(problems).toMatchObject([
      { path: 'prompts/a.md', line: 6, column: 3 },
      { path: 'prompts/a.md', line: 7, column: 3 },
      { path: 'prompts/a.md', line: 8, column: 3 },
    ]);
  });

  test('says of a number whether a sync would look for it', () => {
    const wanted = file({ pins: { production: 5 } });
    const messages = ['ver_9', 'ver_10'].map((latestVersionId) => {
      const found = observed({ active: { production: null, promptsync: history }, prompt: { latestVersionId } });
      return planPrompt(wanted, found, rules()).problems[0]?.message;
    });
    expect(messages[0]).toMatch(/no version with that number is known\.$/);
    expect(messages[1]).toMatch(/a sync would look at the newest one/);
  });

  test('has a prompt that could not be observed as failed, with the reason, beside the others', () => {
    const [one, two] = [file({ pins: latest }), file({ id: 'p2', key: 'k/2', path: 'prompts/b.md', pins: latest })];
    const reason = makeProblem('service/prompt-not-found', { promptId: 'p1' });
    const found = { ...observation(observed({ prompt: { id: 'p2', key: 'k/2' } })), failed: new Map([['p1', reason]]) };
    const { prompts } = makePlan([one, two], found, rules());
    expect(prompts.map(({ status }) => status)).toStrictEqual(['failed', 'pending']);
    expect(prompts[0]).toMatchObject({ observed: null, changes: [], finds: [], problems: [reason] });
  });

  test('carries the commit and the path of a content at a ref into what makes it', () => {
    const provenance = { commit: 'abc', path: 'old/place.md', changeSummary: 'First release' };
    const wanted = file({ pins: { staging: 'latest', production: 'git:v1' } });
    const found = observed({ active: { staging: version(2, 'Hello'), production: null } });
    const { changes } = planPrompt(wanted, found, rules({ refs: { v1: { content: content('Old'), provenance } } }));
    expect(changes[0]).toMatchObject({ kind: 'create-version', ref: 'v1', provenance });
  });

  test('keeps what was read beside each prompt, for the writing', () => {
    const found = observed({ active: { staging: version(2, 'Hello') } });
    expect(planPrompt(file({ pins: latest }), found, rules()).observed).toBe(found);
  });
});
