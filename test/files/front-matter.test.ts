import fc from 'fast-check';
import matter from 'gray-matter';
import { afterEach, describe, expect, test } from 'vitest';
import { contentDigest } from '../../src/domain/digest.ts';
import { splitFrontMatter } from '../../src/files/front-matter.ts';
import { BASIC, fileOf, parse, sourceOf, tell } from './support.ts';

describe('the delimiter lines', () => {
  const wrong: readonly (readonly [string, string, string])[] = [
    ['an empty file has none', '', 'prompt/no-front-matter 1:1'],
    ['a text alone has none', 'Hello.\n', 'prompt/no-front-matter 1:1'],
    ['a blank line may not come first', `\n${sourceOf()}`, 'prompt/no-front-matter 1:1'],
    ['a blank may not come first', ` ${sourceOf()}`, 'prompt/no-front-matter 1:1'],
    ['one byte order mark is tolerated, not two', `\ufeff\ufeff${sourceOf()}`, 'prompt/no-front-matter 1:1'],
    ['two dashes are not enough', sourceOf().replace('---', '--'), 'prompt/no-front-matter 1:1'],
    ['four dashes are too many', sourceOf().replace('---', '----'), 'prompt/bad-delimiter 1:1'],
    ['---js is not one', sourceOf().replace('---', '---js'), 'prompt/bad-delimiter 1:1'],
    ['---json is not one', '---json\n{"id": "a"}\n---\nHello.\n', 'prompt/bad-delimiter 1:1'],
    ['---yaml is not one', sourceOf().replace('---', '---yaml'), 'prompt/bad-delimiter 1:1'],
    ['--- yaml is not one', sourceOf().replace('---', '--- yaml'), 'prompt/bad-delimiter 1:1'],
    ['--- # is not one', sourceOf().replace('---', '--- # c'), 'prompt/bad-delimiter 1:1'],
    ['--- end is not one', '---\nid: a\n--- end\nHello.', 'prompt/bad-delimiter 3:1'],
    ['a no-break space is no blank', sourceOf().replace('---', '---\u00a0'), 'prompt/bad-delimiter 1:1'],
    ['a lone carriage return is no blank', sourceOf().replace('---', '---\r\r'), 'prompt/bad-delimiter 1:1'],
    ['---x inside is not one', sourceOf('---x\n'), 'prompt/bad-delimiter 5:1'],
    ['---- inside is not one', sourceOf('----\n'), 'prompt/bad-delimiter 5:1'],
    ['--- a inside is not one', sourceOf('--- a\n'), 'prompt/bad-delimiter 5:1'],
    ['a file of one delimiter is not closed', '---', 'prompt/unclosed-front-matter 1:1'],
    ['a line too little is not closed', `---\n${BASIC}`, 'prompt/unclosed-front-matter 1:1'],
    ['an indented line does not close', `---\n${BASIC} ---\nHello.`, 'prompt/unclosed-front-matter 1:1'],
  ];
  test.each(wrong)('%s', (_, source, expected) => {
    expect(tell(parse(source).problems)).toContain(expected);
    expect(parse(source).file).toBeNull();
    expect(tell(parse(source.replaceAll('\n', '\r\n')).problems)).toContain(expected);
  });

  test('front matter may be empty, and its fields are missed then', () => {
    const expected = ['prompt/missing-id 2:1', 'prompt/missing-field 2:1', 'prompt/missing-field 2:1'];
    expect(tell(parse('---\n---\nHello.').problems)).toEqual(expected);
    expect(tell(parse('---\n# comment\n\n---\nHello.').problems)).toEqual(expected);
  });

  test('--- inside a value does not close', () => {
    expect(fileOf(sourceOf('description: |\n  a\n  ---\n  b\n')).description).toBe('a\n---\nb\n');
  });
});

describe('front matter is data', () => {
  const EVIL = 'globalThis.evaluated = true;';
  const scope = globalThis as { evaluated?: boolean };
  afterEach(() => {
    delete scope.evaluated;
  });

  test.each(['---js', '---javascript', '--- js', '---coffee', '---json', '---yaml', '---toml', '---'])(
    'of a file that begins with %s nothing is run',
    (opening) => {
      parse(`${opening}\n${EVIL}\n---\nHello.`);
      parse(`${opening}\nid: !!js/function 'function () { ${EVIL} }'\n---\nHello.`);
      parse(`${opening}\n{"a": ${EVIL}}\n---\nHello.`);
      expect(scope.evaluated).toBeUndefined();
    },
  );

  test('a second front matter in the body is not run', () => {
    expect(fileOf(sourceOf('', `---js\n${EVIL}\n---\n`)).content.text).toContain(EVIL);
    expect(scope.evaluated).toBeUndefined();
  });

  test("gray-matter's shared cache is neither written nor read", () => {
    const cache = (matter as unknown as { cache: Record<string, unknown> }).cache;
    const before = Object.keys(cache).length;
    const source = sourceOf('metadata: {a: [1]}\n');
    const first = fileOf(source);
    (first.content.metadata as { a: number[] }).a.push(2);
    expect(fileOf(source).content.metadata).toEqual({ a: [1] });
    expect(Object.keys(cache)).toHaveLength(before);
  });
});

