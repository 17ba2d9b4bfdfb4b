import { describe, expect, test } from 'vitest';
import { showHidden } from '../../src/domain/text.ts';
import { codeBlock, codeSpan, escapeHtml, escapeLine } from '../../src/report/escape.ts';
import { markup, nothing } from '../../src/report/html/markup.ts';
import { anyMarkdown, NASTY } from './nasty-markdown.ts';
import { testTexts } from './support.ts';
import { readMarkdown, type ReadMarkdown, SAFE_HTML } from '../support/markdown.ts';

/** What readers see: every character, pipes by their number, and blanks alone in quotes. */
function shownInCode(text: string): string {
  const shown = escapeLine(text).replaceAll('|', '\\u{7c}');
  return shown.trim() === '' ? `"${shown}"` : shown;
}

/** Where a value stands on a page: alone, in a sentence, in a list, and in both cells of a table's row. */
function readSpan(text: string): readonly ReadMarkdown[] {
  const code = codeSpan(text);
  const table = `| a | b |\n| --- | --- |\n| ${code} | x ${code} y |\n`;
  return [code, `x ${code} y`, `- ${code}: y`, table].map(readMarkdown);
}

function spanOf(text: string) {
  const span = { spans: [shownInCode(text)], html: [], addresses: [] };
  return [
    { ...span, kinds: ['root', 'paragraph', 'inlineCode'], texts: [] },
    { ...span, kinds: ['root', 'paragraph', 'text', 'inlineCode'], texts: ['x ', ' y'] },
    { ...span, kinds: ['root', 'list', 'listItem', 'paragraph', 'inlineCode', 'text'], texts: [': y'] },
    {
      ...{ ...span, spans: [...span.spans, ...span.spans], texts: ['a', 'b', 'x ', ' y'] },
      kinds: ['root', 'table', 'tableRow', 'tableCell', 'text', 'inlineCode'],
    },
  ];
}

describe('A value in a line is one code span with all of it, in a paragraph, a list and a table', () => {
  testTexts(NASTY, anyMarkdown, (text) => ({ found: readSpan(text), wanted: spanOf(text) }), 200);

  test.each([
    ['a', '`a`'],
    ['a`b', '``a`b``'],
    ['`', '`` ` ``'],
    [' a ', '`  a  `'],
    [' a', '` a`'],
    ['', '`""`'],
    ['  ', '`"  "`'],
    ['a|b', '`a\\u{7c}b`'],
    ['a\nb', '`a\\u{a}b`'],
  ])('%j is written %s', (text, code) => {
    expect(codeSpan(text)).toBe(code);
  });
});

function readBlock(text: string): ReadMarkdown {
  return readMarkdown(`before\n\n${codeBlock(text.split('\n'), 'diff')}\n\nafter`);
}

function blockOf(text: string) {
  const kinds = ['root', 'paragraph', 'text', 'code'];
  const blocks = [{ lang: 'diff', meta: null, value: showHidden(text) }];
  return { kinds, blocks, texts: ['before', 'after'], unclosed: [] };
}

describe('Lines are one fenced block with all of them', () => {
  const look = (text: string) => ({ found: readBlock(text), wanted: blockOf(text) });
  testTexts(NASTY, anyMarkdown, look, 200);
  testTexts(NASTY, anyMarkdown, (text) => look(`-${text}\n+${text}`));

  test.each([3, 4, 5, 12])('lines that begin with %d backticks or tildes', (length) => {
    for (const character of ['`', '~']) {
      const run = character.repeat(length);
      const text = `${run}\na\n${run}text\n   ${run}\n${run}`;
      expect(readBlock(text)).toMatchObject(blockOf(text));
    }
  });

  test('as many runs of backticks as a long text can have', () => {
    expect(codeBlock(['` '.repeat(300_000)], 'diff')).toMatch(/^```diff\n/);
  });
});

function openingOf(html: string): string {
  return `<details><summary><code>${html}</code> <code>${html}</code></summary>`;
}

/** What a page with a value in its HTML is read as, and the value as a browser shows it. */
function readHtml(text: string) {
  const html = escapeHtml(text);
  const { html: raw, texts } = readMarkdown(`${openingOf(html)}\n\nx\n\n</details>\n`);
  const safe = new RegExp(`^${SAFE_HTML}$`).test(html);
  return { raw: raw.map(({ value }) => value), texts, safe, shown: decoded(html) };
}

function htmlOf(text: string) {
  return { raw: [openingOf(escapeHtml(text)), '</details>'], texts: ['x'], safe: true, shown: escapeLine(text) };
}

function decoded(html: string): string {
  return html.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
}

describe('A value within HTML leaves it as it is, and is all there', () => {
  testTexts(NASTY, anyMarkdown, (text) => ({ found: readHtml(text), wanted: htmlOf(text) }), 200);

  test('an at sign, which is a mention wherever HTML is not code', () => {
    expect(escapeHtml('<@octocat> & "`\'')).toBe('&#60;&#64;octocat&#62; &#38; &#34;&#96;&#39;');
  });
});

describe('What is put into markup is', () => {
  test.each([
    ['text: no element', '<b>', '&#60;b&#62;'],
    ['text: no entity', '&lt;', '&#38;lt;'],
    ['text: no end of an attribute', '"\'', '&#34;&#39;'],
    ['text: no command of a runner', '##[error]', '##&#91;error]'],
    ['text: no command of a runner in any line', 'a\n  ::error::x', 'a\n  &#58;:error::x'],
    ['text with what is hidden shown', '\u202e\u0000\r', '\\u{202e}\\u{0}\\u{d}'],
    ['text whose lines and tabs stay', 'a\n\tb', 'a\n\tb'],
    ['a number', 7, '7'],
    ['markup', markup`<b>${'&'}</b>`, '<b>&#38;</b>'],
    ['several of them', [markup`<i>`, nothing, markup`</i>`], '<i></i>'],
  ])('%s', (_, value, html) => {
    expect(markup`(${value})`).toEqual({ html: `(${html})` });
  });
});
