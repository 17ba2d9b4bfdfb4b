import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/domain/json.ts';
import { isNewVersionRef } from '../../src/domain/plan.ts';
import type { Content } from '../../src/domain/content.ts';
import type { LedgerVersion } from '../../src/providers/four-call/version-record.ts';
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
  lines,
} from './support.ts';

/** A file, the active versions of its environments, the lines of the plan, and further state of the service and rules. */
type Row = readonly [
  title: string,
  file: FileParts,
  active: ObservedParts['active'] & object,
  expected: readonly string[],
  rest?: Omit<ObservedParts, 'active'> & RulesParts,
];

/** Tests each row. The test makes each plan twice from frozen inputs, to show that the planner is pure. */
function testPlans(unit: string, rows: readonly Row[]): void {
  describe.each([unit])('%s', () => {
    test.each(rows.map(([title, ...given]) => [title, given] as const))(
      '%s',
      (_, [parts, active, expected, { prompt = {}, others: looked = [], missingIds: missing = [], ...given } = {}]) => {
        const found = observed({ active, prompt, others: looked, missingIds: missing });
        const input = deepFreeze([file(parts), found, rules(given)] as const);
        const plan = planPrompt(...input);
        expect(planPrompt(...input)).toStrictEqual(plan);
        expect(planLines(plan)).toStrictEqual(expected);
        const { changes, problems, status } = plan;
        expect(status).toBe(problems.length > 0 ? 'blocked' : changes.length > 0 ? 'pending' : 'unchanged');
      },
    );
  });
}

const latest = { staging: 'latest' };

/** A row for a file that pins staging to latest. */
type LatestRow = readonly [string, text: string, staging: LedgerVersion | null, expected: readonly string[]];
const latestRows: readonly LatestRow[] = [
  [
    'The plan creates and activates the first version of a prompt',
    'Hello',
    null,
    lines('create "Hello"', 'staging: none → new "Hello"'),
  ],
  ['The plan is empty if the active version matches the prompt file', 'Hello', version(1, 'Hello'), []],
  [
    'The plan creates and activates a version for edited text',
    'Hi',
    version(1, 'Hello'),
    lines('create "Hi"', 'staging: v1 → new "Hi"'),
  ],
  [
    'The plan activates an older version from the ledger if the text was reverted',
    'Hello',
    version(2, 'Hi', { ledger: [entry(1, 'Hello')] }),
    lines('staging: v2 → v1'),
  ],
  ['The plan is empty if only the line endings differ', 'a\nb', outside(1, 'a\r\nb'), []],
  [
    'The plan creates a version if only the whitespace differs',
    'a',
    version(1, 'a '),
    ['create "a"', 'staging: v1 → new "a"'],
  ],
];
testPlans(
  'a plan for the pin latest',
  latestRows.map(([title, text, staging, expected]) => [title, { text, pins: latest }, { staging }, expected]),
);

testPlans('a plan for the pin latest', [
  [
    'The plan activates in production the version that staging already serves if both are pinned to latest',
    { pins: { staging: 'latest', production: 'latest' } },
    { staging: version(2, 'Hello'), production: version(1, 'Old') },
    lines('production: v1 → v2'),
  ],
  [
    'The plan is empty if two environments pinned to latest serve different versions that both match the prompt file',
    { pins: { staging: 'latest', production: 'latest' } },
    { staging: version(1, 'Hello'), production: version(2, 'Hello') },
    [],
  ],
  [
    'If the version in the tracking environment matches the file, the plan activates it in an environment pinned to latest',
    { pins: latest },
    { staging: null, promptsync: version(3, 'Hello') },
    lines('staging: none → v3'),
  ],
  [
    'If only a probed version matches the file, the plan creates a new version for an environment pinned to latest',
    { pins: latest },
    { staging: null },
    lines('create "Hello"', 'staging: none → new "Hello"'),
    { others: [version(3, 'Hello')] },
  ],
]);

const model = { model: 'gpt-5' };

testPlans('a plan for metadata', [
  [
    'The plan creates a version if the metadata in the file differs from the metadata of the active version',
    { metadata: { model: 'other' }, pins: latest },
    { staging: version(1, 'Hello', { metadata: model }) },
    lines('create "Hello" {"model":"other"}', 'staging: v1 → new "Hello" {"model":"other"}'),
  ],
]);

