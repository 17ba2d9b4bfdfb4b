import { describe, expect, test } from 'vitest';
import { expectInert, readMarkdown } from './markdown.ts';

const ADDRESS = 'https://github.com/acme/prompts/actions/runs/1';
const DIGEST = `sha256:${'0'.repeat(64)}`;
const summary = (html: string) =>
  `<details><summary><code>${html}</code> <code>b</code></summary>\n\nx\n\n</details>\n`;

describe('expectInert', () => {
  test.each([
    [
      'expectInert accepts promptsync HTML comments at the top of a document',
      `<!-- promptsync 0123456789abcdef -->\n<!-- plan ${DIGEST} 0123456789abcdef -->\n### promptsync plan\n`,
    ],
    [
      'expectInert accepts mentions, URLs and HTML tags inside code',
      '- `@octocat` #`1` ``#1 ` https://evil.example``\n\n```diff\n@octocat\n<b>\n```\n',
    ],
    ['expectInert accepts an escaped value in HTML', summary('&#60;a&#62; &#64;octocat #1')],
    ['expectInert accepts a table with values in code spans', '| a | b |\n| --- | --- |\n| `x` | `y` (blocked) |\n'],
    ['expectInert accepts a note and a link to an allowed address', `> [!NOTE]\n> See [run](${ADDRESS}).\n`],
  ])('%s', (_, markdown) => {
    expect(() => expectInert(markdown, [ADDRESS])).not.toThrow();
  });

  test.each([
    ['expectInert rejects a mention outside code', 'by @octocat'],
    ['expectInert rejects an issue reference outside code', 'fixes #1'],
    ['expectInert rejects an issue reference with the prefix GH-', 'fixes GH-1'],
    ['expectInert rejects a URL outside code', 'see https://evil.example'],
    ['expectInert rejects a URL without a scheme', 'see www.evil.example'],
    ['expectInert rejects a link to a disallowed address', '[run](https://evil.example)'],
    ['expectInert rejects an image', '![run](https://github.com/acme/prompts/actions/runs/1)'],
    ['expectInert rejects bold text', 'a **b** c'],
    ['expectInert rejects inline HTML', 'a <b>c</b>'],
    [
      'expectInert rejects a promptsync HTML comment that is not at the top of the document',
      '### x\n\ny\n\n<!-- promptsync 0123456789abcdef -->\n',
    ],
    ['expectInert rejects an HTML comment that promptsync did not write', '<!-- evil -->'],
    ['expectInert rejects an unescaped mention inside an HTML element', summary('@octocat')],
    ['expectInert rejects an HTML entity that promptsync never writes', summary('&lt;')],
    ['expectInert rejects an unclosed code fence', 'a\n\n```text\nb\n'],
    ['expectInert rejects a code fence whose closing fence is too short', '````text\nb\n```\n'],
    ['expectInert rejects an indented code block', 'a\n\n    b\n'],
    [
      'expectInert rejects an unclosed details element',
      '<details><summary><code>a</code> <code>b</code></summary>\n\nx\n',
    ],
    ['expectInert rejects nested details elements', summary('a').replace('x', summary('a').trim())],
    ['expectInert rejects hidden characters even in code', '`a\u200bb`'],
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
