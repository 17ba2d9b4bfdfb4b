import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../src/domain/json.ts';
import { makeSuccess } from '../../src/domain/result.ts';
import { editPromptFile, type FrontMatterEdit } from '../../src/editing/edit-prompt-file.ts';
import { LENIENT_SETTINGS } from '../../src/workspace/parse-prompt-file.ts';
import { REQUIRED_FIELDS, parseValidFile, PATH, makeSource } from '../workspace/support.ts';
import { applyEdits } from './support.ts';

const set = (path: string, value: JsonValue): FrontMatterEdit => ({ path: path.split('.'), value });
const remove = (path: string): FrontMatterEdit => ({ path: path.split('.'), value: undefined });
const labels = { ours: 'git', theirs: 'the service' };
const conflict = (field: string, theirs: JsonValue): FrontMatterEdit => ({ path: [field], value: theirs, labels });

type Row = readonly [what: string, before: string, edits: readonly FrontMatterEdit[], after: string];

/** Runs each row in a file with the required fields, once with LF and once with CRLF. */
function testRows(rows: readonly Row[]): void {
  test.each(rows)('the file editor %s', (_, before, edits, after) => {
    const crlf = (source: string) => `\ufeff${source.replaceAll('\n', '\r\n')}`;
    expect(applyEdits(makeSource(before), { frontMatter: edits })).toBe(makeSource(after));
    expect(applyEdits(crlf(makeSource(before)), { frontMatter: edits })).toBe(crlf(makeSource(after)));
  });
}

/** Runs rows that set one field. In each row, the texts before and after replace the `…` in `lines`. */
function testValues(
  lines: string,
  field: string,
  rows: readonly (readonly [string, string, JsonValue, string])[],
): void {
  const at = (value: string) => lines.replace('…', () => value);
  testRows(rows.map(([what, before, value, after]) => [what, at(before), [set(field, value)], at(after)]));
}

/** edit-laws.test.ts proves for all files that an edit changes nothing else. These are single cases. */
describe('setting an existing value with editPromptFile', () => {
  testValues('pins: …\n', 'pins.a', [
    ['replaces a quoted pin with an unquoted number', '\n  a: "latest"', 12, '\n  a: 12'],
    ['keeps the double quotes around a pin', '\n  a: "latest"', 'git:x', '\n  a: "git:x"'],
    ['keeps single quotes and escapes an inner quote', "\n  a: 'latest'", "git:it's", "\n  a: 'git:it''s'"],
    ['writes a new pin value in JSON style', '{"a": 7,"b": 1}', 'latest', '{"a": "latest","b": 1}'],
  ]);
  testValues('description: …\n', 'description', [
    ['writes a text with line breaks in double quotes in place of a plain value', 'x # c', 'a\nb', '"a\\nb" # c'],
    ['keeps the comment after a plain value of several lines', 'a\n  b\n  c # d', 'x', 'x # d'],
    ['keeps the style of a literal block', '| # c\n   a\n\n# d', 'x\n\n y\n', '| # c\n   x\n\n    y\n\n# d'],
    ['keeps a folded block if the new value has one line', '>-\n  a\n  b', 'x', '>-\n  x'],
    ['makes a folded block literal if the new value has several lines', '>-\n  a', 'x\ny', '|-\n  x\n  y'],
    ['quotes a new value that cannot be a block scalar', '|\n  a', ' x\n\n', '" x\\n\\n"'],
  ]);
  testValues('metadata:\n     a: …\n     b: 1\n', 'metadata.a', [
    ['keeps the style of an empty block scalar', '|-', 'x\n\ty', '|-\n       x\n       \ty'],
    ['inserts a value after a key without one and keeps the comment', ' # c', 1, '1  # c'],
    ['replaces a flow mapping', '{a: 1} # c', { b: [1, 'x, y'] }, '{b: [1, "x, y"]} # c'],
    ['replaces a block sequence', '# c\n     - x # d\n     # e', ['z'], '# c\n     - z\n     # e'],
    ['replaces a block mapping', '# c\n       # d\n       x: 1', { z: {} }, '# c\n       # d\n       z: {}'],
    ['indents a mapping more deeply than a sequence', '\n     - x', { c: 1 }, '\n       c: 1'],
    ['replaces a block sequence with []', '# c\n     - x', [], '[] # c'],
    ['replaces a block mapping with a scalar', '\n       x: 1', 7, '7 '],
  ]);
  testRows([
    ['adds a value in a flow mapping', 'metadata: {a, b:}\n', [set('metadata.a', 1)], 'metadata: {a: 1, b:}\n'],
    [
      'replaces a scalar with a mapping to set a nested key',
      'metadata: {a: 1} # c\n',
      [set('metadata.a.b', 2)],
      'metadata: {a: {b: 2}} # c\n',
    ],
    [
      'replaces the value of an explicit YAML key',
      '? metadata\n: a: 1\n',
      [set('metadata', { z: 1 })],
      '? metadata\n: {z: 1}\n',
    ],
  ]);

  test('the file editor changes the variables and the prompt text in one edit', () => {
    const source = makeSource('variables: [a, b] # c\n', '\n{{a}} {{b}}\n');
    const edits = { frontMatter: [set('variables', ['a', 'c'])], text: '{{a}} {{c}}' };
    expect(applyEdits(source, edits)).toBe(makeSource('variables: [a, c] # c\n', '\n{{a}} {{c}}\n'));
  });
});

