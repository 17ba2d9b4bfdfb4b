import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/domain/json.ts';
import { isNew } from '../../src/domain/plan.ts';
import type { Content } from '../../src/domain/prompt-file.ts';
import type { Version } from '../../src/ledger/stamp.ts';
import { makeProblem } from '../../src/problem.ts';
import {
  content,
  deepFreeze,
  entry,
  file,
  type FileParts,
  makePlan,
  observation,
  observed,
  type ObservedParts,
  outside,
  planLines,
  planPrompt,
  rules,
  type RulesParts,
  version,
} from './support.ts';

/** A file, what its environments serve, and the lines of the plan; what else the service holds, and the rules. */
type Row = readonly [
  sentence: string,
  file: FileParts,
  active: ObservedParts['active'] & object,
  expected: readonly string[],
  rest?: Omit<ObservedParts, 'active'> & RulesParts,
];

/** Each plan is made twice from inputs that cannot be written to. */
function table(title: string, rows: readonly Row[]): void {
  test.each(rows.map(([sentence, ...given]) => [`${title} ${sentence}`, given] as const))(
    '%s',
    (_, [parts, active, expected, { prompt = {}, looked = [], missing = [], ...given } = {}]) => {
      const found = observed({ active, prompt, looked, missing });
      const input = deepFreeze([file(parts), found, rules(given)] as const);
      const plan = planPrompt(...input);
      expect(planPrompt(...input)).toStrictEqual(plan);
      expect(planLines(plan)).toStrictEqual(expected);
      const { changes, problems, status } = plan;
      expect(status).toBe(problems.length > 0 ? 'blocked' : changes.length > 0 ? 'pending' : 'unchanged');
    },
  );
}

const latest = { staging: 'latest' };

/** Of a file that pins staging to latest. */
type LatestRow = readonly [string, text: string, staging: Version | null, expected: readonly string[]];
const latestRows: readonly LatestRow[] = [
  ['makes the first version', 'Hello', null, ['create "Hello"', 'staging: none → new "Hello"']],
  ['is in sync where the content is active', 'Hello', version(1, 'Hello'), []],
  ['follows an edit', 'Hi', version(1, 'Hello'), ['create "Hi"', 'staging: v1 → new "Hi"']],
  [
    'goes back to what a ledger knows',
    'Hello',
    version(2, 'Hi', { ledger: [entry(1, 'Hello')] }),
    ['staging: v2 → v1'],
  ],
  ['is in sync where only line endings differ', 'a\nb', outside(1, 'a\r\nb'), []],
  ['is not where white space differs', 'a', version(1, 'a '), ['create "a"', 'staging: v1 → new "a"']],
];
table(
  'A pin latest',
  latestRows.map(([sentence, text, staging, expected]) => [sentence, { text, pins: latest }, { staging }, expected]),
);

table('A pin latest', [
  [
    'moves an environment on to what another one serves',
    { pins: { staging: 'latest', production: 'latest' } },
    { staging: version(2, 'Hello'), production: version(1, 'Old') },
    ['production: v1 → v2'],
  ],
  [
    'is in sync with equal content under another id',
    { pins: { staging: 'latest', production: 'latest' } },
    { staging: version(1, 'Hello'), production: version(2, 'Hello') },
    [],
  ],
  [
    'uses what is tracked',
    { pins: latest },
    { staging: null, promptsync: version(3, 'Hello') },
    ['staging: none → v3'],
  ],
  [
    'does not use what was only looked at, and may be forgotten',
    { pins: latest },
    { staging: null },
    ['create "Hello"', 'staging: none → new "Hello"'],
    { looked: [version(3, 'Hello')] },
  ],
]);

const model = { model: 'gpt-5' };

table('Metadata of the own versions', [
  [
    'that differs makes a new version',
    { metadata: { model: 'other' }, pins: latest },
    { staging: version(1, 'Hello', { metadata: model }) },
    ['create "Hello" {"model":"other"}', 'staging: v1 → new "Hello" {"model":"other"}'],
  ],
]);

