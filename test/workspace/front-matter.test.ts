import fc from 'fast-check';
import matter from 'gray-matter';
import { afterEach, describe, expect, test } from 'vitest';
import { computeContentDigest } from '../../src/domain/content.ts';
import { splitFrontMatter } from '../../src/workspace/front-matter.ts';
import { REQUIRED_FIELDS, parseValidFile, parse, makeSource, summarizeProblems } from './support.ts';

describe('the front matter delimiters', () => {
  const openWith = (delimiter: string) => makeSource().replace('---', delimiter);
  const wrong: readonly (readonly [string, string, string])[] = [
    ['the parser rejects an empty file because it has no front matter', '', 'no-front-matter 1:1'],
    ['the parser rejects a file with text but no front matter', 'Hello.\n', 'no-front-matter 1:1'],
    ['the parser rejects a blank line before the front matter', `\n${makeSource()}`, 'no-front-matter 1:1'],
    ['the parser rejects a space before the opening delimiter', ` ${makeSource()}`, 'no-front-matter 1:1'],
    [
      'the parser rejects a second byte order mark at the start of a file',
      `\ufeff\ufeff${makeSource()}`,
      'no-front-matter 1:1',
    ],
    ['the parser rejects an opening delimiter with only two dashes', openWith('--'), 'no-front-matter 1:1'],
    ['the parser rejects an opening delimiter with four dashes', openWith('----'), 'bad-delimiter 1:1'],
    ['the parser rejects the opening delimiter ---js', openWith('---js'), 'bad-delimiter 1:1'],
    ['the parser rejects the opening delimiter ---json', '---json\n{"id": "a"}\n---\nHello.\n', 'bad-delimiter 1:1'],
    ['the parser rejects the opening delimiter --- yaml', openWith('--- yaml'), 'bad-delimiter 1:1'],
    ['the parser rejects a comment after the opening delimiter', openWith('--- # c'), 'bad-delimiter 1:1'],
    ['the parser rejects the closing delimiter --- end', '---\nid: a\n--- end\nHello.', 'bad-delimiter 3:1'],
    ['the parser rejects a no-break space after the opening delimiter', openWith('---\u00a0'), 'bad-delimiter 1:1'],
    ['the parser rejects the line ---x inside the front matter', makeSource('---x\n'), 'bad-delimiter 5:1'],
    ['the parser rejects a line of four dashes inside the front matter', makeSource('----\n'), 'bad-delimiter 5:1'],
    ['the parser rejects the line --- a inside the front matter', makeSource('--- a\n'), 'bad-delimiter 5:1'],
    ['the parser rejects a file that contains only the opening delimiter', '---', 'unclosed-front-matter 1:1'],
    [
      'the parser rejects front matter without a closing delimiter',
      `---\n${REQUIRED_FIELDS}`,
      'unclosed-front-matter 1:1',
    ],
    [
      'the parser does not accept an indented line as the closing delimiter',
      `---\n${REQUIRED_FIELDS} ---\nHello.`,
      'unclosed-front-matter 1:1',
    ],
  ];
  test.each(wrong)('%s', (_, source, expected) => {
    expect(summarizeProblems(parse(source).problems)).toContain(`prompt/${expected}`);
    expect(parse(source).file).toBeNull();
    expect(summarizeProblems(parse(source.replaceAll('\n', '\r\n')).problems)).toContain(`prompt/${expected}`);
  });

  test('the parser names an extra carriage return after the opening delimiter', () => {
    expect(summarizeProblems(parse(openWith('---\r\r')).problems)).toContain('yaml/look-alike 1:4');
  });

  test('the parser reports every required field as missing if the front matter is empty', () => {
    const expected = ['prompt/missing-id 2:1', 'prompt/missing-field 2:1', 'prompt/missing-field 2:1'];
    expect(summarizeProblems(parse('---\n---\nHello.').problems)).toEqual(expected);
    expect(summarizeProblems(parse('---\n# comment\n\n---\nHello.').problems)).toEqual(expected);
  });

  test('the parser does not treat --- inside a value as the closing delimiter', () => {
    expect(parseValidFile(makeSource('description: |\n  a\n  ---\n  b\n')).description).toBe('a\n---\nb\n');
  });
});

