import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isPathSegment } from '../../src/domain/text.ts';
import { comparable } from '../../src/domain/digest.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import { fileNameOf, writeNewFile, type NewFile } from '../../src/files/new-file.ts';
import { ledgerRules } from '../../src/ledger/rules.ts';
import { fileOf, keys, PATH, values, words } from './support.ts';

const RULES = ledgerRules('promptsync');

const WANTED: NewFile = {
  path: PATH,
  ...{ id: 'prm_1', key: 'support/greeting', name: 'Greeting', description: '', text: 'Hello.', metadata: {} },
  pins: [{ environment: 'staging', value: 'latest', comment: '' }],
};

describe('a new prompt file', () => {
  test('is written as a person would', () => {
    const description = 'First message.\nIn two lines.';
    const limits = { tokens: 100 };
    const metadata = { model: 'gpt-5', temperature: 0.2, tags: ['a', 'b'], limits, empty: {}, none: null };
    const pins = [...WANTED.pins, { environment: 'production', value: 'version:ver_7', comment: '7' }];
    const { source, problems } = writeNewFile({ ...WANTED, description, metadata, pins }, RULES);
    expect(problems).toEqual([]);
    expect(source).toBe(`---
id: prm_1
key: support/greeting
name: Greeting
description: |-
  First message.
  In two lines.
pins:
  staging: latest
  production: version:ver_7  # 7
metadata:
  model: gpt-5
  temperature: 0.2
  tags:
    - a
    - b
  limits:
    tokens: 100
  empty: {}
  none: null
---

Hello.
`);
  });

  test('keeps the order of environments that look like numbers', () => {
    const pins = ['z', '10', '9'].map((environment, index) => ({ environment, value: index + 1, comment: '' }));
    expect(writeNewFile({ ...WANTED, pins }, RULES).source).toContain('pins:\n  z: 1\n  "10": 2\n  "9": 3\n');
  });

  test('leaves out what is empty', () => {
    expect(writeNewFile({ ...WANTED, pins: [] }, RULES).source).not.toMatch(/description|pins|metadata/);
  });

  test('warns of hidden characters, which stay', () => {
    const { source, problems } = writeNewFile({ ...WANTED, text: 'Hello\u200b.' }, RULES);
    expect(source).toContain('Hello\u200b.');
    expect(problems).toMatchObject([{ code: 'prompt/hidden-character', path: PATH }]);
  });

  const nested = (depth: number): JsonObject => (depth === 0 ? {} : { a: nested(depth - 1) });

  test.each<[string, Partial<NewFile>, string]>([
    ['an empty text', { text: ' \n' }, 'The prompt has no text.'],
    ['NUL', { text: 'a\0b' }, 'NUL character'],
    ['NUL in the metadata', { metadata: { a: '\0' } }, 'NUL character'],
    ['conflict markers', { text: 'a\n<<<<<<< HEAD\nb' }, 'merge conflict'],
    ['half a character', { text: 'a\nb\ud800c' }, 'Line 2 of its text holds a lone surrogate'],
    ['a carriage return at the end', { text: 'a\r' }, 'Line 1 of its text ends with a lone carriage return'],
    ['one before a line break', { text: 'a\r\nb\r\r\nc' }, 'Line 2 of its text ends with a lone carriage return'],
    ['a key with control characters', { key: 'a\u001b[2J' }, '"key" is not valid: it holds control characters'],
    ['an empty name', { name: '' }, '"name" is not valid: it is empty'],
    ['a version number of zero', { pins: [{ environment: 'staging', value: 0, comment: '' }] }, 'The pin of "staging"'],
    ['a number that is not exact', { metadata: { a: 2 ** 60 } }, 'cannot be kept exactly'],
    ['the key __proto__', { metadata: JSON.parse('{"a":{"__proto__":1}}') as JsonObject }, '"__proto__"'],
    ['deep metadata', { metadata: nested(70) }, 'nested too deeply'],
    ['metadata of no end', { metadata: nested(5_000) }, 'nested too deeply'],
    ['large metadata', { metadata: { a: 'x'.repeat(70_000) } }, 'The front matter has 70'],
    ['a large text', { text: 'x'.repeat(17 * 1024 * 1024) }, 'at most 16777216 are read'],
  ])('that cannot be: %s', (_, part, said) => {
    const { source, problems } = writeNewFile({ ...WANTED, ...part }, RULES);
    expect(source).toBeNull();
    expect(problems).toMatchObject([{ code: 'import/not-writable' }]);
    expect(problems[0]?.message).toContain(said);
  });

  const line = keys.filter((text) => text !== '' && !/\p{Cc}/u.test(text));
  const text = words.filter((one) => !/\r|<{7}/.test(one));
  const wanted = fc.record({
    id: line.filter(isPathSegment),
    key: line,
    name: line,
    description: text,
    text: fc.tuple(text, fc.constantFrom('a', '---', '- a'), text).map((parts) => parts.join('')),
    metadata: fc.dictionary(keys, values, { maxKeys: 4 }),
    pins: fc.uniqueArray(
      fc.record({
        environment: line,
        value: fc.oneof(fc.constantFrom('latest', 'version:a #b', 'version:1: 2'), fc.integer({ min: 1 })),
        comment: fc.constantFrom('', '7'),
      }),
      { selector: ({ environment }) => environment, maxLength: 3 },
    ),
  });

  test('whatever is allowed is read back exactly', () => {
    fc.assert(
      fc.property(wanted, (parts) => {
        const { source, problems } = writeNewFile({ ...parts, path: PATH }, RULES);
        expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
        const { description = '', content, pins, ...file } = fileOf(source ?? '');
        expect({ ...file, description, text: content.text }).toMatchObject({
          ...{
            id: parts.id,
            key: parts.key,
            name: parts.name,
            description: parts.description,
            text: comparable(parts.text),
          },
        });
        expect(content.metadata ?? {}).toEqual(parts.metadata);
        expect(pins).toHaveLength(parts.pins.length);
      }),
    );
  });
});

