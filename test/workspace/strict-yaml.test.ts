import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../src/domain/json.ts';
import { parseStrictYaml } from '../../src/workspace/strict-yaml.ts';
import { keys, values } from './support.ts';

const parse = (text: string, firstLine = 1) => parseStrictYaml(text, 'x.yaml', { firstLine });
const summarizeProblems = (text: string, firstLine = 1) =>
  parse(text, firstLine).problems.map(({ code, line, column }) => `${code} ${line}:${column}`);

describe('parseStrictYaml on plain YAML', () => {
  const acceptedCases: readonly (readonly [string, string, JsonValue])[] = [
    ['the YAML parser reads an empty source as an empty mapping', '', {}],
    ['the YAML parser reads a source with only comments as an empty mapping', '# nothing\n\n', {}],
    [
      'the YAML parser reads block and flow mappings',
      'a: 1\nb: {c: [d, "e", \'f\']}\n',
      { a: 1, b: { c: ['d', 'e', 'f'] } },
    ],
    [
      'the YAML parser reads JSON',
      '{"a": [1, 2.5, true, null, "\\u00e9\\ud83d\\ude00"]}',
      { a: [1, 2.5, true, null, 'é😀'] },
    ],
    [
      'the YAML parser resolves scalars according to the core schema of YAML 1.2',
      'a: yes\nb: 0o17\nc: 017\nd: 1:30\ne: 2026-01-01\nf: 1_000\ng: 0x1F',
      { a: 'yes', b: 15, c: 17, d: '1:30', e: '2026-01-01', f: '1_000', g: 31 },
    ],
    ['the YAML parser reads a key without a value as null', '{a, b: }', { a: null, b: null }],
    ['the YAML parser reads explicit keys that start with a question mark', '? a\n: 1\n? b\n', { a: 1, b: null }],
    [
      'the YAML parser accepts integers from -2^53 to 2^53',
      '{a: 9007199254740992, b: -9007199254740992, c: 9007199254740991.0, d: 1e15, e: -0}',
      { a: 2 ** 53, b: -(2 ** 53), c: 2 ** 53 - 1, d: 1e15, e: 0 },
    ],
    ['the YAML parser reads a quoted << as an ordinary key', '{"<<": {b: 1}}', { '<<': { b: 1 } }],
    [
      'the YAML parser reads literal and folded block scalars',
      'a: |\n  x\n  y\nb: >-\n  x\n  y\n',
      { a: 'x\ny\n', b: 'x y' },
    ],
    ['the YAML parser reads a source with CRLF line endings', 'a: 1\r\nb:\r\n  - 2\r\n', { a: 1, b: [2] }],
    ['the YAML parser accepts a document start marker', '---\na: 1\n', { a: 1 }],
    ['the YAML parser accepts a document end marker', 'a: 1\n...\n# end\n', { a: 1 }],
    [
      'the YAML parser reads keys such as constructor and toString as ordinary keys',
      'constructor: 1\ntoString: 2\nhasOwnProperty: 3',
      { constructor: 1, toString: 2, hasOwnProperty: 3 },
    ],
    [
      'the YAML parser reads a mapping that contains 63 levels of nested lists',
      `a: ${'['.repeat(63)}${']'.repeat(63)}`,
      JSON.parse(`{"a": ${'['.repeat(63)}${']'.repeat(63)}}`),
    ],
  ];
  test.each(acceptedCases)('%s', (_, text, expected) => {
    const { mapping, problems } = parse(text);
    expect(problems).toEqual([]);
    expect(mapping?.value).toEqual(expected);
  });
});

