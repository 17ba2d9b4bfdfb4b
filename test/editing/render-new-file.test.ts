import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isPathSegment } from '../../src/text.ts';
import { normalizeText, type FileContent } from '../../src/domain/content.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import { LENIENT_SETTINGS } from '../../src/workspace/parse-prompt-file.ts';
import { makeFilePath, renderNewFile, type NewFile } from '../../src/editing/render-new-file.ts';
import { fourCallFileRules } from '../../src/providers/four-call/file-rules.ts';
import { parseValidFile, keys, PATH, values, words } from '../workspace/support.ts';

const SETTINGS = { ...LENIENT_SETTINGS, rules: fourCallFileRules };

const NEW_FILE: NewFile = {
  path: PATH,
  ...{ id: 'prm_1', key: 'support/greeting', name: 'Greeting', description: '' },
  content: { type: 'text', text: 'Hello.', metadata: {} },
  pins: [{ environment: 'staging', value: 'latest', comment: '' }],
};

type Parts = Partial<Omit<NewFile, 'content'> & FileContent>;

/** Writes `NEW_FILE` with these parts in place of its own. The text is as a service returns it. */
function writeWith({ type = 'text', text = 'Hello.', metadata, ...parts }: Parts) {
  return renderNewFile({ ...NEW_FILE, ...parts, content: { type, text: normalizeText(text), metadata } }, SETTINGS);
}

