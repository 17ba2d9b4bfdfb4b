import { describe, expect, test } from 'vitest';
import { stampToWire } from '../../src/ledger/stamp.ts';
import { makeProblem } from '../../src/problem.ts';
import { ServiceError } from '../../src/service/prompt-service.ts';
import { type Backend, backends } from '../doubles/backends.ts';
import { content, entry, file, version, type FileParts, type WrittenPins } from '../planning/support.ts';
import { addOwn, begun, brief, outcomeLine, sync } from './support.ts';

const staging = { staging: 'latest' };
const both = { staging: 'latest', production: 'git:v1' };
const one = entry(1, 'One');
const model = { model: 'x' };

/** What others, or runs that were cut short, have left beside the text One. */
type Left = (service: Backend) => unknown;
const own =
  (text: string, ...ledger: Parameters<typeof addOwn>[2] & object): Left =>
  (service) =>
    addOwn(service, text, ledger);
const theirs =
  (text: string, metadata = {}): Left =>
  (service) =>
    service.addVersion('p1', { text, metadata });
const trackedTheirs: Left = (service) =>
  service.activate('p1', 'promptsync', service.addVersion('p1', { text: 'Theirs' }));
const inQa: Left = (service) => service.activate('p1', 'qa', addOwn(service, 'Three', [one]));

/** Files say Two unless they say otherwise; `git:v1` is the text Old, or what the row says. */
type Row = readonly [
  sentence: string,
  left: readonly Left[],
  FileParts,
  calls: readonly string[],
  outcome: string,
  v1?: typeof old,
];
const old = content('Old');

const rows: readonly Row[] = [
  [
    'is adopted where it holds the text',
    [own('Two', one)],
    { pins: staging },
    ['look ver_2', 'track ver_2', 'staging ver_2'],
    'applied: adopted made',
  ],
  [
    'is only noted when its ledger does not name what is tracked',
    [own('Two')],
    { pins: staging },
    ['look ver_2', 'create "Two"', 'track ver_3', 'staging ver_3'],
    'applied: made made',
  ],
  [
    'is only noted where it is somebody else’s, for a pin latest',
    [theirs('Two')],
    { pins: staging },
    ['look ver_2', 'create "Two"', 'track ver_3', 'staging ver_3'],
    'applied: made made',
  ],
  [
    'is only noted where it is somebody else’s, for a git pin',
    [theirs('Old')],
    { text: 'One', pins: { production: 'git:v1' } },
    ['look ver_2', 'create "Old"', 'track ver_3', 'production ver_3'],
    'applied: made made',
  ],
  [
    'is followed where its ledger names the text: that version is looked at, and adopted',
    [own('Two', one), own('Three', entry(2, 'Two'), one)],
    { pins: staging },
    ['look ver_3', 'track ver_3', 'look ver_2', 'staging ver_2'],
    'applied: adopted made',
  ],
  [
    'is not followed to a text about which its ledger lies',
    [theirs('Theirs'), own('Three', entry(2, 'Two'), one)],
    { pins: staging },
    ['look ver_3', 'track ver_3', 'look ver_2'],
    'failed: not_made not_made apply/other-content',
  ],
  [
    'leads nowhere where the tracking environment could not move to it',
    [own('Two'), own('Three', entry(2, 'Two'))],
    { pins: staging },
    ['look ver_3', 'create "Two"', 'track ver_4', 'staging ver_4'],
    'applied: made made',
  ],
  [
    'names a version of the content that is not there: the prompt has failed',
    [own('Theirs', entry(7, 'Two', { id: 'gone' }), one)],
    { pins: staging },
    ['look ver_2', 'track ver_2', 'set p1 promptsync-look gone'],
    'failed: not_made not_made service/version-not-found',
  ],
  [
    'is adopted for the first of two versions to make, and the own content is made after it',
    [own('Old', one)],
    { pins: both },
    ['look ver_2', 'track ver_2', 'create "Two"', 'track ver_3', 'staging ver_3', 'production ver_2'],
    'applied: adopted made made made',
  ],
  [
    'is adopted for the second of two, and the tracking environment does not move back behind the first',
    [own('Two', one)],
    { pins: both },
    ['look ver_2', 'track ver_2', 'create "Old"', 'track ver_3', 'staging ver_2', 'production ver_3'],
    'applied: made adopted made made',
  ],
  [
    'is looked at once, however many versions are made',
    [theirs('Theirs')],
    { pins: both },
    ['look ver_2', 'create "Old"', 'track ver_3', 'create "Two"', 'track ver_4', 'staging ver_4', 'production ver_3'],
    'applied: made made made made',
  ],
  [
    'is not adopted for one pin when it does not do for another that the same version was to be made for',
    [theirs('Two', model)],
    { pins: both },
    ['look ver_2', 'create "Two"', 'track ver_3', 'staging ver_3', 'production ver_3'],
    'applied: made made made',
    content('Two', model),
  ],
  [
    'is classified as ever where somebody has moved the tracking environment to a version of theirs',
    [trackedTheirs, theirs('Draft')],
    { text: 'Draft', pins: { staging: 1 } },
    ['look ver_3', 'create "Draft"', 'track ver_4'],
    'applied: made',
  ],
  [
    'is what is tracked from now on where it is our own and a pinned number has led to it',
    [own('Two', one)],
    { text: 'One', pins: { staging: 'latest', production: 2 } },
    ['look ver_2', 'track ver_2', 'production ver_2'],
    'applied: made',
  ],
  [
    "leaves what is tracked alone where it is somebody else's and a pinned number has led to it",
    [theirs('Theirs')],
    { text: 'One', pins: { production: 2 } },
    ['look ver_2', 'production ver_2'],
    'applied: made',
  ],
  [
    'is not what is tracked where another one may follow as well, and is newer',
    [own('Two', one), inQa],
    { text: 'One', pins: { staging: 'latest', qa: 3, production: 'version:ver_2' } },
    ['look ver_2', 'track ver_3', 'production ver_2'],
    'applied: made',
  ],
];

