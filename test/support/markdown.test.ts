import { describe, expect, test } from 'vitest';
import { expectInert, readMarkdown } from './markdown.ts';

const ADDRESS = 'https://github.com/acme/prompts/actions/runs/1';
const DIGEST = `sha256:${'0'.repeat(64)}`;
const summary = (html: string) =>
  `<details><summary><code>${html}</code> <code>b</code></summary>\n\nx\n\n</details>\n`;

describe('expectInert', () => {
  test.each([
    [
      'accepts promptsync HTML comments at the top of a document',
      `<!-- promptsync 0123456789abcdef -->\n<!-- plan ${DIGEST} 0123456789abcdef -->\n### promptsync plan\n`,
    ],
    [
      'accepts mentions, URLs and HTML tags inside code',
      '- `@octocat` #`1` ``#1 ` https://evil.example``\n\n```diff\n@octocat\n<b>\n```\n',
    ],
    ['accepts an escaped value in HTML', summary('&#60;a&#62; &#64;octocat #1')],
    ['accepts a table with values in code spans', '| a | b |\n| --- | --- |\n| `x` | `y` (blocked) |\n'],
    ['accepts a note and a link to an allowed address', `> [!NOTE]\n> See [run](${ADDRESS}).\n`],
  ])('expectInert %s', (_, markdown) => {
    expect(() => expectInert(markdown, [ADDRESS])).not.toThrow();
  });

  test.each([
    ['rejects a mention outside code', 'by @octocat'],
    ['rejects an issue reference outside code', 'fixes #1'],
    ['rejects an issue reference with the prefix GH-', 'fixes GH-1'],
    ['rejects a URL outside code', 'see https://evil.example'],
    ['rejects a URL without a scheme', 'see www.evil.example'],
    ['rejects an email address', 'ada@example.com'],
    ['rejects a link to a disallowed address', '[run](https://evil.example)'],
    ['rejects an image', '![run](https://github.com/acme/prompts/actions/runs/1)'],
    ['rejects a link reference definition', '[x]: https://evil.example'],
    ['rejects a footnote', 'x[^1]\n\n[^1]: y'],
    ['rejects bold text', 'a **b** c'],
    ['rejects a horizontal rule', 'a\n\n---\n'],
    ['rejects inline HTML', 'a <b>c</b>'],
    ['rejects an HTML block', '<script>alert(1)</script>'],
    [
      'rejects a promptsync HTML comment that is not at the top of the document',
      '### x\n\ny\n\n<!-- promptsync 0123456789abcdef -->\n',
    ],
    ['rejects an HTML comment that promptsync did not write', '<!-- evil -->'],
    ['rejects an unescaped mention inside an HTML element', summary('@octocat')],
    ['rejects an unescaped HTML tag inside a value', summary('<b>')],
    ['rejects an HTML entity that promptsync never writes', summary('&lt;')],
    ['rejects an unclosed code fence', 'a\n\n```text\nb\n'],
    ['rejects a code fence whose closing fence is too short', '````text\nb\n```\n'],
    ['rejects an indented code block', 'a\n\n    b\n'],
    ['rejects an unclosed details element', '<details><summary><code>a</code> <code>b</code></summary>\n\nx\n'],
    ['rejects nested details elements', summary('a').replace('x', summary('a').trim())],
    ['rejects a closing details tag without an opening tag', 'a\n\n</details>\n'],
    ['rejects hidden characters even in code', '`a\u200bb`'],
    ['rejects a carriage return', 'a\rb'],
  ])('expectInert %s', (_, markdown) => {
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