describe('the file of a key', () => {
  test.each([
    ['support/greeting', 'support/greeting.md'],
    ['Größe/日本語/हिन्दी_2.0', 'Größe/日本語/हिन्दी_2.0.md'],
    ['e\u0301', '\u00e9.md'],
    ['first  message: hello!', 'first-message-hello.md'],
    ['a..b', 'a.b.md'],
    ['../../etc/passwd', 'etc/passwd.md'],
    ['/etc//passwd/', 'etc/passwd.md'],
    ['C:\\windows\\system32', 'C-windows-system32.md'],
    ['-rf', 'rf.md'],
    ['.hidden/.env', 'hidden/env.md'],
    ['node_modules/x', '_node_modules/x.md'],
    ['Node_Modules', '_Node_Modules.md'],
    ['AUX.txt/lpt1', '_AUX.txt/_lpt1.md'],
    ['com¹', '_com¹.md'],
    ['console', 'console.md'],
    ['a\u200bb\u202ec\u0000d', 'a-b-c-d.md'],
    ['a\ud800b', 'a-b.md'],
    ['x'.repeat(97), `${'x'.repeat(97)}.md`],
    [`${'ä'.repeat(48)}/x`, `${'ä'.repeat(48)}/x.md`],
  ])('%j: %s', (key, path) => {
    expect(fileNameOf(key, 'prm_1')).toBe(path);
  });

  test.each([
    ['', 'prm_1', 'prm_1.md'],
    ['..', 'prm_1', 'prm_1.md'],
    ['\u3164/!?', 'prm_1', 'prm_1.md'],
    ['a/'.repeat(300), 'prm_1', 'prm_1.md'],
    ['a'.repeat(1_000_000), 'prm_1', 'prm_1.md'],
    ['x'.repeat(98), 'prm_1', 'prm_1.md'],
    [`${'ä'.repeat(49)}/x`, 'prm_1', 'prm_1.md'],
    ['!', 'a/b', 'a-b.md'],
    ['!', '..', 'prompt.md'],
  ])('%j with the id %j: %s', (key, id, path) => {
    expect(fileNameOf(key, id)).toBe(path);
  });

  const SAFE = /^[^-.\p{Cc}\p{Cf}\p{Z}\\:*?"<>|][^\p{Cc}\p{Cf}\p{Z}\\:*?"<>|]*$/u;
  const RESERVED = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)|^node_modules$|[-.]$/i;
  const isSafe = (segment: string): boolean =>
    SAFE.test(segment) &&
    !RESERVED.test(segment) &&
    segment.normalize('NFC') === segment &&
    Buffer.byteLength(segment) <= 100;

  test('any key gives a path that is safe everywhere', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (key) => {
        const segments = fileNameOf(key, 'prm_1').split('/');
        expect(segments.filter((segment) => !isSafe(segment))).toEqual([]);
      }),
    );
  });
});