table('A text of the file that no pin follows', [
  [
    'is made at once where only a version with settings of somebody else has it, and another one is made',
    { pins: { staging: 'git:v1' } },
    { staging: outside(1, 'Hello', model), promptsync: null },
    ['create "Old" for git:v1', 'create "Hello"', 'staging: v1 → new "Old"'],
    { refs: { v1: content('Old') } },
  ],
  [
    'is not where the record of the one that is made names it',
    { pins: { staging: 'git:v1' } },
    { staging: outside(1, 'Hello'), promptsync: null },
    ['create "Old" for git:v1', 'staging: v1 → new "Old"'],
    { refs: { v1: content('Old') } },
  ],
]);

const history = version(9, 'Hello', { ledger: [entry(7, 'Seven'), entry(8, 'Eight')] });

/** Of a file that pins production alone, where what is tracked is the version 9 that knows 7 and 8. */
type PinnedRow = readonly [
  string,
  pin: string | number,
  production: Version | null,
  expected: readonly string[],
  Row[4]?,
];
const unknown = ['blocked: pin/unknown-number'];
const newest = (number: number) => ({ prompt: { latestVersionId: `ver_${number}` } });
const pinnedRows: readonly PinnedRow[] = [
  ['number is in sync where that version is active', 7, version(7, 'Seven'), []],
  ['number wants that very version, not another of equal content', 7, version(8, 'Seven'), ['production: v8 → v7']],
  ['number blocks where it is known nowhere', 5, version(7, 'Seven'), unknown, newest(9)],
  ['number leads to a look at a newest version that was never read', 10, null, [...unknown, 'find: 10'], newest(10)],
  ['number is found by looking', 10, null, ['production: none → v10'], { ...newest(10), looked: [outside(10, 'Ten')] }],
  ['number blocks after a look in vain', 10, null, unknown, { ...newest(11), looked: [outside(11, 'Eleven')] }],
  [
    'number blocks where the newest version is not there after all',
    10,
    null,
    unknown,
    { ...newest(11), missing: ['ver_11'] },
  ],
  ['id is in sync where that version is active', 'version:ver_7', version(7, 'Seven'), []],
  ['id wants that very version', 'version:ver_7', version(8, 'Seven'), ['production: v8 → v7']],
  [
    'id is planned where no ledger knows it, and looked at first',
    'version:theirs',
    version(8, 'Eight'),
    ['production: v8 → theirs', 'find: version:theirs'],
  ],
  ['id blocks where it is none', 'version:theirs', null, ['blocked: pin/unknown-version'], { missing: ['theirs'] }],
];
table(
  'A pinned',
  pinnedRows.map(([sentence, pin, production, expected, rest = {}]) => {
    return [sentence, { pins: { production: pin } }, { production, promptsync: history }, expected, rest];
  }),
);

table('A pinned version', [
  [
    'is found active in another environment',
    { pins: { staging: 'latest', production: 9 } },
    { staging: version(9, 'Hello'), production: version(7, 'Seven') },
    ['production: v7 → v9'],
  ],
  [
    'is found in a ledger, older than what is active',
    { pins: { staging: 'latest', production: 7 } },
    { staging: history, production: version(8, 'Eight') },
    ['production: v8 → v7'],
  ],
  [
    'blocks where the prompt has no version at all',
    { pins: { production: 1 } },
    { production: null, promptsync: null },
    ['create "Hello"', 'blocked: pin/unknown-number'],
  ],
  [
    'is looked at once for two environments',
    { pins: { staging: 'version:theirs', production: 'version:theirs' } },
    { staging: null, production: null, promptsync: history },
    ['staging: none → theirs', 'production: none → theirs', 'find: version:theirs'],
  ],
]);

const release = { refs: { v1: content('Old') } };
const hello = version(2, 'Hello');
const oldKnown = version(2, 'Hello', { ledger: [entry(1, 'Old')] });
const equal = content('Hello');

