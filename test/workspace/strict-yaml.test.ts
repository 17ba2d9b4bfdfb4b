import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../src/domain/json.ts';
import type { Place } from '../../src/problem.ts';
import { parseStrictYaml } from '../../src/workspace/strict-yaml.ts';
import { keys, values } from './support.ts';

const parse = (text: string, firstLine = 1) => parseStrictYaml(text, 'x.yaml', { firstLine });
const summarizeProblems = (text: string) =>
  parse(text).problems.map(({ code, line, column }) => `${code} ${line}:${column}`);

describe('parseStrictYaml on plain YAML', () => {
  const nested = `{"a": ${'['.repeat(63)}${']'.repeat(63)}}`;
  test.each<[string, string, JsonValue]>([
    ['the YAML parser reads a source with only comments', '# nothing\n\n', {}],
    [
      'the YAML parser reads block and flow mappings',
      'a: 1\nb: {c: [d, "e", \'f\']}\n',
      { a: 1, b: { c: ['d', 'e', 'f'] } },
    ],
    [
      'the YAML parser reads scalars by the core schema of YAML 1.2',
      'a: yes\nb: 0o17\nc: 017\nd: 1:30\ne: 2026-01-01\nf: 1_000\ng: 0x1F',
      { a: 'yes', b: 15, c: 17, d: '1:30', e: '2026-01-01', f: '1_000', g: 31 },
    ],
    ['the YAML parser reads keys without a value', '{a, b: }', { a: null, b: null }],
    [
      'the YAML parser reads integers from -2^53 to 2^53',
      '{a: 9007199254740992, b: -9007199254740992, c: 9007199254740991.0, d: 1e15, e: -0}',
      { a: 2 ** 53, b: -(2 ** 53), c: 2 ** 53 - 1, d: 1e15, e: 0 },
    ],
    ['the YAML parser reads a quoted << as an ordinary key', '{"<<": {b: 1}}', { '<<': { b: 1 } }],
    ['the YAML parser reads markers of the start and the end of the document', '---\na: 1\n...\n# end\n', { a: 1 }],
    [
      'the YAML parser reads keys such as constructor and toString',
      'constructor: 1\ntoString: 2',
      { constructor: 1, toString: 2 },
    ],
    ['the YAML parser reads 63 levels of nested lists in a mapping', nested, JSON.parse(nested)],
  ])('%s', (_, text, expected) => {
    const { mapping, problems } = parse(text);
    expect(problems).toEqual([]);
    expect(mapping?.value).toEqual(expected);
  });
});

