import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../src/domain/json.ts';
import { parseStrictYaml } from '../../src/files/strict-yaml.ts';
import { keys, values } from './support.ts';

const parse = (text: string, firstLine = 1) => parseStrictYaml(text, 'x.yaml', firstLine);
const tell = (text: string, firstLine = 1) =>
  parse(text, firstLine).problems.map(({ code, line, column }) => `${code} ${line}:${column}`);

describe('what is plain', () => {
  const plain: readonly (readonly [string, string, JsonValue])[] = [
    ['nothing', '', {}],
    ['a comment', '# nothing\n\n', {}],
    ['a mapping', 'a: 1\nb: {c: [d, "e", \'f\']}\n', { a: 1, b: { c: ['d', 'e', 'f'] } }],
    ['JSON', '{"a": [1, 2.5, true, null, "\\u00e9\\ud83d\\ude00"]}', { a: [1, 2.5, true, null, 'é😀'] }],
    [
      'core schema 1.2 and nothing of 1.1',
      'a: yes\nb: 0o17\nc: 017\nd: 1:30\ne: 2026-01-01\nf: 1_000\ng: 0x1F',
      { a: 'yes', b: 15, c: 17, d: '1:30', e: '2026-01-01', f: '1_000', g: 31 },
    ],
    ['keys without values', '{a, b: }', { a: null, b: null }],
    ['an explicit key', '? a\n: 1\n? b\n', { a: 1, b: null }],
    [
      'numbers to the limit',
      '{a: 9007199254740992, b: -9007199254740992, c: 9007199254740991.0, d: 1e15, e: -0}',
      { a: 2 ** 53, b: -(2 ** 53), c: 2 ** 53 - 1, d: 1e15, e: 0 },
    ],
    ['a key that merges only where it is plain', '{"<<": {b: 1}}', { '<<': { b: 1 } }],
    ['block texts', 'a: |\n  x\n  y\nb: >-\n  x\n  y\n', { a: 'x\ny\n', b: 'x y' }],
    ['CRLF', 'a: 1\r\nb:\r\n  - 2\r\n', { a: 1, b: [2] }],
    ['the beginning of a document', '---\na: 1\n', { a: 1 }],
    ['the end of a document', 'a: 1\n...\n# end\n', { a: 1 }],
    [
      'keys that objects have anyway',
      'constructor: 1\ntoString: 2\nhasOwnProperty: 3',
      { constructor: 1, toString: 2, hasOwnProperty: 3 },
    ],
    ['64 levels', `a: ${'['.repeat(63)}${']'.repeat(63)}`, JSON.parse(`{"a": ${'['.repeat(63)}${']'.repeat(63)}}`)],
  ];
  test.each(plain)('%s is read', (_, text, expected) => {
    const { mapping, problems } = parse(text);
    expect(problems).toEqual([]);
    expect(mapping?.value).toEqual(expected);
  });
});

