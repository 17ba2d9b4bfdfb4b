import { expect, test } from 'vitest';
import { everything } from './everything.ts';
import { NASTY_HTML, pageOfTexts } from './hostile.ts';
import { pageOf } from './pages.ts';
import { readOpenKeys, readVisibleKeys, readCount } from './reading.ts';
import { describeInBrowser, openPage } from '../../../support/browser.ts';

/** The slow tests in this folder cover everything else about pages. */
describeInBrowser('an HTML page', () => {
  test('An HTML report initially shows and counts only the prompts that need review', async () => {
    const { page } = await openPage(pageOf(everything));
    expect(await readCount(page)).toBe('11 of 13 shown');
    expect(await readVisibleKeys(page)).toEqual(Object.keys(everything).filter((key) => !key.startsWith('quiet/')));
  });

  test('An HTML report opens the prompt that the URL hash identifies', async () => {
    const { page } = await openPage(pageOf(everything), { hash: 'prompt:quiet/one' });
    await expect.poll(() => readOpenKeys(page)).toEqual(['quiet/one']);
  });

  test('An HTML report shows all prompts if JavaScript is disabled', async () => {
    const { page } = await openPage(pageOf(everything), { javaScriptEnabled: false });
    expect(await readVisibleKeys(page)).toEqual(Object.keys(everything));
  });

  test('An HTML report runs no scripts from hostile text and requests no other resources', async () => {
    const { page, requests } = await openPage(pageOfTexts(Object.values(NASTY_HTML)));
    expect(await page.evaluate(() => Reflect.get(globalThis, 'ran'))).toBeUndefined();
    expect(requests).toHaveLength(1);
  });
});