describe('parseStrictYaml on YAML features that it rejects', () => {
  const repeatCode = (code: string, places: string) => places.split(' ').map((place) => `${code} ${place}`);
  const rejectedCases: readonly (readonly [string, string, readonly string[]])[] = [
    ['the YAML parser rejects a list at the top level', '- a\n', ['yaml/not-a-mapping 1:1']],
    ['the YAML parser rejects a string at the top level', 'a', ['yaml/not-a-mapping 1:1']],
    ['the YAML parser rejects null at the top level', '~', ['yaml/not-a-mapping 1:1']],
    [
      'the YAML parser reports duplicate keys at every nesting level',
      'a: 1\nb: {c: 1, c: 2}\n"a": 3\n',
      repeatCode('yaml/duplicate-key', '2:11 3:1'),
    ],
    [
      'the YAML parser reports every additional occurrence of a duplicate key',
      'a: 1\na: 1\na: 1',
      repeatCode('yaml/duplicate-key', '2:1 3:1'),
    ],
    ['the YAML parser rejects an anchor', 'a: &x 1', ['yaml/alias 1:7']],
    ['the YAML parser rejects an anchor on an empty value', 'a: &x', ['yaml/alias 1:6']],
    ['the YAML parser rejects an anchor on the whole document', '&x\na: 1', ['yaml/alias 2:1']],
    ['the YAML parser rejects an anchor on a key', '&x a: 1', ['yaml/alias 1:4']],
    ['the YAML parser rejects both an alias and its anchor', 'a: &x 1\nb: *x', ['yaml/alias 1:7', 'yaml/alias 2:4']],
    ['the YAML parser rejects an alias to an undefined anchor', 'a: [1, *y ]', ['yaml/alias 1:8']],
    ['the YAML parser rejects an alias used as a key', '{*x : 1}', ['yaml/alias 1:2']],
    [
      'the YAML parser rejects an alias that refers to the anchor on its own key',
      '&x a: *x',
      ['yaml/alias 1:7', 'yaml/alias 1:4'],
    ],
    ['the YAML parser rejects the merge key <<', 'b: {<<: {c: 1}}', ['yaml/forbidden-key 1:5']],
    [
      'the YAML parser rejects a merge key whose value is an alias',
      'a: &x {}\n<<: *x',
      [...repeatCode('yaml/alias', '1:7 2:5'), 'yaml/forbidden-key 2:1'],
    ],
    ['the YAML parser rejects a custom tag', 'a: !x 1', ['yaml/tag 1:7']],
    ['the YAML parser rejects a core schema tag', 'a: !!str 1', ['yaml/tag 1:10']],
    ['the YAML parser rejects a verbatim tag', 'a: !<tag:x> 1', ['yaml/tag 1:13']],
    ['the YAML parser rejects the non-specific tag !', 'a: ! 1', ['yaml/tag 1:6']],
    ['the YAML parser rejects a tag on a mapping', '!!map {a: 1}', ['yaml/tag 1:7']],
    ['the YAML parser rejects a tag on a key', '!!str a: 1', ['yaml/tag 1:7']],
    [
      'the YAML parser rejects tags outside the core schema',
      '{a: !!set {}, b: !!binary "aa==", c: !!timestamp 2026-01-01, d: !!omap []}',
      repeatCode('yaml/tag', '1:11 1:27 1:50 1:72'),
    ],
    ['the YAML parser rejects a JavaScript function tag', "a: !!js/function 'x'", ['yaml/tag 1:18']],
    [
      'the YAML parser rejects keys that are not strings',
      '{1: a, true: b, null: c, [d]: e, {f: g}: h, 1.5: i}',
      repeatCode('yaml/key-not-text', '1:2 1:8 1:17 1:26 1:34 1:45'),
    ],
    ['the YAML parser rejects an empty key', ': a', ['yaml/key-not-text 1:1']],
    ['the YAML parser rejects the key __proto__', 'a: 1\n__proto__: {b: 1}', ['yaml/forbidden-key 2:1']],
    [
      'the YAML parser rejects NaN and infinite numbers',
      '{a: .nan, b: .NaN, c: .inf, d: -.INF, e: 1e400}',
      repeatCode('yaml/number', '1:5 1:14 1:23 1:32 1:42'),
    ],
    [
      'the YAML parser rejects integers that might lose precision',
      '{a: 9007199254740993, b: -9007199254740993, c: 9007199254740992.0, d: 1e16, e: 0x20000000000001}',
      repeatCode('yaml/number', '1:5 1:26 1:48 1:71 1:80'),
    ],
    ['the YAML parser rejects lone surrogates', '{a: "\\ud800", "\\udc00": 1}', repeatCode('yaml/syntax', '1:5 1:15')],
    [
      'the YAML parser rejects escaped NUL characters',
      '{a: "x\\0", "\\x00": 1}',
      repeatCode('yaml/syntax', '1:5 1:12'),
    ],
    ['the YAML parser rejects a Unicode escape above U+10FFFF', 'a: "\\UFFFFFFFF"', ['yaml/syntax 1:5']],
    ['the YAML parser rejects a YAML directive', '%YAML 1.2\n---\na: 1', ['yaml/syntax 1:1']],
    ['the YAML parser rejects an unknown directive', '%X y\n---\na: 1', ['yaml/syntax 1:1']],
    ['the YAML parser rejects a second document', 'a: 1\n---\nb: 2', ['yaml/syntax 2:1']],
    ['the YAML parser rejects a second document after a document end marker', 'a: 1\n...\nb: 2', ['yaml/syntax 3:1']],
    ['the YAML parser rejects an empty second document', 'a: 1\n---\n', ['yaml/syntax 2:1']],
    [
      'the YAML parser rejects a mapping that contains 65 levels of nested lists',
      `a: ${'['.repeat(65)}${']'.repeat(65)}`,
      ['yaml/too-deep 1:68'],
    ],
    [
      'the YAML parser rejects thousands of levels of nesting',
      `a: ${'['.repeat(9000)}${']'.repeat(9000)}`,
      repeatCode('yaml/too-deep', '1:1'),
    ],
    ['the YAML parser rejects thousands of unclosed nested mappings', '{a: '.repeat(9000), ['yaml/too-deep 1:1']],
    ['the YAML parser rejects an unclosed quoted string', 'a: 1\nb: "c', ['yaml/syntax 2:4']],
    ['the YAML parser rejects tab indentation', 'a:\n\tb: 1', ['yaml/syntax 2:1']],
    ['the YAML parser rejects an unquoted value with a colon followed by a space', 'a: b: c', ['yaml/syntax 1:4']],
    ['the YAML parser rejects a value that starts with a reserved character', 'a: @b', ['yaml/syntax 1:4']],
  ];
  test.each(rejectedCases)('%s', (_, text, expected) => {
    expect(summarizeProblems(text)).toEqual(expected);
  });

  test('the YAML parser reports line numbers relative to the given first line number', () => {
    expect(summarizeProblems('a: 1\na: 2', 10)).toEqual(['yaml/duplicate-key 11:1']);
    expect(summarizeProblems('- a', 10)).toEqual(['yaml/not-a-mapping 10:1']);
  });

  test('the YAML parser returns valid values even if it rejects other values', () => {
    expect(parse('a: &x 1\nb: 2\nc: [*x , 3]\n__proto__: 4\n7: 5').mapping?.value).toEqual({
      a: null,
      b: 2,
      c: [null, 3],
    });
  });

  test('a YAML syntax error message never quotes the source, which may contain a secret', () => {
    const texts = ['a: |x secret\n', 'a: "secret', ']secret', '@secret', 'a: b\n secret: c\n', '\tsecret: 1\n- x'];
    for (const text of texts) {
      const [problem] = parse(text).problems;
      expect(problem?.code).toBe('yaml/syntax');
      expect(problem?.message).not.toContain('secret');
    }
  });

  test.each(['name: Hello: world', 'name: Hello:', 'a:\n  - b: c: d'])(
    'the YAML parser explains that a value with a colon needs quotes if the source is %j',
    (text) => {
      expect(parse(text).problems[0]?.message).toContain('a value that contains a colon needs quotes');
    },
  );

  test('the YAML parser reports fewer than 25 problems for thousands of syntax errors', () => {
    expect(summarizeProblems('"'.repeat(10_000)).length).toBeLessThan(25);
  });
});

