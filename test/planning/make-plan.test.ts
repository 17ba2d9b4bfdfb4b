import { describe, expect, test } from 'vitest';
import { isNewVersionRef } from '../../src/domain/plan.ts';
import { makeProblem } from '../../src/problem.ts';
import {
  content,
  deepFreeze,
  file,
  makePlan,
  observation,
  observed,
  parseFile,
  parseRules,
  parseService,
  planLines,
  planPrompt,
  rules,
  version,
} from './support.ts';

/** Rows `title: 'FILE | SERVICE | PLAN | RULES'`, in the notation of `support.ts`. RULES are optional. */
type Rows = Readonly<Record<string, string>>;

/** Plans each row twice from frozen inputs, to show that the planner is pure. */
function testPlans(unit: string, rows: Rows): void {
  describe.each([unit])('%s', () => {
    test.each(Object.entries(rows))('The plan %s', (_, row) => {
      const [wanted = '', service = '', expected, given = ''] = row.split(/\s+\|\s+/);
      const input = deepFreeze([
        file(parseFile(wanted)),
        observed(parseService(service)),
        rules(parseRules(given)),
      ] as const);
      const plan = planPrompt(...input);
      expect(planPrompt(...input)).toStrictEqual(plan);
      expect(planLines(plan).join('; ') || 'nothing').toBe(expected);
      const { changes, problems, status } = plan;
      expect(status).toBe(problems.length > 0 ? 'blocked' : changes.length > 0 ? 'pending' : 'unchanged');
    });
  });
}

testPlans('a plan for the pin latest', {
  'is empty if the active version matches the prompt file': 'staging=latest | staging=1:Hello | nothing',
  'creates and activates a version for edited text':
    'Hi staging=latest | staging=1:Hello | create "Hi"; staging: v1 → new "Hi"',
  'activates an older version from the ledger if the text was reverted':
    'staging=latest | staging=2:Hi(1:Hello) | staging: v2 → v1',
  'activates in production the version that staging already serves if both are pinned to latest':
    'staging=latest production=latest | staging=2:Hello production=1:Old | production: v1 → v2',
  'is empty if two environments pinned to latest serve different versions that both match the prompt file':
    'staging=latest production=latest | staging=1:Hello production=2:Hello | nothing',
  'activates the version in the tracking environment if it matches the file':
    'staging=latest | staging=- promptsync=3:Hello | staging: none → v3',
  'creates a new version even if a probed version matches the file':
    'staging=latest | staging=- probed=3:Hello | create "Hello"; staging: none → new "Hello"',
  'creates a version if the metadata in the file differs from the metadata of the active version':
    'Hello{"a":1} staging=latest | staging=1:Hello{"a":2} | create "Hello" {"a":1}; staging: v1 → new "Hello" {"a":1}',
});

testPlans('a plan for a pinned version', {
  'activates the pinned version number even if the active version has equal content':
    'production=7 | production=8:Seven promptsync=9:Hello(7:Seven,8:Eight) | production: v8 → v7',
  'blocks a prompt whose pinned version number is unknown':
    'production=5 | production=7:Seven promptsync=9:Hello latest=ver_9 | blocked: pin/unknown-number',
  'requests a probe of the newest version if the pinned version number is unknown':
    'production=10 | production=- promptsync=9:Hello latest=ver_10 | blocked: pin/unknown-number; find: 10',
  'activates the version with the pinned number if a probe found it':
    'production=10 | production=- promptsync=9:Hello latest=ver_10 probed=~10:Ten | production: none → v10',
  'blocks a prompt if a probe did not find its pinned version number':
    'production=10 | production=- promptsync=9:Hello latest=ver_11 probed=~11:Eleven | blocked: pin/unknown-number',
  'blocks a prompt with an unknown pinned version number if the newest version cannot be found':
    'production=10 | production=- promptsync=9:Hello latest=ver_11 missing=ver_11 | blocked: pin/unknown-number',
  'activates the version with the pinned id even if a version with equal content is active':
    'production=version:ver_7 | production=8:Seven promptsync=9:Hello(7:Seven,8:Eight) | production: v8 → v7',
  'blocks a prompt whose pinned version id does not exist':
    'production=version:theirs | production=- promptsync=9:Hello missing=theirs | blocked: pin/unknown-version',
  'requests only one probe if two environments pin the same version id': `qa=version:x production=version:x | qa=- production=- promptsync=9:Hello
      | qa: none → x; production: none → x; find: version:x`,
  'refuses an unknown version id if all versions of the prompt are known':
    'production=version:theirs | production=- promptsync=2:Hello(1:Old) | blocked: pin/unknown-version',
  'requests a probe of an unknown version id if some versions of the prompt are unknown':
    'production=version:x | production=- promptsync=3:Hello(1:Old) | production: none → x; find: version:x',
});

