import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { everything } from './everything.ts';
import { pageOf, pageOfList, type PagePrompt } from './pages.ts';
import { openIn, shownIn, toldIn } from './reading.ts';
import { describeInBrowser, openPage } from '../../support/browser.ts';

const html = pageOf(everything);
const quiet: PagePrompt = { serves: { staging: 1 } };
const changed: PagePrompt = { serves: { 'a b': [1, 'new'], 'ä@%': [2, 'new'] }, text: ['Old.', 'New.'] };
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

  test('what has both, the trait and the words, and more again when the search is emptied', async () => {
    const { page } = await openPage(html);
    await page.getByLabel('Drift').check();
    await page.locator('#search').fill('first text');
    expect(await shownIn(page)).toEqual(['support/unfinished']);
    await page.locator('#search').fill('');
    expect(await toldIn(page)).toBe('2 of 13 shown');
  });

  test('what Expand opens and Collapse closes, and no other', async () => {
    const { page } = await openPage(html);
    await page.getByRole('button', { name: 'Expand' }).click();
    expect(await openIn(page)).toEqual(await shownIn(page));
    expect(await page.locator('.prompt[open]').count()).toBe(11);
    await page.getByRole('button', { name: 'Collapse' }).click();
    expect(await openIn(page)).toEqual([]);
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

  test.each([
    ['the filter', ''],
    ['the search', 'japanese'],
  ])('a prompt that %s hides, when it is followed later', async (_, search) => {
    const { page } = await openPage(html);
    await page.locator('#search').fill(search);
    await page.evaluate(() => void (location.hash = '#prompt:quiet/one'));
    await expect.poll(() => openIn(page)).toContain('quiet/one');
    expect(await page.locator('[name=show]:checked').getAttribute('value')).toBe('all');
    expect(await page.locator('#search').inputValue()).toBe('');
  });

  test.each(['prompt:nobody', 'search', '%', 'a=b'])('nothing where there is no such prompt: %s', async (hash) => {
    const { page } = await openPage(html, { hash });
    expect(await shownIn(page)).toHaveLength(11);
  });
});

function isInView(page: Page, index: number): Promise<boolean> {
  const summary = page.locator('.prompt > summary').nth(index);
  return summary.evaluate((summary) => {
    const { top, bottom } = summary.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  });
}

describeInBrowser('With the keyboard alone', () => {
  test('Tab goes through search, filters, view, buttons and prompts, and each shows that it has the focus', async () => {
    const { page } = await openPage(html);
    const stops: string[] = [];
    for (let stop = 0; stop < 7; stop += 1) {
      await page.keyboard.press('Tab');
      stops.push(await page.evaluate(stopName));
      expect(`${stops.at(-1)}: ${await page.evaluate(outlineOf)}`).toBe(`${stops.at(-1)}: solid`);
    }
    expect(stops).toEqual(['search', 'review', 'unified', 'Expand', 'Collapse', 'support/greeting', 'support/refund']);
    await page.keyboard.press('Enter');
    expect(await openIn(page)).toEqual(['support/refund']);
  });

  test('arrows go through the filters', async () => {
    const { page } = await openPage(html);
    await page.getByLabel('To review').focus();
    await page.keyboard.press('ArrowRight');
    expect(await toldIn(page)).toBe('9 of 13 shown');
  });
});

function stopName(): string {
  const { activeElement: active } = document;
  if (active instanceof HTMLInputElement) return active.id || active.value;
  return active?.querySelector(':scope > .name b')?.textContent ?? active?.textContent ?? '';
}

/** A button of a choice shows its focus on its label. */
function outlineOf(): string {
  const { activeElement: active } = document;
  const shown = active instanceof HTMLInputElement && active.type === 'radio' ? active.nextElementSibling : active;
  return shown === null ? '' : getComputedStyle(shown).outlineStyle;
}
