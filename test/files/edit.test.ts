import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../src/domain/json.ts';
import { editPromptFile, type FrontMatterEdit, type PromptEdits } from '../../src/files/edit.ts';
import { BASIC, fileOf, PATH, sourceOf } from './support.ts';

const set = (path: string, value: JsonValue): FrontMatterEdit => ({ path: path.split('.'), value });
const remove = (path: string): FrontMatterEdit => ({ path: path.split('.'), value: undefined });
const labels = { ours: 'git', theirs: 'the service' };
const conflict = (field: string, theirs: JsonValue): FrontMatterEdit => ({ path: [field], value: theirs, labels });

/** What comes of a source: its text, or the problem. */
function edited(source: string, edits: Partial<PromptEdits>): string {
  const result = editPromptFile(Buffer.from(source), PATH, { frontMatter: [], ...edits });
  return 'problem' in result
    ? `${result.problem.code}: ${result.problem.message}`
    : Buffer.from(result.bytes).toString();
}

type Row = readonly [sentence: string, before: string, edits: readonly FrontMatterEdit[], after: string];

/** Each row in a file with the fields that are needed before it, with LF and with CRLF. */
function testRows(rows: readonly Row[]): void {
  test.each(rows)('%s', (_, before, edits, after) => {
    const crlf = (source: string) => `\ufeff${source.replaceAll('\n', '\r\n')}`;
    expect(edited(sourceOf(before), { frontMatter: edits })).toBe(sourceOf(after));
    expect(edited(crlf(sourceOf(before)), { frontMatter: edits })).toBe(crlf(sourceOf(after)));
  });
}

/** The same for one value: the place of it before and after is what follows its key. */
function testValues(
  lines: string,
  field: string,
  rows: readonly (readonly [string, string, JsonValue, string])[],
): void {
  const at = (value: string) => lines.replace('…', () => value);
  testRows(rows.map(([sentence, before, value, after]) => [sentence, at(before), [set(field, value)], at(after)]));
}

/** What edit-laws.test.ts says of all files is not said again: that an edit is read as it was meant and changes no more. */
describe('setting a value that is there', () => {
  testValues('pins: …\n', 'pins.a', [
    ['writes a number without quotes', '\n  a: "latest"', 12, '\n  a: 12'],
    ['keeps double quotes', '\n  a: "latest"', 'git:x', '\n  a: "git:x"'],
    ['keeps single quotes', "\n  a: 'latest'", "git:it's", "\n  a: 'git:it''s'"],
    ['keeps JSON', '{"a": 7,"b": 1}', 'latest', '{"a": "latest","b": 1}'],
  ]);
  testValues('description: …\n', 'description', [
    ['escapes line breaks', 'x # c', 'a\nb', '"a\\nb" # c'],
    ['replaces a text over several lines', 'a\n  b\n  c # d', 'x', 'x # d'],
    ['keeps a literal block', '| # c\n   a\n\n# d', 'x\n\n y\n', '| # c\n   x\n\n    y\n\n# d'],
    ['keeps a folded block of one line', '>-\n  a\n  b', 'x', '>-\n  x'],
    ['unfolds a block of several lines', '>-\n  a', 'x\ny', '|-\n  x\n  y'],
    ['leaves a block that cannot hold the text', '|\n  a', ' x\n\n', '" x\\n\\n"'],
  ]);
  testValues('metadata:\n     a: …\n     b: 1\n', 'metadata.a', [
    ['fills an empty block', '|-', 'x\n\ty', '|-\n       x\n       \ty'],
    ['fills an empty value', ' # c', 1, '1  # c'],
    ['replaces a flow mapping', '{a: 1} # c', { b: [1, 'x, y'] }, '{b: [1, "x, y"]} # c'],
    ['replaces a block sequence', '# c\n     - x # d\n     # e', ['z'], '# c\n     - z\n     # e'],
    ['replaces a block mapping', '# c\n       # d\n       x: 1', { z: {} }, '# c\n       # d\n       z: {}'],
    ['indents a mapping more than the sequence before', '\n     - x', { c: 1 }, '\n       c: 1'],
    ['empties a block sequence', '# c\n     - x', [], '[] # c'],
    ['makes a scalar of a block mapping', '\n       x: 1', 7, '7 '],
  ]);
  testRows([
    ['fills an empty value in braces', 'metadata: {a, b:}\n', [set('metadata.a', 1)], 'metadata: {a: 1, b:}\n'],
    ['goes deep', 'metadata: {a: {c: 1}} # d\n', [set('metadata.a.c', 'x')], 'metadata: {a: {c: x}} # d\n'],
    ['replaces what is no mapping', 'metadata: {a: 1} # c\n', [set('metadata.a.b', 2)], 'metadata: {a: {b: 2}} # c\n'],
    ['stays behind an explicit colon', '? metadata\n: a: 1\n', [set('metadata', { z: 1 })], '? metadata\n: {z: 1}\n'],
  ]);

  test('keeps variables and text together', () => {
    const source = sourceOf('variables: [a, b] # c\n', '\n{{a}} {{b}}\n');
    const edits = { frontMatter: [set('variables', ['a', 'c'])], text: '{{a}} {{c}}' };
    expect(edited(source, edits)).toBe(sourceOf('variables: [a, c] # c\n', '\n{{a}} {{c}}\n'));
  });
});