describe('renderNewFile', () => {
  test('renderNewFile omits empty fields, but writes `pins: {}` if the configuration has default pins', () => {
    const defaultPins = [{ environment: 'staging', pin: { kind: 'latest' }, line: 1, column: 1 }] as const;
    const newFile = { ...NEW_FILE, pins: [] };
    expect(renderNewFile(newFile, SETTINGS).source).not.toMatch(/description|pins|metadata/);
    expect(renderNewFile(newFile, { ...SETTINGS, defaultPins }).source).toContain('pins: {}');
  });

  test('promptsync writes a new prompt file in readable YAML block style', () => {
    const description = 'First message.\nIn two lines.';
    const limits = { tokens: 100 };
    const metadata = { model: 'gpt-5', temperature: 0.2, tags: ['a', 'b'], limits, empty: {}, none: null };
    const pins = [...NEW_FILE.pins, { environment: 'production', value: 'version:ver_7', comment: '7' }];
    const { source, problems } = writeWith({ description, metadata, pins });
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

  test('a new prompt file lists pins in the given order even if environment names are numeric', () => {
    const pins = ['z', '10', '9'].map((environment, index) => ({ environment, value: index + 1, comment: '' }));
    expect(writeWith({ pins }).source).toContain('pins:\n  z: 1\n  "10": 2\n  "9": 3\n');
  });

  test.each<[string, Parts, string, readonly string[]]>([
    [
      'a new prompt file lists prompt/conflict-markers as accepted if its text has conflict markers',
      { text: 'a\n<<<<<<< SEARCH\nb' },
      '\naccept_warnings: [prompt/conflict-markers]\n---\n\na\n<<<<<<< SEARCH\nb\n',
      ['prompt/conflict-markers warning'],
    ],
    [
      'a new prompt file quotes metadata that YAML 1.1 reads as a Boolean or a number',
      { metadata: { a: 'on', b: '0755', c: 755 } },
      'metadata:\n  a: "on"\n  b: "0755"\n  c: 755\n',
      [],
    ],
  ])('%s', (_, parts, part, expected) => {
    const { source, problems } = writeWith(parts);
    expect(source).toContain(part);
    expect(problems.map(({ code, severity }) => `${code} ${severity}`)).toEqual(expected);
  });

  const nested = (depth: number): JsonObject => (depth === 0 ? {} : { a: nested(depth - 1) });

  test.each<[string, Parts, string]>([
    ['promptsync refuses to write a new prompt file with an empty text', { text: ' \n' }, 'It has no text.'],
    [
      'promptsync refuses to write a new prompt file with a NUL character in the text',
      { text: 'a\0b' },
      'NUL character',
    ],
    [
      'promptsync refuses to write a new prompt file with a lone surrogate',
      { text: 'a\nb\ud800c' },
      'Line 2 of its text contains a lone surrogate',
    ],
    [
      'promptsync refuses to write a new prompt file with an extra carriage return',
      { text: 'a\r\nb\r\r\nc' },
      'Line 2 of its text ends with a lone carriage return',
    ],
    [
      'promptsync refuses to write a new prompt file with control characters in the key',
      { key: 'a\u001b[2J' },
      '`key` is invalid: it contains control characters',
    ],
    [
      'promptsync refuses to write a new prompt file with metadata nested thousands of levels deep',
      { metadata: nested(5_000) },
      'nested too deeply',
    ],
    [
      'promptsync refuses to write a new prompt file with more than 16 MiB of text',
      { text: 'x'.repeat(17 * 1024 * 1024) },
      'the limit is 16,777,216',
    ],
  ])('%s', (_, part, said) => {
    const { source, problems } = writeWith(part);
    expect(source).toBeNull();
    expect(problems).toMatchObject([{ code: 'import/not-writable' }]);
    expect(problems[0]?.message).toContain(said);
  });

  const anyLine = keys.filter((anyText) => anyText !== '' && !/\p{Cc}/u.test(anyText));
  const anyText = words.filter((one) => !/\r|<{7}/.test(one));
  const anyNewFile = fc.record({
    id: anyLine.filter(isPathSegment),
    key: anyLine,
    name: anyLine,
    description: anyText,
    text: fc.tuple(anyText, fc.constantFrom('a', '---', '- a'), anyText).map((parts) => parts.join('')),
    metadata: fc.dictionary(keys, values, { maxKeys: 4 }),
    pins: fc.uniqueArray(
      fc.record({
        environment: anyLine,
        value: fc.oneof(fc.constantFrom('latest', 'version:a #b', 'version:1: 2'), fc.integer({ min: 1 })),
        comment: fc.constantFrom('', '7'),
      }),
      { selector: ({ environment }) => environment, maxLength: 3 },
    ),
  });

  test('promptsync reads back the same fields, text and metadata from any new prompt file that it writes', () => {
    fc.assert(
      fc.property(anyNewFile, (parts) => {
        const { source, problems } = writeWith(parts);
        expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
        const { description = '', content, pins, ...file } = parseValidFile(source ?? '');
        const { id, key, name, description: written, text } = parts;
        const expected = { id, key, name, description: written, text: normalizeText(text) };
        expect({ ...file, description, text: content.text }).toMatchObject(expected);
        expect(content.metadata ?? {}).toEqual(parts.metadata);
        expect(pins).toHaveLength(parts.pins.length);
      }),
    );
  });
});

describe('makeFilePath', () => {
  test.each([
    ['Größe/日本語/हिन्दी_2.0.md', 'Größe/日本語/हिन्दी_2.0'],
    ['\u00e9.md', 'e\u0301'],
    ['first-message-hello.md', 'first  message: hello!'],
    ['a.b.md', 'a..b'],
    ['etc/passwd.md', '../../etc//passwd/'],
    ['C-windows-system32.md', 'C:\\windows\\system32'],
    ['rf.md', '-rf'],
    ['hidden/env.md', '.hidden/.env'],
    ['_Node_Modules.md', 'Node_Modules'],
    ['_AUX.txt/_lpt1.md', 'AUX.txt/lpt1'],
    ['_com¹.md', 'com¹'],
    ['console.md', 'console'],
    ['a-b-c-d.md', 'a\u200bb\u202ec\u0000d'],
    ['a-b.md', 'a\ud800b'],
    [`${'x'.repeat(97)}.md`, 'x'.repeat(97)],
    [`${'ä'.repeat(48)}/x.md`, `${'ä'.repeat(48)}/x`],
  ])('promptsync proposes the file path %j for the prompt key %j', (path, key) => {
    expect(makeFilePath(key, 'prm_1')).toBe(path);
  });

  test.each([
    ['prm_1.md', 'prm_1', ''],
    ['prm_1.md', 'prm_1', '\u3164/!?'],
    ['prm_1.md', 'prm_1', 'a/'.repeat(300)],
    ['prm_1.md', 'prm_1', 'x'.repeat(98)],
    ['prm_1.md', 'prm_1', `${'ä'.repeat(49)}/x`],
    ['a-b.md', 'a/b', '!'],
    ['prompt.md', '..', '!'],
  ])('promptsync proposes the file path %j for a prompt with the id %j and the key %j', (path, id, key) => {
    expect(makeFilePath(key, id)).toBe(path);
  });

  const SAFE = /^[^-.\p{Cc}\p{Cf}\p{Z}\\:*?"<>|][^\p{Cc}\p{Cf}\p{Z}\\:*?"<>|]*$/u;
  const RESERVED = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)|^node_modules$|[-.]$/i;
  const isSafe = (segment: string): boolean =>
    SAFE.test(segment) &&
    !RESERVED.test(segment) &&
    segment.normalize('NFC') === segment &&
    Buffer.byteLength(segment) <= 100;

  test('any prompt key yields a file path that is safe on every operating system', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (key) => {
        const segments = makeFilePath(key, 'prm_1').split('/');
        expect(segments.filter((segment) => !isSafe(segment))).toEqual([]);
      }),
    );
  });
});