/** Of a file that pins staging to latest and production to `git:v1`, where the content Old is, unless the row says. */
type RefRow = readonly [
  string,
  staging: Version | null,
  production: Version | null,
  expected: readonly string[],
  v1?: Content,
  metadata?: JsonObject,
];
const refRows: readonly RefRow[] = [
  ['is in sync whatever the id', oldKnown, outside(5, 'Old'), []],
  ['finds the content in a ledger', oldKnown, hello, ['production: v2 → v1']],
  ['makes an unknown content', hello, hello, ['create "Old" for git:v1', 'production: v2 → new "Old"']],
  [
    "makes it before the file's own, so that the own is the newest",
    null,
    null,
    ['create "Old" for git:v1', 'create "Hello"', 'staging: none → new "Hello"', 'production: none → new "Old"'],
  ],
  [
    "means the file's own version where the content is equal",
    null,
    null,
    ['create "Hello"', 'staging: none → new "Hello"', 'production: none → new "Hello"'],
    equal,
  ],
  [
    "serves the file's own content as well where the file manages no metadata",
    null,
    null,
    [
      'create "Hello" {"model":"gpt-5"} for git:v1',
      'staging: none → new "Hello"',
      'production: none → new "Hello" {"model":"gpt-5"}',
    ],
    content('Hello', model),
  ],
  [
    "is served by the file's own where the ref manages no metadata",
    null,
    null,
    [
      'create "Hello" {"model":"gpt-5"}',
      'staging: none → new "Hello" {"model":"gpt-5"}',
      'production: none → new "Hello"',
    ],
    equal,
    model,
  ],
];
table(
  'A pin git:<ref>',
  refRows.map(([sentence, staging, production, expected, v1 = content('Old'), metadata]) => {
    const parts = { pins: { staging: 'latest', production: 'git:v1' }, ...(metadata && { metadata }) };
    return [sentence, parts, { staging, production }, expected, { refs: { v1 } }];
  }),
);

table('A pin git:<ref>', [
  [
    'is made once for two refs of equal content',
    { pins: { staging: 'git:v1', production: 'git:v2' } },
    { staging: null, production: null, promptsync: version(3, 'Hello') },
    ['create "Old" for git:v2', 'staging: none → new "Old"', 'production: none → new "Old"'],
    { refs: { v1: content('Old'), v2: content('Old') } },
  ],
  [
    'is made for each of two refs with other metadata',
    { pins: { staging: 'git:v1', production: 'git:v2' } },
    { staging: null, production: null, promptsync: version(3, 'Hello') },
    [
      'create "Old" {"model":"a"} for git:v1',
      'create "Old" {"model":"b"} for git:v2',
      'staging: none → new "Old" {"model":"a"}',
      'production: none → new "Old" {"model":"b"}',
    ],
    { refs: { v1: content('Old', { model: 'a' }), v2: content('Old', { model: 'b' }) } },
  ],
  [
    'blocks where the ref is missing',
    { pins: { staging: 'latest', production: 'git:gone' } },
    { staging: version(2, 'Hello'), production: null },
    ['blocked: pin/unknown-ref'],
    release,
  ],
]);

const one = version(1, 'One');
const draft = version(3, 'Draft');

table('No pin latest', [
  [
    'still keeps the content as a version that nothing serves',
    { text: 'Draft', pins: { production: 7 } },
    { production: version(7, 'Seven'), promptsync: history },
    ['create "Draft"'],
  ],
  [
    'is in sync where the tracking environment holds the content',
    { pins: { production: 7 } },
    { production: version(7, 'Seven'), promptsync: history },
    [],
  ],
  [
    'is in sync where its ledger names the content',
    { text: 'Eight', pins: { production: 7 } },
    { production: version(7, 'Seven'), promptsync: history },
    [],
  ],
  [
    "makes a version where somebody else's of equal content is pinned, which the next pin would lose sight of",
    { pins: { production: 1 } },
    { production: outside(1, 'Hello'), promptsync: null },
    ['create "Hello"'],
  ],
  [
    "is in sync where a ledger names somebody else's version of equal content",
    { pins: { production: 1 } },
    {
      production: outside(1, 'Hello'),
      promptsync: version(2, 'Hi', { ledger: [entry(1, 'Hello', { stampFor: null })] }),
    },
    [],
  ],
  ['makes the first version where there is none', { pins: {} }, { promptsync: null }, ['create "Hello"']],
  [
    'leaves environments alone that are not pinned',
    { pins: latest },
    { staging: version(1, 'Hello'), production: version(7, 'Seven') },
    [],
  ],
  [
    'makes it where its only version is in an environment that is moved away from it: nothing would show it again',
    { text: 'Draft', pins: { staging: 1 } },
    { staging: draft, promptsync: one },
    ['create "Draft"', 'staging: v3 → v1'],
  ],
  [
    'makes it where only the ledger of such an environment names it',
    { text: 'Draft', pins: { staging: 1 } },
    { staging: version(4, 'Other', { ledger: [entry(3, 'Draft')] }), promptsync: one },
    ['create "Draft"', 'staging: v4 → v1'],
  ],
  [
    'does not make it where its version stays in an environment',
    { text: 'Draft', pins: { staging: 3, production: 1 } },
    { staging: draft, production: null, promptsync: one },
    ['production: none → v1'],
  ],
  [
    'does not make it where an environment is moved away from it, and another one stays',
    { text: 'Draft', pins: { staging: 1, production: 3 } },
    { staging: draft, production: draft, promptsync: one },
    ['staging: v3 → v1'],
  ],
  [
    'does not make it where the tracking environment shows it, whatever is moved',
    { text: 'Draft', pins: { staging: 1 } },
    { staging: draft, promptsync: version(5, 'Five', { ledger: [entry(3, 'Draft'), entry(1, 'One')] }) },
    ['staging: v3 → v1'],
  ],
  [
    'does not make it where an environment that no pin names is left on it',
    { text: 'Draft', pins: { staging: 1 } },
    { staging: one, qa: draft, promptsync: one },
    [],
  ],
]);