describe('adding and removing a key with editPromptFile', () => {
  testRows([
    [
      'adds a pin on a new line after the last pin',
      'pins:\n   a: 7 # c\n   # d\n# e\n',
      [set('pins.b', 1)],
      'pins:\n   a: 7 # c\n   b: 1\n   # d\n# e\n',
    ],
    ['adds a pin in JSON style', 'pins: {"a":7}\n', [set('pins.b', 'latest')], 'pins: {"a":7, "b": "latest"}\n'],
    [
      'adds a field after the last field and its comments',
      'metadata:\n  a: 1\n\n  # c\n\n# d\n',
      [set('pins.a', 1)],
      'metadata:\n  a: 1\n\n  # c\npins:\n  a: 1\n\n# d\n',
    ],
    [
      'adds new metadata in block style',
      '',
      [set('metadata', { a: { b: [1, { c: 2 }] }, d: {} })],
      'metadata:\n  a:\n    b:\n      - 1\n      - c: 2\n  d: {}\n',
    ],
    [
      'removes the entire line of a pin with its comment',
      'pins:\n  # x\n  a: 7 # y\n  b: 1\n',
      [remove('pins.a')],
      'pins:\n  # x\n  b: 1\n',
    ],
    [
      'removes every line of a field of several lines',
      'description: |\n  a\n\n  b\n\npins: {}\n',
      [remove('description')],
      '\npins: {}\n',
    ],
    ['replaces a block mapping with {}', 'pins: # x\n  a: 7\n', [remove('pins.a')], 'pins: {} # x\n'],
    ['removes the comma after the first entry', 'pins: {a: 7, b: 1}\n', [remove('pins.a')], 'pins: {b: 1}\n'],
    ['removes the comma before the last entry', 'pins: { a: 7, b: 1 }\n', [remove('pins.b')], 'pins: { a: 7 }\n'],
    ['removes the comma after the only entry', 'pins: { a: 7, }\n', [remove('pins.a')], 'pins: {}\n'],
    ['keeps a trailing comma', 'pins: {a: 7, b: 1,}\n', [remove('pins.b')], 'pins: {a: 7,}\n'],
    ['removes nothing for an unknown key', 'pins: {a: 7}\n', [remove('pins.b'), remove('b.a')], 'pins: {a: 7}\n'],
  ]);
});

const refusedEdit = (reason: string) => `edit/not-kept: promptsync cannot edit the file in place: ${reason}.`;

test('the file editor refuses to remove a field after a block scalar with the indicator +', () => {
  const before = makeSource('description: |+\n  a\n\npins: {}\n');
  const reason = 'its front matter uses a YAML style that promptsync cannot edit';
  expect(() => applyEdits(before, { frontMatter: [remove('pins')] })).toThrow(refusedEdit(reason));
});