const byPins: readonly (readonly [string, WrittenPins, string])[] = [
  ['a pin latest', { staging: 'latest' }, 'applied: adopted made'],
  ['a number alone', { staging: 1 }, 'applied: adopted'],
  ['no pin at all', {}, 'applied: adopted'],
];

async function creates(service: Backend, pins: WrittenPins, text = 'Two') {
  const { lines, outcomes } = await sync(service, [file({ text, pins })]);
  return { created: lines.filter((line) => line.startsWith('create')), lines, said: outcomes.map(outcomeLine) };
}

describe.each(backends)('The newest version that nobody has read (%s)', (_, start) => {
  test.each(rows.map(([sentence, ...row]) => [sentence, row] as const))('%s', async (_sentence, row) => {
    const [left, parts, calls, outcome, v1 = old] = row;
    const service = await begun(start);
    for (const leave of left) leave(service);
    const wanted = file({ text: 'Two', ...parts });
    const { lines, outcomes } = await sync(service, [wanted], { refs: { v1 } });
    expect([brief(lines), outcomes.map(outcomeLine)]).toStrictEqual([calls, [outcome]]);
    if (outcome.startsWith('applied'))
      expect((await sync(service, [wanted], { refs: { v1 } })).lines).toStrictEqual([]);
  });

  test.each(byPins)('is adopted for a file with %s when it holds the text, and remembered', async (_p, pins, said) => {
    const service = await begun(start);
    const left = addOwn(service, 'Two', [entry(1, 'One')]);
    const first = await creates(service, pins);
    expect([first.created, first.said]).toStrictEqual([[], [said]]);
    expect(service.serves('p1', 'promptsync')).toStrictEqual([left, 'Two']);
    expect((await creates(service, pins)).lines).toStrictEqual([]);
    await creates(service, staging, 'Three');
    expect((await creates(service, pins)).created).toStrictEqual([]);
    expect(service.countVersions('p1')).toBe(3);
  });

  test.each(byPins)('is adopted for a file with %s when it is the first of all', async (_p, pins) => {
    const service = await start();
    const left = addOwn(service, 'Two');
    const wanted = Object.fromEntries(Object.entries(pins).map(([name]) => [name, 'latest']));
    expect((await creates(service, wanted)).created).toStrictEqual([]);
    expect(service.serves('p1', 'promptsync')).toStrictEqual([left, 'Two']);
  });

  test('is not adopted for a pin when it does not do for the text, which the same version was to be made for', async () => {
    const service = await start();
    service.addVersion('p1', { text: 'Two', metadata: { model: 'x' } });
    const wanted = file({ text: 'Two', pins: { production: 'git:v1' } });
    const parts = { refs: { v1: content('Two', { model: 'x' }) } };
    const { outcomes } = await sync(service, [wanted], parts);
    expect(outcomes.map(outcomeLine)).toStrictEqual(['applied: made made']);
    expect(service.serves('p1', 'production')?.[0]).toBe('ver_2');
    expect((await sync(service, [wanted], parts)).lines).toStrictEqual([]);
  });
});