describe('parseStrictYaml on YAML features that it rejects', () => {
  test.each<[string, string, code: string, places: string]>([
    ['the YAML parser rejects a list at the top level', '- a\n', 'not-a-mapping', '1:1'],
    ['the YAML parser rejects null at the top level', '~', 'not-a-mapping', '1:1'],
    [
      'the YAML parser rejects duplicate keys at every nesting level',
      'a: 1\nb: {c: 1, c: 2}\n"a": 3\na: 4\n',
      'duplicate-key',
      '2:11 3:1 4:1',
    ],
    ['the YAML parser rejects an anchor on the whole document', '&x\na: 1', 'alias', '2:1'],
    ['the YAML parser rejects an anchor on a key', '&x a: 1', 'alias', '1:4'],
    ['the YAML parser rejects both an alias and its anchor', 'a: &x 1\nb: *x', 'alias', '1:7 2:4'],
    ['the YAML parser rejects an alias to an undefined anchor', 'a: [1, *y ]', 'alias', '1:8'],
    ['the YAML parser rejects an alias used as a key', '{*x : 1}', 'alias', '1:2'],
    ['the YAML parser rejects the merge key <<', 'b: {<<: {c: 1}}', 'forbidden-key', '1:5'],
    ['the YAML parser rejects a core schema tag', 'a: !!str 1', 'tag', '1:10'],
    ['the YAML parser rejects the non-specific tag !', 'a: ! 1', 'tag', '1:6'],
    ['the YAML parser rejects a tag on a key', '!!str a: 1', 'tag', '1:7'],
    [
      'the YAML parser rejects tags outside the core schema',
      '{a: !!set {}, c: !!timestamp 2026-01-01}',
      'tag',
      '1:11 1:30',
    ],
    [
      'the YAML parser rejects keys that are not strings',
      '{1: a, true: b, null: c, [d]: e, {f: g}: h, 1.5: i}',
      'key-not-text',
      '1:2 1:8 1:17 1:26 1:34 1:45',
    ],
    ['the YAML parser rejects an empty key', ': a', 'key-not-text', '1:1'],
    ['the YAML parser rejects a number that JavaScript would round as a key', '1e999: a', 'key-not-text', '1:1'],
    ['the YAML parser rejects the key __proto__', 'a: 1\n__proto__: {b: 1}', 'forbidden-key', '2:1'],
    [
      'the YAML parser rejects NaN and infinite numbers',
      '{a: .nan, c: .inf, d: -.INF, e: 1e400}',
      'number',
      '1:5 1:14 1:23 1:33',
    ],
    [
      'the YAML parser rejects integers that might lose precision',
      '{a: 9007199254740993, b: -9007199254740993, c: 9007199254740992.0, d: 1e16, e: 0x20000000000001}',
      'number',
      '1:5 1:26 1:48 1:71 1:80',
    ],
    ['the YAML parser rejects lone surrogates', '{a: "\\ud800", "\\udc00": 1}', 'syntax', '1:5 1:15'],
    ['the YAML parser rejects escaped NUL characters', '{a: "x\\0", "\\x00": 1}', 'syntax', '1:5 1:12'],
    ['the YAML parser rejects a Unicode escape above U+10FFFF', 'a: "\\UFFFFFFFF"', 'syntax', '1:5'],
    ['the YAML parser rejects an empty second document', 'a: 1\n---\n', 'syntax', '2:1'],
    ['the YAML parser rejects 65 levels of nested lists', `a: ${'['.repeat(65)}${']'.repeat(65)}`, 'too-deep', '1:68'],
    [
      'the YAML parser rejects thousands of levels of nesting',
      `a: ${'['.repeat(9000)}${']'.repeat(9000)}`,
      'too-deep',
      '1:1',
    ],
    ['the YAML parser rejects an unclosed quoted string', 'a: 1\nb: "c', 'syntax', '2:4'],
    ['the YAML parser rejects tab indentation', 'a:\n\tb: 1', 'syntax', '2:1'],
  ])('%s', (_, text, code, places) => {
    expect(summarizeProblems(text)).toEqual(places.split(' ').map((place) => `yaml/${code} ${place}`));
  });

  test('the YAML parser returns valid values even if it rejects other values', () => {
    const { mapping } = parse('a: &x 1\nb: 2\nc: [*x , 3]\n__proto__: 4\n7: 5');
    expect(mapping?.value).toEqual({ a: null, b: 2, c: [null, 3] });
    expect([mapping?.isRefused(['a']), mapping?.isRefused(['b'])]).toEqual([true, false]);
  });

  test('a YAML syntax error message never quotes the source, which may contain a secret', () => {
    const texts = ['a: |x secret\n', 'a: "secret', ']secret', '@secret', 'a: b\n secret: c\n', '\tsecret: 1\n- x'];
    for (const text of texts) {
      const [problem] = parse(text).problems;
      expect(problem?.code).toBe('yaml/syntax');
      expect(problem?.message).not.toContain('secret');
    }
  });

  test('the YAML parser reports at most 20 syntax errors', () => {
    expect(summarizeProblems('a: b: c\n'.repeat(100))).toHaveLength(20);
  });
});

describe('the places of a parsed mapping', () => {
  const mapping = parse('a: 1\nb:\n  c: [x, {d: 2}]\n  "10": 3\n  e:\n  "9": {}\n', 5).mapping;
  const show = (place?: Place) => `${place?.line}:${place?.column}`;

  test.each([
    [['a'], '5:4', '5:1'],
    [['b', 'c', 1, 'd'], '7:14', '7:11'],
    [['b', 'e'], '9:5', '9:3'],
    [[], '5:1', '5:1'],
  ])('the YAML parser records the line and column of both the value and the key at the path %j', (path, value, key) => {
    expect([show(mapping?.placeOf(path)), show(mapping?.keyPlaceOf(path))]).toEqual([value, key]);
    expect(mapping?.valueAt(path)).toBeDefined();
  });

  test.each([
    [['x'], '5:1'],
    [['b', 'c', 7], '7:6'],
    [['a', 'x', 'y'], '5:4'],
  ])('the YAML parser returns the position of the closest existing parent for the missing path %j', (path, place) => {
    expect([show(mapping?.placeOf(path)), mapping?.valueAt(path)]).toEqual([place, undefined]);
  });

  test('the YAML parser lists keys, including numeric ones, in source order', () => {
    expect([['b'], ['x'], ['a']].map((path) => mapping?.keysOf(path))).toEqual([['c', '10', 'e', '9'], [], []]);
  });
});

