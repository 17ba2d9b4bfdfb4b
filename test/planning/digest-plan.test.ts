import { describe, expect, test } from 'vitest';
import { computeMetadataDigest } from '../../src/domain/content.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import type { ObservedPrompt } from '../../src/domain/observed-prompt.ts';
import { computeDigestsAfter, type Plan } from '../../src/domain/plan.ts';
import {
  content,
  file,
  makePlan,
  observation,
  observed,
  parseFile,
  parseRules,
  parseService,
  rules,
  version,
} from './support.ts';

const FILE = 'Hi name=New staging=latest production=git:v1';
const SERVICE = 'staging=1:Hello production=1:Hello';
const RULES = 'git:v1=Old';

/** Plans a row `FILE | SERVICE | RULES`, in the notation of `support.ts`. What is left out is that of the base. */
function planRow(row: string): Plan {
  const [wanted = '', service = '', given = ''] = row.split('|').map((part) => part.trim());
  const seen = observation(observed(parseService(service || SERVICE)));
  return makePlan([file(parseFile(wanted || FILE))], seen, rules(parseRules(given || RULES)));
}

const base = () => planRow('');
const latest = { pins: { staging: 'latest' } };

describe('the digest of a plan', () => {
  const sameDigest = {
    'The plan digest does not depend on the name of a git ref if the content is the same':
      'Hi name=New staging=latest production=git:v2 | | git:v2=Old',
    'The plan digest does not depend on whether metadata is empty or missing':
      'Hi{} name=New staging=latest production=git:v1',
    'The plan digest does not depend on service data that the prompt file does not manage': `| ${SERVICE} latest=ver_9 description=Theirs`,
  };
  test.each(Object.entries(sameDigest))('%s', (_, row) => {
    expect(planRow(row).digest).toBe(base().digest);
  });

  test('The plan digest does not depend on the path of the file, the lines of its pins, commits or change summaries', () => {
    const wanted = file(parseFile(FILE));
    const moved = { ...wanted, path: 'other/place.md', pins: wanted.pins.map((pin) => ({ ...pin, line: 99 })) };
    const provenance = { commit: 'abc', path: 'prompts/a.md', changeSummary: 'Soften the tone' };
    const v1 = { content: content('Old'), provenance: { commit: 'another' } };
    const described = makePlan(
      [moved],
      observation(observed(parseService(SERVICE))),
      rules({ refs: { v1 }, history: { provenance } }),
    );
    expect(described.digest).toBe(base().digest);
    expect(described.prompts[0]?.changes.filter(({ kind }) => kind === 'create-version')).toMatchObject([
      { ref: 'v1', provenance: { commit: 'another' } },
      { provenance },
    ]);
  });

  test('The plan digest does not depend on file names or unchanged prompts', () => {
    const [one, two] = ['p1', 'p2'].map((id) => ({ ...file({ text: 'Hi', ...latest }), id, path: `${id}.md` }));
    const unchanged = { ...file(latest), id: 'p3', path: 'prompts/c.md' };
    const found = ['p1', 'p2', 'p3'].map((id) => observed({ ...parseService('staging=1:Hello'), prompt: { id } }));
    const digests = [
      [one!, two!],
      [one!, { ...two!, path: 'a-first.md' }],
      [unchanged, one!, two!],
    ].map((files) => makePlan(files, observation(...found), rules()).digest);
    expect(new Set(digests)).toStrictEqual(new Set([digests[0]]));
  });

  const otherDigest = {
    'The plan digest changes with the prompt text': 'Hi! name=New staging=latest production=git:v1',
    'The plan digest changes with the metadata': 'Hi{"a":1} name=New staging=latest production=git:v1',
    'The plan digest changes with the content of a pinned git ref': '| | git:v1=Older',
    'The plan digest changes with the new value of a field': 'Hi name=Newer staging=latest production=git:v1',
    'The plan digest changes with the old value of a field': `| ${SERVICE} name=Theirs`,
    'The plan digest depends on which field changes': 'Hi key=New staging=latest production=git:v1',
    'The plan digest changes with the name of an environment': 'Hi name=New qa=latest production=git:v1',
    'The plan digest changes if the file no longer pins an environment': 'Hi name=New staging=latest',
    'The plan digest depends on whether an environment previously served a version': '| staging=1:Hello production=-',
    'The plan digest depends on whether the plan activates a new or an existing version': `| ${SERVICE} qa=~5:Old`,
    'The plan digest changes with the configured order of the environments': '| | git:v1=Old order=production,staging',
  };
  test.each(Object.entries(otherDigest))('%s', (_, row) => {
    expect(planRow(row).digest).not.toBe(base().digest);
  });

  test('The plan digest changes with the id of the prompt and with the id of the version that an environment served', () => {
    const digestWith = (id: string, served: string) => {
      const active = { staging: version(1, 'Hello'), production: version(1, 'Hello', { id: served }) };
      const wanted = { ...file({ text: 'Hi', pins: { staging: 'latest', production: 'latest' } }), id };
      return makePlan([wanted], observation(observed({ active, prompt: { id } })), rules()).digest;
    };
    expect(new Set([digestWith('p1', 'a'), digestWith('p2', 'a'), digestWith('p1', 'b')]).size).toBe(3);
  });
});