testPlans('a plan for a git pin', {
  'is empty if the active version has the content at the pinned git ref':
    'staging=latest production=git:v1 | staging=2:Hello(1:Old) production=~5:Old | nothing | git:v1=Old',
  'activates a version from a ledger if it has the content at the pinned git ref':
    'staging=latest production=git:v1 | staging=2:Hello(1:Old) production=2:Hello | production: v2 → v1 | git:v1=Old',
  'creates the version for a git ref before the version for the file': `a=latest b=git:v1 | a=- b=- | create "Old" for git:v1; create "Hello"; a: none → new "Hello"; b: none → new "Old"
      | git:v1=Old`,
  'creates only one version if the git ref and the file have the same content':
    'a=latest b=git:v1 | a=- b=- | create "Hello"; a: none → new "Hello"; b: none → new "Hello" | git:v1=Hello',
  'creates only one version if the file has no metadata and its text matches the text at the git ref': `a=latest b=git:v1 | a=- b=-
      | create "Hello" {"m":1} for git:v1; a: none → new "Hello"; b: none → new "Hello" {"m":1} | git:v1=Hello{"m":1}`,
  'creates only one version if the text at the git ref has no metadata but matches the text of the file': `Hello{"m":1} a=latest b=git:v1 | a=- b=-
      | create "Hello" {"m":1}; a: none → new "Hello" {"m":1}; b: none → new "Hello" | git:v1=Hello`,
  'creates only one version for two git refs with the same content': `a=git:v1 b=git:v2 | a=- b=- promptsync=3:Hello
      | create "Old" for git:v2; a: none → new "Old"; b: none → new "Old" | git:v1=Old git:v2=Old`,
  'creates two versions for two git refs with the same text but different metadata': `a=git:v1 b=git:v2 | a=- b=- promptsync=3:Hello
      | create "Old" {"m":1} for git:v1; create "Old" {"m":2} for git:v2; a: none → new "Old" {"m":1}; b: none → new "Old" {"m":2}
      | git:v1=Old{"m":1} git:v2=Old{"m":2}`,
  'blocks a prompt whose pinned git ref does not exist':
    'staging=latest production=git:gone | staging=2:Hello production=- | blocked: pin/unknown-ref | git:v1=Old',
});

testPlans('a plan without the pin latest', {
  'creates a version if the only version with the text of the file is foreign and has different metadata': `qa=git:v1 | qa=~1:Hello{"m":1} promptsync=- | create "Old" for git:v1; create "Hello"; qa: v1 → new "Old"
      | git:v1=Old`,
  'creates no version with the text of the file if the next ledger will list a foreign version with that text':
    'qa=git:v1 | qa=~1:Hello promptsync=- | create "Old" for git:v1; qa: v1 → new "Old" | git:v1=Old',
  'creates a version for the text of the file even if no environment would serve it':
    'Draft production=7 | production=7:Seven promptsync=9:Hello(7:Seven,8:Eight) | create "Draft"',
  'is empty if the version in the tracking environment has the text of the file':
    'production=7 | production=7:Seven promptsync=9:Hello(7:Seven,8:Eight) | nothing',
  'is empty if the ledger in the tracking environment lists the text of the file':
    'Eight production=7 | production=7:Seven promptsync=9:Hello(7:Seven,8:Eight) | nothing',
  'creates a version if the text of the file exists only in a pinned version that promptsync did not create':
    'production=1 | production=~1:Hello promptsync=- | create "Hello"',
  'is empty if a ledger lists a version with the text of the file, even if promptsync did not create that version':
    'production=1 | production=~1:Hello promptsync=2:Hi(~1:Hello) | nothing',
  'creates the first version of a prompt without pins': 'nothing | promptsync=- | create "Hello"',
  'stores the prompt text again if the only environment that serves it switches to a different version':
    'Draft staging=1 | staging=3:Draft promptsync=1:One | create "Draft"; staging: v3 → v1',
  'stores the prompt text again if staging stops serving the only version whose ledger lists that text':
    'Draft staging=1 | staging=4:Other(3:Draft) promptsync=1:One | create "Draft"; staging: v4 → v1',
  'does not store the prompt text again if one of two environments still serves it':
    'Draft staging=1 production=3 | staging=3:Draft production=3:Draft promptsync=1:One | staging: v3 → v1',
  'does not store the prompt text again if an unpinned environment serves it':
    'Draft staging=1 | staging=1:One qa=3:Draft promptsync=1:One | nothing',
});