testPlans('a plan for a text that no pin follows', [
  [
    'The plan creates a version if the only version with the text of the file is foreign and has different metadata',
    { pins: { staging: 'git:v1' } },
    { staging: outside(1, 'Hello', model), promptsync: null },
    lines('create "Old" for git:v1', 'create "Hello"', 'staging: v1 → new "Old"'),
    { refs: { v1: content('Old') } },
  ],
  [
    'The plan does not create a version with the text of the file if the next ledger will list a foreign version with that text',
    { pins: { staging: 'git:v1' } },
    { staging: outside(1, 'Hello'), promptsync: null },
    lines('create "Old" for git:v1', 'staging: v1 → new "Old"'),
    { refs: { v1: content('Old') } },
  ],
]);

const history = version(9, 'Hello', { ledger: [entry(7, 'Seven'), entry(8, 'Eight')] });

/** A row for a file that pins only production. The ledger of the tracked version 9 names the versions 7 and 8. */
type PinnedRow = readonly [
  string,
  pin: string | number,
  production: LedgerVersion | null,
  expected: readonly string[],
  Row[4]?,
];
const unknown = ['blocked: pin/unknown-number'];
const newest = (number: number) => ({ prompt: { latestVersionId: `ver_${number}` } });
const pinnedRows: readonly PinnedRow[] = [
  ['The plan is empty if the pinned version number is active', 7, version(7, 'Seven'), []],
  [
    'The plan activates the pinned version number even if the active version has equal content',
    7,
    version(8, 'Seven'),
    lines('production: v8 → v7'),
  ],
  ['The plan blocks a prompt whose pinned version number is unknown', 5, version(7, 'Seven'), unknown, newest(9)],
  [
    'The plan requests a probe of the newest version if the pinned version number is unknown',
    10,
    null,
    [...unknown, 'find: 10'],
    newest(10),
  ],
  [
    'The plan activates the version with the pinned number if a probe found it',
    10,
    null,
    lines('production: none → v10'),
    { ...newest(10), others: [outside(10, 'Ten')] },
  ],
  [
    'The plan blocks a prompt if a probe did not find its pinned version number',
    10,
    null,
    unknown,
    { ...newest(11), others: [outside(11, 'Eleven')] },
  ],
  [
    'The plan blocks a prompt with an unknown pinned version number if the newest version cannot be found',
    10,
    null,
    unknown,
    { ...newest(11), missingIds: ['ver_11'] },
  ],
  ['The plan is empty if the version with the pinned id is active', 'version:ver_7', version(7, 'Seven'), []],
  [
    'The plan activates the version with the pinned id even if a version with equal content is active',
    'version:ver_7',
    version(8, 'Seven'),
    lines('production: v8 → v7'),
  ],
  [
    'The plan requests a probe if a pinned version id is not in any ledger',
    'version:theirs',
    version(8, 'Eight'),
    lines('production: v8 → theirs', 'find: version:theirs'),
  ],
  [
    'The plan blocks a prompt whose pinned version id does not exist',
    'version:theirs',
    null,
    lines('blocked: pin/unknown-version'),
    { missingIds: ['theirs'] },
  ],
];
testPlans(
  'a plan for a pinned version',
  pinnedRows.map(([title, pin, production, expected, rest = {}]) => {
    return [title, { pins: { production: pin } }, { production, promptsync: history }, expected, rest];
  }),
);

testPlans('a plan for a pinned version', [
  [
    'The plan finds a version by its pinned number if a different environment serves it',
    { pins: { staging: 'latest', production: 9 } },
    { staging: version(9, 'Hello'), production: version(7, 'Seven') },
    lines('production: v7 → v9'),
  ],
  [
    'The plan finds an older version by its pinned number if a ledger lists it',
    { pins: { staging: 'latest', production: 7 } },
    { staging: history, production: version(8, 'Eight') },
    lines('production: v8 → v7'),
  ],
  [
    'The plan blocks a prompt that pins a version number but has no versions',
    { pins: { production: 1 } },
    { production: null, promptsync: null },
    lines('create "Hello"', 'blocked: pin/unknown-number'),
  ],
  [
    'The plan requests only one probe if two environments pin the same version id',
    { pins: { staging: 'version:theirs', production: 'version:theirs' } },
    { staging: null, production: null, promptsync: history },
    lines('staging: none → theirs', 'production: none → theirs', 'find: version:theirs'),
  ],
  [
    'The plan refuses an unknown version id if all versions of the prompt are known',
    { pins: { production: 'version:theirs' } },
    { production: null, promptsync: version(2, 'Hello', { ledger: [entry(1, 'Old')] }) },
    lines('blocked: pin/unknown-version'),
  ],
  [
    'The plan requests a probe of an unknown version id if some versions of the prompt are unknown',
    { pins: { production: 'version:theirs' } },
    { production: null, promptsync: version(3, 'Hello', { ledger: [entry(1, 'Old')] }) },
    lines('production: none → theirs', 'find: version:theirs'),
  ],
]);

