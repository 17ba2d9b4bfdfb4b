import { expect, test } from 'vitest';
import { everything } from './everything.ts';
import { NASTY_HTML, pageOfTexts } from './hostile.ts';
import { pageOf } from './pages.ts';
import { openIn, shownIn, toldIn } from './reading.ts';
import { describeInBrowser, openPage } from '../../support/browser.ts';

/** What every run of the tests looks at; all else of pages is in the slow tests beside this one. */
describeInBrowser('A page', () => {
  test('shows what there is to review first, and says how much that is', async () => {
    const { page } = await openPage(pageOf(everything));
    expect(await toldIn(page)).toBe('11 of 13 shown');
    expect(await shownIn(page)).toEqual(Object.keys(everything).filter((key) => !key.startsWith('quiet/')));
  });

  test('finds words in the texts of closed prompts', async () => {
    const { page } = await openPage(pageOf(everything));
    await page.locator('#search').fill('CUSTOMER added');
    expect(await shownIn(page)).toEqual(['support/refund']);
  });

  test('opens at a prompt that is linked to', async () => {
    const { page } = await openPage(pageOf(everything), { hash: 'prompt:quiet/one' });
    await expect.poll(() => openIn(page)).toEqual(['quiet/one']);
  });

  test('is all there without script', async () => {
    const { page } = await openPage(pageOf(everything), { javaScriptEnabled: false });
    expect(await shownIn(page)).toEqual(Object.keys(everything));
  });

  test('runs no script of a text, and asks for nothing', async () => {
    const { page, requests } = await openPage(pageOfTexts(Object.values(NASTY_HTML)));
    expect(await page.evaluate(() => Reflect.get(globalThis, 'ran'))).toBeUndefined();
    expect(requests).toHaveLength(1);
  });
});
