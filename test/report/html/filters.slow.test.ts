import { expect, test } from 'vitest';
import { everything } from './everything.ts';
import { pageOf, type PagePrompt } from './pages.ts';
import { hashIn, shownIn, toldIn } from './reading.ts';
import { describeInBrowser, openPage } from '../../support/browser.ts';

const html = pageOf(everything);
const quiet: PagePrompt = { serves: { staging: 1 } };
const changed: PagePrompt = { serves: { staging: [1, 'new'] }, text: ['Old.', 'New.'] };
const drifted: PagePrompt = { serves: { staging: 1 }, drift: ['staging'] };
const FILTERS: Readonly<Record<string, readonly string[]>> = {
  all: Object.keys(everything),
  drift: ['support/refund', 'support/unfinished'],
  blocked: ['support/returns'],
  failed: ['support/unreachable'],
};

describeInBrowser('A filter shows', () => {
  test.each(Object.entries(FILTERS))('what has %s, and nothing else', async (name, keys) => {
    const { page } = await openPage(html);
    const label = page.locator(`label:has([value=${name}])`);
    await label.click();
    expect(await label.locator('b').textContent()).toBe(String(keys.length));
    expect(await shownIn(page)).toEqual(keys);
    expect(await toldIn(page)).toBe(`${keys.length} of 13 shown`);
    await expect.poll(() => hashIn(page)).toBe(`show=${name}`);
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

  test('all again when the search is emptied', async () => {
    const { page } = await openPage(html);
    await page.locator('#search').fill('zebra');
    await page.locator('#search').fill('');
    expect(await toldIn(page)).toBe('11 of 13 shown');
  });
});

test.each([
  ['what is to review, at first', { quiet, changed, drifted }],
  ['no filter for what there is none of', { quiet, changed }],
  ['none at all where nothing is to review', { quiet, other: quiet }],
] as const)('A page offers %s', (_, prompts) => {
  const shown = pageOf(prompts);
  expect(shown.includes('value="review" checked')).toBe('changed' in prompts);
  expect(shown.includes('value="drift"')).toBe('drifted' in prompts);
});