const release = { refs: { v1: content('Old') } };
const hello = version(2, 'Hello');
const oldKnown = version(2, 'Hello', { ledger: [entry(1, 'Old')] });
const equal = content('Hello');

/** A row for a file that pins staging to latest and production to `git:v1`. By default `git:v1` has the content Old. */
type RefRow = readonly [
  string,
  staging: LedgerVersion | null,
  production: LedgerVersion | null,
  expected: readonly string[],
  v1?: Content,
  metadata?: JsonObject,
];
const refRows: readonly RefRow[] = [
  ['The plan is empty if the active version has the content at the pinned git ref', oldKnown, outside(5, 'Old'), []],
  [
    'The plan activates a version from a ledger if it has the content at the pinned git ref',
    oldKnown,
    hello,
    ['production: v2 → v1'],
  ],
  [
    'The plan creates a version if no version has the content at the pinned git ref',
    hello,
    hello,
    lines('create "Old" for git:v1', 'production: v2 → new "Old"'),
  ],
  [
    'The plan creates the version for a git ref before the version for the file',
    null,
    null,
    lines('create "Old" for git:v1', 'create "Hello"', 'staging: none → new "Hello"', 'production: none → new "Old"'),
  ],
  [
    'The plan creates only one version if the git ref and the file have the same content',
    null,
    null,
    lines('create "Hello"', 'staging: none → new "Hello"', 'production: none → new "Hello"'),
    equal,
  ],
  [
    'The plan creates only one version if the file has no metadata and its text matches the text at the git ref',
    null,
    null,
    lines(
      'create "Hello" {"model":"gpt-5"} for git:v1',
      'staging: none → new "Hello"',
      'production: none → new "Hello" {"model":"gpt-5"}',
    ),
    content('Hello', model),
  ],
  [
    'The plan creates only one version if the text at the git ref has no metadata but matches the text of the file',
    null,
    null,
    lines(
      'create "Hello" {"model":"gpt-5"}',
      'staging: none → new "Hello" {"model":"gpt-5"}',
      'production: none → new "Hello"',
    ),
    equal,
    model,
  ],
];
testPlans(
  'a plan for a git pin',
  refRows.map(([title, staging, production, expected, v1 = content('Old'), metadata]) => {
    const parts = { pins: { staging: 'latest', production: 'git:v1' }, ...(metadata && { metadata }) };
    return [title, parts, { staging, production }, expected, { refs: { v1 } }];
  }),
);

testPlans('a plan for a git pin', [
  [
    'The plan creates only one version for two git refs with the same content',
    { pins: { staging: 'git:v1', production: 'git:v2' } },
    { staging: null, production: null, promptsync: version(3, 'Hello') },
    lines('create "Old" for git:v2', 'staging: none → new "Old"', 'production: none → new "Old"'),
    { refs: { v1: content('Old'), v2: content('Old') } },
  ],
  [
    'The plan creates two versions for two git refs with the same text but different metadata',
    { pins: { staging: 'git:v1', production: 'git:v2' } },
    { staging: null, production: null, promptsync: version(3, 'Hello') },
    lines(
      'create "Old" {"model":"a"} for git:v1',
      'create "Old" {"model":"b"} for git:v2',
      'staging: none → new "Old" {"model":"a"}',
      'production: none → new "Old" {"model":"b"}',
    ),
    { refs: { v1: content('Old', { model: 'a' }), v2: content('Old', { model: 'b' }) } },
  ],
  [
    'The plan blocks a prompt whose pinned git ref does not exist',
    { pins: { staging: 'latest', production: 'git:gone' } },
    { staging: version(2, 'Hello'), production: null },
    lines('blocked: pin/unknown-ref'),
    release,
  ],
]);