describe('the size of front matter', () => {
  /** As large as it may be, with a comment: the newline before the closing line is not part of it. */
  const most = (twoBytes: string) => sourceOf(`# x${twoBytes.repeat(32_754)}\n`, 'x\n'.repeat(65_536));

  test.each(['xx', 'é'])('is at most 64 KiB in %s, whatever its line endings and its body', (twoBytes) => {
    const source = most(twoBytes);
    expect(Buffer.byteLength(source.split('---\n')[1]?.slice(0, -1) ?? '')).toBe(64 * 1024);
    for (const ending of ['\n', '\r\n']) {
      const [fits, over] = [source, source.replace('# ', '#  ')].map((one) => parse(one.replaceAll('\n', ending)));
      expect(fits?.problems).toEqual([]);
      expect(tell(over?.problems ?? [])).toEqual(['prompt/front-matter-too-large 1:1']);
    }
  });
});

test.each([79, 80, 81, 100_000])('a delimiter line of %i characters is shown with 80 of them', (length) => {
  const line = '---'.padEnd(length, 'x');
  const shown = length > 80 ? `${line.slice(0, 80)}…` : line;
  expect(parse(`${line}\n`).problems).toMatchObject([{ message: `The delimiter line is "${shown}".` }]);
});

const emptyEngines = { yaml: () => ({}), json: () => ({}), javascript: () => ({}) };
const anyLines = fc
  .array(
    fc.oneof(fc.constantFrom('---', ' ---', '--', '', 'a: 1', '# c', '\r', '\ufeff'), fc.string({ unit: 'binary' })),
  )
  .map((all) => all.join('\n'));

test('the body is what gray-matter takes for it', () => {
  fc.assert(
    fc.property(anyLines, anyLines, (yaml, body) => {
      const split = splitFrontMatter(`---\na: 1\n${yaml}\n---\n${body}`, 'x.md');
      fc.pre('yaml' in split && split.yaml === `a: 1\n${yaml}`);
      expect(split).toHaveProperty('body', matter(`---\na: 1\n---\n${body}`, { engines: emptyEngines }).content);
    }),
  );
});

describe('the content of a file', () => {
  const bodies: readonly (readonly [string, string, string])[] = [
    ['is the body', 'Hello.', 'Hello.'],
    ['loses the line breaks at its end', 'Hello.\n\n\n', 'Hello.'],
    ['keeps blank lines within', 'a\n\nb\n\n', 'a\n\nb'],
    ['loses one blank line after the front matter', '\nHello.\n', 'Hello.'],
    ['keeps a second blank line after the front matter', '\n\nHello.\n', '\nHello.'],
    ['keeps blanks on the line after the front matter', '  \nHello.\n', '  \nHello.'],
    ['keeps blanks around it', '  Hello.  \n', '  Hello.  '],
    ['keeps lines of ---', '---\nHello.\n---\n', '---\nHello.\n---'],
    ['keeps what looks like front matter', '---js\nx\n---\n', '---js\nx\n---'],
    ['keeps what looks like a heading or a conflict', 'A\n=======\nB\n', 'A\n=======\nB'],
    ['keeps a lone carriage return', 'a\rb\n', 'a\rb'],
    ['keeps a byte order mark inside', '\n\ufeffa\n', '\ufeffa'],
    ['keeps the normal form it has', 'e\u0301é\n', 'e\u0301é'],
    ['keeps braces and placeholders', 'Dear {{ name }}, {{{x}}}\n', 'Dear {{ name }}, {{{x}}}'],
  ];
  test.each(bodies)('%s, with LF and with CRLF', (_, body, expected) => {
    const content = { text: expected, digest: contentDigest(expected) };
    expect(fileOf(sourceOf('', body)).content).toMatchObject(content);
    expect(fileOf(sourceOf('', body).replaceAll('\n', '\r\n')).content).toMatchObject(content);
  });

  test('is the same with a byte order mark before the file', () => {
    expect(fileOf(`\ufeff${sourceOf()}`)).toEqual(fileOf(sourceOf()));
  });

  test('may follow a closing line that ends with blanks', () => {
    expect(fileOf(`--- \t\n${BASIC}---\t \nHello.`).content.text).toBe('Hello.');
  });
});

describe('a body', () => {
  test.each([
    ['that is not there', '', 'prompt/empty-body 6:1'],
    ['of newlines', '\n\n\n', 'prompt/empty-body 6:1'],
    ['of white space', ' \t\u00a0\u3000\n\n', 'prompt/empty-body 6:1'],
    ['of a lone carriage return', '\r', 'prompt/empty-body 6:1'],
  ])('%s is empty', (_, body, expected) => {
    expect(tell(parse(sourceOf('', body)).problems)).toContain(expected);
    expect(parse(sourceOf('', body)).file).toBeNull();
  });
});
