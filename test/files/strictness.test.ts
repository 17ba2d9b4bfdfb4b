import { describe, expect, test } from 'vitest';
import { fileOf, messages, parse, sourceOf, tell } from './support.ts';

describe('the bytes of a file', () => {
  const invalid: readonly (readonly [string, readonly number[], string])[] = [
    ['a byte that never occurs', [0x0a, 0x61, 0xff, 0x62], 'prompt/not-utf8 6:2'],
    ['an overlong form', [0xc0, 0xaf], 'prompt/not-utf8 5:4'],
    ['half a surrogate pair', [0xc3, 0xa9, 0xed, 0xa0, 0x80], 'prompt/not-utf8 5:5'],
    ['a character cut off by the end', [0x61, 0xf0, 0x9f, 0x98], 'prompt/not-utf8 5:5'],
    ['a stray continuation after CRLF', [0x0d, 0x0a, 0xf0, 0x9f, 0x98, 0x80, 0x80], 'prompt/not-utf8 6:3'],
  ];
  test.each(invalid)('%s is not UTF-8', (_, bytes, expected) => {
    const source = Buffer.concat([Buffer.from(sourceOf('', '').slice(0, -1)), Buffer.from(bytes)]);
    expect(tell(parse(source).problems)).toEqual([expected]);
  });

  test('UTF-16 is not UTF-8', () => {
    expect(tell(parse(Buffer.from(`\ufeff${sourceOf()}`, 'utf16le')).problems)).toEqual(['prompt/not-utf8 1:1']);
  });

  test('NUL is an error, and no warning besides, wherever else there is one', () => {
    expect(tell(parse(sourceOf('', 'a\nb\0c\0\n')).problems)).toEqual(['prompt/nul 7:2']);
    expect(tell(parse(sourceOf('', 'b\0\n\u200b\n')).problems)).toEqual([
      'prompt/hidden-character 7:1',
      'prompt/nul 6:2',
    ]);
  });

  test.each(['<<<<<<< HEAD', '||||||| 1a2b3c4', '>>>>>>> topic', '<<<<<<<'])('%s is an error in the text', (marker) => {
    expect(tell(parse(sourceOf('', `a\n${marker}\nb\n`)).problems)).toEqual(['prompt/conflict-markers 7:1']);
    expect(tell(parse(sourceOf('', `a\r\n${marker}`)).problems)).toEqual(['prompt/conflict-markers 7:1']);
  });

  test('a conflict in the front matter is the one thing that is said of it', () => {
    const source = sourceOf('<<<<<<< HEAD\nx: 1\n=======\nx: 2\n>>>>>>> topic\n');
    expect(tell(parse(source).problems)).toEqual(['prompt/conflict-markers 5:1']);
  });

  test.each(['<<<<<<<<', ' <<<<<<<', '<<<<<<<HEAD', '<<<<<<', 'a <<<<<<< b', '======='])(
    '%s is no conflict',
    (line) => {
      expect(fileOf(sourceOf('', `a\n${line}\nb\n`)).content.text).toBe(`a\n${line}\nb`);
    },
  );
});

describe('all problems of a file are told at once', () => {
  test('those of its bytes, its fields, its YAML and its text', () => {
    const source = '---\nid: 1\nkey: k\nkye: a\nmetadata: {a: &x 1, promptsync: 2}\nkey: l\n---\n\n\0\n<<<<<<< a\n';
    expect(tell(parse(source).problems).toSorted()).toEqual([
      'prompt/conflict-markers 10:1',
      'prompt/invalid-field 2:5',
      'prompt/missing-field 2:1',
      'prompt/nul 9:1',
      'prompt/reserved-metadata 5:21',
      'prompt/unknown-field 4:1',
      'yaml/alias 5:18',
      'yaml/duplicate-key 6:1',
    ]);
  });

  test('an empty text beside YAML that cannot be read', () => {
    expect(tell(parse('---\nid: "a\n---\n').problems)).toEqual(['yaml/syntax 2:7', 'prompt/empty-body 4:1']);
  });

  test('each with its code, path, line, column, message and hint', () => {
    for (const problem of parse('---\nid: 1\nx: *a\n---\n').problems) {
      expect(problem).toMatchObject({ path: 'prompts/x.md', severity: 'error' });
      expect(problem.line).toBeGreaterThan(0);
      expect(problem.column).toBeGreaterThan(0);
      expect(problem.message).toMatch(/\.$/);
      expect(problem.hint).toMatch(/[.?]$/);
    }
  });

  test('and one problem is not told twice', () => {
    expect(tell(parse(sourceOf('pins: {a: &x 1, b: !t 2}\nvariables: [*y ]\ndescription: .nan\n')).problems)).toEqual([
      'yaml/alias 5:14',
      'yaml/tag 5:23',
      'yaml/alias 6:13',
      'yaml/number 7:14',
    ]);
  });
});

/** Which these are says test/domain/text.test.ts. */
describe('hidden characters', () => {
  test('are warned of once for each kind, with place and number, and kept', () => {
    const { file, problems } = parse(sourceOf('', 'x\u200b\n\u202e\u200b\u200b\n'));
    expect(tell(problems)).toEqual(['prompt/hidden-character 6:2', 'prompt/hidden-character 7:1']);
    expect(problems[0]).toMatchObject({ severity: 'warning', message: expect.stringContaining('\\u{200b} 3 times') });
    expect(file?.content.text).toBe('x\u200b\n\u202e\u200b\u200b');
  });

  test('may be isolates, byte order marks inside and soft hyphens', () => {
    expect(parse(sourceOf('', 'x\u2066\ufeff\u00ady\n')).problems).toHaveLength(3);
  });

  test('are found in the front matter, too', () => {
    expect(tell(parse(sourceOf('description: a\u200b\n')).problems)).toEqual(['prompt/hidden-character 5:15']);
  });
});

/** What a placeholder is says test/domain/words.test.ts. */
describe('placeholders and variables', () => {
  const body = 'Dear {{b}}, {{ a }}, {{b}}.\n';

  test.each([
    ['the same names in another order', '[a, b]', body],
    ['none where there is none', '[]', 'Hello.\n'],
    ['none of two words', '[]', '{{a b}} {{}} {{ }} {a} {{a}\n'],
  ])('%s', (_, variables, text) => {
    expect(parse(sourceOf(`variables: ${variables}\n`, text)).problems).toEqual([]);
  });

  test.each([
    ['a missing name', '[a]', '{{b}} is in the text'],
    ['an unused name', '[a, b, c]', '"c" is in `variables` and not in the text'],
    ['a name listed twice', '[a, b, a]', '"a" is in `variables` more than once'],
    ['another case', '[A, b]', '{{a}} is in the text'],
    ['an empty name', '[a, b, ""]', '"" is in'],
    ['no name at all', '[]', '{{b}} is in the text and not in `variables`; {{a}}'],
  ])('%s is an error', (_, variables, expected) => {
    const { file, problems } = parse(sourceOf(`variables: ${variables}\n`, body));
    expect(tell(problems)).toEqual(['prompt/variables-mismatch 5:12']);
    expect(messages(problems)).toContain(expected);
    expect(file).toBeNull();
  });

  test('without variables any placeholder may stand in the text', () => {
    expect(fileOf(sourceOf('', body))).not.toHaveProperty('variables');
  });

  test('thousands of missing names do not make a message of thousands of names', () => {
    const text = Array.from({ length: 5000 }, (_, index) => `{{v${index}}}`).join('');
    expect(messages(parse(sourceOf('variables: []\n', text)).problems)).toMatch(/and 4980 more\. .*/);
  });
});
