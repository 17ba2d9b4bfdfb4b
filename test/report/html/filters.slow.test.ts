import { expect, test } from 'vitest';
import { everything } from './everything.ts';
import { pageOf, type PagePrompt } from './pages.ts';
import { hashIn, shownIn, toldIn } from './reading.ts';
import { describeInBrowser, openPage } from '../../support/browser.ts';

const html = pageOf(everything);
const quiet: PagePrompt = { serves: { staging: 1 } };
const changed: PagePrompt = { serves: { staging: [1, 'new'] }, text: ['Old.', 'New.'] };
const drifted: PagePrompt = { serves: { staging: 1 }, drift: ['staging'] };
const blocked: PagePrompt = { serves: { staging: [1, 2] }, status: 'blocked' };
const failed: PagePrompt = { serves: { staging: null }, status: 'failed' };

const FILTERS: Readonly<Record<string, readonly string[]>> = {
  drift: ['support/refund', 'support/unfinished'],
  blocked: ['support/returns'],
  failed: ['support/unreachable'],
};

describeInBrowser('A filter shows', () => {
  test.each(Object.entries(FILTERS))('what has %s, and nothing else', async (name, keys) => {
    const { page } = await openPage(html);
    await page.locator(`label:has([value=${name}])`).click();
    expect(await shownIn(page)).toEqual(keys);
    expect(await toldIn(page)).toBe(`${keys.length} of 13 shown`);
    await expect.poll(() => hashIn(page)).toBe(`show=${name}`);
  });

  test('all', async () => {
    const { page } = await openPage(html);
    await page.getByLabel('All').check();
    expect(await shownIn(page)).toEqual(Object.keys(everything));
    await expect.poll(() => hashIn(page)).toBe('show=all');
  });

  test('as many as it says', async () => {
    const { page } = await openPage(html);
    const labels = await page.locator('.controls label:has([name=show])').all();
    for (const label of labels) {
      await label.click();
      const counted = Number(await label.locator('b').textContent());
      expect(await shownIn(page)).toHaveLength(counted);
    }
    expect(labels).toHaveLength(6);
  });

  test.each([
    ['every word of the search', 'refund customer', ['support/refund']],
    ['either letter case', 'REFUND', ['support/refund']],
    ['words of the path', 'prompts/support/refund.md', ['support/refund']],
    ['words of the old text', 'Old text', ['support/returns']],
    ['words of a folded part of a text', '12. Answer', ['support/greeting']],
    ['words of a problem', 'answer within', ['support/unreachable']],
    ['words of another script', 'お名前', ['text/japanese']],
    ['characters of a pattern as they are', '{{name}}', ['support/refund']],
    ['nothing where nothing is like that', 'zebra', []],
  ])('by text: %s', async (_, words, keys) => {
    const { page } = await openPage(html);
    await page.locator('#search').fill(words);
    expect(await shownIn(page)).toEqual(keys);
    expect(await page.getByText('No prompt is like that.').isVisible()).toBe(keys.length === 0);
  });

  test('what has both: the trait and the words', async () => {
    const { page } = await openPage(html);
    await page.getByLabel('Drift').check();
    await page.locator('#search').fill('first text');
    expect(await shownIn(page)).toEqual(['support/unfinished']);
    await expect.poll(() => hashIn(page)).toBe('show=drift&search=first+text');
  });

  test('nothing, and says where else the words are', async () => {
    const { page } = await openPage(html);
    await page.getByLabel('Blocked').check();
    await page.locator('#search').fill('first text');
    expect(await shownIn(page)).toEqual([]);
    expect(await page.locator('p.none').innerText()).toBe('No prompt is like that. Of all prompts, 1 is.');
  });

  test('all again when the search is emptied', async () => {
    const { page } = await openPage(html);
    await page.locator('#search').fill('zebra');
    await page.locator('#search').fill('');
    expect(await toldIn(page)).toBe('11 of 13 shown');
  });

  test('where the words are', async () => {
    const { page } = await openPage(html);
    await page.locator('#search').fill('refund');
    const marked = await page.evaluate(() => [...(CSS.highlights.get('search') ?? [])].map(String));
    expect(new Set(marked)).toEqual(new Set(['refund']));
    await page.locator('#search').fill('');
    expect(await page.evaluate(() => CSS.highlights.get('search')?.size)).toBe(0);
  });
});

describeInBrowser('At first a page shows', () => {
  test.each([
    ['what changes, where that is all there is to review', { quiet, changed }, 'changed', ['changed']],
    ['all that there is to review', { quiet, changed, failed }, 'review', ['changed', 'failed']],
    ['drift, where that is all there is to review', { quiet, drifted }, 'drift', ['drifted']],
    ['what is blocked besides what changes', { quiet, changed, blocked }, 'changed', ['changed', 'blocked']],
    ['all, where all is to review', { changed, drifted }, 'all', ['changed', 'drifted']],
    ['all, where nothing is to review', { quiet, other: quiet }, undefined, ['quiet', 'other']],
  ] as const)('%s', async (_, prompts, filter, keys) => {
    const { page } = await openPage(pageOf(prompts));
    expect(await shownIn(page)).toEqual(keys);
    const chosen = page.locator('[name=show]:checked');
    expect((await chosen.count()) === 0 ? undefined : await chosen.getAttribute('value')).toBe(filter);
  });
});