test('the parser reads back control characters that the file editor escaped in YAML', () => {
  const text = 'a\u0007b\u007f\u0085c\u009f';
  const fields = 'description: |\n  x\nmetadata: # c\n  single: \'x\'\n  double: "x"\n  plain: x\n  flow: {x: y}\n';
  const values = { single: text, double: text, plain: text, flow: { [text]: [text] }, more: text };
  const frontMatter = [
    set('description', `${text}\n`),
    ...Object.entries(values).map(([key, value]) => set(`metadata.${key}`, value)),
  ];
  const after = applyEdits(makeSource(fields), { frontMatter });
  expect(after.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  expect(parseValidFile(after)).toMatchObject({ description: `${text}\n`, content: { metadata: values } });
});

describe('setting the text with editPromptFile', () => {
  test.each([
    ['the file editor keeps the blank line before the text and the final newline', '\nold\n', 'new', '\nnew\n'],
    ['the file editor adds no blank line before the text', 'old\n', 'new', 'new\n'],
    ['the file editor adds no final newline', '\nold', 'new', '\nnew'],
    [
      'the file editor keeps the line endings of unchanged lines',
      '\na\r\nb\nc\r\nd\n',
      'a\nb\nx\nd',
      '\na\r\nb\nx\r\nd\n',
    ],
    ['the file editor keeps an extra carriage return before a line break', 'a\r\r\nb\n', 'a\r\nb', 'a\r\r\nb\n'],
    ['the file editor converts CRLF in the new text to LF', '\na\n', 'b\r\nc', '\nb\nc\n'],
    ['the file editor replaces an emoji with one that starts with the same surrogate', '\n😀\n', '😁', '\n😁\n'],
    ['the file editor keeps a lone carriage return in the new text', '\na\n', 'a\rb', '\na\rb\n'],
  ])('%s', (_, before, text, after) => {
    expect(applyEdits(makeSource('', before), { text })).toBe(makeSource('', after));
    expect(applyEdits(`\ufeff${makeSource('', before)}`, { text })).toBe(`\ufeff${makeSource('', after)}`);
  });

  test('the file editor gives new lines the same line ending as the first line of the file', () => {
    const before = `---\r\n${REQUIRED_FIELDS}---\t\na\nb\n`;
    expect(applyEdits(before, { text: 'a\nx\ny\nb' })).toBe(`---\r\n${REQUIRED_FIELDS}---\t\na\nx\r\ny\r\nb\n`);
  });

  test('the file editor writes text with conflict markers but returns no parsed file if the caller marks the text as conflicted', () => {
    const text = '<<<<<<< git\na\n=======\nb\n>>>>>>> service';
    const edits = { frontMatter: [set('name', 'M')], text, conflicted: true };
    expect(editPromptFile(Buffer.from(makeSource()), PATH, edits, LENIENT_SETTINGS)).toMatchObject({
      value: { file: null },
    });
    expect(applyEdits(makeSource(), edits)).toBe(makeSource('', `\n${text}\n`).replace('N', 'M'));
  });

  test.each([
    ['the file editor refuses empty prompt text', '\n', 'it would not be valid: The prompt has no text'],
    [
      'the file editor refuses unmarked text with conflict markers',
      'a\n<<<<<<< x\n',
      'it would not be valid: The file contains unresolved merge conflict markers',
    ],
    [
      'the file editor refuses text that ends with a lone carriage return',
      'a\r',
      'the edited file would not contain the intended text',
    ],
  ])('%s', (_, text, reason) => {
    expect(() => applyEdits(makeSource(), { text })).toThrow(refusedEdit(reason));
  });
});

describe('writing a conflict with editPromptFile', () => {
  const markConflict = (ours: string, theirs: string) => `<<<<<<< git\n${ours}=======\n${theirs}>>>>>>> the service\n`;
  testRows([
    [
      'surrounds both sides of a conflict with conflict markers',
      'description: a # c\n# d\n',
      [conflict('description', 'b')],
      `${markConflict('description: a # c\n', 'description: b # c\n')}# d\n`,
    ],
    [
      'puts only the differing lines of a field between conflict markers',
      'metadata: # c\n  # d\n  a: 1\n  # e\npins: {}\n',
      [conflict('metadata', { a: 2 })],
      `metadata: # c\n  # d\n${markConflict('  a: 1\n', '  a: 2\n')}  # e\npins: {}\n`,
    ],
    [
      'applies all other edits before it writes conflict markers',
      'description: a\n',
      [conflict('description', 'b'), set('pins.x', 1), set('description', 'c')],
      `${markConflict('description: c\n', 'description: b\n')}pins:\n  x: 1\n`,
    ],
    [
      'writes no conflict markers if both sides are equal',
      'description: a\n',
      [conflict('description', 'a')],
      'description: a\n',
    ],
  ]);

  test('the file editor joins the lines of a multi-line conflict label with spaces', () => {
    const theirs = { path: ['name'], value: 'M', labels: { ours: 'a\nb', theirs: 'c\r\nd' } };
    const result = editPromptFile(Buffer.from(makeSource()), PATH, { frontMatter: [theirs] }, LENIENT_SETTINGS);
    expect(result).toMatchObject({ value: { file: null } });
    const expected = '<<<<<<< a b\nname: N\n=======\nname: M\n>>>>>>> c d\n';
    expect(applyEdits(makeSource(), { frontMatter: [theirs] })).toBe(makeSource().replace('name: N\n', expected));
  });
});

describe('editing a file without pins', () => {
  const DEFAULTS = {
    ...LENIENT_SETTINGS,
    defaultPins: [
      { environment: 'staging', pin: { kind: 'latest' }, path: 'promptsync.yaml', line: 1, column: 1 },
      { environment: 'eu', pin: { kind: 'number', number: 3 }, path: 'promptsync.yaml', line: 2, column: 1 },
    ],
  } as const;
  const [staging, production] = [set('pins.staging', 2), set('pins.production', 2)];

  test.each([
    [
      'the file editor adds all default pins with a pin',
      '',
      production,
      'pins:\n  staging: latest\n  eu: 3\n  production: 2\n',
    ],
    [
      'the file editor adds the other default pins with a pin that overrides one',
      '',
      staging,
      'pins:\n  staging: 2\n  eu: 3\n',
    ],
    ['the file editor adds default pins only if an edit sets a pin', '', set('name', 'N'), ''],
    [
      'the file editor adds no default pins to an empty field `pins`',
      'pins: {}\n',
      production,
      'pins: {production: 2}\n',
    ],
  ])('%s', (_, before, edit, after) => {
    expect(applyEdits(makeSource(before), { frontMatter: [edit] }, DEFAULTS)).toBe(makeSource(after));
  });
});

describe('the result of editPromptFile', () => {
  test('the file editor returns the edited file both as bytes and as a parsed prompt file', () => {
    const [source, edits] = [makeSource('pins: {a: 1}\n'), { frontMatter: [set('pins.a', 2)] }];
    expect(editPromptFile(Buffer.from(source), PATH, edits, LENIENT_SETTINGS)).toEqual(
      makeSuccess({ bytes: expect.any(Uint8Array), file: parseValidFile(makeSource('pins: {a: 2}\n')) }),
    );
  });

  test('the file editor returns the first parse error if the original file is invalid', () => {
    expect(() => applyEdits('Hello.', {})).toThrow(/^prompt\/no-front-matter/);
  });

  const [INVALID, UNREADABLE] = ['it would not be valid: The', 'promptsync could not read the edited file'];
  test.each([
    [
      'the file editor refuses to write an invalid pin',
      set('pins.a', 'newest'),
      `${INVALID} pin \`"newest"\` for "a" is invalid`,
    ],
    ['the file editor refuses to write the key __proto__', set('metadata.__proto__', 1), UNREADABLE],
  ])('%s', (_, edit, reason) => {
    expect(() => applyEdits(makeSource(), { frontMatter: [edit] })).toThrow(refusedEdit(reason));
  });
});