describe('front matter with code', () => {
  const EVIL = 'globalThis.evaluated = true;';
  const scope = globalThis as { evaluated?: boolean };
  afterEach(() => {
    delete scope.evaluated;
  });

  test.each(['---js', '---javascript', '--- js', '---coffee', '---json', '---yaml', '---toml', '---'])(
    'the parser does not execute code in a file that begins with %s',
    (opening) => {
      parse(`${opening}\n${EVIL}\n---\nHello.`);
      parse(`${opening}\nid: !!js/function 'function () { ${EVIL} }'\n---\nHello.`);
      parse(`${opening}\n{"a": ${EVIL}}\n---\nHello.`);
      expect(scope.evaluated).toBeUndefined();
    },
  );

  test('the parser does not execute code in a second front matter block in the body', () => {
    expect(parseValidFile(makeSource('', `---js\n${EVIL}\n---\n`)).content.text).toContain(EVIL);
    expect(scope.evaluated).toBeUndefined();
  });

  test('the parser does not use the shared cache of the gray-matter library', () => {
    const cache = (matter as unknown as { cache: Record<string, unknown> }).cache;
    const before = Object.keys(cache).length;
    const source = makeSource('metadata: {a: [1]}\n');
    const first = parseValidFile(source);
    (first.content.metadata as { a: number[] }).a.push(2);
    expect(parseValidFile(source).content.metadata).toEqual({ a: [1] });
    expect(Object.keys(cache)).toHaveLength(before);
  });
});

describe('the size limit of front matter', () => {
  /** Makes front matter of exactly the maximum size. The newline before the closing delimiter does not count. */
  const makeLargestSource = (twoBytes: string) => makeSource(`# x${twoBytes.repeat(32_754)}\n`, 'x\n'.repeat(65_536));

  test.each(['xx', 'é'])(
    'the parser accepts 64 KiB of front matter filled with %s but rejects more, with either LF or CRLF line endings',
    (twoBytes) => {
      const source = makeLargestSource(twoBytes);
      expect(Buffer.byteLength(source.split('---\n')[1]?.slice(0, -1) ?? '')).toBe(64 * 1024);
      for (const ending of ['\n', '\r\n']) {
        const [fits, over] = [source, source.replace('# ', '#  ')].map((one) => parse(one.replaceAll('\n', ending)));
        expect(fits?.problems).toEqual([]);
        expect(summarizeProblems(over?.problems ?? [])).toEqual(['prompt/front-matter-too-large 1:1']);
      }
    },
  );
});

describe('blank lines in front matter', () => {
  test.each(['\n', ' \n', '\u2028'])('the parser accepts 20 blank lines that end with %j, but not 21', (blankLine) => {
    const makeBlankLines = (count: number) => makeSource(`# a\n${blankLine.repeat(count)}# b\n`);
    const codesOf = (count: number) => parse(makeBlankLines(count)).problems.map(({ code }) => code);
    expect(codesOf(20)).not.toContain('prompt/too-many-blank-lines');
    expect(codesOf(21)).toContain('prompt/too-many-blank-lines');
  });

  test('the error names the first of the blank lines', () => {
    const problems = parse(`---\n${REQUIRED_FIELDS}${'\n'.repeat(21)}# b\n---\nHello.`).problems;
    expect(summarizeProblems(problems)).toEqual(['prompt/too-many-blank-lines 5:1']);
  });

  test('the parser accepts any number of blank lines in the text', () => {
    expect(parseValidFile(makeSource('', `a${'\n'.repeat(100)}b`)).content.text).toContain('\n'.repeat(100));
  });
});

test.each([79, 80, 81, 100_000])(
  'the error message quotes at most 80 characters of an invalid delimiter line that is %i characters long',
  (length) => {
    const line = '---'.padEnd(length, 'x');
    const excerpt = length > 80 ? `${line.slice(0, 80)}…` : line;
    expect(parse(`${line}\n`).problems).toMatchObject([
      { message: `The line "${excerpt}" is not a valid front matter delimiter.` },
    ]);
  },
);