const one = version(1, 'One');
const draft = version(3, 'Draft');

testPlans('a plan without the pin latest', [
  [
    'The plan creates a version for the text of the file even if no environment would serve it',
    { text: 'Draft', pins: { production: 7 } },
    { production: version(7, 'Seven'), promptsync: history },
    lines('create "Draft"'),
  ],
  [
    'The plan is empty if the version in the tracking environment has the text of the file',
    { pins: { production: 7 } },
    { production: version(7, 'Seven'), promptsync: history },
    [],
  ],
  [
    'The plan is empty if the ledger in the tracking environment lists the text of the file',
    { text: 'Eight', pins: { production: 7 } },
    { production: version(7, 'Seven'), promptsync: history },
    [],
  ],
  [
    'The plan creates a version if the text of the file exists only in a pinned version that promptsync did not create',
    { pins: { production: 1 } },
    { production: outside(1, 'Hello'), promptsync: null },
    lines('create "Hello"'),
  ],
  [
    'The plan is empty if a ledger lists a version with the text of the file, even if promptsync did not create that version',
    { pins: { production: 1 } },
    {
      production: outside(1, 'Hello'),
      promptsync: version(2, 'Hi', { ledger: [entry(1, 'Hello', { stampFor: null })] }),
    },
    [],
  ],
  [
    'The plan creates the first version of a prompt without pins',
    { pins: {} },
    { promptsync: null },
    lines('create "Hello"'),
  ],
  [
    'The plan does not change environments without a pin',
    { pins: latest },
    { staging: version(1, 'Hello'), production: version(7, 'Seven') },
    [],
  ],
  [
    'The plan stores the prompt text again if the only environment that serves it switches to a different version',
    { text: 'Draft', pins: { staging: 1 } },
    { staging: draft, promptsync: one },
    lines('create "Draft"', 'staging: v3 → v1'),
  ],
  [
    'The plan stores the prompt text again if staging stops serving the only version whose ledger lists that text',
    { text: 'Draft', pins: { staging: 1 } },
    { staging: version(4, 'Other', { ledger: [entry(3, 'Draft')] }), promptsync: one },
    lines('create "Draft"', 'staging: v4 → v1'),
  ],
  [
    'The plan does not store the prompt text again if an environment still serves it',
    { text: 'Draft', pins: { staging: 3, production: 1 } },
    { staging: draft, production: null, promptsync: one },
    lines('production: none → v1'),
  ],
  [
    'The plan does not store the prompt text again if one of two environments still serves it',
    { text: 'Draft', pins: { staging: 1, production: 3 } },
    { staging: draft, production: draft, promptsync: one },
    lines('staging: v3 → v1'),
  ],
  [
    'The plan does not store the prompt text again if the ledger in the tracking environment lists it',
    { text: 'Draft', pins: { staging: 1 } },
    { staging: draft, promptsync: version(5, 'Five', { ledger: [entry(3, 'Draft'), entry(1, 'One')] }) },
    lines('staging: v3 → v1'),
  ],
  [
    'The plan does not store the prompt text again if an unpinned environment serves it',
    { text: 'Draft', pins: { staging: 1 } },
    { staging: one, qa: draft, promptsync: one },
    [],
  ],
]);

const inSync = { staging: version(1, 'Hello') };

testPlans('a plan for fields', [
  [
    'The plan contains no changes if all fields match the service',
    { description: 'About it.', pins: latest },
    inSync,
    [],
    { prompt: { description: 'About it.' } },
  ],
  [
    'The plan combines all changed fields into one change',
    { key: 'k/2', name: 'New', description: 'D', pins: latest },
    inSync,
    lines('key: "k/1" → "k/2"', 'name: "First" → "New"', 'description: "" → "D"'),
  ],
  [
    'The plan keeps the description in the service if the file does not set one',
    { pins: latest },
    inSync,
    [],
    { prompt: { description: 'Theirs' } },
  ],
  [
    'The plan clears the description in the service if the file sets an empty one',
    { description: '', pins: latest },
    inSync,
    lines('description: "Theirs" → ""'),
    { prompt: { description: 'Theirs' } },
  ],
]);

