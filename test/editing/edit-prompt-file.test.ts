import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../src/domain/json.ts';
import { makeSuccess } from '../../src/domain/result.ts';
import { editPromptFile, type FrontMatterEdit, type PromptEdits } from '../../src/editing/edit-prompt-file.ts';
import { LENIENT_SETTINGS } from '../../src/workspace/parse-prompt-file.ts';
import { REQUIRED_FIELDS, parseValidFile, PATH, makeSource } from '../workspace/support.ts';

const set = (path: string, value: JsonValue): FrontMatterEdit => ({ path: path.split('.'), value });
const remove = (path: string): FrontMatterEdit => ({ path: path.split('.'), value: undefined });
const labels = { ours: 'git', theirs: 'the service' };
const conflict = (field: string, theirs: JsonValue): FrontMatterEdit => ({ path: [field], value: theirs, labels });

/** Returns the edited source, or the code and message of the problem. */
function applyEdits(source: string, edits: Partial<PromptEdits>): string {
  const result = editPromptFile(Buffer.from(source), PATH, { frontMatter: [], ...edits }, LENIENT_SETTINGS);
  return result.isSuccess
    ? Buffer.from(result.value.bytes).toString()
    : result.problems.map(({ code, message }) => `${code}: ${message}`).join('\n');
}

type Row = readonly [sentence: string, before: string, edits: readonly FrontMatterEdit[], after: string];