describe('the places of a parsed mapping', () => {
  const mapping = parse('a: 1\nb:\n  c: [x, {d: 2}]\n  "10": 3\n  e:\n  "9": {}\nf: &z 1\n', 5).mapping;
  const at = (line: number, column: number) => ({ path: 'x.yaml', line, column });

  test.each([
    [['a'], at(5, 4), at(5, 1)],
    [['b'], at(7, 3), at(6, 1)],
    [['b', 'c'], at(7, 6), at(7, 3)],
    [['b', 'c', 0], at(7, 7), at(7, 7)],
    [['b', 'c', 1, 'd'], at(7, 14), at(7, 11)],
    [['b', 'e'], at(9, 5), at(9, 3)],
    [[], at(5, 1), at(5, 1)],
  ])('the YAML parser records the line and column of both the value and the key at the path %j', (path, value, key) => {
    expect(mapping?.placeOf(path)).toEqual(value);
    expect(mapping?.keyPlaceOf(path)).toEqual(key);
    expect(mapping?.valueAt(path)).toBeDefined();
  });

  test.each([
    [['x'], at(5, 1)],
    [['b', 'x'], at(7, 3)],
    [['b', 'c', 7], at(7, 6)],
    [['a', 'x', 'y'], at(5, 4)],
    [['b', 'c', '0'], at(7, 6)],
  ])('the YAML parser returns the position of the closest existing parent for the missing path %j', (path, place) => {
    expect(mapping?.placeOf(path)).toEqual(place);
    expect(mapping?.valueAt(path)).toBeUndefined();
  });

  test('the YAML parser lists keys, including numeric ones, in source order', () => {
    expect(mapping?.keysOf(['b'])).toEqual(['c', '10', 'e', '9']);
    expect(mapping?.keysOf(['x'])).toEqual([]);
    expect(mapping?.keysOf(['a'])).toEqual([]);
  });

  test('the YAML parser marks a value with an anchor as rejected', () => {
    expect(mapping?.isRefused(['f'])).toBe(true);
    expect(mapping?.isRefused(['a'])).toBe(false);
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
    ['the YAML parser explains why it rejects a directive', '%YAML 1.2\n---\na: 1', 'a line begins with %'],
    [
      'the YAML parser explains why it rejects a second document',
      'a: 1\n---\nb: 2',
      'it contains more than one document',
    ],
    [
      'the YAML parser names the invalid escape sequence in its error message',
      'a: "\\q"',
      'Invalid escape sequence \\q',
    ],
    [
      'the YAML parser explains that a list is not closed',
      'variables: [a, b\nkey: c',
      'a list that begins with [ does not end with ]',
    ],
    [
      'the YAML parser explains that a mapping is not closed',
      'metadata: {a: 1\nkey: c',
      'a mapping that begins with { does not end with }',
    ],
    [
      'the YAML parser explains that a line has no colon',
      'id: a\nname Support\nkey: b',
      'a line has no colon, or its indentation is wrong',
    ],
    [
      'the YAML parser explains a syntax error without quoting the secret in the source',
      'a: "b" sk-live-0123',
      'this value needs quotes',
    ],
  ])('%s', (_, text, reason) => {
    const [problem] = parse(text).problems;
    expect(problem?.message).toBe(`promptsync could not parse the YAML: ${reason}.`);
    expect(problem?.hint).not.toContain('sk-live');
  });

  test.each([10, 200, 20_000])(
    'the YAML parser says that a value with a colon needs quotes, even if the value has %d characters',
    (length) => {
      const [problem] = parse(`id: a\ndescription: Answers ${'x'.repeat(length)}. Example: when?\n`).problems;
      expect(problem).toMatchObject({
        message: 'promptsync could not parse the YAML: a value that contains a colon needs quotes.',
        hint: 'Write the line as `description: "…"`.',
      });
    },
  );

  test.each([
    ['a full-width colon in every line', 'id：a\nkey：b\n', ['1:3', '2:4'], 'U+FF1A (full-width colon)'],
    ['a full-width colon in the last line', 'id: a\nkey：b\n', ['2:4'], 'U+FF1A (full-width colon)'],
    ['a no-break space after a colon', 'id: a\nkey:\u00a0b\nname: c\n', ['2:5'], 'U+00A0 (no-break space)'],
    ['an ideographic space after a colon', 'id:\u3000a\nkey: b\n', ['1:4'], 'U+3000 (ideographic space)'],
    ['a no-break space after a colon inside braces', 'a: {b:\u00a0{c: d}}\n', ['1:7'], 'U+00A0 (no-break space)'],
    ['a no-break space after a quoted name', 'a: {"b:c":\u00a0{c: d}}\n', ['1:11'], 'U+00A0 (no-break space)'],
    ['a full-width colon inside braces', 'a: {b：\u3000{c: d}}\n', ['1:6'], 'U+FF1A (full-width colon)'],
    ['lone carriage returns', 'id: a\rkey: b\rname: c\r', ['1:6'], 'U+000D (carriage return)'],
  ])('the YAML parser names the wrong character if the YAML contains %s', (_, text, places, name) => {
    expect(summarizeProblems(text)).toEqual(places.map((place) => `yaml/look-alike ${place}`));
    for (const { message } of parse(text).problems) expect(message).toContain(name);
  });

  test('the YAML parser asks for quotes around a value that contains a no-break space before a colon', () => {
    const [problem] = parse('a: Note\u00a0: b\n').problems;
    expect(problem?.hint).toBe('Write the line as `a: "…"`.');
  });

  test('the YAML parser accepts full-width colons and no-break spaces in valid values', () => {
    const text = 'a: 注意：\u00a0x\nb: |\n  key：value\n  key:\u00a0value\n';
    expect(summarizeProblems(text)).toEqual([]);
  });

  test('the YAML parser reports at most one problem for each line', () => {
    expect(summarizeProblems('id: a\n key: b\nname: c: d')).toEqual(['yaml/syntax 1:5', 'yaml/syntax 3:7']);
  });
});
