import { describe, expect, test } from 'vitest';
import { expectInert, readMarkdown } from './markdown.ts';

const ADDRESS = 'https://github.com/acme/prompts/actions/runs/1';
const DIGEST = `sha256:${'0'.repeat(64)}`;
const summary = (html: string) =>
  `<details><summary><code>${html}</code> <code>b</code></summary>\n\nx\n\n</details>\n`;

describe('A page is inert', () => {
  test.each([
    [
      'our own comments at the top',
      `<!-- promptsync 0123456789abcdef -->\n<!-- plan ${DIGEST} 0123456789abcdef -->\n### promptsync plan\n`,
    ],
    ['values in code', '- `@octocat` #`1` ``#1 ` https://evil.example``\n\n```diff\n@octocat\n<b>\n```\n'],
    ['a value in HTML', summary('&#60;a&#62; &#64;octocat #1')],
    ['a table', '| a | b |\n| --- | --- |\n| `x` | `y` (blocked) |\n'],
    ['a note, and a link to an address that is given', `> [!NOTE]\n> See [run](${ADDRESS}).\n`],
  ])('with %s', (_, markdown) => {
    expect(() => expectInert(markdown, [ADDRESS])).not.toThrow();
  });

  test.each([
    ['a mention', 'by @octocat'],
    ['an issue', 'fixes #1'],
    ['an issue by its other name', 'fixes GH-1'],
    ['an address', 'see https://evil.example'],
    ['an address without a scheme', 'see www.evil.example'],
    ['an address of mail', 'ada@example.com'],
    ['a link to elsewhere', '[run](https://evil.example)'],
    ['an image', '![run](https://github.com/acme/prompts/actions/runs/1)'],
    ['a definition', '[x]: https://evil.example'],
    ['a footnote', 'x[^1]\n\n[^1]: y'],
    ['formatting', 'a **b** c'],
    ['a rule', 'a\n\n---\n'],
    ['HTML within a line', 'a <b>c</b>'],
    ['HTML of its own', '<script>alert(1)</script>'],
    ['a comment of ours further down', '### x\n\ny\n\n<!-- promptsync 0123456789abcdef -->\n'],
    ['a comment of others', '<!-- evil -->'],
    ['a mention in HTML', summary('@octocat')],
    ['an element in HTML', summary('<b>')],
    ['an entity that is not one of ours in HTML', summary('&lt;')],
    ['a fence that is open', 'a\n\n```text\nb\n'],
    ['a fence that a shorter one does not close', '````text\nb\n```\n'],
    ['indented code', 'a\n\n    b\n'],
    ['details that are open', '<details><summary><code>a</code> <code>b</code></summary>\n\nx\n'],
    ['details within details', summary('a').replace('x', summary('a').trim())],
    ['details that only end', 'a\n\n</details>\n'],
    ['hidden characters, even in code', '`a\u200bb`'],
    ['a carriage return', 'a\rb'],
  ])('not with %s', (_, markdown) => {
    expect(() => expectInert(markdown, [ADDRESS])).toThrow();
  });
});

test('Markdown is read as GitHub reads it', () => {
  const read = readMarkdown('a `b` https://c.example <i>\n\n| d |\n| --- |\n| `e` |\n\n```diff\nf\n```\n\n~~~\ng\n');
  expect(read).toMatchObject({
    ...{ spans: ['b', 'e'], addresses: ['https://c.example'] },
    texts: ['a ', ' ', 'https://c.example', ' ', 'd'],
    ...{ html: [{ value: '<i>', line: 1 }], blocks: [{ lang: 'diff', value: 'f' }, { value: 'g' }], unclosed: ['~~~'] },
  });
});