/** Runs each row in a file with the required fields, once with LF and once with CRLF. */
function testRows(rows: readonly Row[]): void {
  test.each(rows)('%s', (_, before, edits, after) => {
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
  testRows(rows.map(([sentence, before, value, after]) => [sentence, at(before), [set(field, value)], at(after)]));
}

/** edit-laws.test.ts proves for all files that an edit changes nothing else. These are single cases. */
describe('setting an existing value with editPromptFile', () => {
  testValues('pins: …\n', 'pins.a', [
    ['the file editor replaces a quoted pin with an unquoted number', '\n  a: "latest"', 12, '\n  a: 12'],
    ['the file editor keeps the double quotes around an edited pin', '\n  a: "latest"', 'git:x', '\n  a: "git:x"'],
    [
      'the file editor keeps the single quotes around an edited pin and escapes an inner quote',
      "\n  a: 'latest'",
      "git:it's",
      "\n  a: 'git:it''s'",
    ],
    [
      'the file editor writes a new pin value in JSON style if the existing pins use JSON style',
      '{"a": 7,"b": 1}',
      'latest',
      '{"a": "latest","b": 1}',
    ],
  ]);
  testValues('description: …\n', 'description', [
    [
      'the file editor replaces a plain value with a double-quoted string if the new value contains line breaks',
      'x # c',
      'a\nb',
      '"a\\nb" # c',
    ],
    [
      'the file editor replaces a plain value that spans several lines and keeps the comment after it',
      'a\n  b\n  c # d',
      'x',
      'x # d',
    ],
    [
      'the file editor keeps the block style and the indentation when it replaces the text of a literal block',
      '| # c\n   a\n\n# d',
      'x\n\n y\n',
      '| # c\n   x\n\n    y\n\n# d',
    ],
    ['the file editor keeps the folded block style if the new value has only one line', '>-\n  a\n  b', 'x', '>-\n  x'],
    [
      'the file editor changes a folded block to a literal block if the new value has several lines',
      '>-\n  a',
      'x\ny',
      '|-\n  x\n  y',
    ],
    [
      'the file editor replaces a block scalar with a quoted string if the new value cannot be written as a block scalar',
      '|\n  a',
      ' x\n\n',
      '" x\\n\\n"',
    ],
  ]);
  testValues('metadata:\n     a: …\n     b: 1\n', 'metadata.a', [
    [
      'the file editor writes the new value into an empty block scalar without changing the block style',
      '|-',
      'x\n\ty',
      '|-\n       x\n       \ty',
    ],
    [
      'the file editor inserts a value after a key that has none and keeps the comment on the same line',
      ' # c',
      1,
      '1  # c',
    ],
    [
      'the file editor replaces a flow mapping and keeps the comment after it',
      '{a: 1} # c',
      { b: [1, 'x, y'] },
      '{b: [1, "x, y"]} # c',
    ],
    [
      'the file editor replaces a block sequence and keeps the comments around it',
      '# c\n     - x # d\n     # e',
      ['z'],
      '# c\n     - z\n     # e',
    ],
    [
      'the file editor replaces a block mapping and keeps the comments above it',
      '# c\n       # d\n       x: 1',
      { z: {} },
      '# c\n       # d\n       z: {}',
    ],
    [
      'the file editor indents a mapping more deeply than the sequence that it replaces',
      '\n     - x',
      { c: 1 },
      '\n       c: 1',
    ],
    [
      'the file editor replaces a block sequence with [] if the new value is an empty list',
      '# c\n     - x',
      [],
      '[] # c',
    ],
    ['the file editor replaces a block mapping with a scalar', '\n       x: 1', 7, '7 '],
  ]);
  testRows([
    [
      'the file editor adds a value to a key without a value in a flow mapping',
      'metadata: {a, b:}\n',
      [set('metadata.a', 1)],
      'metadata: {a: 1, b:}\n',
    ],
    [
      'the file editor sets a value in a nested flow mapping',
      'metadata: {a: {c: 1}} # d\n',
      [set('metadata.a.c', 'x')],
      'metadata: {a: {c: x}} # d\n',
    ],
    [
      'the file editor replaces a scalar with a mapping to set a nested key',
      'metadata: {a: 1} # c\n',
      [set('metadata.a.b', 2)],
      'metadata: {a: {b: 2}} # c\n',
    ],
    [
      'the file editor replaces the value of an explicit YAML key',
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

describe('adding a key with editPromptFile', () => {
  testRows([
    [
      'the file editor adds a pin on a new line after the last pin',
      'pins:\n   a: 7 # c\n   # d\n# e\n',
      [set('pins.b', 1)],
      'pins:\n   a: 7 # c\n   b: 1\n   # d\n# e\n',
    ],
    [
      'the file editor adds a pin in JSON style if the existing pins use JSON style',
      'pins: {"a":7}\n',
      [set('pins.b', 'latest')],
      'pins: {"a":7, "b": "latest"}\n',
    ],
    [
      'the file editor adds a field after the last field and its comments',
      'metadata:\n  a: 1\n\n  # c\n\n# d\n',
      [set('pins.a', 1)],
      'metadata:\n  a: 1\n\n  # c\npins:\n  a: 1\n\n# d\n',
    ],
    [
      'the file editor adds new metadata in block style',
      '',
      [set('metadata', { a: { b: [1, { c: 2 }] }, d: {} })],
      'metadata:\n  a:\n    b:\n      - 1\n      - c: 2\n  d: {}\n',
    ],
  ]);
});

describe('removing a key with editPromptFile', () => {
  testRows([
    [
      'the file editor removes the entire line of a pin, including the comment at the end of the line',
      'pins:\n  # x\n  a: 7 # y\n  b: 1\n',
      [remove('pins.a')],
      'pins:\n  # x\n  b: 1\n',
    ],
    [
      'the file editor removes every line of a field whose value spans several lines',
      'description: |\n  a\n\n  b\n\npins: {}\n',
      [remove('description')],
      '\npins: {}\n',
    ],
    [
      'the file editor replaces the block mapping of the pins with {} when it removes the only pin',
      'pins: # x\n  a: 7\n',
      [remove('pins.a')],
      'pins: {} # x\n',
    ],
    [
      'the file editor removes the first entry of a flow mapping along with the comma after it',
      'pins: {a: 7, b: 1}\n',
      [remove('pins.a')],
      'pins: {b: 1}\n',
    ],
    [
      'the file editor removes the last entry of a flow mapping along with the comma before it',
      'pins: { a: 7, b: 1 }\n',
      [remove('pins.b')],
      'pins: { a: 7 }\n',
    ],
    [
      'the file editor removes the only entry of a flow mapping along with its trailing comma',
      'pins: { a: 7, }\n',
      [remove('pins.a')],
      'pins: {}\n',
    ],
    [
      'the file editor keeps the trailing comma when it removes the last entry of a flow mapping',
      'pins: {a: 7, b: 1,}\n',
      [remove('pins.b')],
      'pins: {a: 7,}\n',
    ],
    [
      'the file editor changes nothing if the key to remove does not exist',
      'pins: {a: 7}\n',
      [remove('pins.b'), remove('b.a')],
      'pins: {a: 7}\n',
    ],
  ]);
});

const REFUSED_EDIT =
  'edit/not-kept: promptsync cannot edit the file in place: its front matter uses a YAML style that promptsync cannot edit.';

test.each<[string, string, FrontMatterEdit]>([
  [
    'the file editor refuses to remove an entry from a multi-line flow mapping',
    'pins: {a: 7, # x\n  b: 1}\n',
    remove('pins.a'),
  ],
  [
    'the file editor refuses to remove the last entry from a multi-line flow mapping',
    'pins: {\n  a: 7, # x\n  c: 2 # y\n  }\n',
    remove('pins.c'),
  ],
  [
    'the file editor refuses to remove the only entry from a multi-line flow mapping',
    'pins: {\n  a: 7\n  }\n',
    remove('pins.a'),
  ],
  [
    'the file editor refuses to remove an entry with an explicit YAML key',
    'pins:\n  ? a\n  : 7\n  b: 1\n',
    remove('pins.a'),
  ],
  [
    'the file editor refuses to remove a field that follows a block scalar with the chomping indicator +',
    'description: |+\n  a\n\npins: {}\n',
    remove('pins'),
  ],
])('%s', (_, before, edit) => {
  expect(applyEdits(makeSource(before), { frontMatter: [edit] })).toBe(REFUSED_EDIT);
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
    ['the file editor keeps the blank line before the prompt text and the final newline', '\nold\n', 'new', '\nnew\n'],
    ['the file editor adds no blank line before the prompt text if the file has none', 'old\n', 'new', 'new\n'],
    ['the file editor adds no final newline if the file has none', '\nold', 'new', '\nnew'],
    ['the file editor leaves the file unchanged if the new text equals the old text', '\nold\r\n', 'old', '\nold\r\n'],
    [
      'the file editor keeps CRLF line endings if the new text equals the old text',
      '\na\r\nb\n',
      'a\r\nb',
      '\na\r\nb\n',
    ],
    [
      'the file editor keeps the line endings of unchanged lines',
      '\na\r\nb\nc\r\nd\n',
      'a\nb\nx\nd',
      '\na\r\nb\nx\r\nd\n',
    ],
    [
      'the file editor keeps an extra carriage return before a line break if the new text equals the old text',
      'a\r\r\nb\n',
      'a\r\nb',
      'a\r\r\nb\n',
    ],
    ['the file editor converts CRLF in the new text to LF if the file uses LF', '\na\n', 'b\r\nc', '\nb\nc\n'],
    [
      'the file editor replaces an emoji with another emoji that starts with the same UTF-16 surrogate',
      '\n😀\n',
      '😁',
      '\n😁\n',
    ],
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
      'the file editor refuses text with conflict markers if the caller does not mark the text as conflicted',
      'a\n<<<<<<< x\n',
      'it would not be valid: The file contains unresolved merge conflict markers',
    ],
    [
      'the file editor refuses text that ends with a lone carriage return',
      'a\r',
      'the edited file would not contain the intended text',
    ],
    [
      'the file editor refuses text with a lone surrogate',
      'a\ud83d',
      'the edited file would not contain the intended text',
    ],
  ])('%s', (_, text, reason) => {
    expect(applyEdits(makeSource(), { text })).toBe(
      `edit/not-kept: promptsync cannot edit the file in place: ${reason}.`,
    );
  });
});

describe('writing a conflict with editPromptFile', () => {
  const markConflict = (ours: string, theirs: string) => `<<<<<<< git\n${ours}=======\n${theirs}>>>>>>> the service\n`;
  testRows([
    [
      'the file editor surrounds both sides of a conflict with conflict markers',
      'description: a # c\n# d\n',
      [conflict('description', 'b')],
      `${markConflict('description: a # c\n', 'description: b # c\n')}# d\n`,
    ],
    [
      'the file editor puts only the differing lines of a field between conflict markers',
      'metadata: # c\n  # d\n  a: 1\n  # e\npins: {}\n',
      [conflict('metadata', { a: 2 })],
      `metadata: # c\n  # d\n${markConflict('  a: 1\n', '  a: 2\n')}  # e\npins: {}\n`,
    ],
    [
      'the file editor applies all other edits before it writes conflict markers',
      'description: a\n',
      [conflict('description', 'b'), set('pins.x', 1), set('description', 'c')],
      `${markConflict('description: c\n', 'description: b\n')}pins:\n  x: 1\n`,
    ],
    [
      'the file editor writes no conflict markers if both sides of a conflict are equal',
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
  const applyWithDefaults = (source: string, edits: readonly FrontMatterEdit[]): string => {
    const result = editPromptFile(Buffer.from(source), PATH, { frontMatter: edits }, DEFAULTS);
    return result.isSuccess ? Buffer.from(result.value.bytes).toString() : result.problems[0]!.code;
  };

  test.each([
    [
      'the file editor also writes all default pins if an edit adds a pin to a file without pins',
      [set('pins.production', 2)],
      'pins:\n  staging: latest\n  eu: 3\n  production: 2\n',
    ],
    [
      'if an edit overrides one default pin of a file without pins, the file editor also writes the other default pins',
      [set('pins.staging', 2)],
      'pins:\n  staging: 2\n  eu: 3\n',
    ],
    ['the file editor writes default pins into a file without pins only if an edit sets a pin', [set('name', 'N')], ''],
  ])('%s', (_, edits, expected) => {
    expect(applyWithDefaults(makeSource(), edits)).toBe(makeSource(expected));
  });

  test('the file editor writes no default pins into a file whose field `pins` is empty', () => {
    expect(applyWithDefaults(makeSource('pins: {}\n'), [set('pins.production', 2)])).toBe(
      makeSource('pins: {production: 2}\n'),
    );
  });
});

describe('the result of editPromptFile', () => {
  test('the file editor returns the edited file both as bytes and as a parsed prompt file', () => {
    const result = editPromptFile(
      Buffer.from(makeSource('pins: {a: 1}\n')),
      PATH,
      { frontMatter: [set('pins.a', 2)] },
      LENIENT_SETTINGS,
    );
    expect(result).toEqual(
      makeSuccess({ bytes: expect.any(Uint8Array), file: parseValidFile(makeSource('pins: {a: 2}\n')) }),
    );
  });

  test('the file editor returns the first parse error if the original file is invalid', () => {
    expect(applyEdits('Hello.', {})).toMatch(/^prompt\/no-front-matter/);
  });

  test.each([
    [
      'the file editor refuses to write an invalid pin',
      set('pins.a', 'newest'),
      'it would not be valid: The pin `"newest"` for "a" is invalid',
    ],
    [
      'the file editor refuses to write an unknown field',
      set('nme', 'x'),
      'it would not be valid: The field `nme` is unknown',
    ],
    [
      'the file editor refuses to remove the id field',
      remove('id'),
      'it would not be valid: The field `id` is missing',
    ],
    [
      'the file editor refuses to write the key __proto__',
      set('metadata.__proto__', 1),
      'promptsync could not read the edited file',
    ],
    [
      'the file editor refuses to write the integer 2^60 because the parser would reject such a large number',
      set('metadata.a', 2 ** 60),
      'promptsync could not read the edited file',
    ],
    [
      'the file editor refuses an edit that makes the front matter exceed its size limit',
      set('description', 'x'.repeat(70_000)),
      'promptsync could not read the edited file',
    ],
  ])('%s', (_, edit, reason) => {
    expect(applyEdits(makeSource(), { frontMatter: [edit] })).toBe(
      `edit/not-kept: promptsync cannot edit the file in place: ${reason}.`,
    );
  });
});

describe('editPromptFile on hostile front matter', () => {
  const many = Array.from({ length: 998 }, (_, at) => `  environment${at}: ${at + 1}\n`).join('');
  const deep = `${'{a: '.repeat(60)}1${'}'.repeat(60)}`;
  test.each([
    ['the file editor quickly edits front matter with a thousand pins', `pins:\n${many}  z: …\n`],
    [
      'the file editor quickly edits front matter with thousands of comments',
      `pins:\n${'  # z: 1\n'.repeat(7000)}  z: …\n${'  # z: 1\n'.repeat(10)}`,
    ],
    [
      'the file editor quickly edits front matter with thousands of spaces',
      `pins: {${' '.repeat(30_000)}z: …${' '.repeat(30_000)}}\n`,
    ],
    ['the file editor quickly edits front matter that is nested 60 levels deep', `metadata: ${deep}\npins:\n  z: …\n`],
    [
      'the file editor quickly edits front matter with a very long value',
      `description: "${'x'.repeat(60_000)}"\npins:\n  z: …\n`,
    ],
  ])('%s', (_, front) => {
    const source = makeSource(front.replace('…', '1'));
    expect(applyEdits(source, { frontMatter: [set('pins.z', 2)] })).toBe(makeSource(front.replace('…', '2')));
    expect(applyEdits(source, { frontMatter: [set('pins.new', 2)] })).toMatch(/new: 2/);
  });
});
