import { describe, expect, test } from 'vitest';
import { computeMetadataDigest } from '../../src/domain/content.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import type { ObservedPrompt } from '../../src/domain/observed-prompt.ts';
import { computeDigestsAfter } from '../../src/domain/plan.ts';
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

type Case = { readonly file?: PromptFile; readonly observed?: ObservedPrompt; readonly rules?: RulesParts };

const pins = { staging: 'latest', production: 'git:v1' };
const refs = { v1: content('Old') };
const baseFile = file({ text: 'Hi', name: 'New', pins });
const baseActive = { staging: version(1, 'Hello'), production: version(1, 'Hello') };

function planFor({ file: wanted = baseFile, observed: found = observed({ active: baseActive }), ...rest }: Case) {
  return makePlan([wanted], observation(found), rules({ refs, ...rest.rules }));
}

const base = () => planFor({});

describe('the digest of a plan', () => {
  test('The plan digest is a SHA-256 hash', () => {
    expect(base().digest).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  const same: readonly (readonly [title: string, changed: Case])[] = [
    ['The plan digest does not depend on the file path', { file: { ...baseFile, path: 'other/place.md' } }],
    [
      'The plan digest does not depend on the line numbers of the pins',
      { file: { ...baseFile, pins: baseFile.pins.map((pin) => ({ ...pin, line: 99 })) } },
    ],
    [
      'The plan digest does not depend on the commit that a git ref points to if the content is the same',
      { rules: { refs: { v1: { content: content('Old'), provenance: {} } } } },
    ],
    [
      'The plan digest does not depend on the name of a git ref if the content is the same',
      {
        file: file({ ...baseFile, text: 'Hi', pins: { ...pins, production: 'git:v2' } }),
        rules: { refs: { v2: content('Old') } },
      },
    ],
    [
      'The plan digest is the same for empty and missing metadata',
      { file: file({ text: 'Hi', metadata: {}, name: 'New', pins }) },
    ],
    [
      'The plan digest does not depend on service data that the prompt file does not manage',
      { observed: observed({ active: baseActive, prompt: { latestVersionId: 'ver_9', description: 'Theirs' } }) },
    ],
  ];
  test.each(same)('%s', (_, changed) => {
    expect(planFor(changed).digest).toBe(base().digest);
  });

  test('The plan digest does not depend on the commit or the change summary of a new version', () => {
    const provenance = { commit: 'abc', path: 'prompts/a.md', changeSummary: 'Soften the tone' };
    const described = planFor({ rules: { history: { provenance } } });
    expect(described.digest).toBe(base().digest);
    expect(described.prompts[0]?.changes.filter(({ kind }) => kind === 'create-version')).toMatchObject([
      { ref: 'v1', provenance: { commit: 'at-v1' } },
      { provenance },
    ]);
  });

  test('The plan digest does not depend on file names or unchanged prompts', () => {
    const other = { ...baseFile, id: 'p2', path: 'prompts/b.md' };
    const unchanged = { ...file({ pins: { staging: 'latest' } }), id: 'p3', path: 'prompts/c.md' };
    const found = ['p1', 'p2', 'p3'].map((id) => observed({ active: baseActive, prompt: { id } }));
    const digests = [
      [baseFile, other],
      [baseFile, { ...other, path: 'a-first.md' }],
      [unchanged, baseFile, other],
    ].map((files) => makePlan(files, observation(...found), withRefs(['p1', 'p2'])).digest);
    expect(new Set(digests)).toStrictEqual(new Set([digests[0]]));
  });

  const different: readonly (readonly [title: string, changed: Case])[] = [
    ['The plan digest changes with the prompt text', { file: file({ text: 'Hi!', name: 'New', pins }) }],
    [
      'The plan digest changes with the metadata',
      { file: file({ text: 'Hi', metadata: { a: 1 }, name: 'New', pins }) },
    ],
    ['The plan digest changes with the content of a pinned git ref', { rules: { refs: { v1: content('Older') } } }],
    [
      'The plan digest changes with the prompt id',
      { file: { ...baseFile, id: 'p2' }, observed: observed({ active: baseActive, prompt: { id: 'p2' } }) },
    ],
    ['The plan digest changes with the new value of a field', { file: file({ text: 'Hi', name: 'Newer', pins }) }],
    [
      'The plan digest changes with the old value of a field',
      { observed: observed({ active: baseActive, prompt: { name: 'Theirs' } }) },
    ],
    ['The plan digest depends on which field changes', { file: file({ text: 'Hi', key: 'New', pins }) }],
    [
      'The plan digest changes if an additional field changes',
      { file: file({ text: 'Hi', name: 'New', description: 'D', pins }) },
    ],
    [
      'The plan digest changes with the name of an environment',
      { file: file({ text: 'Hi', name: 'New', pins: { qa: 'latest', production: 'git:v1' } }) },
    ],
    [
      'The plan digest changes if the file no longer pins an environment',
      { file: file({ text: 'Hi', name: 'New', pins: { staging: 'latest' } }) },
    ],
    [
      'The plan digest changes if an environment previously served a different version',
      { observed: observed({ active: { ...baseActive, production: version(1, 'Hello', { id: 'x' }) } }) },
    ],
    [
      'The plan digest depends on whether an environment previously served a version',
      { observed: observed({ active: { ...baseActive, production: null } }) },
    ],
    [
      'The plan digest depends on whether the plan activates a new or an existing version',
      { observed: observed({ active: { ...baseActive, qa: outside(5, 'Old') } }) },
    ],
    [
      'The plan digest changes with the configured order of the environments',
      { rules: { environmentOrder: ['production', 'staging'] }, file: baseFile },
    ],
  ];
  test.each(different)('%s', (_, changed) => {
    expect(planFor(changed).digest).not.toBe(base().digest);
  });

  test('All plans without changes have the same digest', () => {
    const unchanged = planFor({ file: file({ pins: { staging: 'latest' } }) });
    expect(unchanged.prompts[0]?.changes).toStrictEqual([]);
    expect(unchanged.digest).toBe(makePlan([], observation(), rules()).digest);
  });
});

describe('the digest of a plan that creates versions', () => {
  const seen = observation(observed({ active: { production: version(7, 'Seven'), promptsync: version(9, 'Nine') } }));
  const digestOf = (parts: FileParts) => makePlan([file({ ...parts, pins: { production: 7 } })], seen, rules()).digest;

  test.each<[string, FileParts]>([
    [
      'The plan digest changes with the text of a new version that the plan does not activate',
      { text: 'Another draft' },
    ],
    [
      'The plan digest changes with the metadata of a new version that the plan does not activate',
      { text: 'Draft', metadata: { model: 'x' } },
    ],
    ['The plan digest depends on whether the plan creates a version that it does not activate', { text: 'Seven' }],
  ])('%s', (_, parts) => {
    expect(digestOf({ text: 'Draft', path: 'other.md' })).toBe(digestOf({ text: 'Draft' }));
    expect(digestOf(parts)).not.toBe(digestOf({ text: 'Draft' }));
  });

  test('The plan digest changes if two new versions swap their environments', () => {
    const environmentOrder = ['staging', 'production'];
    const [plan, turned] = [pins, { staging: 'git:v1', production: 'latest' }].map((written) =>
      planFor({ file: file({ text: 'Hi', pins: written }), rules: { environmentOrder } }),
    );
    const creationsOf = (one = plan) => one?.prompts[0]?.changes.filter(({ kind }) => kind === 'create-version');
    expect(creationsOf(turned)).toStrictEqual(creationsOf());
    expect(turned?.digest).not.toBe(plan?.digest);
  });
});

describe('the digest of a plan whose new version takes over metadata', () => {
  const wanted = file({ text: 'New', pins: { staging: 'latest' } });
  const none = observed({ active: { staging: null } });
  const takingOver = (metadata: JsonObject, id = 'ver_1') => {
    const metadataFrom = { id, number: 1, metadata, metadataDigest: computeMetadataDigest(metadata) };
    return { ...none, metadataFrom };
  };
  const digestOf = (seen: ObservedPrompt, from = wanted) => makePlan([from], observation(seen), rules()).digest;
  const reviewed = digestOf(takingOver({ model: 'gpt-5' }));

  test('The plan digest changes with the metadata that a new version inherits from an existing version', () => {
    expect(digestOf(takingOver({ model: 'evil' }))).not.toBe(reviewed);
    expect(digestOf(none)).not.toBe(reviewed);
  });

  test('The plan digest does not depend on the id of the version from which a new version inherits metadata', () => {
    expect(digestOf(takingOver({ model: 'gpt-5' }, 'ver_2'))).toBe(reviewed);
  });

  test('The plan digest is the same whether a new version inherits its metadata or gets the same metadata from the file', () => {
    const managed = file({ text: 'New', metadata: { model: 'gpt-5' }, pins: { staging: 'latest' } });
    expect(digestOf(none, managed)).toBe(reviewed);
  });
});

test('The plan digest changes with the metadata of an existing version that the plan activates', () => {
  const wanted = file({ pins: { production: 2 } });
  const digests = [{ model: 'gpt-5' }, { model: 'evil' }].map((metadata) => {
    const active = { production: version(1, 'Hello'), staging: version(2, 'Two', { metadata }) };
    return makePlan([wanted], observation(observed({ active })), rules()).digest;
  });
  expect(new Set(digests).size).toBe(2);
});

test('If the content at a git ref has no metadata, computeDigestsAfter returns the metadata digest of a new version with the same text', () => {
  const withMetadata = (model: string) => content('Same', { model });
  const atRefs = { a: withMetadata('a'), b: withMetadata('b'), bare: content('Same') };
  const wanted = file({ text: 'Own', pins: { one: 'git:a', two: 'git:b', three: 'git:bare' } });
  const [prompt] = makePlan([wanted], observation(observed()), rules({ refs: atRefs })).prompts;
  const activations = prompt!.changes.filter((change) => change.kind === 'set-active');
  expect(activations.map((change) => computeDigestsAfter(change, prompt!)?.metadata)).toEqual([
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
