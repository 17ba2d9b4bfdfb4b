import { describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { formatPin } from '../../src/domain/prompt-file.ts';
import { computeMetadataDigest } from '../../src/domain/content.ts';
import { frontMatter as schema } from './config-support.ts';
import { REQUIRED_FIELDS, parseValidFile, messages, parse, makeSource, summarizeProblems } from './support.ts';

/** Whether the JSON schema for editors accepts the front matter. */
const isValidForSchema = (source: string) => schema(parseYaml(source.split('---\n')[1] ?? ''));
const parseProblems = (further: string) => summarizeProblems(parse(makeSource(further)).problems);
const withField = (field: string, value: string) =>
  `---\n${REQUIRED_FIELDS.replace(new RegExp(`^${field}: .*$`, 'm'), () => `${field}: ${value}`)}---\nHello.`;

test('the parser reads every field of a complete prompt file', () => {
  const source = `---
id: prm_greeting # the id
key: support/greeting
name: Support greeting
description: ""
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
  expect(parseValidFile(source)).toMatchObject({
    ...{ path: 'prompts/x.md', id: 'prm_greeting', key: 'support/greeting', name: 'Support greeting', description: '' },
    pins: [
      { environment: 'staging', pin: { kind: 'latest' }, line: 7, column: 12 },
      { environment: 'production', pin: { kind: 'number', number: 7 }, line: 8, column: 15 },
    ],
    variables: ['customer_name'],
    acceptWarnings: ['prompt/hidden-character', 'prompt/gone'],
    content: {
      text: 'You are a support agent for {{customer_name}}…',
      metadata: { model: 'gpt-5', temperature: 0.5 },
      metadataDigest: computeMetadataDigest({ temperature: 0.5, model: 'gpt-5' }),
    },
  });
});

test('the parser omits the description, variables and metadata if the file does not declare them', () => {
  const { content, ...file } = parseValidFile(makeSource());
  expect(Object.keys(file).toSorted()).toEqual(['id', 'key', 'name', 'path', 'pins', 'type']);
  expect(content).toMatchObject({ metadata: undefined, metadataDigest: undefined });
});

describe('parsePromptFile on id, key and name', () => {
  test.each([
    ['id', 'prompt/missing-id 2:1'],
    ['key', 'prompt/missing-field 2:1'],
    ['name', 'prompt/missing-field 2:1'],
  ])('the parser requires the field %s', (field, expected) => {
    const source = `---\n${REQUIRED_FIELDS.replace(new RegExp(`^${field}: .*\n`, 'm'), '')}---\nHello.`;
    expect(summarizeProblems(parse(source).problems)).toEqual([expected]);
    expect(messages(parse(source).problems)).toContain(`\`${field}\``);
    // The schema requires no field, because with Langfuse, a file needs none.
    expect(isValidForSchema(source)).toBe(true);
  });

  // The three fields share one shape, so one value each shows that the others have it.
  const invalid = [
    ...['123', '1.0', 'true', 'null', '', '[a]', '{a: b}', '""', '"a\\tb"', '"a\\nb"', '"a\\eb"', '"a\\u0085b"'],
  ];
  test.each([
    ...invalid.map((value) => ['key', 3, value] as const),
    ['id', 2, '123'] as const,
    ['name', 4, '""'] as const,
  ])('the parser rejects the field %s on line %i if the value is %s', (field, line, value) => {
    const { file, problems } = parse(withField(field, value));
    expect(problems).toMatchObject([{ code: 'prompt/invalid-field', line, column: field.length + 3 }]);
    expect(problems[0]?.message).toContain(`\`${field}\``);
    expect(file).toBeNull();
    expect(isValidForSchema(withField(field, value))).toBe(false);
  });

  test.each(['.', '..', 'a/b', '../../admin', "'a\\b'", 'a?b', 'a#b', 'a%2e', 'a b', 'a\u00a0b'])(
    'the parser accepts %j as a key but rejects it as an id',
    (value) => {
      expect(summarizeProblems(parse(withField('id', value)).problems)).toEqual(['prompt/invalid-field 2:5']);
      expect(parseValidFile(withField('key', value)).key).toBe(value.replaceAll("'", ''));
    },
  );

  test.each(['a.b', '...', 'ü', 'a:b@c'])('the parser accepts %s as an id', (value) => {
    expect(parseValidFile(withField('id', value)).id).toBe(value);
  });
});

test.each([
  ['description', 'expected text', 'x'],
  ['pins', 'expected a mapping', '{a: 1}'],
  ['metadata', 'expected a mapping', '{a: 1}'],
  ['variables', 'expected a list', '[]'],
])('the parser rejects a value of the wrong type in the field %s with the message: %s', (field, expected, valid) => {
  for (const value of ['', '~', '1', 'x', 'true', '[]', '{a: 1}']) {
    const source = makeSource(`${field}: ${value}\n`);
    const message = expect.stringContaining(['', '~'].includes(value) ? 'it has no value' : expected);
    const problem = { code: 'prompt/invalid-field', line: 5, message };
    expect(parse(source).problems).toMatchObject(value === valid ? [] : [problem]);
    expect(isValidForSchema(source)).toBe(value === valid);
  }
});