testPlans('a plan for fields', {
  'contains no changes if all fields match the service':
    'description=About staging=latest | staging=1:Hello description=About | nothing',
  'combines all changed fields into one change': `key=k/2 name=New description=D a=latest | a=1:Hello
      | key: "k/1" → "k/2"; name: "First" → "New"; description: "" → "D"`,
  'keeps the description in the service if the file does not set one':
    'staging=latest | staging=1:Hello description=Theirs | nothing',
  'clears the description in the service if the file sets an empty one':
    'description= staging=latest | staging=1:Hello description=Theirs | description: "Theirs" → ""',
});

testPlans('the order of a plan', {
  'lists versions first, then fields, then environments in promotion order': `name=New c=git:v1 b=latest a=latest | a=- b=- c=-
      | create "Old" for git:v1; create "Hello"; name: "First" → "New"; a: none → new "Hello"; b: none → new "Hello"; c: none → new "Old"
      | git:v1=Old order=dev,a,b,c`,
  'lists environments in file order if no promotion order is configured':
    'b=latest a=latest | a=- b=- | create "Hello"; b: none → new "Hello"; a: none → new "Hello"',
});

testPlans('a blocked plan', {
  'blocks a prompt with a forbidden pin to latest but still lists its changes': `Hi a=latest b=latest | a=1:Hello b=1:Hello
      | create "Hi"; a: v1 → new "Hi"; b: v1 → new "Hi"; blocked: guard/latest-not-allowed | closed=b`,
  'blocks a prompt with a forbidden pin to latest even if nothing would change':
    'production=latest | production=1:Hello | blocked: guard/latest-not-allowed | closed=production',
  'blocks a prompt that pins a moving ref in an environment that forbids latest': `production=git:main | production=1:Hello | blocked: guard/latest-not-allowed
      | git:main=Hello moving=main closed=production`,
  'accepts version numbers, version ids, and fixed git refs in environments that forbid latest':
    'a=1 b=version:ver_1 c=git:v1 | a=1:Hello b=1:Hello c=1:Hello | nothing | git:v1=Hello closed=a,b,c',
  'requests no probe if a guard refuses the prompt': `a=latest b=version:theirs | a=1:Hello b=- latest=theirs | b: none → theirs; blocked: guard/latest-not-allowed
      | closed=a`,
  'requests no probe if another pin of the prompt cannot be resolved': `a=version:theirs b=git:gone c=12 | a=- b=- c=- promptsync=9:Hello latest=n
      | a: none → theirs; blocked: pin/unknown-ref; blocked: pin/unknown-number`,
});

const latest = { staging: 'latest' };

describe('makePlan', () => {
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
});

test('If the plan activates a new version for a git pin, it names the git ref of that pin', () => {
  const wanted = file({ pins: { staging: 'latest', qa: 'git:v1', production: 'git:v2' } });
  const seen = observed({ active: { staging: null, qa: version(1, 'Hey'), production: null } });
  const { changes } = planPrompt(wanted, seen, rules({ refs: { v1: content('Old'), v2: content('Older') } }));
  const targets = changes.flatMap((change) => (change.kind === 'set-active' ? [change.after] : []));
  expect(targets.map((after) => isNewVersionRef(after) && [after.newContent.text, after.ref])).toEqual([
    ['Hello', undefined],
    ['Old', 'v1'],
    ['Older', 'v2'],
  ]);
});

/** Rows `title: 'FILE | RULES'`, for an edited file. */
const noSuggestion: Rows = {
  'a pin uses the new version': 'production=latest | order=staging,production',
  'the file already pins the first environment': 'staging=1 production=1 | order=staging,production',
  'the first environment does not allow latest': 'production=1 | order=staging,production closed=staging',
  'the configuration lists no environments': 'production=1 | nothing',
};

/** Plans an edit of a file, and returns the pins that its new versions miss. */
function missingPins(row: string): readonly unknown[] {
  const [wanted = '', given = ''] = row.split(/\s+\|\s+/);
  const seen = observed(parseService('staging=1:Hey production=1:Hey'));
  return planPrompt(file(parseFile(wanted)), seen, rules(parseRules(given))).changes.flatMap((change) =>
    change.kind === 'create-version' ? [change.missingPin] : [],
  );
}

test('The plan suggests a pin for the unpinned first environment if no pin uses the new version', () => {
  expect(missingPins('production=1 | order=staging,production')).toEqual(['staging']);
});

test.each(Object.entries(noSuggestion))('The plan suggests no further pin if %s', (_, row) => {
  expect(missingPins(row)).toEqual([undefined]);
});
