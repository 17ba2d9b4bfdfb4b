import { expect, test } from 'vitest';
import { everything } from './everything.ts';
import { NASTY_HTML, pageOfTexts } from './hostile.ts';
import { pageOf } from './pages.ts';
import { readOpenKeys, readVisibleKeys, readCount } from './reading.ts';
import { describeInBrowser, openPage } from '../../support/browser.ts';

/** The slow tests in this folder cover everything else about pages. */
describeInBrowser('an HTML page', () => {
  test('An HTML page first shows and counts the prompts to review', async () => {
    const { page } = await openPage(pageOf(everything));
    expect(await readCount(page)).toBe('11 of 13 shown');
    expect(await readVisibleKeys(page)).toEqual(Object.keys(everything).filter((key) => !key.startsWith('quiet/')));
  });

  test('The search of an HTML page finds words in closed prompts', async () => {
    const { page } = await openPage(pageOf(everything));
    await page.locator('#search').fill('CUSTOMER added');
    expect(await readVisibleKeys(page)).toEqual(['support/refund']);
  });

  test('An HTML page opens the prompt that its link names', async () => {
    const { page } = await openPage(pageOf(everything), { hash: 'prompt:quiet/one' });
    await expect.poll(() => readOpenKeys(page)).toEqual(['quiet/one']);
  });

  test('An HTML page shows all prompts without JavaScript', async () => {
    const { page } = await openPage(pageOf(everything), { javaScriptEnabled: false });
    expect(await readVisibleKeys(page)).toEqual(Object.keys(everything));
  });

  test('An HTML page runs no script of a hostile text and sends no request', async () => {
    const { page, requests } = await openPage(pageOfTexts(Object.values(NASTY_HTML)));
    expect(await page.evaluate(() => Reflect.get(globalThis, 'ran'))).toBeUndefined();
    expect(requests).toHaveLength(1);
  });
});
