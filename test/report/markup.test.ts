import { describe, expect, test } from 'vitest';
import { markup, nothing } from '../../src/report/html/markup.ts';

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
