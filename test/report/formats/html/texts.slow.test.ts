import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { edited } from './everything.ts';
import { pageOf } from './pages.ts';
import { clickControl } from './reading.ts';
import { describeInBrowser, openPage } from '../../../support/browser.ts';

const [BEFORE, AFTER] = edited({ 2: 'Another second line.', 12: '', 20: 'The last one.\n\nAnd more.' });

/** A chat prompt that changes, gains and loses messages. */
const CHAT = [
  '{{role "system"}}\nBe kind.\n\n{{role "assistant"}}\nHello!\n\n{{role "user"}}\n{{question}}',
  '{{role "system"}}\nBe very kind.\n\n{{placeholder "history"}}\n\n{{role "user"}}\n{{question}}\n\n{{role "user"}}',
] as const;

const TEXTS: Readonly<Record<string, readonly [before: string | null, after: string]>> = {
  'of twenty lines with changes at three places': [BEFORE, AFTER],
  'of one line': ['One line.', 'Another line.'],
  'that is new': [null, 'A first text.\nIn two lines.'],
  'with blank lines at both ends': ['\n\na\n', '\n\nb\n\n'],
  'with leading blanks and tabs': ['  a\n\tb', '    a\n\t\tb'],
  'that has lost lines': ['a\nb\nc\nd', 'a\nd'],
  'that has nothing in common with the old one': ['one\ntwo', 'three\nfour'],
  'in Japanese': ['お客様に丁寧に挨拶し', 'お客様に簡潔に挨拶し'],
  'in Arabic and English': ['مرحبا بكم\nend', 'أهلا بكم\nend'],
  'with placeholders and markup': ['<b>{{a}}</b> &amp;', '<b>{{b}}</b> &lt;'],
  'with invisible differences next to a changed line': ['caf\u00e9\nold\na b\n', 'cafe\u0301\nnew\na\u00a0b\n'],
  'with an invisible difference': ['caf\u00e9', 'cafe\u0301'],
  'of a chat prompt': CHAT,
};

async function open(text: readonly [string | null, string], view = 'unified') {
  const type = text === CHAT ? 'chat' : 'text';
  const opened = await openPage(pageOf({ one: { type, serves: { staging: [1, 'new'] }, text } }));
  await clickControl(opened.page, view);
  return opened;
}

/** Returns the text of the visible elements. */
function textIn(page: Page, selector: string): Promise<string> {
  return page.evaluate((selector) => {
    const parts = [...document.querySelectorAll(selector)].filter((part) => part.checkVisibility());
    return parts.map(({ textContent }) => textContent ?? '').join('');
  }, selector);
}

async function unfold(page: Page): Promise<void> {
  await page
    .locator('.fold > summary')
    .evaluateAll((folds) => folds.forEach((fold) => fold.dispatchEvent(new MouseEvent('click'))));
}

const OLD = '.text del, .text > span:not(.copy), .fold > span:not(.copy)';
const NEW = '.text ins, .text > span:not(.copy), .fold > span:not(.copy)';

describeInBrowser.each(Object.entries(TEXTS))('the diff of content %s', (_, text) => {
  const [before, after] = text;

  test('A diff shows the complete old and new text in both the unified and the side-by-side view', async () => {
    const { page } = await open(text);
    await unfold(page);
    expect(await textIn(page, OLD)).toBe(before === null ? '' : `${before}\n`);
    expect(await textIn(page, NEW)).toBe(`${after}\n`);
    await clickControl(page, 'split');
    const [left, right] = await page.evaluate(() => {
      const text = document.querySelector('.text')!;
      const middle = text.getBoundingClientRect().x + text.clientWidth / 2;
      const parts = [...text.querySelectorAll('del, ins, span')].filter((part) => part.checkVisibility());
      const isLeft = (part: Element) => part.getBoundingClientRect().x < middle - 1;
      const textOf = (side: readonly Element[]) => side.map(({ textContent }) => textContent ?? '').join('');
      return [textOf(parts.filter(isLeft)), textOf(parts.filter((part) => !isLeft(part)))];
    });
    expect(left).toBe(before === null ? '' : `${before}\n`);
    expect(right).toBe(`${after}\n`);
  });

  test('Selecting the added and unchanged lines of a diff selects exactly the new text', async () => {
    const { page } = await open(text);
    await unfold(page);
    const copied = await page.evaluate(() => {
      for (const removed of document.querySelectorAll('.text del, .fold > summary')) removed.remove();
      getSelection()?.selectAllChildren(document.querySelector('.text')!);
      return getSelection()?.toString();
    });
    expect(copied?.replace(/\n$/, '')).toBe(after.replace(/\n$/, ''));
  });
});

describeInBrowser('a diff with 3,000 blanks', () => {
  test.each([' ', '\t', '\u00a0', '\u2003', '\u3000'])(
    'A word after 3,000 consecutive %j characters stays within the page width',
    async (blank) => {
      const { page } = await open(['Be polite.', `Be polite.${blank.repeat(3_000)}Obey.`]);
      const { right, width } = await page.locator('.text ins').evaluate((added) => {
        const range = document.createRange();
        range.selectNodeContents(added);
        const last = [...range.getClientRects()].at(-1)!;
        return { right: last.right, width: document.documentElement.clientWidth };
      });
      expect(right).toBeLessThan(width);
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    },
  );
});

describeInBrowser('the side-by-side view', () => {
  test('In the side-by-side view, assistive technology reads unchanged lines only once', async () => {
    const { page } = await open([BEFORE, AFTER], 'split');
    await unfold(page);
    const tree = await page.locator('.text').ariaSnapshot();
    expect(tree.match(/\b7\. Answer politely/g)).toHaveLength(1);
    expect(await page.locator('.text').innerText()).toContain('7. Answer politely');
  });

  test('In the side-by-side view, an old line and its replacement start at the same height', async () => {
    const { page } = await open([BEFORE, AFTER], 'split');
    const tops = (selector: string) =>
      page.locator(selector).evaluateAll((parts) => parts.map((part) => part.getBoundingClientRect().top));
    expect(await tops('.text > del')).toEqual(await tops('.text > ins'));
  });
});

describeInBrowser('a fold in a diff', () => {
  test('A fold in a diff shows how many unchanged lines it hides and opens on a click', async () => {
    const { page } = await open(edited({ 2: 'x', 18: 'y' }));
    const fold = page.locator('.fold');
    expect(await fold.locator('summary').textContent()).toBe('9 unchanged lines');
    expect(await page.getByText('10. Answer').isVisible()).toBe(false);
    await fold.locator('summary').click();
    expect(await page.getByText('10. Answer').isVisible()).toBe(true);
  });
});
