import { describe, expect, test } from 'vitest';
import { showHidden } from '../../../src/text.ts';
import { renderCodeBlock, renderCodeSpan, escapeHtml, escapeLine } from '../../../src/report/escape.ts';
import { markup, NO_MARKUP } from '../../../src/report/formats/html-markup.ts';
import { anyMarkdown, NASTY } from './nasty-markdown.ts';
import { testTexts } from '../support.ts';
import { readMarkdown, type ReadMarkdown, SAFE_HTML } from '../../support/markdown.ts';

/** Returns what readers see: all characters, pipes as escapes, and a text of blanks in quotes. */
function shownInCode(text: string): string {
  const shown = escapeLine(text).replaceAll('|', '\\u{7c}');
  return shown.trim() === '' ? `"${shown}"` : shown;
}

/** Parses a value in all its places: alone, in a sentence, in a list, and in both cells of a table row. */
function readSpan(text: string): readonly ReadMarkdown[] {
  const code = renderCodeSpan(text);
  const table = `| a | b |\n| --- | --- |\n| ${code} | x ${code} y |\n`;
  return [code, `x ${code} y`, `- ${code}: y`, table].map(readMarkdown);
}

function spanOf(text: string) {
  const read = (spanCount: number, texts: readonly string[]) => {
    return { spans: Array.from({ length: spanCount }, () => shownInCode(text)), texts, html: [], addresses: [] };
  };
  return [read(1, []), read(1, ['x ', ' y']), read(1, [': y']), read(2, ['a', 'b', 'x ', ' y'])];
}

testTexts('codeSpan writes one code span in a paragraph, a list and a table for', NASTY, anyMarkdown, (text) => ({
  found: readSpan(text),
  wanted: spanOf(text),
}));

function readBlock(text: string): ReadMarkdown {
  return readMarkdown(`before\n\n${renderCodeBlock(text.split('\n'), 'diff')}\n\nafter`);
}

function blockOf(text: string) {
  const kinds = ['root', 'paragraph', 'text', 'code'];
  const blocks = [{ lang: 'diff', meta: null, value: showHidden(text) }];
  return { kinds, blocks, texts: ['before', 'after'], unclosed: [] };
}

const compareBlock = (text: string) => ({ found: readBlock(text), wanted: blockOf(text) });
testTexts('codeBlock writes one fenced block for', NASTY, anyMarkdown, compareBlock);

test('renderCodeBlock uses a fence of three backticks for a line with 300,000 separate backticks', () => {
  expect(renderCodeBlock(['` '.repeat(300_000)], 'diff')).toMatch(/^```diff\n/);
});

function decode(html: string): string {
  return html.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
}

describe('escapeHtml', () => {
  const SAFE_TEXT = new RegExp(`^${SAFE_HTML}$`);

  testTexts('escapeHtml keeps the whole value inside its element for', NASTY, anyMarkdown, (text) => {
    const html = escapeHtml(text);
    return {
      found: { isSafe: SAFE_TEXT.test(html), shown: decode(html) },
      wanted: { isSafe: true, shown: escapeLine(text) },
    };
  });
});

test.each([
  ['markup() escapes HTML tags', '<b>', '&#60;b&#62;'],
  ['markup() escapes entities, and quotes that could end an attribute', '&"\'', '&#38;&#34;&#39;'],
  ['markup() escapes a runner command in the old syntax', '##[error]', '##&#91;error]'],
  ['markup() escapes a runner command on any line', 'a\n  ::error::x', 'a\n  &#58;:error::x'],
  ['markup() shows hidden characters', '\u202e\u0000\r', '\\u{202e}\\u{0}\\u{d}'],
  ['markup() keeps line feeds, tabs and numbers', 'a\n\tb7', 'a\n\tb7'],
  ['markup() inserts markup without escaping it again', markup`<b>${'&'}</b>`, '<b>&#38;</b>'],
  ['markup() joins a list of fragments', [markup`<i>`, NO_MARKUP, markup`</i>`], '<i></i>'],
])('%s', (_, value, html) => {
  expect(markup`(${value})`).toEqual({ html: `(${html})` });
});
