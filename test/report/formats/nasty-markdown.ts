import fc from 'fast-check';
import { HOSTILE } from '../corpus.ts';
import { anyText } from '../support.ts';

/** Texts with a special meaning in GitHub's Markdown. The keys say what they are. */
export const NASTY = {
  ...HOSTILE,
  'one backtick': '`',
  'seven backticks': '```````',
  'backticks inside a text': 'a`b```c',
  'backtick runs of every length': '` `` ``` ```` `````',
  'a backtick at the start': '`a',
  'a backtick at the end': 'a`',
  'spaces at both ends': ' a ',
  'a space before a backtick': ' `',
  'only spaces': '   ',
  'an empty text': '',
  'a pipe': 'a|b',
  'only pipes': '|||',
  'a backslash before a pipe': 'a\\|b\\\\|c',
  'two backslashes at the end': 'a\\\\',
  'a backslash before a backtick': '\\`a\\`',
  'line feeds': 'a\nb\n\nc\n',
  'CRLF line endings': 'a\r\nb',
  'closing tags of code and summary': '</code></summary></details>',
  'an HTML comment': '<!-- promptsync 0 -->',
  'the start of a comment': '<!--',
  'the end of a comment': '-->',
  'CDATA and a processing instruction': '<![CDATA[ ]]> <?php ?>',
  'an element': '<img src=x onerror=alert(1)>',
  'a mention': '@octocat',
  'a mention of a team': '@org/team',
  'an issue of another repository': 'org/repo#1 GH-1',
  'a commit': 'a'.repeat(40),
  'a URL': 'https://evil.example',
  'a URL without a scheme': 'www.evil.example',
  'a mail address': 'mailto:ada@example.com',
  'a javascript URL': 'javascript:alert(1)',
  'a link': '[x](javascript:alert(1))',
  'an image': '![x](y)',
  'a link definition': '[x]: y',
  'a footnote': '[^1]: x [^1]',
  'ATX headings': '# x\n## y',
  'Setext headings': 'x\n===\ny\n---',
  lists: '- x\n* y\n1. z\n- [ ] w',
  'a quote': '> [!CAUTION]\n> x',
  'a table': '| a |\n| --- |\n| b |',
  'a code fence': '```\nx\n```',
  'a code fence of tildes': '~~~\nx\n~~~',
  'a code fence with a language': '```mermaid\ngraph',
  'indented code': '    x\n\ty',
  entities: '&#64;x &lt;b&gt; &amp;#64;',
  'bold, italic and strikethrough': '**a** __b__ *c* ~~d~~',
  mathematics: '$math$ $$x$$ $`y`$',
  emoji: ':emoji:',
  'hard line breaks': 'a  \nb\\\nc',
} as const satisfies Record<string, string>;

/** Generates texts with many characters that have a meaning in Markdown. */
export const anyMarkdown = fc
  .array(
    fc.oneof(
      anyText,
      fc.constantFrom(...Object.values<string>(NASTY)),
      fc.constantFrom('`', '``', '```', '~~~', '|', '\\', ' ', '\n', '<', '>', '&', '@', '#1', '-', '*', '[', ']', '!'),
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.join(''));