testPlans('the order of a plan', [
  [
    'The plan lists versions first, then fields, then environments in promotion order',
    { name: 'New', pins: { production: 'git:v1', qa: 'latest', staging: 'latest' } },
    { staging: null, qa: null, production: null },
    lines(
      'create "Old" for git:v1',
      'create "Hello"',
      'name: "First" → "New"',
      'staging: none → new "Hello"',
      'qa: none → new "Hello"',
      'production: none → new "Old"',
    ),
    { ...release, environmentOrder: ['dev', 'staging', 'qa', 'production'] },
  ],
  [
    'The plan lists environments in file order if no promotion order is configured',
    { pins: { production: 'latest', staging: 'latest' } },
    { staging: null, production: null },
    lines('create "Hello"', 'production: none → new "Hello"', 'staging: none → new "Hello"'),
  ],
]);

testPlans('a blocked plan', [
  [
    'The plan blocks a prompt with a forbidden pin to latest but still lists its changes',
    { text: 'Hi', pins: { staging: 'latest', production: 'latest' } },
    { staging: version(1, 'Hello'), production: version(1, 'Hello') },
    lines('create "Hi"', 'staging: v1 → new "Hi"', 'production: v1 → new "Hi"', 'blocked: guard/latest-not-allowed'),
    { environmentsWithoutLatest: ['production'] },
  ],
  [
    'The plan blocks a prompt with a forbidden pin to latest even if nothing would change',
    { pins: { production: 'latest' } },
    { production: version(1, 'Hello') },
    lines('blocked: guard/latest-not-allowed'),
    { environmentsWithoutLatest: ['production'] },
  ],
  [
    'The plan blocks a prompt that pins a moving ref in an environment that forbids latest',
    { pins: { production: 'git:main' } },
    { production: version(1, 'Hello') },
    lines('blocked: guard/latest-not-allowed'),
    { environmentsWithoutLatest: ['production'], movingRefs: new Set(['main']), refs: { main: content('Hello') } },
  ],
  [
    'The plan accepts version numbers, version ids, and fixed git refs in environments that forbid latest',
    { pins: { a: 1, b: 'version:ver_1', c: 'git:v1' } },
    { a: version(1, 'Hello'), b: version(1, 'Hello'), c: version(1, 'Hello') },
    [],
    { environmentsWithoutLatest: ['a', 'b', 'c'], refs: { v1: content('Hello') } },
  ],
  [
    'The plan requests no probe if a guard refuses the prompt',
    { pins: { staging: 'latest', production: 'version:theirs' } },
    { staging: version(1, 'Hello'), production: null },
    lines('production: none → theirs', 'blocked: guard/latest-not-allowed'),
    { environmentsWithoutLatest: ['staging'], prompt: { latestVersionId: 'theirs' } },
  ],
  [
    'The plan requests no probe if another pin of the prompt cannot be resolved',
    { pins: { staging: 'version:theirs', production: 'git:gone', qa: 12 } },
    { staging: null, production: null, qa: null, promptsync: history },
    lines('staging: none → theirs', 'blocked: pin/unknown-ref', 'blocked: pin/unknown-number'),
    { prompt: { latestVersionId: 'n' } },
  ],
]);