describe('The newest version, which nobody has read and which is looked at before one is made,', () => {
  const wanted = file({ text: 'Two', pins: staging });

  test('is named where it is what the service made of the content; nothing is made beside it', async () => {
    const service = await begun();
    const stamp = version(2, 'Two', { ledger: [entry(1, 'One')] }).stamp!;
    const id = service.addVersion('p1', { text: 'two, tidied', metadata: { promptsync: stampToWire(stamp) } });
    const { lines, outcomes } = await sync(service, [wanted]);
    expect(brief(lines)).toStrictEqual([`look ${id}`]);
    expect(outcomes.map(outcomeLine)).toStrictEqual(['failed: not_made not_made apply/rewritten']);
    expect(outcomes[0]?.changes[0]?.version).toStrictEqual({ id, number: 2 });
    expect(outcomes[0]?.problems[0]?.message).toBe(
      'The service stored something else than was sent (version v2); it was not made active.',
    );
  });

  test('is not believed in what its ledger says of a version that was read', async () => {
    const service = await begun();
    addOwn(service, 'Theirs', [entry(1, 'Not what it holds'), entry(9, 'Nine')]);
    const { created } = await sync(service, [wanted]);
    expect(created[0]?.stamp.ledger.map(({ id, digest }) => [id, digest])).toStrictEqual([
      ['ver_9', content('Nine').digest],
      ['ver_2', content('Theirs').digest],
      ['ver_1', content('One').digest],
    ]);
  });

  test('is not followed where the tracking environment cannot be moved: nothing is made beside it', async () => {
    const service = await begun();
    const newest = addOwn(service, 'Three', [entry(1, 'One')]);
    const before = (line: string) => {
      if (line === `set p1 promptsync ${newest}`)
        throw new ServiceError(makeProblem('service/timeout', { seconds: 1 }), 'rejected');
    };
    const { lines, outcomes } = await sync(service, [wanted], { hooks: { before } });
    expect(brief(lines)).toStrictEqual([`look ${newest}`, `set p1 promptsync ${newest}`]);
    expect(outcomes.map(outcomeLine)).toStrictEqual(['failed: not_made not_made service/timeout']);
    expect(outcomes[0]?.problems[0]?.message).toMatch(/^Setting "promptsync" to v2: The service did not/);
  });

  test('is not there, although the service names it: nothing is made, and it is named', async () => {
    const service = await begun();
    const haunted: Backend = {
      ...service,
      readPrompt: async (...asked) => ({ ...(await service.readPrompt(...asked)), latestVersionId: 'ver_gone' }),
    };
    const { lines, outcomes } = await sync(haunted, [wanted]);
    expect(lines).toStrictEqual(['set p1 promptsync-look ver_gone']);
    expect(outcomes.map(outcomeLine)).toStrictEqual(['failed: not_made not_made apply/newest-unreadable']);
    expect(outcomes[0]?.problems[0]?.message).toContain('The service names "ver_gone" as its newest version');
  });
});

test('A version with other metadata than a reviewed plan says is not activated until a plan has shown it', async () => {
  const service = await begun();
  const unfinished = (service: Backend) => {
    const text = 'Two';
    const made = stampToWire({ ...version(1, text, { metadata: model }).stamp!, ledger: [one] });
    service.addVersion('p1', { text, metadata: { ...model, promptsync: made } });
  };
  unfinished(service);
  const two = file({ text: 'Two', pins: staging });
  const { plan } = await sync(service, [two], { guards: { maxChanges: { kind: 'count', count: 0 } } });
  const reviewed = { guards: { expectedPlan: plan.digest } };
  const { outcomes } = await sync(service, [two], reviewed);
  expect(outcomes.map(outcomeLine)).toStrictEqual(['failed: adopted not_made apply/unreviewed-metadata']);
  expect(service.serves('p1', 'staging')?.[1]).toBe('One');
  const again = await sync(service, [two], reviewed);
  expect(again.outcomes.map(outcomeLine)).toStrictEqual(['blocked: not_made guard/stale-plan']);
  const shown = await sync(service, [two], { guards: { expectedPlan: again.plan.digest } });
  expect(shown.outcomes.map(outcomeLine)).toStrictEqual(['applied: made']);
});