describe('what is not plain', () => {
  const all = (code: string, places: string) => places.split(' ').map((place) => `${code} ${place}`);
  const wrong: readonly (readonly [string, string, readonly string[]])[] = [
    ['a list', '- a\n', ['yaml/not-a-mapping 1:1']],
    ['a text', 'a', ['yaml/not-a-mapping 1:1']],
    ['null', '~', ['yaml/not-a-mapping 1:1']],
    ['a key twice', 'a: 1\nb: {c: 1, c: 2}\n"a": 3\n', ['yaml/duplicate-key 2:11', 'yaml/duplicate-key 3:1']],
    ['a key three times', 'a: 1\na: 1\na: 1', ['yaml/duplicate-key 2:1', 'yaml/duplicate-key 3:1']],
    ['an anchor', 'a: &x 1', ['yaml/alias 1:7']],
    ['an anchor of nothing', 'a: &x', ['yaml/alias 1:6']],
    ['an anchor of the whole', '&x\na: 1', ['yaml/alias 2:1']],
    ['an anchor of a key', '&x a: 1', ['yaml/alias 1:4']],
    ['an alias', 'a: &x 1\nb: *x', ['yaml/alias 1:7', 'yaml/alias 2:4']],
    ['an alias of nothing', 'a: [1, *y ]', ['yaml/alias 1:8']],
    ['an alias as a key', '{*x : 1}', ['yaml/alias 1:2']],
    ['an alias of what it is in', '&x a: *x', ['yaml/alias 1:7', 'yaml/alias 1:4']],
    ['a merge key', 'b: {<<: {c: 1}}', ['yaml/forbidden-key 1:5']],
    ['a merge key with an alias', 'a: &x {}\n<<: *x', ['yaml/alias 1:7', 'yaml/alias 2:5', 'yaml/forbidden-key 2:1']],
    ['a tag', 'a: !x 1', ['yaml/tag 1:7']],
    ['a tag of the core schema', 'a: !!str 1', ['yaml/tag 1:10']],
    ['a verbatim tag', 'a: !<tag:x> 1', ['yaml/tag 1:13']],
    ['the tag !', 'a: ! 1', ['yaml/tag 1:6']],
    ['a tag of a mapping', '!!map {a: 1}', ['yaml/tag 1:7']],
    ['a tag of a key', '!!str a: 1', ['yaml/tag 1:7']],
    [
      'tags of other schemas',
      '{a: !!set {}, b: !!binary "aa==", c: !!timestamp 2026-01-01, d: !!omap []}',
      all('yaml/tag', '1:11 1:27 1:50 1:72'),
    ],
    ['a tag that calls a function', "a: !!js/function 'x'", ['yaml/tag 1:18']],
    [
      'keys that are no text',
      '{1: a, true: b, null: c, [d]: e, {f: g}: h, 1.5: i}',
      all('yaml/key-not-text', '1:2 1:8 1:17 1:26 1:34 1:45'),
    ],
    ['an empty key', ': a', ['yaml/key-not-text 1:1']],
    ['the key __proto__', 'a: 1\n__proto__: {b: 1}', ['yaml/forbidden-key 2:1']],
    ['not a number', '{a: .nan, b: .NaN, c: .inf, d: -.INF, e: 1e400}', all('yaml/number', '1:5 1:14 1:23 1:32 1:42')],
    [
      'numbers beyond the limit',
      '{a: 9007199254740993, b: -9007199254740993, c: 9007199254740992.0, d: 1e16, e: 0x20000000000001}',
      all('yaml/number', '1:5 1:26 1:48 1:71 1:80'),
    ],
    ['half of a character', '{a: "\\ud800", "\\udc00": 1}', ['yaml/syntax 1:5', 'yaml/syntax 1:15']],
    ['NUL', '{a: "x\\0", "\\x00": 1}', ['yaml/syntax 1:5', 'yaml/syntax 1:12']],
    ['a code point that there is not', 'a: "\\UFFFFFFFF"', ['yaml/syntax 1:5']],
    ['a directive', '%YAML 1.2\n---\na: 1', ['yaml/syntax 1:1']],
    ['an unknown directive', '%X y\n---\na: 1', ['yaml/syntax 1:1']],
    ['two documents', 'a: 1\n---\nb: 2', ['yaml/syntax 2:1']],
    ['two documents with an end between', 'a: 1\n...\nb: 2', ['yaml/syntax 3:1']],
    ['a second document that is empty', 'a: 1\n---\n', ['yaml/syntax 2:1']],
    ['65 levels', `a: ${'['.repeat(65)}${']'.repeat(65)}`, ['yaml/too-deep 1:68']],
    ['thousands of levels', `a: ${'['.repeat(9000)}${']'.repeat(9000)}`, ['yaml/too-deep 1:1']],
    ['thousands of levels that are not closed', '{a: '.repeat(9000), ['yaml/too-deep 1:1']],
    ['an open quote', 'a: 1\nb: "c', ['yaml/syntax 2:6']],
    ['an indentation by a tab', 'a:\n\tb: 1', ['yaml/syntax 2:1']],
    ['a colon in a text', 'a: b: c', ['yaml/syntax 1:4']],
    ['a reserved character', 'a: @b', ['yaml/syntax 1:4']],
  ];
  test.each(wrong)('%s is an error', (_, text, expected) => {
    expect(tell(text)).toEqual(expected);
  });

  test('line numbers count from the first line given', () => {
    expect(tell('a: 1\na: 2', 10)).toEqual(['yaml/duplicate-key 11:1']);
    expect(tell('- a', 10)).toEqual(['yaml/not-a-mapping 10:1']);
  });

  test('what can be read beside it is still read', () => {
    expect(parse('a: &x 1\nb: 2\nc: [*x , 3]\n__proto__: 4\n7: 5').mapping?.value).toEqual({
      a: null,
      b: 2,
      c: [null, 3],
    });
  });

  test('a syntax error says what is wrong, and not what stands there', () => {
    const texts = ['a: |x secret\n', 'a: "secret', ']secret', '@secret', 'a: b\n secret: c\n', '\tsecret: 1\n- x'];
    for (const text of texts) {
      const [problem] = parse(text).problems;
      expect(problem?.code).toBe('yaml/syntax');
      expect(problem?.message).not.toContain('secret');
    }
  });

  test.each(['name: Hello: world', 'name: Hello:', 'a:\n  - b: c: d'])('%j says to put it in quotes', (text) => {
    expect(parse(text).problems[0]?.message).toContain('a value with a colon in it needs quotes around it');
  });

  test('of thousands of syntax errors the first are told', () => {
    expect(tell('"'.repeat(10_000)).length).toBeLessThan(25);
  });
});

describe('places', () => {
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
  ])('%j has its own, and so has its key', (path, value, key) => {
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
  ])('%j is not there and is placed at what is around it', (path, place) => {
    expect(mapping?.placeOf(path)).toEqual(place);
    expect(mapping?.valueAt(path)).toBeUndefined();
  });

  test('keys are listed as they are written, those that look like numbers as well', () => {
    expect(mapping?.keysOf(['b'])).toEqual(['c', '10', 'e', '9']);
    expect(mapping?.keysOf(['x'])).toEqual([]);
    expect(mapping?.keysOf(['a'])).toEqual([]);
  });

  test('what has a problem is known', () => {
    expect(mapping?.isRefused(['f'])).toBe(true);
    expect(mapping?.isRefused(['a'])).toBe(false);
  });
});

test('every JSON mapping without __proto__ is read as JSON.parse reads it', () => {
  fc.assert(
    fc.property(fc.dictionary(keys, values, { maxKeys: 4 }), fc.constantFrom(0, 2), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      const { mapping, problems } = parse(text);
      expect(problems).toEqual([]);
      expect(mapping?.value).toEqual(JSON.parse(text));
    }),
  );
});

describe('what is wrong is said in one short clause', () => {
  test.each([
    ['of a directive', '%YAML 1.2\n---\na: 1', 'a line begins with %'],
    ['of two documents', 'a: 1\n---\nb: 2', 'it holds more than one document'],
    ['of any other error', 'a: "\\q"', 'Invalid escape sequence \\q'],
    ['without the source, which may be a secret', 'a: "b" sk-live-0123', 'Unexpected scalar at node end'],
  ])('%s', (_, text, reason) => {
    const [problem] = parse(text).problems;
    expect(problem?.message).toBe(`The YAML cannot be read: ${reason}.`);
  });
});