const inSync = { staging: version(1, 'Hello') };

table('Fields', [
  [
    'that are equal are left alone',
    { description: 'About it.', pins: latest },
    inSync,
    [],
    { prompt: { description: 'About it.' } },
  ],
  [
    'show all that differ, in one change',
    { key: 'k/2', name: 'New', description: 'D', pins: latest },
    inSync,
    ['key: "k/1" → "k/2"', 'name: "First" → "New"', 'description: "" → "D"'],
  ],
  [
    'leave a description alone that the file does not have',
    { pins: latest },
    inSync,
    [],
    { prompt: { description: 'Theirs' } },
  ],
  [
    'empty a description',
    { description: '', pins: latest },
    inSync,
    ['description: "Theirs" → ""'],
    { prompt: { description: 'Theirs' } },
  ],
]);

table('Order', [
  [
    'is: versions, fields, environments in promotion order',
    { name: 'New', pins: { production: 'git:v1', qa: 'latest', staging: 'latest' } },
    { staging: null, qa: null, production: null },
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
    { pins: { production: 'latest', staging: 'latest' } },
    { staging: null, production: null },
    ['create "Hello"', 'production: none → new "Hello"', 'staging: none → new "Hello"'],
  ],
]);

table('Blocked', [
  [
    'where latest is not allowed, and what would change is shown',
    { text: 'Hi', pins: { staging: 'latest', production: 'latest' } },
    { staging: version(1, 'Hello'), production: version(1, 'Hello') },
    ['create "Hi"', 'staging: v1 → new "Hi"', 'production: v1 → new "Hi"', 'blocked: guard/latest-not-allowed'],
    { latestForbidden: ['production'] },
  ],
  [
    'where latest is not allowed although it would change nothing',
    { pins: { production: 'latest' } },
    { production: version(1, 'Hello') },
    ['blocked: guard/latest-not-allowed'],
    { latestForbidden: ['production'] },
  ],
  [
    'not where a number, an id or a ref is pinned there',
    { pins: { a: 1, b: 'version:ver_1', c: 'git:v1' } },
    { a: version(1, 'Hello'), b: version(1, 'Hello'), c: version(1, 'Hello') },
    [],
    { latestForbidden: ['a', 'b', 'c'], refs: { v1: content('Hello') } },
  ],
  [
    'without a look where a guard refuses: looking writes',
    { pins: { staging: 'latest', production: 'version:theirs' } },
    { staging: version(1, 'Hello'), production: null },
    ['production: none → theirs', 'blocked: guard/latest-not-allowed'],
    { latestForbidden: ['staging'] },
  ],
  [
    'without a look where another pin stays unresolved whatever it shows',
    { pins: { staging: 'version:theirs', production: 'git:gone', qa: 12 } },
    { staging: null, production: null, qa: null, promptsync: history },
    ['staging: none → theirs', 'blocked: pin/unknown-ref', 'blocked: pin/unknown-number'],
    { prompt: { latestVersionId: 'n' } },
  ],
]);