const emptyEngines = { yaml: () => ({}), json: () => ({}), javascript: () => ({}) };
const anyLines = fc
  .array(
    fc.oneof(fc.constantFrom('---', ' ---', '--', '', 'a: 1', '# c', '\r', '\ufeff'), fc.string({ unit: 'binary' })),
  )
  .map((all) => all.join('\n'));

test('splitFrontMatter returns the same body as the gray-matter library for random files', () => {
  fc.assert(
    fc.property(anyLines, anyLines, (yaml, body) => {
      const split = splitFrontMatter(`---\na: 1\n${yaml}\n---\n${body}`, 'x.md');
      fc.pre(split.isSuccess && split.value.yaml === `a: 1\n${yaml}`);
      expect(split).toHaveProperty('value.body', matter(`---\na: 1\n---\n${body}`, { engines: emptyEngines }).content);
    }),
  );
});

describe('the text of a prompt file', () => {
  const bodyCases: readonly (readonly [string, string, string])[] = [
    ['the parser reads the body of the file as the prompt text', 'Hello.', 'Hello.'],
    ['the parser removes trailing line breaks from the text', 'Hello.\n\n\n', 'Hello.'],
    ['the parser keeps blank lines within the text', 'a\n\nb\n\n', 'a\n\nb'],
    ['the parser removes one blank line after the front matter', '\nHello.\n', 'Hello.'],
    ['the parser keeps a second blank line after the front matter', '\n\nHello.\n', '\nHello.'],
    ['the parser keeps a line of spaces after the front matter', '  \nHello.\n', '  \nHello.'],
    ['the parser keeps leading and trailing spaces in the text', '  Hello.  \n', '  Hello.  '],
    ['the parser keeps --- lines in the text', '---\nHello.\n---\n', '---\nHello.\n---'],
    ['the parser keeps text that looks like a second front matter block', '---js\nx\n---\n', '---js\nx\n---'],
    [
      'the parser keeps a heading underline that looks like a merge conflict marker',
      'A\n=======\nB\n',
      'A\n=======\nB',
    ],
    ['the parser keeps a lone carriage return in the text', 'a\rb\n', 'a\rb'],
    ['the parser keeps a byte order mark inside the text', '\n\ufeffa\n', '\ufeffa'],
    ['the parser preserves the Unicode normalization form of the text', 'e\u0301é\n', 'e\u0301é'],
    [
      'the parser leaves braces and placeholders in the text unchanged',
      'Dear {{ name }}, {{{x}}}\n',
      'Dear {{ name }}, {{{x}}}',
    ],
  ];
  test.each(bodyCases)('%s, both with LF and with CRLF', (_, body, expected) => {
    const content = { text: expected, digest: computeContentDigest(expected) };
    expect(parseValidFile(makeSource('', body)).content).toMatchObject(content);
    expect(parseValidFile(makeSource('', body).replaceAll('\n', '\r\n')).content).toMatchObject(content);
  });

  test('the parser ignores a byte order mark at the start of the file', () => {
    expect(parseValidFile(`\ufeff${makeSource()}`)).toEqual(parseValidFile(makeSource()));
  });

  test('the parser accepts spaces and tabs after both delimiters', () => {
    expect(parseValidFile(`--- \t\n${REQUIRED_FIELDS}---\t \nHello.`).content.text).toBe('Hello.');
  });
});

describe('an empty body', () => {
  test.each([
    ['the parser rejects a file with an empty body', '', 'prompt/empty-body 6:1'],
    ['the parser rejects a body that contains only newlines', '\n\n\n', 'prompt/empty-body 6:1'],
    ['the parser rejects a body that contains only whitespace', ' \t\u00a0\u3000\n\n', 'prompt/empty-body 6:1'],
    ['the parser rejects a body that contains only a carriage return', '\r', 'prompt/empty-body 6:1'],
  ])('%s', (_, body, expected) => {
    expect(summarizeProblems(parse(makeSource('', body)).problems)).toContain(expected);
    expect(parse(makeSource('', body)).file).toBeNull();
  });
});
