import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { contentDigest } from '../../src/domain/digest.ts';
import { withText } from '../../src/files/front-matter.ts';
import { BASIC, fileOf, parse, sourceOf, tell } from './support.ts';

const textIn = (body: string) => fileOf(sourceOf('', body)).content.text;

describe('the content of a file', () => {
  const bodies: readonly (readonly [string, string, string])[] = [
    ['is the body', 'Hello.', 'Hello.'],
    ['loses one final newline', 'Hello.\n', 'Hello.'],
    ['keeps a second final newline', 'Hello.\n\n', 'Hello.\n'],
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
  test.each(bodies)('%s', (_, body, expected) => {
    expect(textIn(body)).toBe(expected);
  });

  test.each(bodies)('in a file with CRLF: %s', (_, body, expected) => {
    const crlf = sourceOf('', body).replaceAll('\n', '\r\n');
    expect(fileOf(crlf).content).toEqual({ text: expected, digest: contentDigest(expected) });
  });

  test('is the same with a byte order mark before the file', () => {
    expect(fileOf(`\ufeff${sourceOf()}`)).toEqual(fileOf(sourceOf()));
  });

  test('may follow a closing line that ends with blanks', () => {
    expect(fileOf(`--- \t\n${BASIC}---\t \nHello.`).content.text).toBe('Hello.');
  });
});

const content = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.constantFrom('\n', '\n\n', '---', '---\n', '\n---\n', '---js\n', ' ', '\t', '{{x}}', '😀', '\ufeff', '\u2028'),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join('').replaceAll(/[\r\0]/g, ''))
  .filter((text) => text.isWellFormed() && text.trim() !== '' && !/[<|>]{7}/.test(text));

describe('writing a text and parsing the file', () => {
  test.each([
    ['LF', sourceOf()],
    ['CRLF', sourceOf().replaceAll('\n', '\r\n')],
    ['a byte order mark', `\ufeff${sourceOf()}`],
    ['comments and a long body', sourceOf('# a comment\n\n', 'a\n---\nb\n---\n')],
    ['no body', `---\n${BASIC}---`],
  ])('gives that text back, in a file with %s', (_, source) => {
    fc.assert(
      fc.property(content, (text) => {
        const written = withText(source, text);
        expect(fileOf(written).content.text).toBe(text);
        expect(withText(written, text)).toBe(written);
      }),
    );
  });

  test('leaves the front matter as it is, byte for byte', () => {
    const head = `--- \r\n# comment\r\n${BASIC}metadata:   {a:   1}\r\n---\t`;
    expect(withText(`${head}\nold\n`, 'new')).toBe(`${head}\n\nnew\n`);
    expect(withText(`\ufeff${head}\r\nold\r\n`, 'new')).toBe(`\ufeff${head}\r\n\nnew\n`);
  });

  test('of a file with CRLF keeps the digest', () => {
    fc.assert(
      fc.property(content, (text) => {
        const written = withText(sourceOf(), text);
        expect(fileOf(written.replaceAll('\n', '\r\n')).content).toEqual(fileOf(written).content);
      }),
    );
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
