import fc from 'fast-check';
import matter from 'gray-matter';
import { afterEach, describe, expect, test } from 'vitest';
import { computeContentDigest } from '../../src/domain/content.ts';
import { splitFrontMatter } from '../../src/workspace/front-matter.ts';
import { runs } from '../support/seed.ts';
import { REQUIRED_FIELDS, parseValidFile, parse, makeSource, summarizeProblems } from './support.ts';

describe('the front matter delimiters', () => {
  const openWith = (delimiter: string) => makeSource().replace('---', delimiter);
  const wrong: readonly (readonly [string, string, string])[] = [
    ['the parser rejects a file with text but no front matter', 'Hello.\n', 'no-front-matter 1:1'],
    ['the parser rejects a blank line before the front matter', `\n${makeSource()}`, 'no-front-matter 1:1'],
    ['the parser rejects an opening delimiter with only two dashes', openWith('--'), 'no-front-matter 1:1'],
    ['the parser rejects an opening delimiter with four dashes', openWith('----'), 'bad-delimiter 1:1'],
    ['the parser rejects the opening delimiter ---js', openWith('---js'), 'bad-delimiter 1:1'],
    ['the parser rejects the closing delimiter --- end', '---\nid: a\n--- end\nHello.', 'bad-delimiter 3:1'],
    ['the parser rejects a no-break space after the opening delimiter', openWith('---\u00a0'), 'bad-delimiter 1:1'],
    ['the parser rejects the line ---x inside the front matter', makeSource('---x\n'), 'bad-delimiter 5:1'],
    ['the parser rejects a line of four dashes inside the front matter', makeSource('----\n'), 'bad-delimiter 5:1'],
    ['the parser rejects a file that contains only the opening delimiter', '---', 'unclosed-front-matter 1:1'],
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
});

test('the parser accepts 64 KiB of front matter but rejects more, with either LF or CRLF line endings', () => {
  // The newline before the closing delimiter does not count.
  const source = makeSource(`# x${'é'.repeat(32_754)}\n`, 'x\n'.repeat(65_536));
  expect(Buffer.byteLength(source.split('---\n')[1]?.slice(0, -1) ?? '')).toBe(64 * 1024);
  for (const ending of ['\n', '\r\n']) {
    const [fits, over] = [source, source.replace('# ', '#  ')].map((one) => parse(one.replaceAll('\n', ending)));
    expect(fits?.problems).toEqual([]);
    expect(summarizeProblems(over?.problems ?? [])).toEqual(['prompt/front-matter-too-large 1:1']);
  }
});

describe('blank lines in front matter', () => {
  test.each(['\n', ' \n', '\u2028'])(
    'the parser accepts 20 blank lines that end with %j, and reports the first of 21',
    (blankLine) => {
      const makeBlankLines = (count: number) => makeSource(`# a\n${blankLine.repeat(count)}# b\n`);
      const problemsOf = (count: number) => summarizeProblems(parse(makeBlankLines(count)).problems);
      expect(problemsOf(20)).not.toContain('prompt/too-many-blank-lines 6:1');
      expect(problemsOf(21)).toContain('prompt/too-many-blank-lines 6:1');
    },
  );

  test('the parser accepts any number of blank lines in the text', () => {
    expect(parseValidFile(makeSource('', `a${'\n'.repeat(100)}b`)).content.text).toContain('\n'.repeat(100));
  });
});

test('the error message quotes at most 80 characters of an invalid delimiter line', () => {
  const quoted = '---'.padEnd(80, 'x');
  expect(parse(`${quoted}\n`).problems[0]?.message).toContain(`The line "${quoted}" is`);
  expect(parse(`${quoted}x\n`).problems[0]?.message).toContain(`The line "${quoted}…" is`);
});

const anyLines = fc
  .array(fc.oneof(fc.constantFrom('---', ' ---', '--- \t', '', 'a: 1', '\r'), fc.string({ unit: 'binary' })))
  .map((all) => all.join('\n'));

test('splitFrontMatter finds the same front matter as gray-matter in any file', () => {
  const engines = { yaml: () => ({}), json: () => ({}), javascript: () => ({}) };
  fc.assert(
    fc.property(anyLines, (lines) => {
      const file = `---\n# c\n${lines}`;
      const split = splitFrontMatter(file, 'x.md');
      fc.pre(split.isSuccess);
      const { matter: frontMatter } = matter(file, { engines });
      const [, ...bodyLines] = file.slice(`---${frontMatter}\n`.length).split('\n');
      expect(split.value).toMatchObject({ yaml: frontMatter.slice(1), body: bodyLines.join('\n') });
    }),
    { numRuns: runs(1000) },
  );
});

describe('the text of a prompt file', () => {
  const bodyCases: readonly (readonly [string, string, string])[] = [
    ['the parser removes trailing line breaks from the text', 'Hello.\n\n\n', 'Hello.'],
    ['the parser removes one blank line after the front matter', '\nHello.\n', 'Hello.'],
    ['the parser keeps a second blank line after the front matter', '\n\nHello.\n', '\nHello.'],
    ['the parser keeps a line of spaces after the front matter', '  \nHello.\n', '  \nHello.'],
    ['the parser keeps leading and trailing spaces in the text', '  Hello.  \n', '  Hello.  '],
    ['the parser keeps --- lines in the text', '---\nHello.\n---\n', '---\nHello.\n---'],
    ['the parser keeps text that looks like a second front matter block', '---js\nx\n---\n', '---js\nx\n---'],
    ['the parser keeps a lone carriage return in the text', 'a\rb\n', 'a\rb'],
    ['the parser keeps a byte order mark inside the text', '\n\ufeffa\n', '\ufeffa'],
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

test.each([
  ['the parser rejects a file with an empty body', '', 'prompt/empty-body 6:1'],
  ['the parser rejects a body that contains only whitespace', ' \t\u00a0\u3000\n\n', 'prompt/empty-body 6:1'],
])('%s', (_, body, expected) => {
  expect(summarizeProblems(parse(makeSource('', body)).problems)).toContain(expected);
  expect(parse(makeSource('', body)).file).toBeNull();
});