describe('setting a key that is not there', () => {
  testRows([
    [
      'adds a line after the last entry',
      'pins:\n   a: 7 # c\n   # d\n# e\n',
      [set('pins.b', 1)],
      'pins:\n   a: 7 # c\n   b: 1\n   # d\n# e\n',
    ],
    ['keeps JSON', 'pins: {"a":7}\n', [set('pins.b', 'latest')], 'pins: {"a":7, "b": "latest"}\n'],
    [
      'adds below the comments of the last entry',
      'metadata:\n  a: 1\n\n  # c\n\n# d\n',
      [set('pins.a', 1)],
      'metadata:\n  a: 1\n\n  # c\npins:\n  a: 1\n\n# d\n',
    ],
    [
      'adds metadata as blocks',
      '',
      [set('metadata', { a: { b: [1, { c: 2 }] }, d: {} })],
      'metadata:\n  a:\n    b:\n      - 1\n      - c: 2\n  d: {}\n',
    ],
  ]);
});

describe('removing', () => {
  testRows([
    ['takes the line', 'pins:\n  # x\n  a: 7 # y\n  b: 1\n', [remove('pins.a')], 'pins:\n  # x\n  b: 1\n'],
    ['takes all lines of a value', 'description: |\n  a\n\n  b\n\npins: {}\n', [remove('description')], '\npins: {}\n'],
    ['leaves empty braces', 'pins: # x\n  a: 7\n', [remove('pins.a')], 'pins: {} # x\n'],
    ['takes the comma after it', 'pins: {a: 7, b: 1}\n', [remove('pins.a')], 'pins: {b: 1}\n'],
    ['takes the comma before the last one', 'pins: { a: 7, b: 1 }\n', [remove('pins.b')], 'pins: { a: 7 }\n'],
    ['takes the one in braces', 'pins: { a: 7, }\n', [remove('pins.a')], 'pins: {}\n'],
    ['keeps a comma at the end', 'pins: {a: 7, b: 1,}\n', [remove('pins.b')], 'pins: {a: 7,}\n'],
    ['does nothing for what is not there', 'pins: {a: 7}\n', [remove('pins.b'), remove('b.a')], 'pins: {a: 7}\n'],
  ]);
});

const byHand =
  'edit/not-kept: The file cannot be edited in place: its front matter is written in a way that only a person can change.';

test.each<[string, string, FrontMatterEdit]>([
  ['an entry of braces over several lines', 'pins: {a: 7, # x\n  b: 1}\n', remove('pins.a')],
  ['the last entry of braces over several lines', 'pins: {\n  a: 7, # x\n  c: 2 # y\n  }\n', remove('pins.c')],
  ['the one entry of braces over several lines', 'pins: {\n  a: 7\n  }\n', remove('pins.a')],
  ['an entry with its key behind a question mark', 'pins:\n  ? a\n  : 7\n  b: 1\n', remove('pins.a')],
  ['what is above a kept block scalar', 'description: |+\n  a\n\npins: {}\n', remove('pins')],
])('%s is not taken out: that is left to a person', (_, before, edit) => {
  expect(edited(sourceOf(before), { frontMatter: [edit] })).toBe(byHand);
});

