import { describe, expect, test } from 'vitest';
import { parseValidFile, messages, parse, makeSource, summarizeProblems } from './support.ts';

describe('parsePromptFile on raw bytes', () => {
  test.each<[string, readonly number[], string]>([
    ['the prompt file parser rejects a byte that is never valid in UTF-8', [0x0a, 0x61, 0xff, 0x62], '6:2'],
    ['the prompt file parser rejects an incomplete character at the end', [0x61, 0xf0, 0x9f, 0x98], '5:5'],
    ['the prompt file parser rejects a stray continuation byte', [0x0d, 0x0a, 0xf0, 0x9f, 0x98, 0x80, 0x80], '6:3'],
  ])('%s', (_, bytes, place) => {
    const source = Buffer.concat([Buffer.from(makeSource('', '').slice(0, -1)), Buffer.from(bytes)]);
    expect(summarizeProblems(parse(source).problems)).toEqual([`prompt/not-utf8 ${place}`]);
  });

  test.each([
    [
      'the prompt file parser says how to check out a Git LFS pointer',
      Buffer.from('version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n'),
      'The file is a Git LFS pointer. It does not contain the prompt. Run `git lfs pull`. In a GitHub workflow, set `lfs: true` for `actions/checkout`.',
    ],
    [
      'the prompt file parser says how to check out a file encrypted with git-crypt',
      Buffer.from([0, ...Buffer.from('GITCRYPT'), 0, 0xff, 0x80]),
      'The file is encrypted with git-crypt. Run `git-crypt unlock`.',
    ],
  ])('%s', (_, source, expected) => {
    const { problems } = parse(source);
    expect(summarizeProblems(problems)).toEqual(['prompt/not-decoded 1:1']);
    expect(messages(problems)).toBe(expected);
  });

  test.each(['<<<<<<< HEAD', '||||||| 1a2b3c4', '>>>>>>> topic', '<<<<<<<'])(
    'the prompt file parser rejects the conflict marker %s in the text',
    (marker) => {
      for (const body of [`a\n${marker}\nb\n`, `a\r\n${marker}`])
        expect(summarizeProblems(parse(makeSource('', body)).problems)).toEqual(['prompt/conflict-markers 7:1']);
    },
  );

  test('if the front matter accepts conflict markers, the prompt file parser warns about conflict markers in the text instead of rejecting them', () => {
    const text = 'a\n<<<<<<< SEARCH\nb\n=======\nc\n>>>>>>> REPLACE';
    const { file, problems } = parse(makeSource('accept_warnings: [prompt/conflict-markers]\n', `${text}\n`));
    expect(problems).toMatchObject([{ code: 'prompt/conflict-markers', severity: 'warning', line: 8, column: 1 }]);
    expect(file?.content.text).toBe(text);
  });

  test('the prompt file parser reports a merge conflict in the front matter as a single error, even if the file accepts conflict markers', () => {
    const conflict = '<<<<<<< HEAD\nx: 1\n=======\nx: 2\n>>>>>>> topic\n';
    const { file, problems } = parse(makeSource(`accept_warnings: [prompt/conflict-markers]\n${conflict}`));
    expect([file, ...summarizeProblems(problems)]).toEqual([null, 'prompt/conflict-markers 6:1']);
    expect(problems).toMatchObject([{ severity: 'error' }]);
  });

  test.each(['<<<<<<<<', ' <<<<<<<', '<<<<<<<HEAD', '<<<<<<', 'a <<<<<<< b', '======='])(
    'the prompt file parser does not treat the line %j as a conflict marker',
    (line) => {
      expect(parseValidFile(makeSource('', `a\n${line}\nb\n`)).content.text).toBe(`a\n${line}\nb`);
    },
  );
});

describe('parsePromptFile on files with several problems', () => {
  test('the prompt file parser reports all invalid fields, YAML errors, and text problems in a file at once', () => {
    const source = '---\nid: 1\nkey: k\nkye: a\nmetadata: {a: &x 1, promptsync: 2}\nkey: l\n---\n\n\0\n<<<<<<< a\n';
    expect(summarizeProblems(parse(source).problems).toSorted()).toEqual([
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

  test.each<[string, string, readonly string[]]>([
    [
      'the prompt file parser reports a YAML syntax error and missing text',
      '---\nid: "a\n---\n',
      ['yaml/syntax 2:5', 'prompt/empty-body 4:1'],
    ],
    [
      'the prompt file parser reports each problem with a value only once',
      makeSource('pins: {a: &x 1, b: !t 2}\nvariables: [*y ]\ndescription: .nan\n'),
      ['yaml/alias 5:14', 'yaml/tag 5:23', 'yaml/alias 6:13', 'yaml/number 7:14'],
    ],
    [
      'the prompt file parser reports NUL and hidden characters, each only once',
      makeSource('', 'b\0\n\u200b\0\u200b\n'),
      ['prompt/nul 6:2', 'prompt/hidden-character 7:1'],
    ],
  ])('%s', (_, source, expected) => {
    expect(summarizeProblems(parse(source).problems)).toEqual(expected);
  });
});

/** test/text.test.ts proves which characters are hidden. */
test('the prompt file parser warns once about each kind of hidden character and does not remove the characters', () => {
  const { file, problems } = parse(makeSource('', 'x\u200b\n\u202e\u200b\u200b\n'));
  expect(summarizeProblems(problems)).toEqual(['prompt/hidden-character 6:2', 'prompt/hidden-character 7:1']);
  expect(problems[0]).toMatchObject({ severity: 'warning', message: expect.stringContaining('\\u{200b} 3 times') });
  expect(file?.content.text).toBe('x\u200b\n\u202e\u200b\u200b');
});

/** test/domain/variables-and-names.test.ts proves what a placeholder is. */
describe('parsePromptFile on placeholders and variables', () => {
  const body = 'Dear {{b}}, {{ a }}, {{b}}.\n';

  test.each([
    ['[a, b]', body],
    ['[]', '{{a b}} {{}} {{ }} {a} {{a}\n'],
  ])('the prompt file parser accepts the variables %s for the text %j', (variables, text) => {
    expect(parse(makeSource(`variables: ${variables}\n`, text)).problems).toEqual([]);
  });

  test.each([
    ['[a]', 'is missing "b". '],
    ['[a, b, c]', 'lists "c", which the text does not use. '],
    ['[a, b, a]', 'lists "a" more than once. '],
    ['[A, b]', 'is missing "a"; and lists "A", which the text does not use. '],
  ])('the prompt file parser rejects the variables %s of a text with {{b}} and {{a}}: %s', (variables, expected) => {
    const { file, problems } = parse(makeSource(`variables: ${variables}\n`, body));
    expect([file, ...summarizeProblems(problems)]).toEqual([null, 'prompt/variables-mismatch 5:12']);
    expect(messages(problems)).toContain(`\`variables:\` ${expected}`);
  });

  test('the prompt file parser shortens its error message if thousands of placeholders are missing from the list of variables', () => {
    const text = Array.from({ length: 5000 }, (_, index) => `{{v${index}}}`).join('');
    expect(messages(parse(makeSource('variables: []\n', text)).problems)).toMatch(/"v19", and 4,980 more\./);
  });
});
