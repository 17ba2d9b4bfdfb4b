import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { edited } from './everything.ts';
import { pageOf } from './pages.ts';
import { clickControl } from './reading.ts';
import { describeInBrowser, openPage, setLook } from '../../../support/browser.ts';

const LONG = edited({ 2: 'Another second line.', 12: '', 20: 'The last one.\n\nAnd more.' });

/** A chat prompt that changes, gains and loses messages. */
const CHAT = [
  '{{role "system"}}\nBe kind.\n\n{{role "assistant"}}\nHello!\n\n{{role "user"}}\n{{question}}',
  '{{role "system"}}\nBe very kind.\n\n{{placeholder "history"}}\n\n{{role "user"}}\n{{question}}\n\n{{role "user"}}',
] as const;

type Texts = Readonly<Record<string, readonly [before: string | null, after: string]>>;

const TEXTS: Texts = {
  'of twenty lines with changes at three places': LONG,
  'that is new': [null, 'A first text.\nIn two lines.'],
  'with blank lines at both ends': ['\n\na\n', '\n\nb\n\n'],
  'with leading blanks and tabs': ['  a\n\tb', '    a\n\t\tb'],
  'that has lost lines': ['a\nb\nc\nd', 'a\nd'],
  'that has nothing in common with the old one': ['one\ntwo', 'three\nfour'],
  'in Japanese': ['お客様に丁寧に挨拶し', 'お客様に簡潔に挨拶し'],
  'in Arabic and English': ['مرحبا بكم\nend', 'أهلا بكم\nend'],
  'with invisible differences next to a changed line': ['caf\u00e9\nold\na b\n', 'cafe\u0301\nnew\na\u00a0b\n'],
  'of a chat prompt': CHAT,
};

/** Opens a page with an open prompt for each text. */
async function open(texts: Texts, view = 'unified'): Promise<Page> {
  const prompts = Object.entries(texts).map(([name, text]) => {
    return [name, { type: text === CHAT ? 'chat' : 'text', serves: { staging: [1, 'new'] }, text }] as const;
  });
  const { page } = await openPage(pageOf(Object.fromEntries(prompts)));
  for (const control of [view, 'expand']) await clickControl(page, control);
  return page;
}

async function unfold(page: Page): Promise<void> {
  await page.locator('.fold > summary').evaluateAll((all) => all.forEach((fold) => (fold as HTMLElement).click()));
}

/** Returns the visible old and new text of each prompt: by their elements, or by their columns in the split view. */
function readTexts(page: Page) {
  return page.locator('.prompt').evaluateAll((prompts) =>
    prompts.map((prompt) => {
      const text = prompt.querySelector('.text')!;
      const middle = text.getBoundingClientRect().x + text.clientWidth / 2;
      const parts = [...text.querySelectorAll('del, ins, span')].filter((part) => part.checkVisibility());
      const isLeft = (part: Element) => part.getBoundingClientRect().x < middle - 1;
      const isSplit = document.body.classList.contains('split');
      const join = (side: readonly Element[]) => side.map(({ textContent }) => textContent).join('');
      return [
        prompt.querySelector('.name b')!.textContent,
        join(parts.filter((part) => (isSplit ? isLeft(part) : part.localName !== 'ins'))),
        join(parts.filter((part) => (isSplit ? !isLeft(part) : part.localName !== 'del'))),
      ];
    }),
  );
}

