import { expect, test } from 'vitest';
import { everything } from './everything.ts';
import { pageOf, pageOfList, type PagePrompt } from './pages.ts';
import { openIn, shownIn } from './reading.ts';
import { describeInBrowser, openPage } from '../../support/browser.ts';

const html = pageOf(everything);
const quiet: PagePrompt = { serves: { staging: 1 } };
const changed: PagePrompt = { serves: { 'a b': [1, 'new'], 'ä@%': [2, 'new'] }, text: ['Old.', 'New.'] };

const AWKWARD = ['a b', 'ä', '100%', '<x>', 'prompt:x', 'constructor', '__proto__', 'a#b', 'a@b', '\'"', '?show=drift'];

describeInBrowser('A link leads to', () => {
  test.each(AWKWARD)('the prompt %s, which opens', async (key) => {
    const rows = [...AWKWARD, ...Array.from({ length: 40 }, (_, index) => `other ${index}`)];
    const html = pageOf(Object.fromEntries(rows.map((name) => [name, changed])));
    const first = await openPage(html);
    const row = first.page.locator('.prompt').nth(rows.indexOf(key));
    expect(await openIn(first.page)).toEqual([]);
    const href = await row.locator('.link a').getAttribute('href');
    const { page } = await openPage(html, { hash: href!.slice(1) });
    await expect.poll(() => openIn(page)).toEqual([key]);
    await expect.poll(() => isInView(page, rows.indexOf(key))).toBe(true);
  });

  test.each(['a b', 'ä@%'])('the environment %s of a prompt', async (environment) => {
    const prompts = { quiet, changed, ...Object.fromEntries(AWKWARD.map((key) => [key, changed])) };
    const { page } = await openPage(pageOf(prompts), { hash: `prompt:changed@${encodeURIComponent(environment)}` });
    await expect.poll(() => openIn(page)).toEqual(['changed']);
    expect(await page.evaluate(() => document.querySelector(':target')?.textContent)).toBe(environment);
  });

  test('each of two prompts with one key', async () => {
    const two = [['one', changed] as const, ['one', quiet] as const, ['other', quiet] as const];
    const links = await (await openPage(pageOfList(two))).page.locator('.link a').all();
    const hrefs = await Promise.all(links.map((link) => link.getAttribute('href')));
    expect(new Set(hrefs).size).toBe(3);
    const { page } = await openPage(pageOfList(two), { hash: hrefs[1]!.slice(1) });
    await expect.poll(() => page.locator('.prompt').nth(1).getAttribute('open')).toBe('');
  });

  test('a prompt that the filter hides', async () => {
    const { page } = await openPage(html, { hash: 'prompt:quiet/one' });
    await expect.poll(() => openIn(page)).toContain('quiet/one');
    expect(await page.locator('[name=show]:checked').getAttribute('value')).toBe('all');
  });

  test('a prompt that a search hides, when it is followed later', async () => {
    const { page } = await openPage(html, { hash: 'search=japanese' });
    expect(await shownIn(page)).toEqual(['text/japanese']);
    await page.evaluate(() => void (location.hash = '#prompt:support/refund'));
    await expect.poll(() => openIn(page)).toContain('support/refund');
    expect(await page.locator('#search').inputValue()).toBe('');
  });

  test('nothing where there is no such prompt, and the page is as it is without', async () => {
    const { page } = await openPage(html, { hash: 'prompt:nobody' });
    expect(await shownIn(page)).toHaveLength(11);
  });

  test.each([
    ['a filter', 'show=drift', ['support/refund', 'support/unfinished']],
    ['a search', 'search=first+text', ['support/unfinished']],
    ['both', 'show=blocked&search=old', ['support/returns']],
    ['all', 'show=all', Object.keys(everything)],
  ])('%s', async (_, hash, keys) => {
    expect(await shownIn((await openPage(html, { hash })).page)).toEqual(keys);
  });

  test.each(['show=nonsense', 'show=', 'view=nonsense', 'show[]=all', '%', '=&=', 'search=%ZZ'])(
    'the page as it is, where it means nothing: %s',
    async (hash) => {
      const { page } = await openPage(html, { hash });
      expect(await page.locator('[name=show]:checked').getAttribute('value')).toBe('review');
    },
  );
});

describeInBrowser('The address', () => {
  test('is what brings the same page back, whatever is chosen', async () => {
    const { page } = await openPage(html);
    await page.getByLabel('All').check();
    await page.locator('#search').fill('a&b=c #d%');
    await page.getByLabel('Side by side').check();
    const again = await openPage(html, { hash: new URL(page.url()).hash.slice(1) });
    expect(await again.page.locator('#search').inputValue()).toBe('a&b=c #d%');
    expect(await again.page.locator(':checked').evaluateAll(valuesOf)).toEqual(['all', 'split', 'on']);
  });

  test('is followed back', async () => {
    const { page } = await openPage(html);
    await page.evaluate(() => void (location.hash = '#show=drift&search=refund'));
    await expect.poll(() => shownIn(page)).toEqual(['support/refund']);
    await page.goBack();
    await expect.poll(() => shownIn(page)).toHaveLength(11);
  });
});

function valuesOf(inputs: readonly (HTMLElement | SVGElement)[]): readonly string[] {
  return inputs.map((input) => (input instanceof HTMLInputElement ? input.value : ''));
}

function isInView(page: Awaited<ReturnType<typeof openPage>>['page'], index: number): Promise<boolean> {
  return page
    .locator('.prompt > summary')
    .nth(index)
    .evaluate((summary) => {
      const { top, bottom } = summary.getBoundingClientRect();
      return top >= 0 && bottom <= innerHeight;
    });
}