test.each([
  ['varaibles', 'Did you mean `variables`?'],
  ['meta', 'Put custom data under `metadata:`'],
])('the parser rejects the unknown field %s and suggests how to fix it', (field, hint) => {
  const { problems } = parse(makeSource(`# comment\n${field}: x\n`));
  expect(isValidForSchema(makeSource(`${field}: x\n`))).toBe(false);
  expect(summarizeProblems(problems)).toEqual(['prompt/unknown-field 6:1']);
  expect(messages(problems)).toContain(hint);
});

describe('parsePromptFile on pins', () => {
  test.each([
    [{ kind: 'latest' }, '"latest"'],
    [{ kind: 'number', number: 1 }, '1'],
    [{ kind: 'number', number: 9007199254740991 }, '9007199254740991'],
    [{ kind: 'version', id: 'ver_6' }, 'version:ver_6'],
    [{ kind: 'version', id: 'a b/c:d' }, '"version:a b/c:d"'],
    [{ kind: 'git', ref: 'main~3' }, 'git:main~3'],
    [{ kind: 'git', ref: 'feature/x@{1}' }, 'git:feature/x@{1}'],
  ])('the parser returns the pin %j for the value %s', (pin, value) => {
    const [found] = parseValidFile(makeSource(`pins:\n  prod: ${value}\n`)).pins;
    expect(found).toEqual({ environment: 'prod', pin, line: 6, column: 9 });
    expect(formatPin(found?.pin ?? { kind: 'latest' })).toBe(value.replaceAll('"', ''));
    expect(isValidForSchema(makeSource(`pins:\n  prod: ${value}\n`))).toBe(true);
  });

  const invalidValues = [
    ...['0', '-1', '1.5', '9007199254740992', '"7"', 'true', 'null', '', '[1]', '{a: 1}'],
    ...['Latest', '" latest"', '"latest "', '""', 'main'],
    ...['"version:"', '"version:a\\tb"', 'version:.', 'version:..', 'Version:a', '"git:"', 'git:-x', 'git:a:b'],
    ...['"git:a b"', '"git:a\\nb"', '"git:a*"', 'git:^x', '"git:a[b"', '"git:a\\\\b"', '"git: a"', 'git:~1', 'git:a?'],
  ];
  test.each(invalidValues)('the parser rejects the pin %s', (value) => {
    const { file, problems } = parse(makeSource(`pins:\n  staging: latest\n  prod: ${value}\n`));
    expect(problems).toMatchObject([{ code: 'prompt/invalid-pin', line: 7, column: 9 }]);
    expect(problems[0]?.message).toContain('"prod"');
    expect(file).toBeNull();
    expect(isValidForSchema(makeSource(`pins:\n  prod: ${value}\n`))).toBe(false);
  });

  test('the parser allows at most 250 characters in a git: pin, and counts an emoji as one character', () => {
    const pinned = (length: number) => makeSource(`pins:\n  prod: git:👋${'^'.repeat(length - 5)}\n`);
    expect(parseValidFile(pinned(250)).pins).toHaveLength(1);
    const { problems } = parse(pinned(251));
    expect(summarizeProblems(problems)).toEqual(['prompt/invalid-pin 6:9']);
    expect(problems[0]?.hint).toContain('at most 250 characters');
    expect([250, 251].map((length) => isValidForSchema(pinned(length)))).toEqual([true, false]);
  });

  test('the parser accepts 1,000 pins in a file but rejects 1,001', () => {
    const pinned = (count: number) =>
      makeSource(`pins:\n${Array.from({ length: count }, (_, index) => `  e${index}: git:v${index}\n`).join('')}`);
    expect(parseValidFile(pinned(1000)).pins).toHaveLength(1000);
    const { problems } = parse(pinned(1001));
    expect(summarizeProblems(problems)).toEqual(['prompt/invalid-field 6:3']);
    expect(messages(problems)).toContain('The field `pins` is invalid: expected at most 1000 pins.');
    expect([1000, 1001].map((count) => isValidForSchema(pinned(count)))).toEqual([true, false]);
  });

  test.each([
    ['V3', 'Did you mean `3`?'],
    ['latst', 'Did you mean `latest`?'],
  ])('for the invalid pin %s, the parser asks: %s', (value, hint) => {
    expect(parse(makeSource(`pins:\n  prod: ${value}\n`)).problems[0]?.hint).toBe(hint);
  });

  test.each([
    ['""', 'it is empty'],
    ['"a\\tb"', 'it contains control characters'],
  ])('the parser rejects the environment name %s', (name, expected) => {
    const { problems } = parse(makeSource(`pins:\n  ${name}: 1\n`));
    expect(summarizeProblems(problems)).toEqual(['prompt/invalid-field 6:3']);
    expect(messages(problems)).toContain(expected);
    expect(isValidForSchema(makeSource(`pins:\n  ${name}: 1\n`))).toBe(false);
  });
});