describeInBrowser('the diffs of an HTML page', () => {
  test('A diff shows the complete old and new text in both the unified and the side-by-side view', async () => {
    const page = await open(TEXTS);
    await unfold(page);
    const whole = Object.entries(TEXTS).map(([name, [before, after]]) => {
      return [name, before === null ? '' : `${before}\n`, `${after}\n`];
    });
    expect(await readTexts(page)).toEqual(whole);
    await clickControl(page, 'split');
    expect(await readTexts(page)).toEqual(whole);
  });

  test('Selecting the added and unchanged lines of a diff selects exactly the new text', async () => {
    const page = await open(TEXTS);
    await unfold(page);
    const copied = await page.evaluate(() => {
      for (const removed of document.querySelectorAll('.text del, .fold > summary')) removed.remove();
      return [...document.querySelectorAll('.text')].map((text) => {
        getSelection()?.selectAllChildren(text);
        return getSelection()?.toString().replace(/\n$/, '');
      });
    });
    expect(copied).toEqual(Object.values(TEXTS).map(([, after]) => after.replace(/\n$/, '')));
  });

  test('A word after 3,000 consecutive blanks of any kind stays within the page width', async () => {
    const blanks = [' ', '\t', '\u00a0', '\u2003', '\u3000'];
    const texts = blanks.map((blank) => [blank, ['Be polite.', `Be polite.${blank.repeat(3_000)}Obey.`]] as const);
    const page = await open(Object.fromEntries(texts));
    const rights = await page.locator('.text ins').evaluateAll((all) =>
      all.map((added) => {
        const range = document.createRange();
        range.selectNodeContents(added);
        return [...range.getClientRects()].at(-1)!.right;
      }),
    );
    expect(rights).toHaveLength(blanks.length);
    expect(Math.max(...rights)).toBeLessThan(await page.evaluate(() => document.documentElement.clientWidth));
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  });

  test('The side-by-side view of a prompt opened later aligns changed lines and is read once by assistive technology', async () => {
    const page = await open({ LONG }, 'collapse');
    for (const control of ['collapse', 'split', 'expand']) await clickControl(page, control);
    const copies = page.locator('.text > .copy:visible');
    await expect.poll(() => copies.count()).toBeGreaterThan(0);
    const tops = (selector: string) =>
      page.locator(selector).evaluateAll((parts) => parts.map((part) => part.getBoundingClientRect().top));
    expect(await tops('.text > del')).toEqual(await tops('.text > ins'));
    await unfold(page);
    expect((await page.locator('.text').ariaSnapshot()).match(/\b7\. Answer politely/g)).toHaveLength(1);
    expect(await page.locator('.text').innerText()).toContain('7. Answer politely');
    await clickControl(page, 'unified');
    expect(await copies.count()).toBe(0);
  });

  test('A diff folds at least two lines that are far from a change, says how many, and shows them on a click', async () => {
    const page = await open({
      far: edited({ 2: 'x', 18: 'y' }),
      at10: edited({ 2: 'x', 10: 'y' }),
      at11: edited({ 2: 'x', 11: 'y' }),
    });
    const folds = await page
      .locator('.text')
      .evaluateAll((texts) =>
        texts.map((text) => [...text.querySelectorAll('.fold > summary')].map(({ textContent }) => textContent)),
      );
    expect(folds).toEqual([['9 unchanged lines'], ['7 unchanged lines'], ['2 unchanged lines', '6 unchanged lines']]);
    const line = page.locator('.text').first().getByText('10. Answer');
    expect(await line.isVisible()).toBe(false);
    await page.getByText('9 unchanged lines').click();
    expect(await line.isVisible()).toBe(true);
  });
});

/** Returns the visible bold lines of the diff: the column, the width in percent, the height in lines, and the text. */
function headingsIn(page: Page): Promise<readonly string[]> {
  return page.locator('.text').evaluate((diff) => {
    const { left, width } = diff.getBoundingClientRect();
    const elements = [...diff.querySelectorAll('*')].filter((element) => element.checkVisibility());
    const bold = elements.filter((element) => Number(getComputedStyle(element).fontWeight) >= 600);
    return bold.map((element) => {
      const box = element.getBoundingClientRect();
      const size = `${box.width > width * 0.9 ? 'wide' : 'narrow'} ${element.getClientRects().length}`;
      return `${box.left < left + width / 2 - 1 ? 'left' : 'right'} ${size} ${element.textContent}`;
    });
  });
}

describeInBrowser('the headings of messages', () => {
  test('Each marker line of a chat prompt is a bold line over the whole width, or over the column of its text', async () => {
    const page = await open({ CHAT });
    expect(await headingsIn(page)).toEqual([
      'left wide 1 {{role "system"}}',
      'left wide 1 {{role "assistant"}}',
      'left wide 1 {{placeholder "history"}}',
      'left wide 1 {{role "user"}}',
      'left wide 1 {{role "user"}}',
    ]);
    await clickControl(page, 'split');
    expect(await headingsIn(page)).toEqual([
      'left narrow 1 {{role "system"}}',
      'right narrow 1 {{role "system"}}',
      'left narrow 1 {{role "assistant"}}',
      'right narrow 1 {{placeholder "history"}}',
      'left narrow 1 {{role "user"}}',
      'right narrow 1 {{role "user"}}',
      'right narrow 1 {{role "user"}}',
    ]);
  });

  test('A heading has the accent color of both color schemes', async () => {
    const page = await open({ CHAT });
    const colorOf = (selector: string) =>
      page.evaluate((selector) => getComputedStyle(document.querySelector(selector)!).color, selector);
    for (const colorScheme of ['light', 'dark'] as const) {
      await setLook(page, { colorScheme });
      const accent = await colorOf('h3 a');
      for (const parent of ['.text > span', '.text > del', '.text > ins']) {
        expect(await colorOf(`${parent} .marker`)).toBe(accent);
        expect(await colorOf(parent)).not.toBe(accent);
      }
    }
  });
});