describe('A plan', () => {
  test('is of no changes where there are no files', () => {
    expect(makePlan([], observation(), rules()).prompts).toStrictEqual([]);
  });

  test('has a prompt that could not be observed as failed, with the reason, beside the others', () => {
    const [one, two] = [file({ pins: latest }), file({ id: 'p2', key: 'k/2', path: 'prompts/b.md', pins: latest })];
    const reason = makeProblem('service/prompt-not-found', { promptId: 'p1' });
    const found = { ...observation(observed({ prompt: { id: 'p2', key: 'k/2' } })), failed: new Map([['p1', reason]]) };
    const { prompts } = makePlan([one, two], found, rules());
    expect(prompts.map(({ status }) => status)).toStrictEqual(['failed', 'pending']);
    expect(prompts[0]).toMatchObject({ observed: null, changes: [], finds: [], problems: [reason] });
  });

  test('says of a prompt that nobody has observed, for whatever reason, that it has failed', () => {
    const [prompt] = makePlan([file({ pins: latest })], observation(), rules()).prompts;
    expect(prompt).toMatchObject({ status: 'failed', problems: [{ code: 'internal/unexpected' }] });
  });

  test('has a prompt that was not observed because of an interruption as not attempted', () => {
    const failed = new Map([['p1', makeProblem('apply/interrupted')]]);
    const [prompt] = makePlan([file({ pins: latest })], { ...observation(), failed }, rules()).prompts;
    expect(prompt).toMatchObject({ status: 'not_attempted', problems: [{ code: 'apply/interrupted' }] });
  });

  test('names what blocks a prompt at its place in the file', () => {
    const pins = { staging: 'latest', qa: 5, next: 'version:theirs', production: 'git:v9' };
    const found = observed({ active: { staging: version(1, 'Hello') }, missing: ['theirs'] });
    const { problems } = planPrompt(file({ pins }), found, rules({ latestForbidden: ['staging'] }));
    expect(problems.map(({ path, line, column, message }) => `${path}:${line}:${column} ${message}`)).toStrictEqual([
      'prompts/a.md:6:3 "qa" is pinned to version 5, and no version with that number is known.',
      'prompts/a.md:7:3 "next" is pinned to version "theirs", which this prompt does not have.',
      'prompts/a.md:8:3 The git ref "v9" is not in this repository.',
      'prompts/a.md:5:3 "staging" is pinned to `latest`, which promptsync.yaml does not allow there.',
    ]);
  });

  test('keeps what was read beside each prompt, for the writing', () => {
    const found = observed({ active: { staging: version(2, 'Hello') } });
    expect(planPrompt(file({ pins: latest }), found, rules()).observed).toBe(found);
  });
});

describe('Pins on git refs whose contents are to be made', () => {
  const refs = { v1: content('Old'), v2: content('Older') };
  const pins = { staging: 'latest', qa: 'git:v1', production: 'git:v2' };
  const active = { staging: null, qa: version(1, 'Hey'), production: null };
  const changesOf = () =>
    makePlan([file({ pins })], observation(observed({ active })), rules({ refs })).prompts.flatMap(
      ({ changes }) => changes,
    );

  test('name the ref in the environment that is set; latest names none', () => {
    const targets = changesOf().flatMap((change) => (change.kind === 'set-active' ? [change.after] : []));
    expect(targets.map((after) => isNew(after) && [after.new.text, after.ref])).toEqual([
      ['Hello', undefined],
      ['Old', 'v1'],
      ['Older', 'v2'],
    ]);
  });

  test('make each content with the ref and the provenance of that ref, and the own with neither', () => {
    const created = changesOf().flatMap((change) => (change.kind === 'create-version' ? [change] : []));
    expect(created.map(({ content: made, ref, provenance }) => [made.text, ref, provenance])).toStrictEqual([
      ['Old', 'v1', { commit: 'at-v1', path: 'prompts/a.md' }],
      ['Older', 'v2', { commit: 'at-v2', path: 'prompts/a.md' }],
      ['Hello', undefined, {}],
    ]);
  });
});
