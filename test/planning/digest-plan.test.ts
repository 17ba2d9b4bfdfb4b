import { describe, expect, test } from 'vitest';
import { metadataDigest } from '../../src/domain/digest.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import type { Observed } from '../../src/domain/observed.ts';
import { digestsAfter } from '../../src/domain/plan.ts';
import type { PromptFile } from '../../src/domain/prompt-file.ts';
import {
  content,
  file,
  type FileParts,
  makePlan,
  observation,
  observed,
  outside,
  rules,
  type RulesParts,
  version,
} from './support.ts';

type Case = { readonly file?: PromptFile; readonly observed?: Observed; readonly rules?: RulesParts };

const pins = { staging: 'latest', production: 'git:v1' };
const refs = { v1: content('Old') };
const baseFile = file({ text: 'Hi', name: 'New', pins });
const baseActive = { staging: version(1, 'Hello'), production: version(1, 'Hello') };

function planFor({ file: wanted = baseFile, observed: found = observed({ active: baseActive }), ...rest }: Case) {
  return makePlan([wanted], observation(found), rules({ refs, ...rest.rules }));
}

const base = () => planFor({});

describe('The digest of a plan', () => {
  test('is a SHA-256', () => {
    expect(base().digest).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  const same: readonly (readonly [sentence: string, changed: Case])[] = [
    ['the path', { file: { ...baseFile, path: 'other/place.md' } }],
    ['the places of pins', { file: { ...baseFile, pins: baseFile.pins.map((pin) => ({ ...pin, line: 99 })) } }],
    ['the commit of a content at a ref', { rules: { refs: { v1: { content: content('Old'), provenance: {} } } } }],
    [
      'the name of a ref',
      {
        file: file({ ...baseFile, text: 'Hi', pins: { ...pins, production: 'git:v2' } }),
        rules: { refs: { v2: content('Old') } },
      },
    ],
    ['metadata that is managed and empty', { file: file({ text: 'Hi', metadata: {}, name: 'New', pins }) }],
    [
      'what else the service holds',
      { observed: observed({ active: baseActive, prompt: { latestVersionId: 'ver_9', description: 'Theirs' } }) },
    ],
  ];
  test.each(same)('stays over another value of %s', (_, changed) => {
    expect(planFor(changed).digest).toBe(base().digest);
  });

  test('stays over commits and change summaries', () => {
    const provenance = { commit: 'abc', path: 'prompts/a.md', changeSummary: 'Soften the tone' };
    const described = planFor({ rules: { provenance: new Map([['prompts/a.md', provenance]]) } });
    expect(described.digest).toBe(base().digest);
    expect(described.prompts[0]?.changes.filter(({ kind }) => kind === 'create-version')).toMatchObject([
      { ref: 'v1', provenance: { commit: 'at-v1' } },
      { provenance },
    ]);
  });

  test('stays over the renaming of one of several files, and over unchanged prompts beside them', () => {
    const other = { ...baseFile, id: 'p2', path: 'prompts/b.md' };
    const calm = { ...file({ pins: { staging: 'latest' } }), id: 'p3', path: 'prompts/c.md' };
    const found = ['p1', 'p2', 'p3'].map((id) => observed({ active: baseActive, prompt: { id } }));
    const digests = [
      [baseFile, other],
      [baseFile, { ...other, path: 'a-first.md' }],
      [calm, baseFile, other],
    ].map((files) => makePlan(files, observation(...found), withRefs(['p1', 'p2'])).digest);
    expect(new Set(digests)).toStrictEqual(new Set([digests[0]]));
  });

  const different: readonly (readonly [sentence: string, changed: Case])[] = [
    ['the text', { file: file({ text: 'Hi!', name: 'New', pins }) }],
    ['the metadata', { file: file({ text: 'Hi', metadata: { a: 1 }, name: 'New', pins }) }],
    ['the content at a ref', { rules: { refs: { v1: content('Older') } } }],
    [
      'the prompt',
      { file: { ...baseFile, id: 'p2' }, observed: observed({ active: baseActive, prompt: { id: 'p2' } }) },
    ],
    ["a field's new value", { file: file({ text: 'Hi', name: 'Newer', pins }) }],
    ["a field's old value", { observed: observed({ active: baseActive, prompt: { name: 'Theirs' } }) }],
    ['which field', { file: file({ text: 'Hi', key: 'New', pins }) }],
    ['one field more', { file: file({ text: 'Hi', name: 'New', description: 'D', pins }) }],
    ['the environment', { file: file({ text: 'Hi', name: 'New', pins: { qa: 'latest', production: 'git:v1' } }) }],
    ['one environment fewer', { file: file({ text: 'Hi', name: 'New', pins: { staging: 'latest' } }) }],
    [
      'what is active before',
      { observed: observed({ active: { ...baseActive, production: version(1, 'Hello', { id: 'x' }) } }) },
    ],
    ['none being active before', { observed: observed({ active: { ...baseActive, production: null } }) }],
    [
      'what is active after: a version that is there already',
      { observed: observed({ active: { ...baseActive, qa: outside(5, 'Old') } }) },
    ],
    ['the order of the environments', { rules: { environmentOrder: ['production', 'staging'] }, file: baseFile }],
  ];
  test.each(different)('changes with %s', (_, changed) => {
    expect(planFor(changed).digest).not.toBe(base().digest);
  });

  test('is the same for all plans without changes', () => {
    const calm = planFor({ file: file({ pins: { staging: 'latest' } }) });
    expect(calm.prompts[0]?.changes).toStrictEqual([]);
    expect(calm.digest).toBe(makePlan([], observation(), rules()).digest);
  });
});

describe('The digest of a plan that makes versions', () => {
  const seen = observation(observed({ active: { production: version(7, 'Seven'), promptsync: version(9, 'Nine') } }));
  const digestOf = (parts: FileParts) => makePlan([file({ ...parts, pins: { production: 7 } })], seen, rules()).digest;

  test.each<[string, FileParts]>([
    ['text', { text: 'Another draft' }],
    ['metadata', { text: 'Draft', metadata: { model: 'x' } }],
    ['being there at all', { text: 'Seven' }],
  ])('changes with its %s, also where nothing serves it yet', (_, parts) => {
    expect(digestOf({ text: 'Draft', path: 'other.md' })).toBe(digestOf({ text: 'Draft' }));
    expect(digestOf(parts)).not.toBe(digestOf({ text: 'Draft' }));
  });

  test('changes with which environment is to serve which of two', () => {
    const environmentOrder = ['staging', 'production'];
    const [plan, turned] = [pins, { staging: 'git:v1', production: 'latest' }].map((written) =>
      planFor({ file: file({ text: 'Hi', pins: written }), rules: { environmentOrder } }),
    );
    const madeBy = (one = plan) => one?.prompts[0]?.changes.filter(({ kind }) => kind === 'create-version');
    expect(madeBy(turned)).toStrictEqual(madeBy());
    expect(turned?.digest).not.toBe(plan?.digest);
  });
});

describe('The digest of a plan whose new version takes over metadata', () => {
  const wanted = file({ text: 'New', pins: { staging: 'latest' } });
  const none = observed({ active: { staging: null } });
  const takingOver = (metadata: JsonObject, id = 'ver_1') => {
    const metadataFrom = { id, number: 1, metadata, metadataDigest: metadataDigest(metadata) };
    return { ...none, metadataFrom };
  };
  const digestOf = (seen: Observed, from = wanted) => makePlan([from], observation(seen), rules()).digest;
  const reviewed = digestOf(takingOver({ model: 'gpt-5' }));

  test('changes with that metadata', () => {
    expect(digestOf(takingOver({ model: 'evil' }))).not.toBe(reviewed);
    expect(digestOf(none)).not.toBe(reviewed);
  });

  test('does not depend on the version that has it', () => {
    expect(digestOf(takingOver({ model: 'gpt-5' }, 'ver_2'))).toBe(reviewed);
  });

  test('is that of a file with the same metadata', () => {
    const managed = file({ text: 'New', metadata: { model: 'gpt-5' }, pins: { staging: 'latest' } });
    expect(digestOf(none, managed)).toBe(reviewed);
  });
});

test('The digest of a plan that activates an existing version changes with the metadata of that version', () => {
  const wanted = file({ pins: { production: 2 } });
  const digests = [{ model: 'gpt-5' }, { model: 'evil' }].map((metadata) => {
    const active = { production: version(1, 'Hello'), staging: version(2, 'Two', { metadata }) };
    return makePlan([wanted], observation(observed({ active })), rules()).digest;
  });
  expect(new Set(digests).size).toBe(2);
});

test('An activation of a text without metadata has the metadata of the version that the plan creates for it', () => {
  const withMetadata = (model: string) => content('Same', { model });
  const atRefs = { a: withMetadata('a'), b: withMetadata('b'), bare: content('Same') };
  const wanted = file({ text: 'Own', pins: { one: 'git:a', two: 'git:b', three: 'git:bare' } });
  const [prompt] = makePlan([wanted], observation(observed()), rules({ refs: atRefs })).prompts;
  const activations = prompt!.changes.filter((change) => change.kind === 'set-active');
  expect(activations.map((change) => digestsAfter(change, prompt!)?.metadata)).toEqual([
    atRefs.a.metadataDigest,
    atRefs.b.metadataDigest,
    atRefs.a.metadataDigest,
  ]);
});

function withRefs(ids: readonly string[]) {
  const { contentsAtRefs, ...rest } = rules({ refs });
  const atRefs = contentsAtRefs.get('p1') ?? new Map();
  return { ...rest, contentsAtRefs: new Map(ids.map((id) => [id, atRefs])) };
}