test('no control character is written raw into YAML, and all are read back', () => {
  const text = 'a\u0007b\u007f\u0085c\u009f';
  const fields = 'description: |\n  x\nmetadata: # c\n  single: \'x\'\n  double: "x"\n  plain: x\n  flow: {x: y}\n';
  const values = { single: text, double: text, plain: text, flow: { [text]: [text] }, more: text };
  const frontMatter = [
    set('description', `${text}\n`),
    ...Object.entries(values).map(([key, value]) => set(`metadata.${key}`, value)),
  ];
  const after = edited(sourceOf(fields), { frontMatter });
  expect(after.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  expect(fileOf(after)).toMatchObject({ description: `${text}\n`, content: { metadata: values } });
});

describe('setting the text', () => {
  test.each([
    ['keeps the blank line and the final newline', '\nold\n', 'new', '\nnew\n'],
    ['keeps that there is no blank line', 'old\n', 'new', 'new\n'],
    ['keeps that there is no final newline', '\nold', 'new', '\nnew'],
    ['leaves an equal text', '\nold\r\n', 'old', '\nold\r\n'],
    ['leaves a text that differs in line endings alone', '\na\r\nb\n', 'a\r\nb', '\na\r\nb\n'],
    ['leaves lines that stay', '\na\r\nb\nc\r\nd\n', 'a\nb\nx\nd', '\na\r\nb\nx\r\nd\n'],
    ['leaves an equal text with carriage returns alone', 'a\r\r\nb\n', 'a\r\nb', 'a\r\r\nb\n'],
    ['reads CRLF as line feeds', '\na\n', 'b\r\nc', '\nb\nc\n'],
    ['takes surrogate pairs apart', '\n😀\n', '😁', '\n😁\n'],
    ['takes a lone carriage return', '\na\n', 'a\rb', '\na\rb\n'],
  ])('%s', (_, before, text, after) => {
    expect(edited(sourceOf('', before), { text })).toBe(sourceOf('', after));
    expect(edited(`\ufeff${sourceOf('', before)}`, { text })).toBe(`\ufeff${sourceOf('', after)}`);
  });

  test('ends new lines as the first line of the file ends', () => {
    const before = `---\r\n${BASIC}---\t\na\nb\n`;
    expect(edited(before, { text: 'a\nx\ny\nb' })).toBe(`---\r\n${BASIC}---\t\na\nx\r\ny\r\nb\n`);
  });

  test('with a conflict in it has no file', () => {
    const text = '<<<<<<< git\na\n=======\nb\n>>>>>>> service';
    const edits = { frontMatter: [set('name', 'M')], text, conflicted: true };
    expect(editPromptFile(Buffer.from(sourceOf()), PATH, edits)).toMatchObject({ file: null });
    expect(edited(sourceOf(), edits)).toBe(sourceOf('', `\n${text}\n`).replace('N', 'M'));
  });

  test.each([
    ['that is empty', '\n', 'it would not be valid: The prompt has no text'],
    ['that holds a conflict unsaid', 'a\n<<<<<<< x\n', 'it would not be valid: A merge conflict was left in the file'],
    ['that a line ending would be lost of', 'a\r', 'its text would be another one'],
    ['of half a character', 'a\ud83d', 'its text would be another one'],
  ])('is refused for one %s', (_, text, reason) => {
    expect(edited(sourceOf(), { text })).toBe(`edit/not-kept: The file cannot be edited in place: ${reason}.`);
  });
});

describe('a conflict', () => {
  const marked = (ours: string, theirs: string) => `<<<<<<< git\n${ours}=======\n${theirs}>>>>>>> the service\n`;
  testRows([
    [
      'shows both sides',
      'description: a # c\n# d\n',
      [conflict('description', 'b')],
      `${marked('description: a # c\n', 'description: b # c\n')}# d\n`,
    ],
    [
      'shows of a field the lines that differ',
      'metadata: # c\n  # d\n  a: 1\n  # e\npins: {}\n',
      [conflict('metadata', { a: 2 })],
      `metadata: # c\n  # d\n${marked('  a: 1\n', '  a: 2\n')}  # e\npins: {}\n`,
    ],
    [
      'comes after the other edits',
      'description: a\n',
      [conflict('description', 'b'), set('pins.x', 1), set('description', 'c')],
      `${marked('description: c\n', 'description: b\n')}pins:\n  x: 1\n`,
    ],
    ['is none where both sides are equal', 'description: a\n', [conflict('description', 'a')], 'description: a\n'],
  ]);

  test('has no file, and keeps labels on their line', () => {
    const theirs = { path: ['name'], value: 'M', labels: { ours: 'a\nb', theirs: 'c\r\nd' } };
    const result = editPromptFile(Buffer.from(sourceOf()), PATH, { frontMatter: [theirs] });
    expect(result).toMatchObject({ file: null });
    const expected = '<<<<<<< a b\nname: N\n=======\nname: M\n>>>>>>> c d\n';
    expect(edited(sourceOf(), { frontMatter: [theirs] })).toBe(sourceOf().replace('name: N\n', expected));
  });
});

describe('what an edit gives', () => {
  test('is the file as it is then', () => {
    const result = editPromptFile(Buffer.from(sourceOf('pins: {a: 1}\n')), PATH, { frontMatter: [set('pins.a', 2)] });
    expect(result).toEqual({ bytes: expect.any(Uint8Array), file: fileOf(sourceOf('pins: {a: 2}\n')) });
  });

  test('is the first error of a file that is not valid', () => {
    expect(edited('Hello.', {})).toMatch(/^prompt\/no-front-matter/);
  });

  test.each([
    ['a pin that is none', set('pins.a', 'newest'), 'it would not be valid: The pin of "a" is not valid'],
    ['a field that is none', set('nme', 'x'), 'it would not be valid: The field "nme" is not known'],
    ['no id', remove('id'), 'it would not be valid: The field `id` is missing'],
    ['a forbidden key', set('metadata.__proto__', 1), 'it could no longer be read'],
    ['a number that cannot be kept', set('metadata.a', 2 ** 60), 'it could no longer be read'],
    ['too much', set('description', 'x'.repeat(70_000)), 'it could no longer be read'],
  ])('is a problem for %s', (_, edit, reason) => {
    expect(edited(sourceOf(), { frontMatter: [edit] })).toBe(
      `edit/not-kept: The file cannot be edited in place: ${reason}.`,
    );
  });
});

describe('hostile front matter', () => {
  const many = Array.from({ length: 998 }, (_, at) => `  environment${at}: ${at + 1}\n`).join('');
  const deep = `${'{a: '.repeat(60)}1${'}'.repeat(60)}`;
  test.each([
    ['many pins', `pins:\n${many}  z: …\n`],
    ['many comments', `pins:\n${'  # z: 1\n'.repeat(7000)}  z: …\n${'  # z: 1\n'.repeat(10)}`],
    ['many blank lines', `description: |\n  a${'\n'.repeat(60_000)}  b\npins:\n  z: …\n`],
    ['many blank lines at the end', `pins:\n  z: …\n${'\n'.repeat(60_000)}`],
    ['many blanks', `pins: {${' '.repeat(30_000)}z: …${' '.repeat(30_000)}}\n`],
    ['deep nesting', `metadata: ${deep}\npins:\n  z: …\n`],
    ['a long text', `description: "${'x'.repeat(60_000)}"\npins:\n  z: …\n`],
  ])('is edited soon: %s', (_, front) => {
    const source = sourceOf(front.replace('…', '1'));
    expect(edited(source, { frontMatter: [set('pins.z', 2)] })).toBe(sourceOf(front.replace('…', '2')));
    expect(edited(source, { frontMatter: [set('pins.new', 2)] })).toMatch(/new: 2/);
  });
});