test('the YAML parser returns the same value as JSON.parse for any JSON object without a __proto__ key', () => {
  fc.assert(
    fc.property(fc.dictionary(keys, values, { maxKeys: 4 }), fc.constantFrom(0, 2), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      const { mapping, problems } = parse(text);
      expect(problems).toEqual([]);
      expect(mapping?.value).toEqual(JSON.parse(text));
    }),
  );
});

describe('the messages of YAML syntax errors', () => {
  test.each([
    ['the YAML parser explains a directive', '%YAML 1.2\n---\na: 1', 'a line begins with %'],
    ['the YAML parser explains a second document', 'a: 1\n---\nb: 2', 'it contains more than one document'],
    ['the YAML parser explains an invalid escape sequence', 'a: "\\q"', 'Invalid escape sequence \\q'],
    [
      'the YAML parser explains a list that is not closed',
      'variables: [a, b\nkey: c',
      'a list that begins with [ does not end with ]',
    ],
    [
      'the YAML parser explains a mapping that is not closed',
      'metadata: {a: 1\nkey: c',
      'a mapping that begins with { does not end with }',
    ],
    [
      'the YAML parser explains a line without a colon',
      'id: a\nname Support\nkey: b',
      'a line has no colon, or its indentation is wrong',
    ],
    ['the YAML parser explains a secret after a quoted value', 'a: "b" sk-live-0123', 'this value needs quotes'],
    [
      'the YAML parser explains a value that ends with a colon',
      'name: Hello:',
      'a value that contains a colon needs quotes',
    ],
  ])('%s', (_, text, reason) => {
    const [problem] = parse(text).problems;
    expect(problem?.message).toBe(`promptsync could not parse the YAML: ${reason}.`);
    expect(problem?.hint).not.toContain('sk-live');
  });

  test('the hint for a value with a colon shows the line with quotes, without the value and however long that is', () => {
    for (const value of [`Answers ${'x'.repeat(20_000)}. Example: when?`, 'Note\u00a0: b']) {
      const { problems } = parse(`id: a\ndescription: ${value}\n`);
      expect(problems).toMatchObject([{ code: 'yaml/syntax', hint: 'Write the line as `description: "…"`.' }]);
    }
  });

  test.each([
    ['the YAML parser reports a full-width colon in every line', 'id：a\nkey：b\n', '1:3 2:4'],
    ['the YAML parser reports a full-width colon in the last line', 'id: a\nkey：b\n', '2:4'],
    ['the YAML parser reports a full-width colon inside braces', 'a: {b：\u3000{c: d}}\n', '1:6'],
    ['the YAML parser reports a no-break space after a colon', 'id: a\nkey:\u00a0b\nname: c\n', '2:5'],
    ['the YAML parser reports a no-break space after a colon inside braces', 'a: {b:\u00a0{c: d}}\n', '1:7'],
    ['the YAML parser reports a no-break space after a quoted name', 'a: {"b:c":\u00a0{c: d}}\n', '1:11'],
    ['the YAML parser reports carriage returns that are the only line breaks', 'id: a\rkey: b\r', '1:6'],
  ])('%s', (_, text, places) => {
    expect(summarizeProblems(text)).toEqual(places.split(' ').map((place) => `yaml/look-alike ${place}`));
  });

  test.each([
    ['id：a\n', 'U+FF1A (full-width colon)'],
    ['id: a\nkey:\u00a0b\n', 'U+00A0 (no-break space)'],
    ['id: a\rkey: b\r', 'U+000D (carriage return)'],
  ])('in the text %j, the YAML parser names the wrong character as %s', (text, name) => {
    expect(parse(text).problems[0]?.message).toContain(name);
  });

  test('the YAML parser accepts full-width colons and no-break spaces in valid values', () => {
    const text = 'a: 注意：\u00a0x\nb: |\n  key：value\n  key:\u00a0value\n';
    expect(summarizeProblems(text)).toEqual([]);
  });

  test('the YAML parser reports at most one problem for each line', () => {
    expect(summarizeProblems('id: a\n key: b\nname: c: d')).toEqual(['yaml/syntax 1:5', 'yaml/syntax 3:7']);
  });
});