describe('the digest of a plan that creates versions', () => {
  const digestOf = (text: string) => planRow(`${text} production=7 | production=7:Seven promptsync=9:Nine`).digest;

  test('The plan digest depends on the text and the metadata of a new version that the plan does not activate', () => {
    // The text Seven needs no new version.
    expect(new Set(['Draft', 'Another', 'Draft{"model":"x"}', 'Seven'].map(digestOf)).size).toBe(4);
  });

  test('The plan digest changes if two new versions swap their environments', () => {
    const order = `| git:v1=Old order=staging,production`;
    const [plan, turned] = ['staging=latest production=git:v1', 'staging=git:v1 production=latest'].map((pins) =>
      planRow(`Hi ${pins} | ${order}`),
    );
    const creationsOf = (one = plan) => one?.prompts[0]?.changes.filter(({ kind }) => kind === 'create-version');
    expect(creationsOf(turned)).toStrictEqual(creationsOf());
    expect(turned?.digest).not.toBe(plan?.digest);
  });
});

test('The plan digest depends on the metadata that a new version inherits, but not on the version that it inherits from', () => {
  const none = observed({ active: { staging: null } });
  const takingOver = (metadata: JsonObject, id = 'ver_1') => {
    const metadataFrom = { id, number: 1, metadata, metadataDigest: computeMetadataDigest(metadata) };
    return { ...none, metadataFrom };
  };
  const digestOf = (seen: ObservedPrompt, metadata?: JsonObject) =>
    makePlan([file({ text: 'New', ...latest, ...(metadata && { metadata }) })], observation(seen), rules()).digest;
  const reviewed = digestOf(takingOver({ model: 'gpt-5' }));
  expect(digestOf(takingOver({ model: 'evil' }))).not.toBe(reviewed);
  expect(digestOf(none)).not.toBe(reviewed);
  expect(digestOf(takingOver({ model: 'gpt-5' }, 'ver_2'))).toBe(reviewed);
  expect(digestOf(none, { model: 'gpt-5' })).toBe(reviewed);
});

test('The plan digest changes with the metadata of an existing version that the plan activates', () => {
  const digests = ['gpt-5', 'evil'].map(
    (model) => planRow(`production=2 | production=1:Hello staging=2:Two{"model":"${model}"}`).digest,
  );
  expect(new Set(digests).size).toBe(2);
});

test('If the content at a git ref has no metadata, computeDigestsAfter returns the metadata digest of a new version with the same text', () => {
  const row = 'Own a=git:a b=git:b c=git:bare | promptsync=- | git:a=Same{"m":"a"} git:b=Same{"m":"b"} git:bare=Same';
  const [prompt] = planRow(row).prompts;
  const activations = prompt!.changes.filter((change) => change.kind === 'set-active');
  const [a, b] = ['a', 'b'].map((m) => content('Same', { m }).metadataDigest);
  expect(activations.map((change) => computeDigestsAfter(change, prompt!)?.metadata)).toEqual([a, b, a]);
});
