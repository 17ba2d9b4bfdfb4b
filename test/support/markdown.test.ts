import { describe, expect, test } from 'vitest';
import { expectInert, readMarkdown } from './markdown.ts';

const ADDRESS = 'https://github.com/acme/prompts/actions/runs/1';
const DIGEST = `sha256:${'0'.repeat(64)}`;
const summary = (html: string) =>
  `<details><summary><code>${html}</code> <code>b</code></summary>\n\nx\n\n</details>\n`;

describe('expectInert', () => {
  test.each([
    [
      'expectInert accepts the comments of promptsync at the top',
      `<!-- promptsync 0123456789abcdef -->\n<!-- plan ${DIGEST} 0123456789abcdef -->\n### promptsync plan\n`,
    ],
    [
      'expectInert accepts values in code',
      '- `@octocat` #`1` ``#1 ` https://evil.example``\n\n```diff\n@octocat\n<b>\n```\n',
    ],
    ['expectInert accepts an escaped value in HTML', summary('&#60;a&#62; &#64;octocat #1')],
    ['expectInert accepts a table with values in code', '| a | b |\n| --- | --- |\n| `x` | `y` (blocked) |\n'],
    ['expectInert accepts a note and a link to an allowed address', `> [!NOTE]\n> See [run](${ADDRESS}).\n`],
  ])('%s', (_, markdown) => {
    expect(() => expectInert(markdown, [ADDRESS])).not.toThrow();
  });

  test.each([
    ['expectInert rejects a mention', 'by @octocat'],
    ['expectInert rejects a reference to an issue', 'fixes #1'],
    ['expectInert rejects a reference to an issue with GH-', 'fixes GH-1'],
    ['expectInert rejects a URL', 'see https://evil.example'],
    ['expectInert rejects a URL without a scheme', 'see www.evil.example'],
    ['expectInert rejects a mail address', 'ada@example.com'],
    ['expectInert rejects a link to another address', '[run](https://evil.example)'],
    ['expectInert rejects an image', '![run](https://github.com/acme/prompts/actions/runs/1)'],
    ['expectInert rejects a link definition', '[x]: https://evil.example'],
    ['expectInert rejects a footnote', 'x[^1]\n\n[^1]: y'],
    ['expectInert rejects formatting', 'a **b** c'],
    ['expectInert rejects a horizontal rule', 'a\n\n---\n'],
    ['expectInert rejects HTML within a line', 'a <b>c</b>'],
    ['expectInert rejects an HTML block', '<script>alert(1)</script>'],
    ['expectInert rejects a promptsync comment further down', '### x\n\ny\n\n<!-- promptsync 0123456789abcdef -->\n'],
    ['expectInert rejects any other HTML comment', '<!-- evil -->'],
    ['expectInert rejects a mention in HTML', summary('@octocat')],
    ['expectInert rejects an element in a value', summary('<b>')],
    ['expectInert rejects an entity that promptsync never writes', summary('&lt;')],
    ['expectInert rejects a code fence that is not closed', 'a\n\n```text\nb\n'],
    ['expectInert rejects a code fence with a shorter closing fence', '````text\nb\n```\n'],
    ['expectInert rejects indented code', 'a\n\n    b\n'],
    [
      'expectInert rejects details that are not closed',
      '<details><summary><code>a</code> <code>b</code></summary>\n\nx\n',
    ],
    ['expectInert rejects nested details', summary('a').replace('x', summary('a').trim())],
    ['expectInert rejects a closing details tag without an opening one', 'a\n\n</details>\n'],
    ['expectInert rejects hidden characters even in code', '`a\u200bb`'],
    ['expectInert rejects a carriage return', 'a\rb'],
  ])('%s', (_, markdown) => {
    expect(() => expectInert(markdown, [ADDRESS])).toThrow();
  });
});

test('readMarkdown parses GitHub Flavored Markdown', () => {
  const read = readMarkdown('a `b` https://c.example <i>\n\n| d |\n| --- |\n| `e` |\n\n```diff\nf\n```\n\n~~~\ng\n');
  expect(read).toMatchObject({
    ...{ spans: ['b', 'e'], addresses: ['https://c.example'] },
    texts: ['a ', ' ', 'https://c.example', ' ', 'd'],
    ...{ html: [{ value: '<i>', line: 1 }], blocks: [{ lang: 'diff', value: 'f' }, { value: 'g' }], unclosed: ['~~~'] },
  });
});
