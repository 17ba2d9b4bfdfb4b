import { describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { pinText } from '../../src/domain/prompt-file.ts';
import { metadataDigest } from '../../src/domain/digest.ts';
import { frontMatter as schema } from '../config/support.ts';
import { BASIC, fileOf, messages, parse, sourceOf, tell } from './support.ts';

/** What the schema for editors says of the front matter. */
const schemaTakes = (source: string) => schema(parseYaml(source.split('---\n')[1] ?? ''));
const problemsOf = (further: string) => tell(parse(sourceOf(further)).problems);
const withField = (field: string, value: string) =>
  `---\n${BASIC.replace(new RegExp(`^${field}: .*$`, 'm'), () => `${field}: ${value}`)}---\nHello.`;

test('a whole file is read with every field', () => {
  const source = `---
id: prm_greeting # the id
key: support/greeting
name: Support greeting
description: First message a customer sees.
pins:
  staging: latest
  production: 7
metadata:
  model: gpt-5
  temperature: 0.5
variables: [customer_name]
accept_warnings: [prompt/hidden-character, prompt/gone]
---

You are a support agent for {{customer_name}}…
`;
  expect(fileOf(source)).toMatchObject({
    path: 'prompts/x.md',
    id: 'prm_greeting',
    key: 'support/greeting',
    name: 'Support greeting',
    description: 'First message a customer sees.',
    pins: [
      { environment: 'staging', pin: { kind: 'latest' }, line: 7, column: 12 },
      { environment: 'production', pin: { kind: 'number', number: 7 }, line: 8, column: 15 },
    ],
    variables: ['customer_name'],
    acceptWarnings: ['prompt/hidden-character', 'prompt/gone'],
    content: {
      text: 'You are a support agent for {{customer_name}}…',
      metadata: { model: 'gpt-5', temperature: 0.5 },
      metadataDigest: metadataDigest({ temperature: 0.5, model: 'gpt-5' }),
    },
  });
});

test('fields that are absent are not managed', () => {
  const file = fileOf(sourceOf());
  expect(Object.keys(file).toSorted()).toEqual(['content', 'id', 'key', 'name', 'path', 'pins']);
  expect(Object.keys(file.content).toSorted()).toEqual(['digest', 'text']);
});

describe('id, key and name', () => {
  test.each([
    ['id', 'prompt/missing-id 2:1'],
    ['key', 'prompt/missing-field 2:1'],
    ['name', 'prompt/missing-field 2:1'],
  ])('%s is needed', (field, expected) => {
    const source = `---\n${BASIC.replace(new RegExp(`^${field}: .*\n`, 'm'), '')}---\nHello.`;
    expect(tell(parse(source).problems)).toEqual([expected]);
    expect(messages(parse(source).problems)).toContain(`\`${field}\``);
    // Langfuse has but the id.
    expect(schemaTakes(source)).toBe(field !== 'id');
  });

  const lines = { id: 2, key: 3, name: 4 } as const;
  const wrong = [
    ...['123', '1.0', 'true', 'null', '', '[a]', '{a: b}'],
    ...['""', '"a\\tb"', '"a\\nb"', '"a\\eb"', '"a\\u0085b"'],
  ];
  test.each(Object.entries(lines).flatMap(([field, line]) => wrong.map((value) => [field, line, value] as const)))(
    '%s (line %i) may not be %s',
    (field, line, value) => {
      const { file, problems } = parse(withField(field, value));
      expect(problems).toMatchObject([{ code: 'prompt/invalid-field', line, column: field.length + 3 }]);
      expect(problems[0]?.message).toContain(`"${field}"`);
      expect(file).toBeNull();
      expect(schemaTakes(withField(field, value))).toBe(false);
    },
  );

  test.each(['yes', 'on', '2026-01-01', '1_000', '0b1', '12:30', 'a/b c', 'é', '../x', 'a%2e'])(
    '%s is a text',
    (value) => {
      expect(fileOf(withField('key', value)).key).toBe(value);
    },
  );

  test.each(['.', '..', 'a/b', '../../admin', "'a\\b'", 'a?b', 'a#b', 'a%2e', 'a b', 'a\u00a0b'])(
    'an id %s is more than one segment of a path, a key may be',
    (value) => {
      expect(tell(parse(withField('id', value)).problems)).toEqual(['prompt/invalid-field 2:5']);
      expect(fileOf(withField('key', value)).key).toBe(value.replaceAll("'", ''));
    },
  );

  test.each(['prm_1', 'a.b', '...', 'ü', 'a:b@c', 'a+b~c'])('an id %s is one', (value) => {
    expect(fileOf(withField('id', value)).id).toBe(value);
  });
});

describe('a field of another type is not valid', () => {
  const written = ['', '~', 'null', '1', 'x', 'true', '[]', '{a: 1}'];
  test.each([
    ['description', 'expected string', ['x']],
    ['pins', 'expected mapping', ['{a: 1}']],
    ['metadata', 'expected mapping', ['{a: 1}']],
    ['variables', 'expected list', ['[]']],
  ])('%s: %s', (field, expected, valid) => {
    for (const value of written) {
      const { problems } = parse(sourceOf(`${field}: ${value}\n`));
      expect(schemaTakes(sourceOf(`${field}: ${value}\n`))).toBe(valid.includes(value));
      if (valid.includes(value)) expect(problems).toEqual([]);
      else
        expect(problems).toMatchObject([
          { code: 'prompt/invalid-field', line: 5, message: expect.stringContaining(expected) },
        ]);
    }
  });
});

describe('unknown fields', () => {
  test.each([
    ['nmae', 'Did you mean `name`?'],
    ['KEY', 'Did you mean `key`?'],
    ['varaibles', 'Did you mean `variables`?'],
    ['meta', 'your own data goes under `metadata:`'],
    ['constructor', 'your own data goes under `metadata:`'],
    ['toString', 'your own data goes under `metadata:`'],
    ['content', 'your own data goes under `metadata:`'],
  ])('%s is an error with a hint', (field, hint) => {
    const { problems } = parse(sourceOf(`# comment\n${field}: x\n`));
    expect(schemaTakes(sourceOf(`${field}: x\n`))).toBe(false);
    expect(tell(problems)).toEqual(['prompt/unknown-field 6:1']);
    expect(messages(problems)).toContain(hint);
  });

  test('are told one by one', () => {
    expect(problemsOf('a1: 1\nb1: 2\n')).toEqual(['prompt/unknown-field 5:1', 'prompt/unknown-field 6:1']);
  });
});

describe('description', () => {
  test('may be empty, which is not the same as absent', () => {
    expect(fileOf(sourceOf('description: ""\n')).description).toBe('');
  });
});

describe('pins', () => {
  test.each([
    ['latest', { kind: 'latest' }],
    ['"latest"', { kind: 'latest' }],
    ['1', { kind: 'number', number: 1 }],
    ['9007199254740991', { kind: 'number', number: 9007199254740991 }],
    ['version:ver_6', { kind: 'version', id: 'ver_6' }],
    ['"version:a b/c:d"', { kind: 'version', id: 'a b/c:d' }],
    ['git:main', { kind: 'git', ref: 'main' }],
    ['git:main~3', { kind: 'git', ref: 'main~3' }],
    ['git:feature/x@{1}', { kind: 'git', ref: 'feature/x@{1}' }],
    ['git:v1.0.0^', { kind: 'git', ref: 'v1.0.0^' }],
  ])('%s is one', (written, pin) => {
    const [found] = fileOf(sourceOf(`pins:\n  prod: ${written}\n`)).pins;
    expect(found).toEqual({ environment: 'prod', pin, line: 6, column: 9 });
    expect(pinText(found?.pin ?? { kind: 'latest' })).toBe(written.replaceAll('"', ''));
    expect(schemaTakes(sourceOf(`pins:\n  prod: ${written}\n`))).toBe(true);
  });

  const wrong = [
    ...['0', '-1', '1.5', '9007199254740992', '"7"', 'true', 'null', '', '[1]', '{a: 1}', '2026-01-01'],
    ...['Latest', '" latest"', '"latest "', '""', 'newest', 'main', 'ver_6'],
    ...['"version:"', '"version:a\\tb"', 'version:.', 'version:..', 'Version:a', '"git:"', 'git:-x', 'git:a:b'],
    ...['git:--upload-pack=x', '"git:a b"', '"git:a\\nb"', '"git:a*"', 'git:^x', '"git:a[b"', '"git:a\\\\b"'],
    ...['"git: a"', 'git:~1', 'git:a?'],
  ];
  test.each(wrong)('%s is none', (written) => {
    const { file, problems } = parse(sourceOf(`pins:\n  staging: latest\n  prod: ${written}\n`));
    expect(problems).toMatchObject([{ code: 'prompt/invalid-pin', line: 7, column: 9 }]);
    expect(problems[0]?.message).toContain('"prod"');
    expect(file).toBeNull();
    expect(schemaTakes(sourceOf(`pins:\n  prod: ${written}\n`))).toBe(false);
  });

  test.each(['v1', 'größe', '👋'])(
    'a git: pin that begins with %j is valid with 250 characters, and not with 251',
    (start) => {
      const pinned = (length: number) => {
        const pin = `git:${start}`;
        return sourceOf(`pins:\n  prod: ${pin}${'^'.repeat(length - [...pin].length)}\n`);
      };
      expect(fileOf(pinned(250)).pins).toHaveLength(1);
      expect(schemaTakes(pinned(250))).toBe(true);
      const { file, problems } = parse(pinned(251));
      expect(file).toBeNull();
      expect(tell(problems)).toEqual(['prompt/invalid-pin 6:9']);
      expect(problems[0]?.hint).toContain('at most 250 characters');
      expect(schemaTakes(pinned(251))).toBe(false);
    },
  );

  test('a file with 1,000 pins is valid, and one with 1,001 has a problem at its pins', () => {
    const pinned = (count: number) =>
      sourceOf(`pins:\n${Array.from({ length: count }, (_, index) => `  e${index}: git:v${index}\n`).join('')}`);
    expect(fileOf(pinned(1000)).pins).toHaveLength(1000);
    expect(schemaTakes(pinned(1000))).toBe(true);
    const { file, problems } = parse(pinned(1001));
    expect(file).toBeNull();
    expect(tell(problems)).toEqual(['prompt/invalid-field 6:3']);
    expect(messages(problems)).toContain('The field "pins" is not valid: expected at most 1000 pins.');
    expect(schemaTakes(pinned(1001))).toBe(false);
  });

  test.each(['v3', 'V3', '"3"', "'v3'"])('%s was meant to be a number', (written) => {
    expect(parse(sourceOf(`pins:\n  prod: ${written}\n`)).problems[0]?.hint).toBe('Did you mean `3`?');
  });

  test.each([
    ['""', 'it is empty'],
    ['"a\\tb"', 'it holds control characters'],
    ['"a\\nb"', 'it holds control characters'],
  ])('the environment %s has no valid name', (name, expected) => {
    const { problems } = parse(sourceOf(`pins:\n  ${name}: 1\n`));
    expect(tell(problems)).toEqual(['prompt/invalid-field 6:3']);
    expect(messages(problems)).toContain(expected);
    expect(schemaTakes(sourceOf(`pins:\n  ${name}: 1\n`))).toBe(false);
  });
});

describe('metadata', () => {
  test('may hold any JSON, and is kept as it is', () => {
    const metadata =
      '{a: [1, -1.5, true, null, {b: ""}], "": x, constructor: 1, "<<": 2, big: 9007199254740992, d: 0x10}';
    expect(fileOf(sourceOf(`metadata: ${metadata}\n`)).content.metadata).toEqual({
      a: [1, -1.5, true, null, { b: '' }],
      '': 'x',
      constructor: 1,
      '<<': 2,
      big: 2 ** 53,
      d: 16,
    });
  });

  test('may be empty, which is not the same as absent', () => {
    expect(fileOf(sourceOf('metadata: {}\n')).content).toMatchObject({
      metadata: {},
      metadataDigest: metadataDigest(null),
    });
  });

  test('may not have the key that promptsync keeps for itself, but deeper it may', () => {
    expect(problemsOf('metadata:\n  a: 1\n  promptsync: x\n')).toEqual(['prompt/reserved-metadata 7:3']);
    expect(problemsOf('metadata:\n  promptsync:\n')).toEqual(['prompt/reserved-metadata 6:3']);
    expect(schemaTakes(sourceOf('metadata:\n  promptsync:\n'))).toBe(false);
    expect(problemsOf('metadata: {a: {promptsync: 1}}\n')).toEqual([]);
  });
});

describe('variables', () => {
  test('names are texts', () => {
    expect(tell(parse(sourceOf('variables: [a, 1, null]\n', '{{a}} {{1}}\n')).problems)).toEqual([
      'prompt/invalid-field 5:16',
      'prompt/invalid-field 5:19',
    ]);
  });
});

test.each([
  ['[prompt/hidden-charakter]', '5:19'],
  ['[prompt/gone, prompt/empty-body]', '5:32'],
  ['prompt/gone', '5:18'],
  ['[1]', '5:19'],
])('accept_warnings: %s is no list of warnings', (written, place) => {
  const source = sourceOf(`accept_warnings: ${written}\n`);
  expect(tell(parse(source).problems)).toEqual([`prompt/invalid-field ${place}`]);
  expect(schemaTakes(source)).toBe(false);
});