describe('parsePromptFile on metadata', () => {
  test('the parser preserves any JSON value in the metadata', () => {
    const metadata = '{a: [1, -1.5, true, null, {b: ""}], "": x, constructor: 1, "<<": 2, d: 0x10}';
    const read = { a: [1, -1.5, true, null, { b: '' }], '': 'x', constructor: 1, '<<': 2, d: 16 };
    expect(parseValidFile(makeSource(`metadata: ${metadata}\n`)).content.metadata).toEqual(read);
    const empty = { metadata: {}, metadataDigest: computeMetadataDigest(null) };
    expect(parseValidFile(makeSource('metadata: {}\n')).content).toMatchObject(empty);
  });

  test('the parser rejects the metadata key promptsync at the top level but accepts it in nested metadata', () => {
    expect(parseProblems('metadata:\n  a: 1\n  promptsync: x\n')).toEqual(['prompt/reserved-metadata 7:3']);
    expect(parseProblems('metadata:\n  promptsync:\n')).toEqual(['prompt/reserved-metadata 6:3']);
    expect(isValidForSchema(makeSource('metadata:\n  promptsync:\n'))).toBe(false);
    expect(parseProblems('metadata: {a: {promptsync: 1}}\n')).toEqual([]);
  });
});

describe('parsePromptFile on values that YAML 1.1 and YAML 1.2 interpret differently', () => {
  test('the prompt file parser warns once about unquoted metadata values that look like Booleans or octal numbers', () => {
    const { file, problems } = parse(makeSource('metadata:\n  a: 1\n  b: [off, Yes, "on"]\n  c: {d: 0755, e: true}\n'));
    expect(problems).toMatchObject([{ code: 'yaml/ambiguous-value', severity: 'warning', line: 7, column: 7 }]);
    expect(problems[0]?.message).toContain('`off` as text');
    expect(problems[0]?.message).toContain('2 more values');
    expect(file?.content.metadata).toEqual({ a: 1, b: ['off', 'Yes', 'on'], c: { d: 755, e: true } });
    const [octal] = parse(makeSource('metadata: {mode: 0755}\n')).problems;
    expect(octal?.message).toContain('`0755` as the decimal number 755');
  });

  test('the prompt file parser does not warn about YAML 1.1 Booleans and octal numbers outside the metadata, in keys, or in quotes', () => {
    const yaml = 'description: on\nmetadata: {on: 0, a: "yes", b: \'0755\', c: 0, d: 0.5, e: once}\n';
    expect(parse(makeSource(yaml)).problems).toEqual([]);
  });
});

describe('parsePromptFile on characters that look like YAML syntax', () => {
  test.each([
    ['the parser names a no-break space after a pin', 'pins:\n  staging: latest\u00a0\n', 6, 18],
    ['the parser names a no-break space after the dash of a list item', 'variables:\n  -\u00a0a\n', 6, 4],
    ['the parser names a no-break space in the name of an unknown field', '"metadata\u00a0": {}\n', 5, 10],
  ])('%s', (_, yaml, line, column) => {
    expect(parse(makeSource(yaml)).problems).toContainEqual(
      expect.objectContaining({ code: 'yaml/look-alike', line, column }),
    );
  });

  test.each([
    ['note: {a: "Remarque\u00a0: voir"}', 'prompt/unknown-field 5:1'],
    ['note: {a: 1} # Remarque\u00a0: voir', 'prompt/unknown-field 5:1'],
    [String.raw`"note\u00a0": 1`, 'prompt/unknown-field 5:1'],
    ['accept_warnings: []\u00a0', 'yaml/look-alike 5:20'],
  ])('the prompt file parser reports a space in the line %j only if it is part of the syntax', (line, expected) => {
    expect(summarizeProblems(parse(makeSource(`${line}\n`)).problems)).toEqual([expected]);
  });

  test('the prompt file parser does not repeat the content of a file in its messages if the file uses lone carriage returns as line breaks', () => {
    const { problems } = parse(makeSource().replaceAll('\n', '\r'));
    expect(summarizeProblems(problems)).toEqual(['prompt/hidden-character 1:4', 'yaml/look-alike 1:4']);
    expect(messages(problems)).not.toContain('prm_1');
  });
});

test('the parser rejects variable names that are not strings', () => {
  const { problems } = parse(makeSource('variables: [a, 1, null]\n', '{{a}} {{1}}\n'));
  expect(summarizeProblems(problems)).toEqual(['prompt/invalid-field 5:16', 'prompt/invalid-field 5:19']);
});

test.each([
  ['5:19', '[prompt/hidden-charakter]'],
  ['5:32', '[prompt/gone, prompt/empty-body]'],
  ['5:18', 'prompt/gone'],
])('the parser reports an invalid field at position %s if accept_warnings has the value %s', (place, value) => {
  const source = makeSource(`accept_warnings: ${value}\n`);
  expect(summarizeProblems(parse(source).problems)).toEqual([`prompt/invalid-field ${place}`]);
  expect(isValidForSchema(source)).toBe(false);
});
