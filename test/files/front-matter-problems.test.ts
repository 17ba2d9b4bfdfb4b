import { describe, expect, test } from 'vitest';
import { splitFrontMatter } from '../../src/files/front-matter.ts';
import { PATH } from './support.ts';

const said = (source: string) => splitFrontMatter(source, PATH).problems.map(({ message }) => message);

describe('A delimiter line that is wrong', () => {
  const LONGEST_SHOWN = 80;
  const lineOf = (length: number) => '---'.padEnd(length, 'x');

  test.each([
    ['the opening line', '---js\nid: a\n---\nHello.', '---js'],
    ['the closing line', '---\nid: a\n--- end\nHello.', '--- end'],
    ['a line of 79 characters', `${lineOf(LONGEST_SHOWN - 1)}\n`, lineOf(LONGEST_SHOWN - 1)],
    ['a line of 80 characters', `${lineOf(LONGEST_SHOWN)}\n`, lineOf(LONGEST_SHOWN)],
  ])('is shown as it is: %s', (_, source, line) => {
    expect(said(source)).toEqual([`The delimiter line is "${line}".`]);
  });

  test.each([LONGEST_SHOWN + 1, 100_000])('is shown with its beginning and an ellipsis: one of %i', (length) => {
    expect(said(lineOf(length))).toEqual([`The delimiter line is "${lineOf(LONGEST_SHOWN)}…".`]);
  });
});

test('front matter that is too large is told with its size and the limit, counted in bytes', () => {
  const source = `---\n${'é'.repeat(40_000)}\n---\nHello.`;
  expect(said(source)).toEqual(['The front matter has 80000 bytes; at most 65536 are allowed.']);
});

describe('A file that is split', () => {
  test.each([
    ['with text', '---\nid: a\nkey: b\n---\nHello.\n', { yaml: 'id: a\nkey: b', body: 'Hello.\n', bodyLine: 5 }],
    ['with a blank line first', '---\nid: a\n---\n\nHello.\n', { yaml: 'id: a', body: '\nHello.\n', bodyLine: 4 }],
    ['with blanks after its delimiters', '--- \nid: a\n---\t\nHello.', { yaml: 'id: a', body: 'Hello.', bodyLine: 4 }],
    ['without text', '---\nid: a\n---', { yaml: 'id: a', body: '', bodyLine: 4 }],
    ['without front matter between its delimiters', '---\n---\nHello.', { yaml: '', body: 'Hello.', bodyLine: 3 }],
    ['with blank lines alone', '---\n\n\n---\nHello.', { yaml: '\n', body: 'Hello.', bodyLine: 5 }],
    [
      'with delimiters in its text',
      '---\nid: a\n---\nx\n---\ny\n',
      { yaml: 'id: a', body: 'x\n---\ny\n', bodyLine: 4 },
    ],
  ])('has its two parts as they are written, and no problem: %s', (_, source, parts) => {
    expect(splitFrontMatter(source, PATH)).toEqual({ parts, problems: [] });
  });
});
