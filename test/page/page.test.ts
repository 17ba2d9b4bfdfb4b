import { expect, test } from 'vitest';
import { describeInBrowser, openPage } from '../support/browser.ts';
import { everything } from './everything.ts';
import { pageOf } from './pages.ts';
import { shownIn, toldIn } from './reading.ts';

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
});