describe('makePlan', () => {
  test('The plan is empty if there are no prompt files', () => {
    expect(makePlan([], observation(), rules()).prompts).toStrictEqual([]);
  });

  test('The plan marks a prompt as failed if promptsync cannot read it from the service', () => {
    const [one, two] = [file({ pins: latest }), file({ id: 'p2', key: 'k/2', path: 'prompts/b.md', pins: latest })];
    const reason = makeProblem('service/prompt-not-found', { promptId: 'p1' });
    const found = { ...observation(observed({ prompt: { id: 'p2', key: 'k/2' } })), failed: new Map([['p1', reason]]) };
    const { prompts } = makePlan([one, two], found, rules());
    expect(prompts.map(({ status }) => status)).toStrictEqual(['failed', 'pending']);
    expect(prompts[0]).toMatchObject({ observed: null, changes: [], pinsToFind: [], problems: [reason] });
  });

  test('The plan reports an internal error if the observation of a prompt is missing', () => {
    const [prompt] = makePlan([file({ pins: latest })], observation(), rules()).prompts;
    expect(prompt).toMatchObject({ status: 'failed', problems: [{ code: 'internal/unexpected' }] });
  });

  test('The plan marks a prompt as not attempted if promptsync was interrupted before reading it from the service', () => {
    const failed = new Map([['p1', makeProblem('apply/interrupted')]]);
    const [prompt] = makePlan([file({ pins: latest })], { ...observation(), failed }, rules()).prompts;
    expect(prompt).toMatchObject({ status: 'not_attempted', problems: [{ code: 'apply/interrupted' }] });
  });

  test('The plan reports the line and column of every pin that blocks a prompt', () => {
    const pins = { staging: 'latest', qa: 5, next: 'version:theirs', production: 'git:v9' };
    const found = observed({ active: { staging: version(1, 'Hello') }, missingIds: ['theirs'] });
    const { problems } = planPrompt(file({ pins }), found, rules({ environmentsWithoutLatest: ['staging'] }));
    expect(problems.map(({ path, line, column, message }) => `${path}:${line}:${column} ${message}`)).toStrictEqual([
      'prompts/a.md:6:3 "qa" is pinned to version 5, but promptsync could not find this version.',
      'prompts/a.md:7:3 "next" is pinned to version "theirs", but this prompt has no version with that id.',
      'prompts/a.md:8:3 The git ref `v9` does not exist in this repository.',
      'prompts/a.md:5:3 "staging" is pinned to `latest`, which `promptsync.yaml` does not allow for this environment.',
    ]);
  });

  test('The plan includes the service state that promptsync observed for each prompt', () => {
    const found = observed({ active: { staging: version(2, 'Hello') } });
    expect(planPrompt(file({ pins: latest }), found, rules()).observed).toBe(found);
  });
});

describe('new versions for git pins', () => {
  const refs = { v1: content('Old'), v2: content('Older') };
  const pins = { staging: 'latest', qa: 'git:v1', production: 'git:v2' };
  const active = { staging: null, qa: version(1, 'Hey'), production: null };
  const changesOf = () =>
    makePlan([file({ pins })], observation(observed({ active })), rules({ refs })).prompts.flatMap(
      ({ changes }) => changes,
    );

  test('If the plan activates a new version for a git pin, it names the git ref of that pin', () => {
    const targets = changesOf().flatMap((change) => (change.kind === 'set-active' ? [change.after] : []));
    expect(targets.map((after) => isNewVersionRef(after) && [after.newContent.text, after.ref])).toEqual([
      ['Hello', undefined],
      ['Old', 'v1'],
      ['Older', 'v2'],
    ]);
  });

  test('The plan records the git ref and its commit for each version that it creates for a git pin', () => {
    const created = changesOf().flatMap((change) => (change.kind === 'create-version' ? [change] : []));
    expect(created.map(({ content: made, ref, provenance }) => [made.text, ref, provenance])).toStrictEqual([
      ['Old', 'v1', { commit: 'at-v1', path: 'prompts/a.md' }],
      ['Older', 'v2', { commit: 'at-v2', path: 'prompts/a.md' }],
      ['Hello', undefined, {}],
    ]);
  });
});

describe('new versions that no pin uses', () => {
  /** Plans an edit of a file, and returns the pins that its new versions miss. */
  const missingPins = (pins: FileParts['pins'] & object, given: RulesParts = {}) => {
    const active = { staging: version(1, 'Hey'), production: version(1, 'Hey') };
    const all = rules({ environmentOrder: ['staging', 'production'], ...given });
    return planPrompt(file({ pins }), observed({ active }), all).changes.flatMap((change) =>
      change.kind === 'create-version' ? [change.missingPin] : [],
    );
  };

  test('The plan suggests a pin for the unpinned first environment if no pin uses the new version', () => {
    expect(missingPins({ production: 1 })).toEqual(['staging']);
  });

  test.each<[title: string, pins: FileParts['pins'] & object, given: RulesParts]>([
    ['The plan suggests no further pin if a pin uses the new version', { production: 'latest' }, {}],
    [
      'The plan suggests no further pin if the file already pins the first environment',
      { staging: 1, production: 1 },
      {},
    ],
    [
      'The plan suggests no further pin if the first environment does not allow latest',
      { production: 1 },
      { environmentsWithoutLatest: ['staging'] },
    ],
    [
      'The plan suggests no further pin if the configuration lists no environments',
      { production: 1 },
      { environmentOrder: null },
    ],
  ])('%s', (_, pins, given) => {
    expect(missingPins(pins, given)).toEqual([undefined]);
  });
});
