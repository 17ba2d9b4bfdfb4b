import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { pageOf } from './pages.ts';
import { clickControl } from './reading.ts';
import { describeInBrowser, openPage } from '../../../support/browser.ts';

const BEFORE = '{{role "system"}}\nBe kind.\n\n{{role "assistant"}}\nHello!';
const AFTER = '{{role "system"}}\nBe very kind.\n\n{{placeholder "history"}}';

const PAGE = pageOf({ one: { type: 'chat', serves: { staging: [1, 'new'] }, text: [BEFORE, AFTER] } });

/** Returns the visible lines of the diff that are bold, in the order of the page, with the place of each line. */
function headingsIn(page: Page) {
  return page.locator('.text').evaluate((diff) => {
    const { left, width } = diff.getBoundingClientRect();
    const elements = [diff, ...diff.querySelectorAll('*')].filter((element) => element.checkVisibility());
    const bold = elements.filter((element) => Number(getComputedStyle(element).fontWeight) >= 600);
    return bold.map((element) => {
      const box = element.getBoundingClientRect();
      return {
        text: element.textContent,
        column: box.left < left + width / 2 - 1 ? 'left' : 'right',
        isWide: box.width > width * 0.9,
        lineCount: element.getClientRects().length,
      };
    });
  });
}

describeInBrowser('the headings of messages', () => {
  test('Each marker line of a chat prompt is a bold line over the whole width, or over the column of its text', async () => {
    const { page } = await openPage(PAGE);
    const line = { column: 'left', isWide: true, lineCount: 1 };
    expect(await headingsIn(page)).toEqual([
      { ...line, text: '{{role "system"}}' },
      { ...line, text: '{{role "assistant"}}' },
      { ...line, text: '{{placeholder "history"}}' },
    ]);
    await clickControl(page, 'split');
    expect(await headingsIn(page)).toMatchObject([
      { text: '{{role "system"}}', column: 'left' },
      { text: '{{role "system"}}', column: 'right' },
      { text: '{{role "assistant"}}', column: 'left' },
      { text: '{{placeholder "history"}}', column: 'right' },
    ]);
  });

  test.each(['light', 'dark'] as const)(
    'A heading has the accent color of the %s color scheme',
    async (colorScheme) => {
      const { page } = await openPage(PAGE, { colorScheme });
      const colorOf = (selector: string) =>
        page
          .locator(selector)
          .first()
          .evaluate((element) => getComputedStyle(element).color);
      const accent = await colorOf('h3 a');
      for (const parent of ['.text > span', '.text > del', '.text > ins']) {
        expect(await colorOf(`${parent} .marker`)).toBe(accent);
        expect(await colorOf(parent)).not.toBe(accent);
      }
    },
  );
});
