import { describe, expect, test } from 'vitest';
import { contentDigest } from '../../src/domain/digest.ts';
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
